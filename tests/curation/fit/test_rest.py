"""What a target does not hold, and answers that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.fit import rest
from curation.fit.answers import decode, fit_schema
from curation.fit.decoding import UndecodableError, _listed
from curation.fit.rest import rest_of, sentences
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.schema.dialects import DRAFT_07, DRAFT_2020_12
from curation.system.errors import BadData
from tests.curation.fit.test_rewriting import _STRING, OPENAI, _object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from curation.fit.relation import Comparer
    from curation.fit.rewriting import Fit
    from curation.json.pointer import Tokens


@pytest.mark.parametrize(
    ("target", "schema", "wrong"),
    [
        (
            "anthropic",
            _object(a={"$ref": "#/$defs/n"})
            | {"$defs": {"n": {"type": "integer", "minimum": 3}}},
            {"a": 1},
        ),
        (
            "llama.cpp",
            _object(
                v={
                    "anyOf": [
                        {"$ref": "#/$defs/a"},
                        {"type": "integer", "multipleOf": 3},
                    ]
                }
            )
            | {"$defs": {"a": {"type": "string"}}},
            {"v": 4},
        ),
    ],
)
def test_the_rest_reaches_what_is_lost_in_a_definition(
    target: str, schema: dict[str, Json], wrong: Json, comparer: Comparer
) -> None:
    """What the sent schema and the rest accept is valid by what is meant."""
    fit = fit_schema(schema, target, allow="any", comparer=comparer)
    assert not CompiledSchema(rest_of(fit), DRAFT_2020_12).is_valid(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_07.uri, "items": [True, {"uniqueItems": True}]},
        {"prefixItems": [{"type": "array"}], "items": {"uniqueItems": True}},
    ],
)
def test_the_rest_of_a_tuple_leaves_no_element_out(
    schema: dict[str, Json], comparer: Comparer
) -> None:
    """Else what is said of one element would be said of none, or of another."""
    fit = fit_schema(schema, "gemini", comparer=comparer)
    rest = CompiledSchema(rest_of(fit), fit.shaped.dialect)
    assert fit.ignored
    assert rest.is_valid([[1, 1], ["a"]])
    assert not rest.is_valid([["a"], [1, 1]])


@pytest.mark.parametrize("key", [[], 5, None])
def test_keys_that_are_no_texts_are_refused(key: Json, comparer: Comparer) -> None:
    """Answers are anybody's."""
    schema = _object(m={"type": "object", "additionalProperties": _STRING})
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    with pytest.raises(BadData, match="texts as keys"):
        decode({"m": [{"key": key, "value": "a"}]}, fit)


@pytest.mark.parametrize("more", [None, 5, "ab", {}])
def test_further_items_that_are_no_array_are_refused(more: Json) -> None:
    """A text has elements too, and is none."""
    with pytest.raises(UndecodableError, match="an array expected"):
        _listed({"item1": 1, "more": more}, 1)


def test_what_is_lost_is_looked_for_once(
    comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentences take a time that is linear in the keywords that are lost."""
    patterned: Json = {"type": "string", "pattern": "^a"}
    schema = _object(**{f"f{number}": patterned for number in range(9)})
    fit, calls = fit_schema(schema, "gemini", comparer=comparer), [0]
    found = rest.lost_keywords(fit)

    def counted(fit: Fit) -> Mapping[Tokens, frozenset[str]]:
        calls[0] += fit is not None
        return found

    monkeypatch.setattr(rest, "lost_keywords", counted)
    assert len([*sentences(fit)]) == 9
    assert calls == [1]
