"""A service is asked with schemas once each; its answers make a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.fit import fit
from curation.core import engine_trials
from curation.system.errors import BadUsage
from evaluation.analysis.engine_trials import EngineTrials
from evaluation.commands.probe import probe
from evaluation.tasks.probe.acceptance import ask_records
from tests.evaluation.servers.contracts import CONTRACTS
from tests.evaluation.servers.loopback import Said, loopback, refusal

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

_APP = typer.Typer()
_APP.command()(probe)
_APP.command()(fit)
_CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
_SCHEMAS = {"closed": _CLOSED, "open": {"type": "object", "properties": {}}}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setattr(engine_trials, "_MAKERS", [EngineTrials])


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """Write a schema that strict mode accepts, and one that it rejects."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    for name, schema in _SCHEMAS.items():
        (folder / f"{name}.json").write_text(json.dumps(schema), "utf-8")
    return folder


def _openai(body: dict[str, Any], _number: int) -> Said:
    return CONTRACTS["openai"].reply(body, '{"a": ""}')


def _run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(_APP, words, catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_an_answer_stands_beside_ours(schemas: Path) -> None:
    """Once, unchanged, in at most 16 tokens; the service's own words are the reason."""
    with loopback(_openai) as server:
        model = f"openai:{server.base}#small"
        for name, code in (("closed", 0), ("open", 4)):
            file = str(schemas / f"{name}.json")
            words = ("fit", file, "--for", "openai", "--ask", model, "--format", "json")
            ended, out, told = _run(*words)
            assert ended == code
            targets = json.loads(out)["schemas"][0]["targets"]
            verdict = "accepted" if name == "closed" else "rejected"
            assert targets[model]["verdict"] == verdict
            assert "1 request, what they cost is not known" in told
    sent = [json.dumps(it) for it in server.asked]
    assert all(json.dumps(_CLOSED["properties"]) in it for it in sent[:2])
    (finding,) = targets[model]["findings"]
    assert "Invalid schema: an object needs" in finding["sentence"]
    with pytest.raises(BadUsage, match="no such target"):
        _run("fit", file, "--for", model)


def test_a_table_is_resumed_and_what_had_no_answer_is_asked_again(
    schemas: Path, tmp_path: Path
) -> None:
    """A line a record, written as it comes; --max-requests ends it."""
    table = tmp_path / "table.jsonl"
    words = ("--acceptance", str(schemas), "--out", str(table), "--format", "json")
    with loopback(_openai) as server:
        model = f"openai:{server.base}#small"
        _, _, told = _run("probe", model, *words, "--max-requests", "2")
        assert "1 record of 2" in told
        assert len(table.read_text().splitlines()) == 1
        _, out, _ = _run("probe", model, *words)
        asked = len(server.asked)
        _run("probe", model, *words)
        assert len(server.asked) == asked
    rows = json.loads(out)["tables"][0]["rows"]
    assert {it["record"]: it["verdict"] for it in rows} == {
        "files/closed": "accepted",
        "files/open": "rejected",
    }
    torn = table.read_text().replace("rejected", "unknown")
    table.write_text(torn + '{"rec', "utf-8")
    with loopback(lambda *_: refusal(400, "your account is odd")) as server:
        model = f"openai:{server.base}#small"
        _, out, _ = _run("probe", model, *words)
    verdicts = {it["verdict"] for it in json.loads(out)["tables"][0]["rows"]}
    assert verdicts == {"accepted", "unknown"}


def test_a_cost_without_a_price_is_refused_before_anything_is_sent(
    schemas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for every other command that sends."""
    monkeypatch.chdir(tmp_path)  # where the table would be
    with loopback(_openai) as server:
        model = f"openai:{server.base}#small"
        words = ("probe", model, "--acceptance", str(schemas), "--max-cost", "1")
        with pytest.raises(BadUsage, match="needs a price"):
            _run(*words)
    assert server.asked == []
    with pytest.raises(BadUsage, match="no served model"):
        next(ask_records("smollm2", [], None, print))
