"""`csbdata probe` tells what the answers of a server show, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from curation.fit.profile import Effect, load_profile, read_profile
from curation.fit.verdict import judge_fit
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CannotCreate,
    NotPermitted,
    Unavailable,
)
from evaluation.commands.probe import probe
from evaluation.servers.provider import providers
from evaluation.tasks.probe.keyword_probes import KEYWORD_PROBES
from tests.evaluation.servers.contracts import CONTRACTS, Contract
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_APP = typer.Typer()
_APP.command()(probe)
_VALID = {json.dumps(it.schema): it.valid for it in KEYWORD_PROBES}
_JSON_MODES = ('"json_object"', '"format": "json"', '"application/json"')
_PROBED = ("minimum", "uniqueItems", "not", "enum", "pattern", "maxItems", "oneOf")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "OLLAMA"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key")


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 (JSON)
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if not isinstance(value, str):
            yield from _texts(inner) if isinstance(inner, dict | list | str) else ()


def _wanted(body: Any) -> str:  # noqa: ANN401 (JSON)
    """Return what a prompt asks for, as an obedient model writes it."""
    asked = next(it for it in _texts(body) if "nothing else: " in it)
    return asked.partition("nothing else: ")[2]


def _kept(schema: Any, asked: str, ignored: tuple[str, ...]) -> str:  # noqa: ANN401 (JSON)
    """Return what the same model writes under a schema, of which some is ignored."""
    values = json.loads(asked) if asked.startswith("{") else {}
    for name, own in schema.get("properties", {}).items():
        if not any(word in own for word in ignored):
            untyped = {key: it for key, it in own.items() if key != "type"}
            known = _VALID.get(json.dumps(own), _VALID.get(json.dumps(untyped), 1))
            values[name] = known
    return json.dumps({name: values[name] for name in schema.get("properties", {})})


def _model(
    contract: Contract, *, ignored: tuple[str, ...] = (), holds: bool = True
) -> Callable[[dict[str, Any], int], Said]:
    def reply(body: dict[str, Any], _number: int) -> Said:
        asked = _wanted(body)
        sent = [contract.schema(body, way) for way in contract.schemas]
        schemas = [it for it in sent if isinstance(it, dict)]
        text = asked
        if holds and schemas:
            text = _kept(schemas[0], asked, ignored)
        elif holds and any(word in json.dumps(body) for word in _JSON_MODES):
            text = "{}"
        elif contract.schema(body, "tool"):
            text = json.dumps({"said": asked})
        return contract.reply(body, text)

    return reply


def _told(model: str, *more: str) -> tuple[dict[tuple[str, str], str], Any]:
    words = [model, "--format", "json", *more]
    result = CliRunner().invoke(_APP, words, catch_exceptions=False)
    told = json.loads(result.stdout)
    rows = told["tables"][0]["rows"]
    answers = {(row["way"], row["feature"]): row["answer"] for row in rows}
    assert all(row["why"] for row in rows if row["answer"] != "yes"), rows
    return answers, told


@pytest.mark.parametrize("provider", CONTRACTS)
def test_a_server_that_constrains_is_told_from_its_answers(
    tmp_path: Path, provider: str
) -> None:
    """In at most 20 requests, and its profile refuses what the contract's refuses."""
    contract = CONTRACTS[provider]
    file = tmp_path / "own.toml"
    reply = _model(contract, ignored=("pattern",))
    with loopback(reply) as server:
        model = f"{provider}:{server.base}#small"
        answers, told = _told(model, "--as-profile", str(file))
    assert len(server.asked) == told["requests"] <= 20
    schemas = [way for way in providers()[provider].ways if way != "json"]
    for way in schemas:
        assert answers[way, "constrains"] == "yes"
        assert answers[way, "property order"] == "yes"
        reasons = "yes" if contract.thinks else "not told"
        assert answers[way, "while reasoning"] == reasons
        whole = (provider, way) == ("gemini", "tool")
        assert answers[way, "streams"] == ("no" if whole else "yes")
    assert answers[schemas[-1], "under concurrency"] == "yes"
    if "json" in contract.ways:
        assert answers["json", "an object at all"] == "yes"
    profile = read_profile(file)
    known = load_profile(contract.profile) if contract.profile else None
    for keyword in _PROBED:
        probed = next(it for it in KEYWORD_PROBES if it.keyword == keyword)
        shown = {it.effect for it in judge_fit(probed.schema, profile)}
        if keyword in profile.taken or shown:
            refused = known and any(
                it.effect is Effect.REFUSED
                for it in judge_fit({"type": "object", **probed.schema}, known)
                if it.keyword == keyword
            )
            held = {Effect.IGNORED} if keyword == "pattern" else set()
            assert shown == ({Effect.REFUSED} if refused else held), keyword


def test_a_server_that_ignores_schemas_is_told_as_such() -> None:
    """No for each way, and nothing is asked about keywords or at one time."""
    with loopback(_model(CONTRACTS["vllm"], holds=False)) as server:
        answers, told = _told(f"vllm:{server.base}#small")
    assert {answers[way, "constrains"] for way in ("strict", "tool")} == {"no"}
    assert answers["json", "an object at all"] == "no"
    assert ("strict", "under concurrency") not in answers
    assert [table["name"] for table in told["tables"]] == ["conformance"]


def test_a_model_that_keeps_any_schema_tells_nothing() -> None:
    """Its answers would be the same on a server that does not constrain."""
    text = json.dumps(dict.fromkeys(("deck", "mast", "anchor"), 1))
    with loopback(lambda _body, _number: answer(text)) as server:
        answers, _ = _told(f"{server.base}#small")
    assert answers["strict", "constrains"] == "not told"


def test_a_limit_leaves_the_rest_untold() -> None:
    """`--max-requests` holds; what was not asked is not told, with the reason."""
    with loopback(_model(CONTRACTS["vllm"])) as server:
        answers, told = _told(f"vllm:{server.base}#small", "--max-requests", "2")
    assert len(server.asked) == told["requests"] == 2
    reasons = {row["why"] for row in told["tables"][0]["rows"]}
    assert "--max-requests 2 is reached" in reasons
    assert answers["strict", "constrains"] == "not told"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (Said(pieces=[b"<html>no</html>"]), Unavailable),
        (refusal(400, {"error": {"message": "bad request"}}), Unavailable),
        (refusal(401, {"error": {"message": "no"}}), NotPermitted),
        (refusal(402, {"error": {"message": "pay"}}), Unavailable),
    ],
    ids=["html", "refuses", "key", "payment"],
)
def test_a_server_that_answers_nothing_ends_the_command(
    tmp_path: Path, said: Said, fault: type[Exception]
) -> None:
    """One line with the server's words, and no table or profile of nothing."""
    file = tmp_path / "own.toml"
    words = ["--as-profile", str(file)]
    with loopback(lambda _body, _number: said) as server, pytest.raises(fault):
        _told(f"{server.base}#small", *words)
    assert len(server.asked) <= 20
    assert not [*tmp_path.iterdir()]


def test_nothing_is_sent_that_makes_no_sense(tmp_path: Path) -> None:
    """A limit without a price, a model that is not served, a place of no file."""
    (tmp_path / "file").touch()
    with loopback(_model(CONTRACTS["vllm"])) as server:
        model = f"vllm:{server.base}#small"
        with pytest.raises(BadConfiguration, match="needs a price"):
            _told(model, "--max-cost", "1")
        with pytest.raises(CannotCreate):
            _told(model, "--as-profile", str(tmp_path / "file" / "own.toml"))
        with pytest.raises(BadUsage, match="no model behind a server"):
            _told("smollm2")
    assert not server.asked
