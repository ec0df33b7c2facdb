"""All probes, and where and in which dialects they are put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes import (
    arrays,
    combinations,
    formats,
    objects,
    references,
    values,
)
from evaluation.tasks.probe.probes.base import place_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.schema.dialects import Dialect
    from evaluation.tasks.probe.probes.base import PlacedProbe, Probe

#: In the order of the reports.
PROBES: Final[tuple[Probe, ...]] = (
    *values.PROBES,
    *arrays.PROBES,
    *objects.PROBES,
    *combinations.PROBES,
    *references.PROBES,
    *formats.PROBES,
)


def all_placed(dialects: Sequence[Dialect] = ()) -> Iterator[PlacedProbe]:
    """Yield every probe in every context.

    In each of the dialects given that has it; without any, in the newest that has it,
    so that each probe is put once.
    """
    for probe in PROBES:
        for dialect in _chosen(probe, dialects):
            for context in probe.contexts:
                yield place_probe(probe, context, dialect)


def _chosen(probe: Probe, dialects: Sequence[Dialect]) -> Sequence[Dialect]:
    known = probe.dialects
    return (
        [dialect for dialect in known if dialect in dialects]
        if dialects
        else known[-1:]
    )
