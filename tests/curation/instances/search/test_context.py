"""Where a value is made: how deep it may nest, and how large it may become."""

from __future__ import annotations

from curation.instances.constraints.conjunction import ExtraConstraint
from curation.instances.search.context import BuildContext

_GOALS = (ExtraConstraint(types=("object",)),)


def test_a_member_stands_below_its_object() -> None:
    """Its path has its name, which is the hint for realistic values."""
    member = BuildContext(path=("a",), allowance=9).member("b", 3)
    assert (member.path, member.name, member.allowance) == (("a", "b"), "b", 3)


def test_an_element_keeps_the_name_of_its_array() -> None:
    """An element of `tags` is made as a tag."""
    tags = BuildContext().member("tags", 9)
    element = tags.member(0, 1, frozenset({b"x"}))
    assert (element.path, element.name) == (("tags", "0"), "tags")
    assert element.avoid == {b"x"}


def test_what_recurs_is_made_small() -> None:
    """The third time that the same goals stand in each other nothing is optional."""
    context = BuildContext(allowance=9)
    for _ in range(2):
        context = context.for_goals(_GOALS)
        assert context.allowance == 9
    context = context.for_goals(_GOALS)
    assert context.allowance == 0
    assert context.scalars_first


def test_what_is_deep_is_made_small() -> None:
    """Below a dozen levels only what is required is made."""
    path = tuple("abcdefghijkl")
    assert BuildContext(path=path, allowance=9).for_goals(_GOALS).allowance == 0
    assert BuildContext(path=path[1:], allowance=9).for_goals(_GOALS).allowance == 9
