"""The paper's tables in its own form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from curation.core.benchmark import CONFIGS
from curation.system.errors import BadUsage, NoInput
from evaluation.analysis.paper_tables import _FIGURES, paper_table, printed
from evaluation.core.cases import Result
from evaluation.core.records import FREE, Verdict
from evaluation.core.suite import ScoredResponse
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.reporting.printing import as_json, as_markdown
from evaluation.results.reader import RecordedRun, open_run
from evaluation.results.suite_rows import row_from_scored
from evaluation.suites.coverage.scorer import Judgement, TextVerdict
from tests.evaluation.made_runs import accepted, blocked, row, write_run
from tests.evaluation.suites.coverage.written_texts import row_of
from tests.invoking import invoke

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from evaluation.core.cases import Row


_AS_THEY_DID: dict[str, Any] = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "device": "cuda (NVIDIA A100-SXM4-80GB)",
    "prompt": "sections",
    "shots": [["a", "b"], ["c", "d"]],
    "budget": 2048,
    "batch": 1,
    "options": {"forced": True},
}
_ENGINES = (
    ("none", "none", ""),
    ("llguidance 1.9.1 paper", "llguidance", "1.9.1"),
    ("mine 3.0", "mine", "3.0"),
)
_WRITTEN = Generation(
    id="o1",
    result=Result.OK,
    ending=TextEnding.END,
    tokens=(1,) * 41,
    forced=15,
    compile_ns=12_000_000,
    ttft_ns=240_000_000,
    total_ns=501_170_000,
)
_GUIDANCE = ("llguidance 1.9.1 paper", "o1", _WRITTEN, None)
_VALID = Judgement(
    is_json=True,
    own=TextVerdict.VALID,
    paper=TextVerdict.VALID,
    published=TextVerdict.INVALID,
)


def _run(
    folder: Path,
    texts: Iterable[tuple[str, str, Generation, Judgement | None]],
    models: dict[str, Any],
    configs: Iterable[str] = ("Glaiveai2K",),
) -> RecordedRun:
    """Write a run of texts (engine, id, generation, judgement) and open it."""
    head = {
        "tasks": ["coverage"],
        "limits": {"compile_seconds": 40.0, "run_seconds": 40.0},
        "models": models,
    }
    rows = [
        row_of(replace(made, id=name), judgement, engine=engine, config=config)
        for config in configs
        for engine, name, made, judgement in texts
    ]
    return _opened(folder, rows, head, _ENGINES)


def _opened(
    folder: Path,
    rows: Iterable[Row],
    head: dict[str, Any],
    engines: Iterable[Sequence[str]],
) -> RecordedRun:
    """Write a run of engines (label, name, version), and open it."""
    columns = ("engine", "name", "version")
    named = [dict(zip(columns, each, strict=True)) for each in engines]
    return open_run(write_run(folder, rows, {**head, "engines": named}))


@pytest.fixture
def run(tmp_path: Path) -> RecordedRun:
    """Return a run of three participants on two schemas, as the paper did it."""
    late = Generation(id="o2", result=Result.TIMEOUT, ending=TextEnding.ENGINE)
    texts: list[tuple[str, str, Generation, Judgement | None]] = [
        *((label, "o1", _WRITTEN, _VALID) for label, _, _ in _ENGINES),
        *((label, "o2", _WRITTEN, None) for label, _, _ in _ENGINES[:2]),
        ("mine 3.0", "o2", late, None),
    ]
    return _run(tmp_path / "run", texts, _AS_THEY_DID)


def test_table_2_has_the_papers_columns_rows_and_units(run: RecordedRun) -> None:
    """Seconds and milliseconds with two decimals, NA where nothing compiles."""
    table = paper_table(2, [run])
    columns = ("Dataset", "Framework", "GCT (s)", "TTFT (s)", "TPOT (ms)", "texts")
    assert table.columns == columns
    texts = [[str(cell) for cell in row] for row in table.rows]
    assert texts == [
        ["GlaiveAI", "none", "NA", "0.24", "6.37", "2"],
        ["GlaiveAI", "llguidance 1.9.1 paper", "0.01", "0.24", "6.37", "2"],
        ["GlaiveAI", "mine 3.0", "≥ 20.01", "≥ 20.12", "6.37", "2"],
        ["GlaiveAI", "LM only, as printed", "NA", "0.10", "15.40", "None"],
        ["GlaiveAI", "Guidance, as printed", "0.00", "0.24", "6.37", "None"],
        ["GlaiveAI", "Llamacpp, as printed", "0.05", "0.20", "29.98", "None"],
        ["GlaiveAI", "Outlines, as printed", "3.48", "3.65", "30.33", "None"],
    ]


def test_a_table_has_a_part_for_each_dataset(tmp_path: Path) -> None:
    """The rows of each are followed by the printed ones; the command prints all."""
    texts = [(label, "o1", _WRITTEN, _VALID) for label, _, _ in _ENGINES]
    run = _run(tmp_path / "run", texts, _AS_THEY_DID, CONFIGS)
    table = paper_table(4, [run])
    assert len(table.rows) > 40
    answer = invoke("results", "paper-table", "4", run.folder, "--format", "json")
    assert json.loads(answer.stdout)["tables"] == [as_json(table)]


def test_table_12_has_the_whole_time_and_the_forced_tokens(run: RecordedRun) -> None:
    """TGT in seconds, tokens with those that were fast-forwarded beside them."""
    table = paper_table(12, [run])
    assert table.columns[5:8] == ("TGT (s)", "Output Tokens", "(FF)")
    guidance = [str(cell) for cell in table.rows[1][2:8]]
    assert guidance == ["0.01", "0.24", "6.37", "0.50", "41.00", "15.00"]


def test_table_4_judges_as_listing_10(run: RecordedRun, tmp_path: Path) -> None:
    """Declared, empirical and compliant rate as shares; the free model has no row.

    Who only was slow declares nothing: its share is of texts that show whether the
    schema was taken.
    """
    table = paper_table(4, [run])
    assert table.columns[2:6] == ("Declared", "Empirical", "Compliant Rate", "texts")
    rows = [[str(cell) for cell in row[1:6]] for row in table.rows]
    assert rows == [
        ["llguidance 1.9.1 paper", "1.00", "0.50", "0.50", "2"],
        ["mine 3.0", "0.50", "0.50", "1.00", "2"],
        ["Guidance, as printed", "0.98", "0.96", "0.98", "None"],
        ["Llamacpp, as printed", "0.98", "0.95", "0.97", "None"],
        ["Outlines, as printed", "0.99", "0.95", "0.96", "None"],
        ["XGrammar, as printed", "1.00", "0.93", "0.93", "None"],
        ["OpenAI, as printed", "0.89", "0.89", "1.00", "None"],
        ["Gemini, as printed", "0.86", "0.86", "1.00", "None"],
    ]
    late = Generation(
        id="o1", result=Result.TIMEOUT, ending=TextEnding.TIMEOUT, pieces=0
    )
    slow = _run(tmp_path / "slow", [("mine 3.0", "o1", late, None)], _AS_THEY_DID)
    (_, framework, declared, *_) = paper_table(4, [slow]).rows[0]
    assert (framework, str(declared)) == ("mine 3.0", "NA")


def test_the_note_has_the_conditions_of_paper_and_runs(run: RecordedRun) -> None:
    """Model, loop, device and versions there; model and device here."""
    note = paper_table(2, [run]).note
    for part in (
        "In the paper: Llama-3.1-8B-Instruct, llama.cpp, Q8, an A100",
        "Guidance 0.2.0rc",
        "run: model: meta-llama/Llama-3.1-8B-Instruct, on cuda (NVIDIA A100",
        "budget 2,048 tokens",
    ):
        assert part in note


def test_figures_are_numbers(run: RecordedRun) -> None:
    """In JSON every figure is a number beside whether it is a lower bound."""
    table: Any = as_json(paper_table(2, [run]))
    assert table["rows"][2]["GCT (s)"] == {
        "value": pytest.approx(20.006),
        "at_least": True,
    }
    assert "| GlaiveAI | llguidance 1.9.1 paper | 0.01 |" in as_markdown(
        paper_table(2, [run])
    )


def test_several_runs_stand_in_one_table(run: RecordedRun, tmp_path: Path) -> None:
    """The same engine has a row of each run, and folders may have one name."""
    places = (tmp_path / name / "again" for name in "ab")
    again = [_run(place, [_GUIDANCE], _AS_THEY_DID) for place in places]
    rows = paper_table(3, [run, *again]).rows
    assert [row[1] for row in rows[:4]] == [
        *("run: llguidance 1.9.1 paper", "run: mine 3.0"),
        *(f"{each.folder}: llguidance 1.9.1 paper" for each in again),
    ]


def test_what_cannot_be_filled_is_said(tmp_path: Path, run: RecordedRun) -> None:
    """No such table, and no text for its datasets: one line, and what to do."""
    with pytest.raises(BadUsage, match="no table 8 here: say one of 2, 3, 4, 5"):
        paper_table(8, [run])
    for number, own, said in (
        (5, run, "Table 5: csbdata eval --task test-suite"),
        (7, run, "Table 7: csbdata suite run quality"),
        (4, _run(tmp_path / "empty", [], {}), "Table 4"),
    ):
        with pytest.raises(NoInput, match=said):
            paper_table(number, [own])


def _case(engine: str, category: str, name: str, *, wrong: bool = False) -> Row:
    """Return a case with one valid instance, which a wrong engine refuses."""
    walk = blocked(valid=True) if wrong else accepted()
    label = {"category": category, "suite": "s", "valid": 1, "tests": 1}
    given: dict[str, Any] = {"engine": engine, "id": name, "walks": (walk,)}
    return row(task="test-suite", config="2020-12", label=label, **given)


def _suite_run(folder: Path, rows: Sequence[Row]) -> RecordedRun:
    engine = rows[0].engine
    own = [(engine, *engine.split()[:2])]
    return _opened(folder, rows, {"tasks": ["test-suite"]}, own)


def test_tables_5_and_6_stand_beside_what_is_printed(tmp_path: Path) -> None:
    """A category counts once for a kind of failure, and for each level it reaches."""
    engine = "xgrammar 0.1.6 paper"
    rows = [
        _case(engine, "enum", "a"),
        _case(engine, "enum", "b", wrong=True),
        _case(engine, "type", "c"),
    ]
    run = _suite_run(tmp_path / "suite", rows)
    failures = paper_table(5, [run]).rows
    assert failures[0] == (engine, 0, 1, 0)
    assert ("XGrammar, as printed", 3, 5, 38) in failures
    coverage = paper_table(6, [run]).rows
    assert coverage[0] == (engine, 2, 2, 1, 1, 1, 2, 2)
    assert ("Guidance, as printed", 30, 25, 21, 17, 13, 25, 19) in coverage


def test_table_6_compares_engines_of_several_runs(tmp_path: Path) -> None:
    """Highest is among all rows measured, whichever run an engine is from."""
    runs = []
    for engine, wrong in (("llguidance 1.0 paper", False), ("xgrammar 1 paper", True)):
        rows = [_case(engine, "enum", "a", wrong=wrong), _case(engine, "type", "b")]
        runs.append(_suite_run(tmp_path / engine, rows))
    table = paper_table(6, runs)
    assert table.columns[6:8] == ("Tied for highest", "Single highest")
    assert [row[6:8] for row in table.rows[:2]] == [(2, 1), (1, 0)]


def _quality_run(folder: Path, *sides: tuple[str, str]) -> RecordedRun:
    """Write a run of suite `quality`: a right answer of each model and condition."""
    answers = [
        ScoredResponse(
            record="gsm8k/0000",
            group="gsm8k",
            repeat=0,
            model=model,
            condition=condition,
            verdicts=(Verdict(passed=True),),
        )
        for model, condition in sides
    ]
    rows = [row_from_scored(answer, "quality", "0") for answer in answers]
    engines = [{"engine": answer.label} for answer in answers]
    suite = {"spec": "quality", "origin": "hub", "suite": "quality"}
    header = {"engines": engines, "tasks": ["quality"], "suite": suite}
    return open_run(write_run(folder, rows, header))


def test_table_7_has_the_models_of_every_run(tmp_path: Path) -> None:
    """Each model and condition, then the printed rows."""
    theirs = "meta-llama/Llama-3.1-8B-Instruct"
    served = _quality_run(tmp_path / "served", (theirs, FREE))
    local = _quality_run(tmp_path / "local", (theirs, "llguidance 1.9.1"))
    rows = paper_table(7, [served, local]).rows
    assert [row[0] for row in rows[:2]] == [
        f"{theirs} {FREE}",
        f"{theirs} llguidance 1.9.1",
    ]
    assert ("LM only, as printed", *printed(7)["LM only"]) in rows


def test_a_printed_compliant_rate_is_empirical_over_declared() -> None:
    """Each is rounded to two digits; a slip of the pen would show."""
    for dataset in _FIGURES["4"]:
        for framework, cells in printed(4, dataset).items():
            declared, empirical, rate = (float(str(cell)) for cell in cells)
            least = (empirical - 0.005) / (declared + 0.005)
            most = (empirical + 0.005) / (declared - 0.005)
            assert least - 0.005 <= rate <= most + 0.005, (dataset, framework)
