"""Where a witness can be edited, and the edited copy."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.near_misses.scalar_edits import is_complete
from curation.instances.near_misses.sites import (
    edit_sites,
    goals_for_path,
    member_at,
    with_edit,
)
from curation.instances.search.builder import WitnessBuilder
from curation.instances.search.context import NOTHING
from curation.instances.values.model import InstanceKind

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.near_misses.scalar_edits import Edit


def test_every_value_that_a_keyword_can_refuse_is_a_site() -> None:
    """The outermost first; a value without keywords is none."""
    schema = {
        "required": ["a"],
        "properties": {"a": {"items": {"type": "integer"}}, "b": {}},
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = edit_sites(compiled, {"a": [1, 2], "b": "any"})
    assert [(site.path, site.value) for site in found] == [
        ((), {"a": [1, 2], "b": "any"}),
        (("a", 0), 1),
        (("a", 1), 2),
    ]


def test_what_a_branch_that_holds_asks_counts_only_inside() -> None:
    """A keyword below anyOf applies to the values of a witness that meets it."""
    schema = {"anyOf": [{"type": "null"}, {"properties": {"a": {"minimum": 3}}}]}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert [site.path for site in edit_sites(compiled, {"a": 4})] == [()]
    inside = edit_sites(compiled, {"a": 4}, inside=True)
    assert [site.path for site in inside] == [(), ("a",)]


def test_an_edit_copies_and_leaves_the_witness_alone() -> None:
    """A new element may be put behind the last one, a new property anywhere."""
    witness: Json = {"a": [1]}
    assert with_edit(witness, ("a", 1), 2) == {"a": [1, 2]}
    assert with_edit(witness, ("b",), None) == {"a": [1], "b": None}
    assert witness == {"a": [1]}
    with pytest.raises(LookupError):
        with_edit(witness, ("a", 0, "below a number"), 2)


def test_a_member_that_is_not_there_is_absent() -> None:
    """Also where the value is of another type; null is a value."""
    assert member_at({"a": None}, "a") is None
    assert member_at([7], 1) == member_at("text", 0) == member_at([], "a") == ABSENT


def test_goals_for_a_path_make_a_value_stand_there() -> None:
    """Objects and arrays around it are asked for on the way."""
    schema = {"properties": {"a": {"items": {"const": "made"}}}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    builder = WitnessBuilder(
        compiled=compiled, rng=random.Random(0), kind=InstanceKind.MINIMAL, steps=100
    )
    goals = (compiled.root, *goals_for_path(("a", 1)))
    assert builder.value(goals) == {"a": ["made", "made"]}


@pytest.mark.parametrize(
    ("edit", "complete"),
    [
        ([1, None], True),
        ([1, NOTHING], False),
        ({"a": NOTHING}, False),
        (NOTHING, False),
        (float("inf"), False),
    ],
)
def test_an_edit_is_complete_if_all_of_it_was_made(
    edit: Edit, *, complete: bool
) -> None:
    """What could not be made, and infinity, are no JSON."""
    assert is_complete(edit) == complete
