"""Which nodes of a cluster may work, and where the lanes stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curation.cluster.nodes import Node, check_same, installation, places
from curation.system.errors import BadConfiguration

_TWO = [Node(id=name, name=name, cpus=cpus) for name, cpus in (("a", 3), ("b", 1))]


def test_lanes_are_spread_and_no_node_has_more_than_its_cpus() -> None:
    """The first of every node comes before the second of any."""
    found = [(place.node.name, place.index) for place in places(_TWO, 10)]
    assert found == [("a", 0), ("b", 0), ("a", 1), ("a", 2)]
    assert [place.node.name for place in places(_TWO, 2)] == ["a", "b"]
    assert places([], 2) == []


def test_a_node_with_the_same_is_accepted() -> None:
    """This very installation, on whatever machine."""
    here = installation()
    check_same(here, replace(here, machine="another"), "n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"versions": {"python": "3.12.1"}}, "node n has python 3.12.1, here"),
        ({"code": "0"}, "other code of csbdata than here"),
    ],
)
def test_a_node_with_something_else_is_named_with_it(
    change: dict[str, object], said: str
) -> None:
    """Its rows would not be the ones that this process would write."""
    here = installation()
    with pytest.raises(BadConfiguration, match=said):
        check_same(here, replace(here, **change), "n")  # type: ignore[arg-type]  # one field of the two
