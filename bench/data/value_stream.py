"""Endless values of a schema, most of them unjudged: what the benchmarks draw from."""

from __future__ import annotations

import random
from itertools import chain, repeat
from typing import TYPE_CHECKING

from curation.instances.search.builder import WitnessBuilder
from curation.instances.search.context import NOTHING, BuildContext, ExhaustedError
from curation.instances.search.witnesses import Budget, seed_of
from curation.instances.values.model import InstanceKind
from curation.json.pointer import at, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema

_PLENTY = Budget()
#: Searches in a row without a value, after which a stream ends.
_FAILURES = 4
#: How often a streamed value is varied before the next search.
_VARIANTS = 12


def stream(
    compiled: CompiledSchema, seed: int = 0, budget: Budget = _PLENTY
) -> Iterator[Json]:
    """Yield values without end: a small one, a full one, then random ones.

    Only variants of a search result, with one scalar drawn anew, are validated. The
    stream ends after several searches in a row without a result.
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
            yield from _variants(value, builder, compiled)
        elif failures >= _FAILURES:
            return


def _variants(
    value: Json, builder: WitnessBuilder, compiled: CompiledSchema
) -> Iterator[Json]:
    """Yield variants of a value, with one scalar drawn anew, that are valid too."""
    leaves = [leaf for leaf in builder.redraws.items() if _is_scalar_at(value, leaf[0])]
    if not leaves:
        return
    for _ in range(_VARIANTS):
        path, draw = builder.rng.choice(leaves)
        scalar = draw()
        if scalar is not NOTHING:
            variant = replaced(value, path, scalar)
            if compiled.is_valid(variant):
                yield variant


def _is_scalar_at(value: Json, path: tuple[str, ...]) -> bool:
    try:
        member = at(value, path)
    except (LookupError, ValueError):
        return False
    return isinstance(member, str | int | float) and not isinstance(member, bool)
