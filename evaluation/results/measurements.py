"""What reports want of a row: its outcome and its times, without the rest.

Times are what MaskBench calls by these names: *time to first mask* is the compile call
alone; *time between masks* is, for each token, the time of its mask and of taking the
token (specification: guidance-ai/jsonschemabench, maskbench). Walks that are apart
are left out.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from itertools import groupby
from operator import add
from statistics import median
from typing import TYPE_CHECKING, Final, TypeAlias

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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.core.cases import InstanceResult, Row
    from evaluation.core.task import RunRows

    #: What a task says of a row: whether it is as it should be (`Task.passes`).
    Criterion: TypeAlias = Callable[[Row], bool]

#: How many times as long as the middle one a step is that may hold a wait.
_FAR: Final = 4
#: Keywords that bound how long a value is.
LENGTH_BOUNDS: Final = frozenset(
    {
        "maxItems",
        "maxLength",
        "maxProperties",
        "minItems",
        "minLength",
        "minProperties",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepetitionTimes:
    """What one measurement of a case took: what two engines are compared by.

    Nanoseconds, without those in which the process waited for its core. Near misses of
    length bounds are left out: they are as long as their schema's bound, and few of
    them would be most of the time between masks.
    """

    compile_ns: float | None
    first_mask_ns: float | None
    #: The mean of a token's mask and commit.
    between_ns: float | None
    #: Processor time of a piece of work that is always the same, done just before.
    calibration_ns: float | None


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
    #: Nanoseconds of each token's mask and commit, in texts but near misses of length
    #: bounds.
    between_ns: array[int]
    #: The same of near misses of length bounds.
    bound_between_ns: array[int]
    #: How many near misses of length bounds were walked.
    bound_texts: int
    #: Nanoseconds of each mask alone, in the texts of `between_ns`.
    mask_ns: array[int]
    #: Of each text of `between_ns` how many masks were computed.
    masks_of_texts: tuple[int, ...]
    #: Valid texts in another order of members that could be written to the end, of
    #: those that were walked.
    reordered: Rate
    rss_bytes: int | None
    quiet: bool | None
    #: One for each measurement of it.
    repetitions: tuple[RepetitionTimes, ...] = ()
    #: Whether the wall clock ended it, before its processor time was used up.
    ended_by_wall_clock: bool = False
    #: Whether a repetition came to another outcome, or to another verdict on a text.
    unlike: bool = False

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
    cases: dict[str, list[CaseMeasurement]] = {}
    rows = (row for row in run.all_rows() if row.task == task)
    for (engine, _, _), group in groupby(rows, lambda row: (row.engine, *_key(row))):
        case = measure_repeated(group, run.header.limits.compile_ns, passes)
        cases.setdefault(engine, []).append(case)
    return cases


def _key(row: Row) -> tuple[str, str]:
    return row.config, row.id


def measure_repeated(
    rows: Iterable[Row], cut_ns: int | None, passes: Criterion | None = None
) -> CaseMeasurement:
    """Return what reports want of a case: the first row, and the times of all.

    Args:
        rows: The rows of one case under one engine, one at least.
        cut_ns: The deadline of a compile call in nanoseconds; None where there is none.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    first, *repeated = rows
    case = measure(first, cut_ns, passes)
    return replace(
        case,
        repetitions=(*case.repetitions, *map(times_of, repeated)),
        unlike=any(_verdicts(row) != _verdicts(first) for row in repeated),
    )


def _verdicts(row: Row) -> tuple[object, ...]:
    return outcome_of(row), *((walk.verdict, walk.at) for walk in row.walks)


def is_length_bound_miss(walked: InstanceResult) -> bool:
    """Return whether a text was made to violate a bound of a length.

    It is as long as the bound wants it: of the benchmark's texts these few are most of
    the tokens, whatever the engine.
    """
    return not walked.valid and walked.label.get("keyword") in LENGTH_BOUNDS


def times_of(row: Row) -> RepetitionTimes:
    """Return what one measurement took."""
    walks = [
        walk
        for walk in row.walks
        if walk.mask_ns and not is_judged_apart(walk) and not is_length_bound_miss(walk)
    ]
    total = sum(
        sum(walk.mask_ns) + sum(walk.commit_ns) - _waited(walk) for walk in walks
    )
    masks = sum(len(walk.mask_ns) for walk in walks)
    compiled = row.compile_ns if did_compile(row) else None
    return RepetitionTimes(
        compile_ns=None
        if compiled is None
        else _without(compiled, row.compile_waited_ns or 0),
        first_mask_ns=row.first_mask_ns,
        between_ns=total / masks if masks else None,
        calibration_ns=row.calibration_ns,
    )


