"""`csbdata eval`, `demo` and what shows a failure of a run again."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadConfiguration, BadData, BadUsage, Unavailable
from evaluation.analysis.recorded_cases import make_case
from evaluation.commands.eval import _default_tasks
from evaluation.commands.options import (
    RunOptions,
    RunSettings,
    read_assignments,
    run_request,
    split_settings,
)
from evaluation.core.records import Record, encode_records
from evaluation.core.run_header import absolute_words
from evaluation.results.reader import open_run
from evaluation.runner.request import ModelOptions, RunRequest
from tests.evaluation.measuring import _fetch, miniature
from tests.evaluation.tokenizers import made
from tests.invoking import invoke

if TYPE_CHECKING:
    from typer.testing import Result as Answer


#: A file of MaskBench: a schema with a valid and an invalid text.
_TEST = {
    "schema": {"type": "object"},
    "tests": [
        {"valid": True, "data": {"a": 1, "b": [True]}},
        {"valid": False, "data": 7},
    ],
}


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in a folder of data and tokenizer; return the words of a run over them."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here" / "data").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    for name in ("one", "two"):
        Path("data", f"Made---{name}.json").write_text(json.dumps(_TEST), "utf-8")
    made.byte_level(Path("tokenizer"))
    return ["--data", "data", "--tokenizer", "./tokenizer", "--task", "masks"]


def _ask(*words: str) -> Answer:
    return invoke("eval", *words, catch_exceptions=False)


def test_a_run_says_what_is_measured_prints_tables_and_the_next_command(
    words: list[str],
) -> None:
    """Figures on stdout; before them on stderr what is measured, then what was done."""
    answer = _ask("--engine", miniature("accept_all"), *words, "--run-dir", "run")
    assert answer.exit_code == 0
    assert "Coverage" in answer.stdout
    lines = answer.stderr.splitlines()
    assert lines[0].startswith("data: ")
    assert ", 2 schemas, instances given" in lines[0]
    assert lines[1] == "tasks: masks"
    assert lines[2].startswith("engines: accept_all")
    assert lines.index("folder: run") < lines.index("Measuring 2 ...")
    assert "2 rows: 2 run now" in answer.stderr
    assert any(line.startswith("  csbdata results show run --table ") for line in lines)
    assert lines[-2:] == ["What failed:", "  csbdata results show run --failures"]


def test_the_same_command_finds_what_is_done(words: list[str]) -> None:
    """Nothing is run twice, and the figures are the same."""
    command = ["--engine", miniature("accept_all"), *words, "--format", "json"]
    first, second = _ask(*command), _ask(*command)
    assert "2 found in the folder" in second.stderr
    assert json.loads(first.stdout)["tables"] == json.loads(second.stdout)["tables"]
    told = json.loads(second.stdout)["header"]
    assert told["tasks"] == ["masks"]
    assert told["data"]["schemas"] == 2


def test_an_absent_engine_is_told_and_the_others_go_on(words: list[str]) -> None:
    """It is said first and last, with what to do; the exit code is 69 all the same."""
    engines = ["--engine", miniature("absent"), "--engine", miniature("accept_all")]
    answer = invoke("eval", *engines, *words, "--run-dir", "run")
    assert isinstance(answer.exception, Unavailable)
    assert answer.exception.exit_code == 69
    assert "absent" in str(answer.exception)
    first, second, *_ = answer.stderr.splitlines()
    assert first.startswith("not run: absent (no version): ")
    assert second == "  pip install 'csbdata-no-such-engine>=2'"
    assert len(open_run(Path("run"))) == 2
    with pytest.raises(Unavailable, match="no engine"):
        _ask(*engines[:2], *words)


def test_a_library_that_is_missing_is_said_before_anything_is_fetched(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra `eval` nothing is downloaded, and the command is named."""
    monkeypatch.setattr("evaluation.runner.participants.find_spec", lambda _: None)
    words[words.index("--tokenizer") + 1] = "smollm2"
    with pytest.raises(Unavailable, match=r"tokenizers.*python -m pip install"):
        _ask("--engine", miniature("accept_all"), *words)
    assert not (tmp_path / "cache").exists()


