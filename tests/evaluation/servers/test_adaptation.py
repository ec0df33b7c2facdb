"""Schemas are fitted to what a provider takes, and its answers are decoded."""

from __future__ import annotations

import json
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.fit.answers import fit_schema
from curation.fit.profile import load_profile
from curation.system.progress import Quiet
from evaluation.core.records import Adapt, Record, encode_records
from evaluation.results.reader import open_run
from evaluation.runner.request import ModelOptions, choose_suite
from evaluation.servers import adaptation
from evaluation.servers.adaptation import SchemaAdapter
from tests.evaluation.measuring import texts_request
from tests.evaluation.servers.loopback import Said, answer, loopback
from tests.evaluation.suites.coverage.written_texts import text_from_row
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evaluation.suites.coverage.texts import GeneratedText

    _Run = Callable[..., tuple[dict[str, GeneratedText], list[dict[str, Any]]]]


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _prepared(
    folder: Path,
    *schemas: str,
    profile: str = "openai-strict",
    adapt: Adapt = Adapt.SAFE,
) -> tuple[SchemaAdapter, list[Record]]:
    """Return what has fitted schemas, and their records."""
    records = [Record(id=str(at), schema=text) for at, text in enumerate(schemas)]
    adapter = SchemaAdapter(profile, adapt)
    adapter.prepare(records, folder, "openai", Quiet())
    return adapter, records


_DECK = {"type": "integer"}
_TAKEN = _object(deck=_DECK)
_OPTIONAL = {**_object(deck=_DECK, name={"type": "string"}), "required": ["deck"]}
_MAP = _object(decks={"type": "object", "additionalProperties": _DECK})
#: No safe rewrite says it in OpenAI's strict mode.
_LOST = _object(decks={"type": "array", "items": _DECK, "contains": {"const": 3}})


@pytest.fixture
def run(tmp_path: Path) -> _Run:
    """Return what runs schemas against recorded answers, by the name of a record."""

    def run_against(
        answers: dict[str, tuple[dict[str, Any], str]],
        adapt: Adapt = Adapt.SAFE,
        folder: Path = tmp_path / "run",
    ) -> tuple[dict[str, GeneratedText], list[dict[str, Any]]]:
        records = [
            Record(id=name, group="made", schema=json.dumps({"title": name, **schema}))
            for name, (schema, _) in answers.items()
        ]

        def reply(body: dict[str, Any], _number: int) -> Said:
            words = json.dumps(body["messages"])
            return next(answer(answers[it][1]) for it in answers if it in words)

        with loopback(reply) as server:
            model = ModelOptions(model=f"openai:{server.base}#small", budget=90)
            more = {"run_dir": folder, "adapt": adapt}
            csbdata.run(texts_request(tmp_path, records, model, "strict", **more))
        texts = [text_from_row(row) for row in open_run(folder).rows()]
        return {it.scored.record.rpartition("/")[2]: it for it in texts}, server.asked

    return run_against


