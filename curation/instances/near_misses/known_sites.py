"""Values of witnesses that a search for near misses knows, by what can refuse them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from curation.instances.near_misses.edit_sites import (
    EditSite,
    edit_sites,
    forbidden_properties,
    member_at,
)
from curation.json.text import canonical

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.reachable_keywords import (
        Assertion,
        InstanceLocation,
        Path,
    )

#: Bytes of a witness that cost as much again as asking the validator at all.
_COSTLY_BYTES: Final = 4_000


class KnownSites:
    """Witnesses, and for each assertion the values in them that it can refuse."""

    def __init__(self, compiled: CompiledSchema, most: int) -> None:
        """Start without witnesses.

        Args:
            compiled: The schema that accepts them.
            most: Sites kept for one assertion.
        """
        self.witnesses: list[Json] = []
        self._compiled, self._most = compiled, most
        self._sites: dict[Assertion, list[EditSite]] = {}
        #: What a verdict on an edited witness costs, by the identity of the object.
        self._costs: dict[int, float] = {}

    def __contains__(self, assertion: Assertion) -> bool:
        """Return whether a site is known for an assertion."""
        return assertion in self._sites

    def of_assertion(self, assertion: Assertion) -> list[EditSite]:
        """Return the sites known for an assertion."""
        return self._sites.get(assertion, [])

    def cost(self, site: EditSite) -> float:
        """Return what a verdict on the edited witness costs; 1 if it is small."""
        return self._costs[id(site.witness)]

    def add_witness(self, value: Json) -> None:
        """Add the sites of a value that the schema accepts."""
        self.witnesses.append(value)
        self._costs[id(value)] = 1 + len(canonical(value)) / _COSTLY_BYTES
        for site in edit_sites(self._compiled, value):
            for assertion in site.assertions:
                known = self._sites.setdefault(assertion, [])
                if len(known) < self._most:
                    known.append(site)
            for assertion, name in forbidden_properties(self._compiled, site):
                self._add_empty(assertion, value, (*site.path, name), ())

    def add_empty(self, assertion: Assertion, location: InstanceLocation) -> None:
        """Add a site where the first witness that can have a value there has none."""
        if not location.path:
            return
        *above, last = location.path
        for witness in self.witnesses:
            holder = reduce(member_at, above, witness)
            if isinstance(last, str):
                fits = isinstance(holder, dict)
            else:
                fits = isinstance(holder, list) and last == len(holder)
            if fits:
                self._add_empty(assertion, witness, location.path, location.goals)
                return

    def _add_empty(
        self, assertion: Assertion, witness: Json, path: Path, goals: Goals
    ) -> None:
        site = EditSite(
            witness=witness,
            path=path,
            value=None,
            goals=goals,
            assertions=(assertion,),
        )
        self._sites.setdefault(assertion, []).append(site)
