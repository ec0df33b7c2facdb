"""Outcomes and times of cases, as reports use them.

Times are what MaskBench calls by these names: *time to first mask* is the compile call
alone; *time between masks* is, for each token, the time of its mask and of taking the
token (specification: guidance-ai/jsonschemabench, maskbench). Walks that are apart
are left out.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import add
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from evaluation.core.cases import InstanceResult, Result, Row
from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.tables import Rate
from evaluation.results.outcomes import (
    Outcome,
    did_compile,
    engine_is_right,
    engine_is_wrong,
    is_judged_apart,
    outcome_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.core.task import RunRows

    #: What a task says of a row: whether it is as it should be (`Task.passes`).
    Criterion: TypeAlias = Callable[[Row], bool]

#: Keywords that bound how long a value is.
LENGTH_BOUNDS: Final = frozenset(
    {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepetitionTimes:
    """Times of one repetition of a case, by which two engines are compared.

    Nanoseconds, without the near misses of length bounds
    (`CaseMeasurement.length_misses_ns`).
    """

    compile_ns: float | None
    first_mask_ns: float | None
    #: The mean of a token's mask and commit.
    between_ns: float | None
    #: Processor time of a piece of work that is always the same, done just before.
    calibration_ns: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMeasurement:
    """The outcome and the times of one case.

    Its texts are of three kinds: ordinary ones; near misses of length bounds, which
    are as long as their schema's bound, so that few of them would be most of the time
    between masks; and valid texts in another order, which count in
    `reordered` alone.
    """

    engine: str
    task: str
    config: str
    id: str
    #: In a mean in which every cluster of near-duplicates counts once.
    weight: float = 1.0
    outcome: Outcome
    #: Whether it passes, by the task's own criterion if it has one.
    passed: bool
    #: Whether the engine compiled the schema.
    compiled: bool
    #: Whether there was anything to walk.
    has_instances: bool
    #: Valid texts that could be written to the end, of those that were walked.
    valid: Rate
    #: The same of valid texts in another order.
    reordered: Rate
    #: Invalid texts that were blocked, of those that were walked.
    invalid: Rate
    compile_ns: int | None
    #: Nanoseconds after which the compile call was cut off; None unless it was.
    compile_cut_ns: int | None
    first_mask_ns: int | None
    #: Nanoseconds of each token's mask and commit, in ordinary texts and in the others.
    ordinary_ns: array[int]
    length_misses_ns: array[int]
    rss_bytes: int | None
    quiet: bool | None
    #: Whether the wall clock ended it, before its processor time was used up.
    ended_by_wall_clock: bool = False
    #: Number of each text that the engine was wrong about, to the tokens before that.
    wrong: Mapping[int, int] = field(default_factory=dict)
    repetitions: tuple[RepetitionTimes, ...] = ()
    #: Whether a repetition had another outcome, or another verdict on a text.
    unlike: bool = False

    @property
    def case_key(self) -> tuple[str, str]:
        """Config and id: what it has in common with other engines' cases."""
        return self.config, self.id

    @property
    def mean_between_ns(self) -> float | None:
        """The mean time between masks of ordinary texts; None without a mask."""
        times = self.ordinary_ns
        return sum(times) / len(times) if times else None


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
    of_case = groupby(rows, lambda row: (row.engine, row.config, row.id))
    for (engine, _, _), group in of_case:
        case = measure_repeated(group, run.header.limits.compile_ns, passes)
        cases.setdefault(engine, []).append(case)
    return cases


def measure_repeated(
    rows: Iterable[Row], cut_ns: int | None, passes: Criterion | None = None
) -> CaseMeasurement:
    """Return what reports want of a case: the first row, and the times of all.

    Args:
        rows: The rows of one case under one engine, one at least.
        cut_ns: The deadline of a compile call in nanoseconds; None for no deadline.
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

    It is as long as the bound: these few texts hold most of the benchmark's tokens.
    """
    return not walked.valid and walked.label.get("keyword") in LENGTH_BOUNDS


