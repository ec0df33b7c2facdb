"""The values of witnesses that a search for near misses knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.assertions import Assertion, find_reachable_keywords
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.near_misses.sites import KnownSites

if TYPE_CHECKING:
    from curation.core.json_types import Json

_SCHEMA = {
    "type": "object",
    "properties": {"no": False, "list": {"items": {"type": "string"}}},
    "additionalProperties": {"minimum": 1},
}


@pytest.fixture
def compiled() -> CompiledSchema:
    """Return a schema with a property that must not be there."""
    return CompiledSchema.from_json(_SCHEMA, "draft-07")


def _assertion(compiled: CompiledSchema, pointer: str) -> Assertion:
    reachable = find_reachable_keywords(compiled).assertions
    return next(found for found in reachable if found.pointer == pointer)


def test_only_so_many_sites_are_kept_for_one_assertion(
    compiled: CompiledSchema,
) -> None:
    """The first ones, in the order of the witness."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"a": 1, "b": 2, "c": 3})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    assert minimum in sites
    assert [site.path for site in sites.of_assertion(minimum)] == [("a",), ("b",)]


def test_a_forbidden_property_is_a_site_without_a_value(
    compiled: CompiledSchema,
) -> None:
    """Whatever is put there is refused."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"list": [""]})
    (site,) = sites.of_assertion(_assertion(compiled, "/properties/no"))
    assert (site.path, site.value) == (("no",), None)


def test_an_empty_site_is_taken_where_a_value_can_be_put(
    compiled: CompiledSchema,
) -> None:
    """An element only behind the last one, in the first witness that has room."""
    kind = _assertion(compiled, "/properties/list/items/type")
    (location,) = find_reachable_keywords(compiled).assertions[kind]
    sites = KnownSites(compiled, most=2)
    witnesses: list[Json] = [{"a": 1}, {"list": []}]
    for witness in witnesses:
        sites.add_witness(witness)
    assert kind not in sites
    sites.add_empty(kind, location)
    (site,) = sites.of_assertion(kind)
    assert (site.witness, site.path) == ({"list": []}, ("list", 0))


def test_large_witnesses_cost_more(compiled: CompiledSchema) -> None:
    """Verdicts are paid by size, so that large schemas end in time."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"a": 1})
    sites.add_witness({"b": 1, "list": ["x" * 4_000]})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    small, large = sites.of_assertion(minimum)
    assert sites.cost(small) < 1.01
    assert sites.cost(large) > 2
