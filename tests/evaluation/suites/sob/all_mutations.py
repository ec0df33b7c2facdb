"""Every known answer to a record: the truth in several spellings, and all mutations."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from evaluation.core.suite import KnownAnswer
from tests.evaluation.suites.sob.leaf_mutations import LEAF_MUTATIONS
from tests.evaluation.suites.sob.shape_mutations import SHAPE_MUTATIONS
from tests.evaluation.suites.sob.text_mutations import TEXT_MUTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.sob.records import SobRecord
    from tests.evaluation.suites.sob.mutations import Mutated, Mutation

MUTATIONS: Final = (*TEXT_MUTATIONS, *LEAF_MUTATIONS, *SHAPE_MUTATIONS)


def mutated(record: SobRecord, mutation: Mutation) -> Mutated | None:
    """Return a record's answer with one mutation; None where it cannot have it."""
    draw = Random(f"{record.record_id}/{mutation.name}")
    return mutation.spoil(record, record.ground_truth, draw)


def answers_known(record: SobRecord, *, published: bool) -> Iterator[KnownAnswer]:
    """Yield every known answer to a record of ours.

    Args:
        record: A record whose truth its schema accepts.
        published: Whether the published reading decides.
    """
    for mutation in MUTATIONS:
        if published and not mutation.in_both_readings:
            continue
        found = mutated(record, mutation)
        if found is not None:
            yield KnownAnswer(
                kind=mutation.name,
                text=found.text,
                expected=mutation.mistake or "",
                because=found.because if mutation.mistake else "",
            )