def times_of(row: Row) -> RepetitionTimes:
    """Return what one measurement took."""
    walks = [
        walk
        for walk in row.walks
        if walk.mask_ns and not is_judged_apart(walk) and not is_length_bound_miss(walk)
    ]
    total = sum(sum(walk.mask_ns) + sum(walk.commit_ns) for walk in walks)
    masks = sum(len(walk.mask_ns) for walk in walks)
    return RepetitionTimes(
        compile_ns=row.compile_ns if did_compile(row) else None,
        first_mask_ns=row.first_mask_ns,
        between_ns=total / masks if masks else None,
        calibration_ns=row.calibration_ns,
    )


def measure(
    row: Row, cut_ns: int | None, passes: Criterion | None = None
) -> CaseMeasurement:
    """Return what reports want of one row.

    Args:
        row: The row.
        cut_ns: The deadline of a compile call in nanoseconds; None for no deadline.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    ended = outcome_of(row)
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    compiled = did_compile(row)
    timed_out = row.result is Result.TIMEOUT and not compiled
    return CaseMeasurement(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        weight=row.weight,
        outcome=ended,
        passed=ended is Outcome.PASSED if passes is None else passes(row),
        compiled=compiled,
        has_instances=bool(walks),
        valid=_share_correct(walk for walk in walks if walk.valid),
        reordered=_share_correct(filter(is_judged_apart, row.walks)),
        invalid=_share_correct(walk for walk in walks if not walk.valid),
        compile_ns=row.compile_ns if compiled else None,
        compile_cut_ns=cut_ns if timed_out else None,
        first_mask_ns=row.first_mask_ns,
        ordinary_ns=_between(w for w in walks if not is_length_bound_miss(w)),
        length_misses_ns=_between(filter(is_length_bound_miss, walks)),
        rss_bytes=row.rss_bytes,
        quiet=row.quiet,
        ended_by_wall_clock=row.ended_by_wall_clock,
        wrong=wrong_texts(row),
        repetitions=(times_of(row),),
    )


def _between(walks: Iterable[InstanceResult]) -> array[int]:
    """Return the time of each token's mask and commit, one text after the other."""
    between = array("q")
    for walk in walks:
        between.extend(map(add, walk.mask_ns, walk.commit_ns))
        # A token that is blocked, or refused, has no commit.
        between.extend(walk.mask_ns[len(walk.commit_ns) :])
    return between


def wrong_texts(row: Row) -> dict[int, int]:
    """Return the number of each text that was wrong, and the tokens before that."""
    return {
        number: walk.tokens if walk.at is None else walk.at
        for number, walk in enumerate(row.walks)
        if engine_is_wrong(walk)
    }


def _share_correct(walks: Iterable[InstanceResult]) -> Rate:
    verdicts = [engine_is_right(walk) for walk in walks]
    return Rate(verdicts.count(True), len(verdicts) - verdicts.count(None))


def compiled_by_all(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> tuple[int, dict[str, list[CaseMeasurement]]]:
    """Return the number of schemas that every engine compiles, and the cases of these.

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
    """Return the times of the compile calls; a call cut off is a lower bound.

    Refused schemas and those that killed the engine have no time.
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


def between_masks(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return the times between masks, those of all cases together."""
    return _pooled(case.ordinary_ns for case in cases)


def by_schema(cases: Iterable[CaseMeasurement]) -> Quantiles:
    """Return each schema's mean time between masks: each schema counts once."""
    means = (case.mean_between_ns for case in cases)
    return Quantiles.of([mean for mean in means if mean is not None])


def _pooled(parts: Iterable[array[int]]) -> Quantiles:
    nothing = np.zeros(0, dtype=np.int64)
    arrays = (np.frombuffer(part, dtype=np.int64) for part in parts if part)
    return Quantiles.of(np.concatenate([nothing, *arrays]))
