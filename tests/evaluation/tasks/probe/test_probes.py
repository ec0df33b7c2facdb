"""Every probe is what it says: proven by both validators, in every context."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import jsonschema
import jsonschema_rs
import pytest

from curation.schema.dialects import BY_NAME, DIALECTS
from curation.schema.keywords import ANNOTATIONS
from evaluation.tasks.probe.keyword_probes import KEYWORD_PROBES
from evaluation.tasks.probe.pairs import pairs
from evaluation.tasks.probe.probe import CONTEXTS, NOTHING, ROOT, place_probe
from evaluation.tasks.probe.task import PROBES, all_placed

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            if each.violating is not NOTHING and not list(
                judge(each.schema, each.dialect, each.violating)
            ):
                wrong.append((*where, "violating is accepted"))
            wrong += [
                (each.probe.name, each.context, each.dialect, keyword, "is accepted")
                for keyword, value in each.also.items()
                if not list(_errors_of_rs(each.schema, each.dialect, value))
            ]
    assert wrong == []


def test_a_text_of_a_pair_violates_one_keyword_alone() -> None:
    """By both validators; the valid one violates neither."""
    wrong = []
    for pair in pairs():
        for judge in (_errors_of_jsonschema, _errors_of_rs):
            for keyword, value in {**pair.violating, "": pair.valid}.items():
                paths = judge(pair.schema, pair.dialect, value)
                refusing = {path.split("/")[0] for path in paths}
                # jsonschema-rs names the branch by which an `if` refuses.
                named = {"if"} if refusing & {"then", "else"} else refusing
                expected = {keyword} - {""}
                if named != expected and not (refusing and refusing <= expected):
                    wrong.append((pair.name, keyword, refusing))
    assert wrong == []


def test_there_are_a_hundred_pairs_each_where_it_stands() -> None:
    """The most frequent first; most are violated on both sides."""
    counts = [pair.schemas for pair in pairs()]
    assert len({pair.keywords for pair in pairs()}) == 100
    assert counts == sorted(counts, reverse=True)
    assert all(pair.places and set(pair.places) <= set(CONTEXTS) for pair in pairs())
    assert sum(len(pair.violating) == 2 for pair in pairs()) > 70


def test_without_the_keyword_the_violating_value_is_accepted() -> None:
    """Nothing else refuses it, in any context: what is blocked is blocked for that."""
    wrong = []
    for each in _every():
        if (
            each.violating is not NOTHING
            and each.probe in KEYWORD_PROBES
            and each.probe.keyword not in IDENTIFYING
        ):
            loose = _without(each.probe.schema, each.probe.keyword)
            probe = replace(each.probe, schema=loose)
            schema = place_probe(probe, each.context, BY_NAME[each.dialect]).schema
            if list(_errors_of_rs(schema, each.dialect, each.violating)):
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
