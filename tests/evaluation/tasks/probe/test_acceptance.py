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
from evaluation.tasks.probe.acceptance import ask_service
from tests.evaluation.servers.contracts import CONTRACTS
from tests.evaluation.servers.loopback import Said, loopback, refusal

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from curation.core.json_types import Json

_APP = typer.Typer()
_APP.command()(fit)
_CLOSED: dict[str, Json] = {
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
            words = (file, "--for", "openai", "--ask", model, "--format", "json")
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
        _run(file, "--for", model)


def test_a_refusal_for_another_reason_tells_nothing(schemas: Path) -> None:
    """The profile's verdict is left, with the service's words."""
    words = (str(schemas / "closed.json"), "--for", "openai", "--ask")
    with loopback(lambda *_: refusal(400, "your account is odd")) as server:
        model = f"openai:{server.base}#small"
        _, out, _ = _run(*words, model, "--format", "json")
        asked = ask_service(model, _CLOSED, print)
    assert asked.accepted is None
    assert "your account is odd" in asked.message
    assert json.loads(out)["schemas"][0]["targets"][model]["verdict"] == "unknown"
    with pytest.raises(BadUsage, match="no served model"):
        ask_service("smollm2", {}, print)