def _sent(body: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = body["response_format"]["json_schema"]["schema"]
    return schema


def test_answers_are_decoded_and_judged_by_the_original(
    run: _Run, tmp_path: Path
) -> None:
    """Null stands for absent, pairs for a map; the row has the answer as it came."""
    pairs = '{"decks": [{"key": "upper", "value": 2}]}'
    texts, asked = run(
        {
            "ferry": (_OPTIONAL, '{"deck": 1, "name": null}'),
            "barge": (_MAP, pairs),
            "canoe": (_TAKEN, '{"deck": 0}'),
            "yacht": (_OPTIONAL, '{"deck": "no", "name": null}'),
            "sloop": (_MAP, '{"decks": [1]}'),
            "broken": (_OPTIONAL, '{"deck": "\\ud800 \u00e9", "name": null}'),
        }
    )
    assert {name: (it.generation.text, it.compliant) for name, it in texts.items()} == {
        "ferry": ('{"deck": 1}', True),
        "barge": ('{"decks": {"upper": 2}}', True),
        "canoe": ('{"deck": 0}', True),
        "yacht": ('{"deck": "no"}', False),
        "sloop": ('{"decks": [1]}', False),
        # Half a character cannot be written but as an escape.
        "broken": ('{"deck": "\\ud800 \u00e9"}', False),
    }
    assert texts["barge"].generation.undecoded == pairs
    assert texts["ferry"].generation.edits == ("nullable: equal",)
    assert not texts["canoe"].generation.adapted
    by_name = {_sent(body)["title"]: _sent(body) for body in asked}
    assert by_name["canoe"] == {"title": "canoe", **_TAKEN}
    assert by_name["ferry"]["required"] == ["deck", "name"]
    (participant,) = open_run(tmp_path / "run").header.engines
    profile = load_profile("openai-strict")
    options = participant.options or {}
    assert options["adapt"] == "safe"
    assert options["profile"] == profile.name
    assert options["profile_date"] == profile.date


def test_what_only_an_unsafe_rewrite_would_fit_is_not_asked(
    run: _Run, said: list[str]
) -> None:
    """It is not declared, with its place; the run says first for how many, and why."""
    answers = {"ferry": (_LOST, '{"decks": []}'), "barge": (_TAKEN, '{"deck": 1}')}
    texts, asked = run(answers)
    assert [_sent(body)["title"] for body in asked] == ["barge"]
    lost = texts["ferry"]
    assert (lost.outcome, lost.declared) == ("compile_error", False)
    where = "/properties/decks/contains: `contains` is refused"
    assert lost.generation.detail == f"not declared: {where}"
    profile = load_profile("openai-strict")
    assert said[-2] == (
        f"openai strict small: of 2 schemas, openai-strict ({profile.date}) takes 1 as "
        "they are and 0 after safe rewrites; 1 are not declared (contains 1)"
    )


@pytest.mark.parametrize("adapt", [Adapt.NONE, Adapt.NEAREST])
def test_other_modes_send_every_schema(
    run: _Run, said: list[str], adapt: Adapt
) -> None:
    """`none` sends it whole, `nearest` drops a keyword; the original judges both."""
    texts, (body,) = run({"ferry": (_LOST, '{"decks": []}')}, adapt)
    assert texts["ferry"].outcome == "violates"
    decks = _sent(body)["properties"]["decks"]
    assert ("contains" in decks) is (adapt is Adapt.NONE)
    assert any("rewrites" in line for line in said) is (adapt is Adapt.NEAREST)
    assert texts["ferry"].generation.edits == (
        ("const-as-enum: equal", "dropped: wider") if adapt is Adapt.NEAREST else ()
    )


def test_a_run_that_goes_on_rewrites_nothing_again(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fits are in the run's folder; another mode does not read them."""
    _prepared(tmp_path, json.dumps(_MAP))
    monkeypatch.setattr(adaptation, "fit_schema", None)
    again, (record,) = _prepared(tmp_path, json.dumps(_MAP))
    assert again.of(record).decoded('{"decks": []}') == '{"decks": {}}'
    assert said[0] == said[1]
    with pytest.raises(TypeError):
        _prepared(tmp_path, json.dumps(_MAP), adapt=Adapt.NEAREST)


def test_the_commonest_five_reasons_are_named(tmp_path: Path, said: list[str]) -> None:
    """The others are counted, so that the parts add up to the whole."""
    lost: list[dict[str, Any]] = [
        *({"items": _DECK, "contains": {"const": number}} for number in range(2)),
        *({"type": "integer", "not": {"multipleOf": number}} for number in (2, 3)),
        {"additionalProperties": _DECK, "minProperties": 2},
        {"type": "string", "not": {"pattern": "a"}},
        {"$ref": "#/$defs/none"},
        reduce(lambda inner, _: _object(a=inner), range(12), _DECK),
    ]
    lost[0]["type"] = lost[1]["type"] = "array"
    lost[4]["type"] = "object"
    texts = [json.dumps(_object(decks=schema)) for schema in lost]
    _prepared(tmp_path, *texts, "{")
    assert said[0].endswith(
        "(contains 2, not 2, unusable 2, additionalProperties 1, allOf 1, and 1 for 1 "
        "more)"
    )


def test_a_rewrite_that_lasts_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schema is not declared then, and its row says that there was no time."""
    monkeypatch.setattr(adaptation, "fit_schema", partial(fit_schema, seconds=0.0))
    adapter, (record,) = _prepared(tmp_path, json.dumps(_MAP))
    assert adapter.of(record).refusal.endswith("(given up at its deadline)")


@pytest.mark.parametrize(
    "text",
    first_fast(
        3,
        ["[" * 9_000, "[]", '{"decks": 1e999}', '{"decks": {"key": 1}}', "{", "null"],
    ),
)
def test_an_answer_of_another_shape_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    """Whatever a server answers, decoding never fails; the judge sees what came."""
    adapter, (record,) = _prepared(tmp_path, json.dumps(_MAP))
    assert adapter.of(record).decoded(text) == text


@pytest.mark.parametrize("profile", ["", "openai-strict"])
def test_a_schema_that_is_no_json_is_not_declared(tmp_path: Path, profile: str) -> None:
    """A prompt holds it all the same, as the text that it is."""
    adapter, (record,) = _prepared(tmp_path, "{", profile=profile)
    fit = adapter.of(record)
    assert (fit.text, fit.reason) == ("", "unusable")
    assert fit.refusal.startswith("not declared: no JSON")
    assert SchemaAdapter("", Adapt.SAFE, "none").of(record).text == "{"


def test_a_schema_that_is_no_json_is_asked_for_in_words_alone(tmp_path: Path) -> None:
    """A run goes on: where the schema is to be sent too it fails as not declared."""
    data = tmp_path / "made.jsonl"
    data.write_bytes(encode_records([Record(id="ferry", schema="{")]))
    with loopback() as server:
        model = ModelOptions(model=f"openai:{server.base}#small")
        request = csbdata.RunRequest(
            suite=choose_suite("passrate"),
            data=data,
            engines=("none", "strict"),
            models=(model,),
            jobs=1,
            run_dir=tmp_path / "run",
        )
        csbdata.run(request)
    lines = (tmp_path / "run" / "responses.jsonl").read_text().splitlines()
    errors = {it["condition"]: it["error"] for it in map(json.loads, lines)}
    assert len(server.asked) == 1
    assert errors["free"] == ""
    assert "not declared: no JSON" in errors["strict"]
