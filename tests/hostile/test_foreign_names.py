"""Names and rows out of a stranger's run, edition or build."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.system.errors import BadData, CsbdataError
from evaluation.analysis.failures import failures, failures_table
from evaluation.core.cases import Result
from evaluation.core.records import Record, Verdict, encode_records
from evaluation.core.suite import ScoredResponse
from evaluation.masks.run_folder import RECORDS
from evaluation.reporting.printing import as_markdown
from evaluation.results.reader import open_run
from evaluation.results.suite_rows import row_from_scored, scored_run
from evaluation.runner.response_files import RESPONSES
from evaluation.tasks import task_named
from tests.evaluation.made_runs import HEAD, row, write_run
from tests.evaluation.made_runs import line as row_line
from tests.evaluation.site.made_editions import line, write_edition
from tests.invoking import invoke

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row

_MARKUP = "<img src=x onerror=alert(1)>"
#: Out of the folder by one to four steps, through the root, no name, too long a name.
_NAMES = [
    *("../out1", "../../out2", "../../../out3", "../../../../out4", "a/../../out5"),
    *("..", ".", "/", "a\0b", "\n", "\u202e\x1b[2J", "x" * 300, _MARKUP),
    "<script>alert(1)</script>",
]


class Case(NamedTuple):
    """A command line, and the documented code that it ends with."""

    words: str
    code: int = 0


_EVAL = "eval --engine none --task masks --tokenizer bytes"
_RUN = [
    Case("results show RUN"),
    Case("results show RUN --failures"),
    Case("results compare RUN"),
    Case("results export RUN --format maskbench --out OUT"),
    Case("results publish RUN --out OUT"),
]
_EDITION = [
    Case("site EDITION --out OUT"),
    Case("site EDITION --data BUILD --out OUT"),
    Case("results verify EDITION --data BUILD", 2),
]
_BUILD = [
    Case("stats BUILD"),
    Case("card OUT"),
    Case("verify BUILD", 1),
    Case("push BUILD --repo owner/name --dry-run --allow-partial", 65),
    Case("export maskbench OUT --data BUILD --config Snowplow"),
    Case("diff BUILD BUILD"),
    Case(f"{_EVAL} --data BUILD --config Snowplow --limit 9 --run-dir OUT"),
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder, deep in one of its own, of a run, an edition and a build."""
    base = tmp_path_factory.mktemp("base")
    given = base / "1" / "2" / "3" / "given"
    given.mkdir(parents=True)
    names = [*_NAMES, str(base / "absolute")]
    _write_run(given, names)
    build = "build --sample --only snowplow --instances --out"
    assert invoke(*build.split(), given / "BUILD").exit_code == 0
    for file in given.glob("BUILD/**/Snowplow/test-*"):
        table = pq.read_table(file, partitioning=None)
        ids = table["unique_id"].to_pylist()
        new = dict(zip(dict.fromkeys(ids), names, strict=False))
        place = table.column_names.index("unique_id")
        renamed = pa.array([new.get(each, each) for each in ids])
        pq.write_table(table.set_column(place, "unique_id", renamed), file)
    lines = [line(name, "o0") for name in names]
    lines += [line("alpha 1.0", name, config=name) for name in names]
    lines.append(line(_MARKUP, "minItems / root", task="probe", config="2020-12"))
    write_edition(given / "EDITION", lines, given / "BUILD")
    return given


