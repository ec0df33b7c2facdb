"""The settings that all tasks of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluation.core.cases import Label  # noqa: TC001 (msgspec evaluates the annotations)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """The settings of a run that its tasks read; recorded in the run's header."""

    #: Decides every draw: which samples a limit keeps, which orders are tried.
    seed: int = 0
    #: Seeded permutations of the members of each valid instance's objects.
    orders: int = 0
    #: What one task alone understands, by name: `drafts`, `sizes`, ... (`--set`).
    values: Label = field(default_factory=dict)
