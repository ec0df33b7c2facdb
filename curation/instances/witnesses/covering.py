"""Witnesses for what the others do not reach: each goes for all that is left.

A round makes one witness. Its search prefers the properties, elements and branches
that lead to an open target (`curation.instances.reach.guide`); what the accepted value
reaches is open no more. A target that rounds go for in vain is given up.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.model import InstanceKind
from curation.instances.reach.guide import Guide
from curation.instances.reach.reached import reached_by
from curation.instances.reach.schema_graph import SchemaGraph
from curation.instances.witnesses.context import NOTHING, BuildContext
from curation.instances.witnesses.one_search import (
    WitnessSearch,
    goals_beyond,
    is_trivial,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.interpretations import Interpretations
    from curation.instances.model import Witness
    from curation.instances.witnesses.context import Nothing
    from curation.schema.subschemas import SchemaLocation

#: Rounds that may go for a target before it is given up.
_TRIES: Final = 3
#: Rounds in a row that may reach nothing new.
_FAILURES: Final = 3
#: What the two rounds before, of which one is reversed, must have reached anew for a
#: round beyond those that are asked for; and how many times as many there may be then.
_ENOUGH: Final = 4
_TIMES: Final = 4
#: How many times fewer values the next witness has where none was found.
_FEWER: Final = 4
#: Searches that may find none.
_IN_VAIN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveringBudget:
    """How much the covering witnesses of one schema may cost."""

    #: Values of one witness after which only required ones are made.
    values: int = 400
    #: Steps of the search for one of them.
    steps: int = 3_000
    #: Times that a value which the validator refuses is made anew.
    repairs: int = 4


_USUAL: Final = CoveringBudget()


def cover(
    interpretations: Interpretations,
    found: Iterable[Witness],
    seed: bytes,
    *,
    rounds: int,
    budget: CoveringBudget = _USUAL,
) -> list[Json]:
    """Return values that reach what given witnesses do not.

    Args:
        interpretations: The schema; values are valid by each of them.
        found: Values that it accepts.
        seed: What is drawn is drawn with it.
        rounds: How many are made at most; four times as many where those before
            them still reach several places.
        budget: How large they may be, and how long they are looked for.
    """
    graph = SchemaGraph(interpretations.strictest)
    rng = random.Random(seed + b"cover")  # noqa: S311 - no secret
    covering = _Covering(graph, interpretations, set(graph.targets()), budget, rng)
    for witness in found:
        covering.note(reached_by(graph, witness.value))
    made = covering.run(rounds)
    if covering.hinges_on_formats and covering.unreached:
        covering.go_on_with_formats()
        made += covering.run(max(0, rounds - len(made)))
    return made


class _Made(NamedTuple):
    """The value of a search, or NOTHING, with the targets that it went for."""

    value: Json | Nothing
    #: All of them, also those that were taken back.
    tried: set[SchemaLocation]
    #: Those that the value was taken to reach. Of members of which one excludes the
    #: others, the rest stays for the next round.
    claimed: set[SchemaLocation]


class _Covering:
    """The rounds for one schema."""

    def __init__(
        self,
        graph: SchemaGraph,
        interpretations: Interpretations,
        unreached: set[SchemaLocation],
        budget: CoveringBudget,
        rng: random.Random,
    ) -> None:
        self.graph, self.budget, self.rng = graph, budget, rng
        self.interpretations = interpretations
        #: Whether formats stood in the way of a value: it holds with them alone.
        self.hinges_on_formats = False
        self.unreached = unreached
        self.tries: Counter[SchemaLocation] = Counter()
        self.given_up: set[SchemaLocation] = set()
        self.rounds = 0
        #: Searches that found none.
        self.in_vain = 0
        #: Values of a witness after which only required ones are made.
        self.values = budget.values

    def note(self, reached: set[SchemaLocation]) -> int:
        """Take targets for reached; return how many of them were open."""
        before = len(self.unreached)
        self.unreached -= reached
        return before - len(self.unreached)

    def go_on_with_formats(self) -> None:
        """Let values hold with formats alone: where no other reaches what is left."""
        self.interpretations = self.interpretations.with_formats
        self.tries.clear()
        self.given_up.clear()

    def run(self, rounds: int) -> list[Json]:
        """Return the values of all rounds."""
        found: list[Json] = []
        failures = new = before = 0
        for number in range(rounds * _TIMES):
            targets = self.unreached - self.given_up
            if not targets or failures >= _FAILURES or self.in_vain >= _IN_VAIN:
                break
            if number >= rounds and before + new < _ENOUGH:
                break
            self.rounds += 1
            made = self._made(targets)
            before, new = new, 0
            if made.value is not NOTHING:
                new = self.note(reached_by(self.graph, made.value))
                self.values = min(2 * self.values, self.budget.values)
            else:
                # The more a value has, the more of it can be in each other's way.
                self.in_vain += 1
                self.values = max(self.values // _FEWER, 1)
            for target in (made.claimed if new else made.tried) & self.unreached:
                self.tries[target] += 1
                if self.tries[target] >= _TRIES:
                    self.given_up.add(target)
            if made.value is not NOTHING and new:
                found.append(made.value)
            failures = 0 if new else failures + 1
        return found

    def _made(self, targets: set[SchemaLocation]) -> _Made:
        """Return a value that goes for targets."""
        made = self._searched(targets, ())
        if made.value is not NOTHING and is_trivial(made.value):
            for extra in goals_beyond(made.value):
                telling = self._searched(targets, extra)
                made = made._replace(tried=made.tried | telling.tried)
                if telling.value is not NOTHING:
                    return telling._replace(tried=made.tried)
        return made

    def _searched(self, targets: set[SchemaLocation], extra: Goals) -> _Made:
        """Return the value of one search."""
        guides: list[Guide] = []

        def guide() -> Guide:
            guides.append(
                Guide(
                    self.graph,
                    targets,
                    self.values,
                    is_reversed=self.rounds % 2 == 0,
                )
            )
            return guides[-1]

        search = WitnessSearch(
            interpretations=self.interpretations,
            rng=self.rng,
            kind=InstanceKind.COVERING,
            context=BuildContext(),
            repairs=self.budget.repairs,
            extra=extra,
            guide=guide,
        )
        value = search.run(self.budget.steps)
        self.hinges_on_formats |= search.hinges_on_formats
        return _Made(
            value=value,
            tried=set().union(*(made.tried for made in guides)),
            claimed=guides[-1].claimed,
        )