def _write_run(given: Path, names: list[str]) -> None:
    """Write a run whose engine, configs and ids have these names."""
    (given / "schema.json").write_text('{"type": "integer", "minimum": 1}')
    words = [*_EVAL.split(), "--data", given / "schema.json"]
    assert invoke(*words, "--run-dir", given / "RUN").exit_code == 0
    (file,) = (given / "RUN").glob("attempts.jsonl")
    own = json.loads(file.read_text())
    suite = {"task": "test-suite", "label": {}}
    probe = {"keyword": "minItems", "probe": "minItems", "context": "root"}
    with file.open("w") as lines:
        for name in names:
            for made in (
                {**own, "engine": name},
                {**own, "engine": name, "config": name, **suite},
                {**own, "engine": name, "task": "probe", "label": probe},
            ):
                lines.write(json.dumps(made) + "\n")
            right = row(engine=names[0], config=name, id=name)
            lines.write(row_line(right).decode())
    head = json.loads((given / "RUN" / "run.json").read_text())
    (engine,) = head["engines"]
    head["engines"] = [{**engine, "engine": name, "name": name} for name in names]
    head["tasks"] += ["test-suite", "probe"]
    (given / "RUN" / "run.json").write_text(json.dumps(head))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.stat().st_size, path.stat().st_mtime_ns


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
@pytest.mark.parametrize(
    "case", [*_RUN, *_EDITION, *_BUILD], ids=lambda case: case.words
)
def test_a_foreign_name_is_no_path_and_no_markup(
    case: Case, hostile: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Files appear in the output folder alone, each of its own; pages hold no tags."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(hostile)
    base, out = hostile.parents[3], hostile.parent / "OUT"
    before = [*_files(base)]
    if case.words == "card OUT":
        shutil.copytree("BUILD", out)
    ended = invoke(*(word.replace("OUT", str(out)) for word in case.words.split()))
    fault = ended.exception if isinstance(ended.exception, CsbdataError) else None
    code = fault.exit_code if fault else ended.exit_code
    written = [file for file in out.rglob("*") if file.is_file()]
    pages = [file for file in written if file.suffix in {".html", ".svg"}]
    raw = [file for file in pages if "<img src" in file.read_text("utf-8")]
    for folder in (out, hostile.parent / "OUT.run"):
        shutil.rmtree(folder, ignore_errors=True)
    assert [*_files(base)] == before
    assert code == case.code, (ended.exception, ended.output)
    assert not raw
    assert "<script>alert(1)</script>" not in "".join(map(str, pages))


LABELS: list[dict[str, UntypedJson]] = [
    {},
    {"category": None, "valid": "many", "tests": [], "texts": "two", "features": "not"},
    {"category": ["a"], "valid": True, "tests": -1, "texts": 10**18, "features": [[1]]},
    {"probe": "\x1b[31m", "feature": "|", "context": "\u202e", "category": "<script>"},
    {"family": "\x1b[31m", "size": "large", "repetition": {}, "outcome": 1},
    {"family": None, "size": -(10**18)},
]


@pytest.mark.parametrize("judged", [None, "not", [1], {"keyword": ["\x1b[31m"]}])
def test_texts_of_strangers_are_failures_that_can_be_printed(
    judged: UntypedJson, tmp_path: Path
) -> None:
    """Whatever a row says of a text that a model is said to have written."""
    label = {"outcome": "\x1b[31m", "judgement": judged}
    run = open_run(write_run(tmp_path, [row(task="other", walks=(), label=label)]))
    table = failures_table(run, failures(run), 9, control_apart=True)
    assert len(table.rows) == 1
    assert "\x1b" not in as_markdown(table)


@pytest.mark.parametrize("task", ["test-suite", "probe", "masks"])
@pytest.mark.parametrize("result", list(Result))
def test_labels_of_strangers_end_no_report(
    task: str, result: Result, tmp_path: Path
) -> None:
    """Whatever a row's label holds, the tables can be printed."""
    rows = [
        row(task=task, id=f"o{number}", label=label, result=result, detail="\x1b]0;x")
        for number, label in enumerate(LABELS)
    ]
    run = open_run(write_run(tmp_path, rows, {"engines": [{"engine": "alpha 1.0"}]}))
    tables = [*task_named(task).tables(run)]
    text = "".join(as_markdown(each) for each in tables)
    # What a busy machine cut off is in no table.
    assert ("alpha" in text) is (result is not Result.UNDECIDED) or task == "probe"
    assert "\x1b" not in text
    assert "\u202e" not in text


_WRONG = ScoredResponse(
    record="g/a",
    group="g",
    repeat=0,
    model="m",
    condition="free",
    verdicts=(Verdict(passed=False, failure_class="parse"),),
)


def _suite_run(folder: Path, spec: str, row: Row) -> Path:
    """Write a run of a suite with one wrong answer, its record and its text."""
    facts = {"name": row.task, "spec": spec, "settings": {}, "compat": "", "models": []}
    header = {**HEAD, "engines": [{"engine": "m free"}], "tasks": [row.task]}
    write_run(folder, [row], {**header, "suite": facts})
    record = Record(id="a", group="g", schema="{}")
    (folder / RECORDS).write_bytes(encode_records([record]))
    (folder / RESPONSES).write_text('{"record": "g/a", "model": "m", "text": "no"}\n')
    return folder


def test_to_read_a_run_runs_no_code_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's header may name the folder of a suite that came with it."""
    monkeypatch.chdir(tmp_path)
    kit = tmp_path / "downloaded" / "kit"
    kit.mkdir(parents=True)
    (kit / "suite.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")
    wrong = row_from_scored(_WRONG, "kit", "f")
    run = _suite_run(tmp_path / "run", "downloaded/kit", wrong)
    ended = invoke("results", "show", run)
    assert not (tmp_path / "ran").exists()
    assert "m free" in " ".join(f"{ended.output} {ended.exception}".split())


@pytest.mark.parametrize("label", [{}, {"verdicts": []}])
def test_a_row_of_no_answer_is_named(
    label: dict[str, UntypedJson], tmp_path: Path
) -> None:
    """A label without its record, or without a verdict, is no answer's."""
    wrong = row_from_scored(_WRONG, "passrate", "f")
    other = replace(wrong, label={**wrong.label, **label} if label else {})
    run = open_run(_suite_run(tmp_path, "passrate", other))
    with pytest.raises(BadData, match=r"m free, g/a.*no row of suite passrate"):
        scored_run(run, "passrate")