def test_the_help_names_the_default_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that run without a word, with and without the libraries of models."""
    help_ = " ".join(_ask("--help").stdout.split())
    default = next(
        part for part in help_.split("[default: ") if part.startswith("masks")
    )
    with_models, without = _default_tasks("smollm2"), {"masks"}
    assert all(name in default for name in with_models)
    assert default.index("where the libraries") > default.index("masks")
    assert set(with_models) >= without
    behind_a_server = _default_tasks("http://localhost:8000/v1#m")
    assert set(behind_a_server) == {"coverage", "efficiency"}
    for lacking, more in (([], ["coverage", "efficiency"]), (["torch"], [])):
        libraries = "evaluation.models.store.missing_libraries"
        monkeypatch.setattr(libraries, lambda lacking=lacking: lacking)
        assert _default_tasks("smollm2") == ["masks", *more]


@pytest.mark.parametrize(
    ("option", "match"),
    [
        (["--set", "sizes"], "takes NAME=VALUE"),
        (["--set", "bogus=1"], r"\(masks\) has the setting 'bogus': there are: orders"),
        (["--set", "orders=x"], "--set: Expected `int`"),
        (["--set", "ordres=1"], r"\(masks\).*did you mean orders\?"),
        (["--set", "drafts=7"], "'drafts': probe and test-suite has it: --task probe"),
        (["--task", "mask"], "there is no task 'mask': did you mean masks"),
        (["--engine", "llguidence"], "llguidance"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str], option: list[str], match: str
) -> None:
    """Before anything is run, with what would make sense."""
    engine = [] if "--engine" in option else ["--engine", miniature("accept_all")]
    with pytest.raises(BadConfiguration, match=match):
        _ask(*engine, *words, *option)


def test_a_command_line_without_options_asks_what_a_program_asks() -> None:
    """The defaults of `csbdata eval` are those of `csbdata.run`."""
    asked = run_request(RunOptions(), settings=RunSettings(), values={}, run_dir=None)
    assert asked == RunRequest(models=[ModelOptions()])
    memory, wall = asked.bounds.memory_mb, asked.bounds.wall_times
    assert (memory, wall, asked.bounds.load_seconds) == (4096, 4.0, 180.0)


@pytest.mark.parametrize(
    ("name", "within", "beyond"),
    [
        ("temperature", 100, 101),
        # A clock can wait no longer.
        ("patience", 1e5, 100_001),
        ("compile_seconds", 1e5, 100_001),
        ("compile_seconds", 0.5, 0),
    ],
)
def test_a_setting_has_a_largest_value(name: str, within: float, beyond: float) -> None:
    """What lies beyond is refused."""
    settings, others = split_settings([f"{name}={within}"])
    assert (getattr(settings, name), others) == (within, {})
    with pytest.raises(BadUsage, match="Expected"):
        split_settings([f"{name}={beyond}"])


def test_options_that_few_need_are_in_the_whole_help_alone() -> None:
    """`--help` is one screen."""
    every, shown = (
        set(_ask(option).stdout.split()) for option in ("--help-all", "--help")
    )
    options = {word for word in every - shown if word.startswith("--")}
    few = "split option adapt max-cost max-requests jobs tokenizer"
    assert options == {f"--{name}" for name in few.split()}


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("orders=12345678", 12345678),
        ("sha256=12345678", "12345678"),
        (f"orders={'[' * 100_000}", "[" * 100_000),
    ],
)
def test_a_value_is_json_where_it_can_be(assignment: str, value: object) -> None:
    """A digest is text even if it has no letters, and so is what nests too deep."""
    name = assignment.partition("=")[0]
    assert read_assignments([assignment]) == {name: value}


@pytest.mark.slow
def test_the_demo_ends_with_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each schema has its line; one source of the sample is built for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    answer = invoke("demo", "--run-dir", "run", catch_exceptions=False)
    assert answer.exit_code == 0
    assert "By schema" in answer.stdout
    assert "under constrained" in answer.stdout
    built = tmp_path / "cache" / "sample" / "demo"
    assert [path.parent.name for path in built.glob("*/test-*.parquet")] == ["Snowplow"]
    assert "  csbdata eval --data FOLDER" in answer.stderr.splitlines()


@pytest.fixture
def elsewhere(words: list[str], tmp_path: Path) -> Path:
    """Stand in a folder of data, engine and tokenizer; return another folder."""
    assert words
    shutil.copy(miniature("accept_all"), "mine.py")
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


def _shown_again(run: str) -> list[str]:
    shown = invoke("results", "show", run, "--failures", "--format", "json")
    ((failure, *_),) = (table["rows"] for table in json.loads(shown.stdout)["tables"])
    return shlex.split(failure["to see it again"])[1:]


def test_a_case_is_measured_again_from_another_folder(
    words: list[str], elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine, tokenizer and data are found; data that changed since is refused."""
    words += ["--engine", "mine.py@vendor", "--run-dir", str(elsewhere / "run")]
    assert _ask(*words).exit_code == 0
    data = Path("data", "Made---one.json").resolve()
    monkeypatch.chdir(elsewhere)
    again = [*_shown_again("run"), "--run-dir", "again"]
    answer = invoke(*again)
    assert answer.exit_code == 0, answer.output
    first, second = (next(iter(open_run(Path(n)).rows())) for n in ("run", "again"))
    assert (first.id, first.fingerprint) == (second.id, second.fingerprint)
    data.write_text(data.read_text().replace("7", "8"))
    refused = invoke(*again).exception
    assert isinstance(refused, BadData)
    assert "changed" in refused.message
    with pytest.raises(BadData, match="changed"):
        make_case(open_run(Path("run")), "masks", "Made/one", _fetch(elsewhere))


@pytest.mark.slow
def test_responses_are_scored_again_with_the_records_of_the_run(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another folder, after the file of records is gone."""
    schema = '{"type": "object", "required": ["n"]}'
    Path("r.jsonl").write_bytes(encode_records([Record(id="a", schema=schema)]))
    Path("answers.jsonl").write_text('{"record": "a", "text": "no"}')
    words = ["suite", "score", "passrate", "answers.jsonl", "--data", "r.jsonl"]
    answer = invoke(*words, "--run-dir", elsewhere / "run")
    assert answer.exit_code == 0, answer.output
    Path("r.jsonl").unlink()
    monkeypatch.chdir(elsewhere)
    answer = invoke(*_shown_again("run"), "--run-dir", "again")
    assert answer.exit_code == 0, answer.output


@pytest.mark.usefixtures("words")
def test_words_that_are_no_paths_stay() -> None:
    """An id, a name and a value of --set may be called like a file."""
    Path("passrate").mkdir()
    given = ["csbdata", "suite", "run", "passrate", "--id", "data/Made---one.json"]
    given += ["--set", "data=data", "--engine", "llguidance@vendor"]
    assert absolute_words(given) == given
    path = str(Path("data").resolve())
    found = absolute_words(["--data", "data", "--model=data"])
    assert found == ["--data", path, f"--model={path}"]
