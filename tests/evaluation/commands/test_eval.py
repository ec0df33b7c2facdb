"""`csbdata eval`: from a command line to tables, rows and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.system.errors import BadConfiguration, Unavailable
from evaluation.commands.eval import _default_tasks, evaluate
from evaluation.commands.options import read_assignments
from evaluation.results.reader import open_run
from tests.evaluation.measuring import miniature
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from typer.testing import Result as Answer

_TEST = {
    "description": "two members",
    "schema": {"type": "object"},
    "tests": [
        {"description": "valid", "valid": True, "data": {"a": 1, "b": [True]}},
        {"description": "invalid", "valid": False, "data": 7},
    ],
}


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the words of a run over two schemas with tests of their own."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    for name in ("one", "two"):
        (data / f"Made---{name}.json").write_text(json.dumps(_TEST), "utf-8")
    tokenizer = made.byte_level(tmp_path / "tokenizer")
    return ["--data", str(data), "--tokenizer", str(tokenizer), "--task", "masks"]


def _ask(*words: str) -> Answer:
    app = typer.Typer()
    app.command()(evaluate)
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def test_a_run_prints_tables_and_the_next_command(words: list[str]) -> None:
    """Figures on stdout; what was done and what comes next on stderr."""
    answer = _ask("--engine", miniature("accept_all"), *words, "--run-dir", "run")
    assert answer.exit_code == 0
    assert "Coverage" in answer.stdout
    assert "2 rows: 2 run now" in answer.stderr
    lines = answer.stderr.splitlines()
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


def test_one_schema_is_chosen_by_its_id(words: list[str], tmp_path: Path) -> None:
    """`--id` is how a failure is seen again."""
    ids = ["--id", "Made/one", "--run-dir", "run"]
    answer = _ask("--engine", miniature("accept_all"), *words, *ids)
    assert answer.exit_code == 0
    assert len(open_run(tmp_path / "run")) == 1


def test_an_absent_engine_is_told_and_the_others_go_on(words: list[str]) -> None:
    """It is said first and last, with what to do; the exit code is 69 all the same."""
    engines = ["--engine", miniature("absent"), "--engine", miniature("accept_all")]
    runner = CliRunner()
    app = typer.Typer()
    app.command()(evaluate)
    answer = runner.invoke(app, [*engines, *words, "--run-dir", "run"])
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
    monkeypatch.setattr("evaluation.asking.participants.find_spec", lambda _: None)
    words[words.index("--tokenizer") + 1] = "smollm2"
    with pytest.raises(Unavailable, match=r"tokenizers.*python -m pip install"):
        _ask("--engine", miniature("accept_all"), *words)
    assert not (tmp_path / "cache").exists()


def test_what_is_measured_is_said_before_it_starts(words: list[str]) -> None:
    """Data, number of schemas, tasks, engines, folder; above everything else."""
    answer = _ask("--engine", miniature("accept_all"), *words, "--run-dir", "run")
    lines = answer.stderr.splitlines()
    assert lines[0].startswith("data: ")
    assert ", 2 schemas, instances given" in lines[0]
    assert lines[1] == "tasks: masks"
    assert lines[2].startswith("engines: accept_all")
    assert lines.index("folder: run") < lines.index("Measuring 2 ...")


def test_the_help_names_the_default_tasks() -> None:
    """Those that run without a word, with and without the libraries of models."""
    app = typer.Typer(rich_markup_mode=None)
    app.command()(evaluate)
    help_ = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    default = next(
        part for part in help_.split("[default: ") if part.startswith("masks")
    )
    with_models, without = _default_tasks("smollm2"), {"masks"}
    assert all(name in default for name in with_models)
    assert default.index("where the libraries") > default.index("masks")
    assert set(with_models) >= without
    behind_a_server = _default_tasks("http://localhost:8000/v1#m")
    assert set(behind_a_server) == {"coverage", "efficiency"}
    assert "coverage" not in _default_tasks("shape:llama-3.2-1b")


@pytest.mark.parametrize(
    ("option", "match"),
    [
        (["--set", "sizes"], "takes NAME=VALUE"),
        (["--set", "bogus=1"], r"\(masks\) has the setting 'bogus': there are: orders"),
        (["--set", "orders=x"], "--set: Expected `int`"),
        (["--set", "drafts=7"], "'drafts': probe and test-suite has it"),
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
