"""Every probe is what it says; profiles are made of what probes measured."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs
import pytest
import typer
from typer.testing import CliRunner

from curation.fit.profile import Effect, load_profile, read_profile
from curation.fit.verdict import judge_fit
from curation.schema.dialects import BY_NAME, DIALECTS
from curation.schema.keywords import ANNOTATIONS
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CannotCreate,
    NotPermitted,
    Unavailable,
)
from evaluation.commands.probe import probe
from evaluation.servers.provider import providers
from evaluation.tasks.probe.probe import (
    CONTEXTS,
    KEYWORD_PROBES,
    ROOT,
    pairs,
    place_probe,
)
from evaluation.tasks.probe.task import PROBES, all_placed
from tests.evaluation.servers.contracts import CONTRACTS, Contract, ended
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.tasks.probe.probe import PlacedProbe


DRAFTS = {
    "draft-04": (jsonschema.Draft4Validator, jsonschema_rs.Draft4Validator),
    "draft-06": (jsonschema.Draft6Validator, jsonschema_rs.Draft6Validator),
    "draft-07": (jsonschema.Draft7Validator, jsonschema_rs.Draft7Validator),
    "2019-09": (jsonschema.Draft201909Validator, jsonschema_rs.Draft201909Validator),
    "2020-12": (jsonschema.Draft202012Validator, jsonschema_rs.Draft202012Validator),
}
#: Words that assert by what refers to them, or that every probe has.
SAID_BY_OTHERS = {"$schema", "$vocabulary", "$defs", "definitions"}
#: Words without which a reference leads nowhere, or elsewhere.
IDENTIFYING = {"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"}


def _errors_of_jsonschema(
    schema: UntypedJson, dialect: str, value: UntypedJson
) -> Iterator[str]:
    made = DRAFTS[dialect][0]
    checker = made.FORMAT_CHECKER
    pending = list(made(schema, format_checker=checker).iter_errors(value))
    for error in pending:
        pending.extend(error.context or ())
        yield "/".join(map(str, error.absolute_schema_path))


def _errors_of_rs(
    schema: UntypedJson, dialect: str, value: UntypedJson
) -> Iterator[str]:
    made = DRAFTS[dialect][1](schema, validate_formats=True)
    for error in made.iter_errors(value):
        yield "/".join(map(str, error.schema_path))


@cache
def _every() -> list[PlacedProbe]:
    return list(all_placed(DIALECTS))


@pytest.mark.slow
def test_both_validators_agree_with_every_pair() -> None:
    """In every dialect and context: the one value is valid, the other is not."""
    wrong = []
    for each in _every():
        for judge in (_errors_of_jsonschema, _errors_of_rs):
            where = (each.probe.name, each.context, each.dialect, judge.__name__)
            if list(judge(each.schema, each.dialect, each.valid)):
                wrong.append((*where, "valid is refused"))
            wrong += [
                (*where, f"{keyword}: violating is accepted")
                for keyword, value in each.violating.items()
                if not list(judge(each.schema, each.dialect, value))
            ]
    assert wrong == []


def test_a_text_of_a_pair_violates_one_keyword_alone() -> None:
    """By both validators; the valid one violates neither."""
    wrong = []
    for pair in pairs():
        for judge in (_errors_of_jsonschema, _errors_of_rs):
            for keyword, value in {**pair.violating, "": pair.valid}.items():
                paths = judge(pair.schema, pair.since, value)
                refusing = {path.split("/")[0] for path in paths}
                # jsonschema-rs names the branch by which an `if` refuses.
                named = {"if"} if refusing & {"then", "else"} else refusing
                expected = {keyword} - {""}
                if named != expected and not (refusing and refusing <= expected):
                    wrong.append((pair.name, keyword, refusing))
    assert wrong == []


def test_there_are_a_hundred_pairs_each_where_it_stands() -> None:
    """Most are violated on both sides."""
    assert len({pair.name for pair in pairs()}) == 100
    assert all(pair.contexts and {*pair.contexts} <= {*CONTEXTS} for pair in pairs())
    assert sum(len(pair.violating) == 2 for pair in pairs()) > 70


def test_without_the_keyword_the_violating_value_is_accepted() -> None:
    """Nothing else refuses it, in any context: what is blocked is blocked for that."""
    wrong = []
    for each in _every():
        if (
            each.violating
            and each.probe in KEYWORD_PROBES
            and each.probe.keyword not in IDENTIFYING
        ):
            loose = _without(each.probe.schema, each.probe.keyword)
            probe = replace(each.probe, schema=loose)
            schema = place_probe(probe, each.context, BY_NAME[each.dialect]).schema
            (value,) = each.violating.values()
            if list(_errors_of_rs(schema, each.dialect, value)):
                wrong.append((each.probe.name, each.context, each.dialect))
    assert wrong == []


def _without(schema: UntypedJson, keyword: str) -> UntypedJson:
    """Return a schema without a keyword, at every depth."""
    if isinstance(schema, dict):
        kept = {name: each for name, each in schema.items() if name != keyword}
        return {name: _without(each, keyword) for name, each in kept.items()}
    if isinstance(schema, list):
        return [_without(each, keyword) for each in schema]
    return schema


@pytest.mark.slow
def test_every_schema_is_one_of_its_dialect() -> None:
    """By the draft's own metaschema."""
    for each in _every():
        if each.context in {ROOT, "$ref"}:
            DRAFTS[each.dialect][0].check_schema(each.schema)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_every_keyword_of_every_dialect_has_a_probe(dialect: object) -> None:
    """Keywords that assert, that apply, that refer and that annotate."""
    found = BY_NAME[str(getattr(dialect, "name", ""))]
    probed = {each.keyword for each in PROBES if found in each.dialects}
    assert found.effective - SAID_BY_OTHERS <= probed


