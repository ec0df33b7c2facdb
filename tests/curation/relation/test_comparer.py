"""How two schemas relate: proofs, values, deadlines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.references.schema import Schema
from curation.relation import comparer as relation
from curation.relation.comparer import Comparer, RelationKind, to_text
from curation.schema.dialects import (
    BY_NAME,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
)
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json


def _exploding(keyword: str) -> Json:
    """Return a schema of which the algebra makes thousands of branches."""
    return {
        "allOf": [
            {keyword: [{"required": [f"p{i}_{k}"], "minimum": k} for k in range(3)]}
            for i in range(7)
        ]
    }


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    table(__file__, "relations"),
)
def test_a_relation_has_its_values(
    comparer: Comparer, first: Json, second: Json, kind: str
) -> None:
    """The kind is right, and each value is on the side that it is said to be on."""
    found = comparer.relation(first, second, DRAFT_07)
    assert found.kind is RelationKind(kind), found
    for text, sides in (
        (found.only_first, (True, False)),
        (found.only_second, (False, True)),
        (found.both, (True, True)),
    ):
        schemas = Schema(first, DRAFT_07), Schema(second, DRAFT_07)
        verdicts = [
            text is None or schema.validator.is_valid(json.loads(text))
            for schema in schemas
        ]
        assert text is None or tuple(verdicts) == sides


@pytest.mark.parametrize(
    ("name", "first", "second", "proven"), table(__file__, "recursive")
)
def test_recursion_is_assumed_below_one_value_only(
    comparer: Comparer, name: str, first: Json, second: Json, proven: list[bool]
) -> None:
    """An implication is assumed of smaller values, where more of it is more."""
    texts = to_text(first, DRAFT_2020_12), to_text(second, DRAFT_2020_12)
    answer = comparer.proofs(*texts)
    assert [answer.first_in_second, answer.second_in_first] == proven, name
    found = comparer.relation(first, second, DRAFT_2020_12)
    assert not (answer.first_in_second and found.only_first)
    assert not (answer.second_in_first and found.only_second)


def test_a_question_is_asked_once() -> None:
    """What another target asks with a little more time or less costs nothing."""
    with Comparer() as comparer:
        decided: list[Json] = [{}, {"minimum": 1}]
        for pair in (decided, [_exploding("anyOf"), _exploding("oneOf")]):
            first, second = (to_text(schema, DRAFT_07) for schema in pair)
            answer = comparer.proofs(first, second, 0.05)
            assert comparer.proofs(first, second, 0.06) is answer
            assert comparer.proofs(first, second, 0.04) is answer
            assert comparer.proofs(first, second, 0.1) is answer
        # Of a child that was ended the time of the question counts.
        assert comparer.spent >= 0.05


def test_processor_time_is_counted_once() -> None:
    """Each question costs what the child has used since the one before."""
    with Comparer() as comparer:
        anything = to_text({}, DRAFT_07)
        for number in range(3):
            comparer.values(anything, to_text({"minimum": number}, DRAFT_07))
        child = comparer._worker.child
        assert child is not None
        assert 0 < comparer.spent <= child.processor_seconds()


def test_dialects_are_compared_by_what_they_mean(comparer: Comparer) -> None:
    """A flag of draft-04 equals the limit of 2020-12."""
    found = comparer.relation(
        {"minimum": 1, "exclusiveMinimum": True},
        {"exclusiveMinimum": 1},
        DRAFT_04,
        DRAFT_2020_12,
    )
    assert found.kind is RelationKind.EQUAL
    # In their common dialect, which has keywords that cannot be ported.
    no_item: Json = {"type": "array", "unevaluatedItems": False}
    found = comparer.relation(no_item, {"type": "array"}, DRAFT_2019_09)
    assert (found.first_in_second, found.failure) == (True, "")


def test_the_search_ends_with_a_value_on_each_side(comparer: Comparer) -> None:
    """Given values come first."""
    given = ['"a"', '"abcd"', '"ab"']
    found = comparer.relation({"minLength": 2}, {"maxLength": 3}, DRAFT_07, given=given)
    assert (found.only_second, found.only_first, found.both) == (*given,)
    assert found.tried == 3
    texts = to_text({"minLength": 2}, DRAFT_07), to_text({"maxLength": 3}, DRAFT_07)
    assert not comparer.proofs(*texts).apart


def test_what_is_not_decided_says_how_many_values_were_tried(
    comparer: Comparer,
) -> None:
    """Unknown is neither equal nor wider; a given value decides a half of it."""
    first: Json = {"type": "string", "pattern": r"^(a|b)\1$"}
    second: Json = {"type": "string", "pattern": "^[ab]{2}$"}
    found = comparer.relation(first, second, DRAFT_07)
    assert found.kind is RelationKind.UNKNOWN
    assert found.tried
    assert found.evidence.endswith(" tried")
    given = comparer.relation(first, second, DRAFT_07, given=['"ab"'])
    assert (given.only_second, given.second_in_first) == ('"ab"', False)


@pytest.mark.slow
def test_an_explosion_ends_at_the_deadline(
    comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof that takes too long is no proof, and the next pair is compared."""
    monkeypatch.setattr(relation, "PROOF_SECONDS", 0.5)

    found = comparer.relation(_exploding("anyOf"), _exploding("oneOf"), DRAFT_07)
    assert "no answer within" in found.failure
    again = comparer.relation({"const": 1}, {"enum": [1]}, BY_NAME["draft-07"])
    assert again.kind is RelationKind.EQUAL
