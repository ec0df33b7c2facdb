"""What reports want of a row: its outcome and its times, without the rest.

Times are what MaskBench calls by these names: *time to first mask* is the compile call
alone; *time between masks* is, for each token, the time of its mask and of taking the
token (specification: guidance-ai/jsonschemabench, maskbench). Walks that are apart
are left out.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evaluation.core.cases import Result
from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.tables import Rate
from evaluation.results.outcomes import (
    Outcome,
    did_compile,
    engine_is_right,
    is_judged_apart,
    outcome_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.core.cases import InstanceResult, Row
    from evaluation.core.task import RunRows

    #: What a task says of a row: whether it is as it should be (`Task.passes`).
    Criterion: TypeAlias = Callable[[Row], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMeasurement:
    """One case, as the tables of a report see it."""

    engine: str
    task: str
    config: str
    id: str
    outcome: Outcome
    #: Whether it is as it should be, by the task's own criterion if it has one.
    passed: bool
    #: Whether the engine compiled the schema.
    compiled: bool
    #: Whether there was anything to walk.
    has_instances: bool
    #: Valid texts that could be written to the end, of those that were walked.
    valid: Rate
    #: Invalid texts that were blocked, of those that were walked.
    invalid: Rate
    compile_ns: int | None
    #: Nanoseconds after which the compile call was cut off; None unless it was.
    compile_cut_ns: int | None
    first_mask_ns: int | None
    #: Applying one mask to logits; None where the engine has no kernel.
    apply_ns: int | None
    #: Nanoseconds of each token's mask and commit.
    between_ns: array[int]
    #: Nanoseconds of each mask alone.
    mask_ns: array[int]
    rss_bytes: int | None
    quiet: bool | None

    @property
    def case_key(self) -> tuple[str, str]:
        """What it has in common with other engines' cases: config and id."""
        return self.config, self.id

    @property
    def mean_between_ns(self) -> float | None:
        """The mean time between masks; None where no mask was computed."""
        if not self.between_ns:
            return None
        return sum(self.between_ns) / len(self.between_ns)


def measure_run(
    run: RunRows, task: str, passes: Criterion | None = None
) -> dict[str, list[CaseMeasurement]]:
    """Return what reports want of each case, by engine, in the order of the rows.

    Args:
        run: The run.
        task: The task whose rows are taken.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    found: dict[str, list[CaseMeasurement]] = {}
    for row in run.rows():
        if row.task == task:
            case = measure(row, run.header.limits.compile_ns, passes)
            found.setdefault(row.engine, []).append(case)
    return found


def measure(
    row: Row, cut_ns: int | None, passes: Criterion | None = None
) -> CaseMeasurement:
    """Return what reports want of one row.

    Args:
        row: The row.
        cut_ns: The deadline of a compile call in nanoseconds; None where there is none.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    ended = outcome_of(row)
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    took = did_compile(row)
    timed_out = row.result is Result.TIMEOUT and not took
    between, masks = array("q"), array("q")
    for walk in walks:
        masks.extend(walk.mask_ns)
        between.extend(
            mask + commit
            for mask, commit in zip_longest(
                walk.mask_ns, walk.commit_ns[: len(walk.mask_ns)], fillvalue=0
            )
        )
    return CaseMeasurement(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        outcome=ended,
        passed=ended is Outcome.PASSED if passes is None else passes(row),
        compiled=took,
        has_instances=bool(walks),
        valid=_right(walks, valid=True),
        invalid=_right(walks, valid=False),
        compile_ns=row.compile_ns if took else None,
        compile_cut_ns=cut_ns if timed_out else None,
        first_mask_ns=row.first_mask_ns,
        apply_ns=row.apply_ns,
        between_ns=between,
        mask_ns=masks,
        rss_bytes=row.rss_bytes,
        quiet=row.quiet,
    )


def _right(walks: Sequence[InstanceResult], *, valid: bool) -> Rate:
    known = [engine_is_right(walk) for walk in walks if walk.valid is valid]
    return Rate(known.count(True), len(known) - known.count(None))


def compiled_by_all(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> tuple[int, dict[str, list[CaseMeasurement]]]:
    """Return how many samples every engine compiles, and each engine's cases of these.

    On them times can be compared.
    """
    taken = [
        {case.case_key for case in cases if case.compiled}
        for cases in cases_by_engine.values()
    ]
    common = set.intersection(*taken) if taken else set()
    return len(common), {
        name: [case for case in cases if case.case_key in common]
        for name, cases in cases_by_engine.items()
    }


def to_first_mask(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of the compile calls, those that were cut off as such.

    Schemas that were refused, or on which the engine died, have no such time.
    """
    listed = list(cases)
    return Quantiles.of(
        [case.compile_ns for case in listed if case.compile_ns is not None],
        [case.compile_cut_ns for case in listed if case.compile_cut_ns is not None],
    )


def first_mask(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of making a first matcher and computing its first mask."""
    times = [case.first_mask_ns for case in cases if case.first_mask_ns is not None]
    return Quantiles.of(times)


def mask_applied(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of applying one mask to the logits of one text."""
    times = [case.apply_ns for case in cases if case.apply_ns is not None]
    return Quantiles.of(times)


def between_masks(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times between masks, those of all cases together."""
    return _pooled(case.between_ns for case in cases)


def masks_alone(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of the masks without the commits, of all cases together."""
    return _pooled(case.mask_ns for case in cases)


def _pooled(parts: Iterable[array[int]]) -> Quantiles:
    nothing = np.zeros(0, dtype=np.int64)
    arrays = (np.frombuffer(part, dtype=np.int64) for part in parts if part)
    return Quantiles.of(np.concatenate([nothing, *arrays]))