def test_every_annotation_has_a_probe() -> None:
    """In the newest dialect."""
    assert not ANNOTATIONS - SAID_BY_OTHERS - {each.keyword for each in PROBES}


def test_names_are_unique_in_a_dialect() -> None:
    """An id in a run's rows means one probe."""
    ids = [(each.probe.name, each.context, each.dialect) for each in _every()]
    assert len(ids) == len(set(ids))


def test_without_dialects_each_probe_is_put_once() -> None:
    """Into the newest that has it."""
    once = [each for each in all_placed() if each.context == ROOT]
    assert len(once) == sum(ROOT in each.contexts for each in PROBES)
    assert {each.dialect for each in once} == {
        "draft-04",
        "draft-07",
        "2019-09",
        "2020-12",
    }


def test_contexts_say_definitions_as_their_dialect_does() -> None:
    """`definitions` and `id` where the dialect has no others."""
    (probe,) = [each for each in PROBES if each.name == "id"]
    schema = place_probe(probe, "$ref", BY_NAME["draft-04"]).schema
    assert json.loads(json.dumps(schema)) == {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/probe"}},
        "required": ["a"],
        "definitions": {
            "whole": {"id": "https://example.com/probe", "type": "integer"},
            "probe": {"$ref": "https://example.com/probe"},
        },
    }


def test_a_probe_is_not_put_where_it_means_nothing() -> None:
    """`#` is another schema below the root."""
    (probe,) = [each for each in PROBES if each.name == "$ref (to the root)"]
    assert len(probe.contexts) < len(CONTEXTS)
    with pytest.raises(ValueError, match="item"):
        place_probe(probe, "item", BY_NAME["2020-12"])


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
    # A profile is what `fit` takes next.
    assert ("csbdata fit FILE --for" in result.stderr) == ("--as-profile" in more)
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
        thinks = contract.thinks and way not in providers()[provider].unthinking.ways
        reasons = "yes" if thinks else "not told"
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
        shown -= {Effect.UNKNOWN}
        if keyword in profile.accepted or shown:
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


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (refusal(400, {"error": {"message": "Invalid schema: no"}}), "refused"),
        (ended("vllm", '{"', "length"), "not told"),
    ],
    ids=["refused", "for ever"],
)
def test_a_keyword_without_an_answer_is_told_from_its_neighbours(
    said: Said, outcome: str
) -> None:
    """Alone it is refused, or never ends; the others are asked about without it."""
    reply = _model(CONTRACTS["vllm"])
    with loopback(
        lambda body, at: said if '"pattern"' in json.dumps(body) else reply(body, at)
    ) as server:
        _, told = _told(f"vllm:{server.base}#small")
    outcomes = {row["keyword"]: row["in strict"] for row in told["tables"][1]["rows"]}
    assert outcomes.pop("pattern") == outcome
    assert {*outcomes.values()} == {"enforced"}


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
        with pytest.raises(BadUsage, match="no served model"):
            _told("smollm2")
    assert not server.asked