def _waited(walked: InstanceResult) -> int:
    """Return how much of a walk's times was waiting for the core.

    Only of steps that are far above the middle one of their kind, since some of the
    waiting may have been between steps.
    """
    if not walked.waited_ns:
        return 0
    excess = 0.0
    for times in (walked.mask_ns, walked.commit_ns):
        middle = median(times) if times else 0
        excess += sum(time - middle for time in times if time > _FAR * middle)
    return min(walked.waited_ns, int(excess))


def _without(ns: int, waited: int) -> float:
    """Return a time without the waiting in it; the whole, were it all waiting."""
    return float(ns - waited if waited < ns else ns)


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
    between, bound, masks = array("q"), array("q"), array("q")
    usual = [walk for walk in walks if not is_length_bound_miss(walk)]
    for walk in walks:
        times = bound if is_length_bound_miss(walk) else between
        times.extend(map(add, walk.mask_ns, walk.commit_ns))
        # A token that is blocked, or refused, has no commit.
        times.extend(walk.mask_ns[len(walk.commit_ns) :])
    for walk in usual:
        masks.extend(walk.mask_ns)
    masks_of_texts = tuple(len(walk.mask_ns) for walk in usual if walk.mask_ns)
    return CaseMeasurement(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        outcome=ended,
        passed=ended is Outcome.PASSED if passes is None else passes(row),
        compiled=took,
        has_instances=bool(walks),
        valid=_right([walk for walk in walks if walk.valid]),
        invalid=_right([walk for walk in walks if not walk.valid]),
        compile_ns=row.compile_ns if took else None,
        compile_cut_ns=cut_ns if timed_out else None,
        first_mask_ns=row.first_mask_ns,
        apply_ns=row.apply_ns,
        between_ns=between,
        bound_between_ns=bound,
        bound_texts=sum(bool(walk.mask_ns) for walk in walks) - len(masks_of_texts),
        mask_ns=masks,
        masks_of_texts=masks_of_texts,
        reordered=_right([walk for walk in row.walks if is_judged_apart(walk)]),
        rss_bytes=row.rss_bytes,
        quiet=row.quiet,
        repetitions=(times_of(row),),
        ended_by_wall_clock=row.ended_by_wall_clock,
    )


def _right(walks: Sequence[InstanceResult]) -> Rate:
    verdicts = [engine_is_right(walk) for walk in walks]
    return Rate(verdicts.count(True), len(verdicts) - verdicts.count(None))


def compiled_by_all(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> tuple[int, dict[str, list[CaseMeasurement]]]:
    """Return how many samples every engine compiles, and each engine's cases of these.

    On them times can be compared.
    """
    compiled = [
        {case.case_key for case in cases if case.compiled}
        for cases in cases_by_engine.values()
    ]
    common = set.intersection(*compiled) if compiled else set()
    return len(common), {
        name: [case for case in cases if case.case_key in common]
        for name, cases in cases_by_engine.items()
    }


def to_first_mask(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of the compile calls, those that were cut off as such.

    Schemas that were refused, or on which the engine died, have no such time.
    """
    all_cases = list(cases)
    return Quantiles.of(
        [case.compile_ns for case in all_cases if case.compile_ns is not None],
        [case.compile_cut_ns for case in all_cases if case.compile_cut_ns is not None],
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


def of_length_bounds(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times between masks in near misses of length bounds."""
    return _pooled(case.bound_between_ns for case in cases)


def by_schema(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return each schema's mean time between masks: each schema counts once."""
    means = (case.mean_between_ns for case in cases)
    return Quantiles.of([mean for mean in means if mean is not None])


def by_text(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return each text's mean time between masks: each text counts once."""
    return Quantiles.of([sum(times) / len(times) for times in texts_of(cases)])


def texts_of(cases: Iterable[CaseMeasurement]) -> Iterator[array[int]]:
    """Yield the times between masks of each text, but near misses of length bounds."""
    for case in cases:
        start = 0
        for masks in case.masks_of_texts:
            yield case.between_ns[start : start + masks]
            start += masks


def masks_alone(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times of the masks without the commits, of all cases together."""
    return _pooled(case.mask_ns for case in cases)


def _pooled(parts: Iterable[array[int]]) -> Quantiles:
    nothing = np.zeros(0, dtype=np.int64)
    arrays = (np.frombuffer(part, dtype=np.int64) for part in parts if part)
    return Quantiles.of(np.concatenate([nothing, *arrays]))
