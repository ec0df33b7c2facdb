"""Commands that show a failure again: from another folder, on the data of the run."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.system.errors import BadData
from curation.system.terminal import command_line_of
from evaluation.analysis.recorded_cases import case_of
from evaluation.commands.eval import evaluate
from evaluation.commands.results import app as results
from evaluation.commands.suite import app as suite
from evaluation.core.records import Record, encode_records
from evaluation.results.reader import open_run
from evaluation.walking.rerun import absolute_words
from tests.evaluation.measuring import _fetch, miniature
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from typer.testing import Result as Answer


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of data, engine and tokenizer; return another folder."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here" / "data").mkdir(parents=True)
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    test = {
        "description": "",
        "schema": {"type": "object"},
        "tests": [{"description": "", "valid": False, "data": 7}],
    }
    Path("data", "Made---one.json").write_text(json.dumps(test), "utf-8")
    shutil.copy(miniature("accept_all"), "mine.py")
    made.byte_level(Path("tokenizer"))
    return tmp_path / "there"


def _ask(*words: str) -> Answer:
    app = typer.Typer()
    app.command("eval")(evaluate)
    app.add_typer(results, name="results")
    app.add_typer(suite, name="suite")
    with command_line_of(words):
        return CliRunner().invoke(app, list(words))


def _shown_again(run: str) -> list[str]:
    shown = _ask("results", "show", run, "--failures", "--format", "json")
    ((failure, *_),) = (table["rows"] for table in json.loads(shown.stdout)["tables"])
    return shlex.split(failure["to see it again"])[1:]


def test_a_case_is_measured_again_from_another_folder(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine, tokenizer and data are found; data that changed since is refused."""
    words = ["eval", "--engine", "mine.py@vendor", "--data", "data", "--task", "masks"]
    words += ["--tokenizer", "./tokenizer", "--run-dir", str(elsewhere / "run")]
    assert _ask(*words).exit_code == 0
    data = Path("data", "Made---one.json").resolve()
    monkeypatch.chdir(elsewhere)
    again = [*_shown_again("run"), "--run-dir", "again"]
    answer = _ask(*again)
    assert answer.exit_code == 0, answer.output
    (first,), (second,) = (list(open_run(Path(n)).rows()) for n in ("run", "again"))
    assert first.fingerprint == second.fingerprint
    data.write_text(data.read_text().replace("7", "8"))
    for refused in (_ask(*again).exception, _shrunk(Path("run"))):
        assert isinstance(refused, BadData)
        assert "changed" in refused.what


def _shrunk(folder: Path) -> BadData:
    with pytest.raises(BadData) as refused:
        case_of(open_run(folder), "masks", "Made/one", _fetch(folder))
    return refused.value


def test_responses_are_scored_again_with_the_records_of_the_run(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another folder, after the file of records is gone."""
    schema = '{"type": "object", "required": ["n"]}'
    Path("r.jsonl").write_bytes(encode_records([Record(id="a", schema=schema)]))
    Path("answers.jsonl").write_text('{"record": "a", "text": "no"}')
    words = ["suite", "score", "passrate", "answers.jsonl", "--data", "r.jsonl"]
    answer = _ask(*words, "--run-dir", str(elsewhere / "run"))
    assert answer.exit_code == 0, answer.output
    Path("r.jsonl").unlink()
    monkeypatch.chdir(elsewhere)
    answer = _ask(*_shown_again("run"), "--run-dir", "again")
    assert answer.exit_code == 0, answer.output


def test_words_that_are_no_paths_stay(elsewhere: Path) -> None:
    """An id, a name and a value of --set may be called like a file."""
    (elsewhere.parent / "here" / "passrate").mkdir()
    words = ["csbdata", "suite", "run", "passrate", "--id", "data/Made---one.json"]
    words += ["--set", "data=data", "--engine", "llguidance@vendor"]
    assert absolute_words(words) == words
    path = str(Path("data").resolve())
    assert absolute_words(["--data", "data", "--model=data"]) == [
        *("--data", path),
        f"--model={path}",
    ]
