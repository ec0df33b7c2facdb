"""Witnesses for what the others do not reach: each goes for all that is left.

A round makes one witness. Its search prefers the properties, elements and branches
that lead to an open target (`curation.instances.reach.guide`); what the accepted value
reaches is open no more. A target that rounds go for in vain is given up.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.model import InstanceKind, Reach
from curation.instances.reach.guide import Guide
from curation.instances.reach.reached import reached_by
from curation.instances.reach.schema_graph import SchemaGraph
from curation.instances.reach.unreached import unreached_of
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
    from curation.schema.locations import SchemaLocation

#: Rounds that may go for a target before it is given up.
_TRIES: Final = 3
#: Rounds in a row that may reach nothing new.
_FAILURES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveringBudget:
    """How much the covering witnesses of one schema may cost."""

    #: Values of one witness after which only required ones are made.
    values: int = 400
    #: Steps of the search for one of them.
    steps: int = 8_000
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
) -> tuple[list[Json], Reach]:
    """Return values that reach what given witnesses do not, and what is left.

    Args:
        interpretations: The schema; values are valid by each of them.
        found: Values that it accepts.
        seed: What is drawn is drawn with it.
        rounds: How many are made at most.
        budget: How large they may be, and how long they are looked for.
    """
    graph = SchemaGraph(interpretations.strictest)
    targets = graph.targets()
    rng = random.Random(seed + b"cover")  # noqa: S311 - no secret
    covering = _Covering(graph, interpretations, set(targets), budget, rng)
    values = [witness.value for witness in found]
    for value in values:
        covering.note(reached_by(graph, value))
    made = covering.run(rounds)
    if covering.hinges_on_formats and covering.unreached:
        covering.go_on_with_formats()
        made += covering.run(rounds - len(made))
    unreached = covering.unreached
    if interpretations.heeding:
        # What is reached is said of the schema as its draft reads it.
        graph = SchemaGraph(interpretations.own)
        targets = graph.targets()
        unreached = set(targets)
        for value in (*values, *made):
            unreached -= reached_by(graph, value)
    left = (target for target in targets if target in unreached)
    reach = Reach(targets=len(targets), unreached=unreached_of(graph, left))
    return made, reach


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

    def note(self, reached: set[SchemaLocation]) -> bool:
        """Take targets for reached; return whether one of them was open."""
        before = len(self.unreached)
        self.unreached -= reached
        return len(self.unreached) < before

    def go_on_with_formats(self) -> None:
        """Let values hold with formats alone: where no other reaches what is left."""
        self.interpretations = self.interpretations.with_formats
        self.tries.clear()
        self.given_up.clear()

    def run(self, rounds: int) -> list[Json]:
        """Return the values of all rounds."""
        found: list[Json] = []
        failures = 0
        for _ in range(rounds):
            targets = self.unreached - self.given_up
            if not targets or failures >= _FAILURES:
                break
            self.rounds += 1
            value, tried = self._made(targets)
            is_new = value is not NOTHING and self.note(reached_by(self.graph, value))
            for target in tried & self.unreached:
                self.tries[target] += 1
                if self.tries[target] >= _TRIES:
                    self.given_up.add(target)
            if value is not NOTHING and is_new:
                found.append(value)
            failures = 0 if is_new else failures + 1
        return found

    def _made(
        self, targets: set[SchemaLocation]
    ) -> tuple[Json | Nothing, set[SchemaLocation]]:
        """Return a value that goes for targets, and those that it went for."""
        value, tried = self._searched(targets, ())
        if value is not NOTHING and is_trivial(value):
            for extra in goals_beyond(value):
                telling, more = self._searched(targets, extra)
                tried |= more
                if telling is not NOTHING:
                    return telling, tried
        return value, tried

    def _searched(
        self, targets: set[SchemaLocation], extra: Goals
    ) -> tuple[Json | Nothing, set[SchemaLocation]]:
        """Return the value of one search, and the targets that it went for."""
        guides: list[Guide] = []

        def guide() -> Guide:
            guides.append(
                Guide(
                    self.graph,
                    targets,
                    self.budget.values,
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
        return value, set().union(*(made.tried for made in guides))
