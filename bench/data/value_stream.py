"""Endless values of a schema, not judged: what the benchmarks draw from."""

from __future__ import annotations

import random
from itertools import chain, repeat
from typing import TYPE_CHECKING

from curation.core.benchmark import InstanceKind
from curation.instances.witnesses.builder import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    WitnessBuilder,
)
from curation.instances.witnesses.search import Budget, seed_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema

_PLENTY = Budget()
#: Searches in a row without a value, after which a stream ends.
_FAILURES = 4


def stream(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Iterator[Json]:
    """Yield values without end: a small one, a full one, then random ones.

    The stream ends after several searches in a row without a result.
    """
    rng = random.Random(seed_of(compiled, seed))  # noqa: S311 - no secret
    plan = chain(
        [(InstanceKind.MINIMAL, 0.0), (InstanceKind.FULL, budget.full)], repeat(None)
    )
    failures = 0
    for step in plan:
        kind, allowance = step or (InstanceKind.RANDOM, rng.random() * budget.random)
        builder = WitnessBuilder(
            compiled=compiled, rng=rng, kind=kind, steps=budget.steps
        )
        try:
            value = builder.value((compiled.root,), BuildContext(allowance=allowance))
        except (ExhaustedError, RecursionError):
            value = NOTHING
        failures = failures + 1 if value is NOTHING else 0
        if value is not NOTHING:
            yield value
        elif failures >= _FAILURES:
            return
