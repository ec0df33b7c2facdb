"""The table of attempts: what each engine made of each case, one typed line each.

Every report of engines is a query on it. Times are what MaskBench calls by these names:
the compile call alone; and, for each token, its mask and taking the token
(specification: guidance-ai/jsonschemabench, maskbench). Walks that are apart have
columns of their own, and near misses of length bounds are in no mean: they are as long
as their schema's bound, so that few of them would be most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson
import polars as pl

from evaluation.core.cases import InstanceResult, Row, WalkVerdict
from evaluation.results.outcomes import (
    Outcome,
    did_compile,
    engine_is_right,
    engine_is_wrong,
    is_judged_apart,
    outcome_of,
)
from evaluation.results.refusal_messages import warns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evaluation.core.run_header import RunHeader
    from evaluation.core.task import RunRows

    #: What a task says of a row: whether it is as it should be (`Task.passes`).
    Criterion: TypeAlias = Callable[[Row], bool]

#: Keywords that bound how long a value is.
LENGTH_BOUNDS: Final = frozenset(
    {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line: what came of one case under one engine, once."""

    engine: str
    task: str
    #: Config of the record, or group of the task's own case.
    config: str
    id: str
    #: Which measurement of the case it is, from 0.
    repetition: int
    #: In a mean in which every cluster of near-duplicates counts once.
    weight: float
    outcome: Outcome
    #: Whether the engine compiled the schema.
    compiled: bool
    #: Whether it passes, by the task's own criterion if it has one; None without texts.
    passed: bool | None
    #: Where it ended: `compile`, `walk`, or empty.
    phase: str
    detail: str
    warnings: tuple[str, ...]
    #: Whether it warned of the keyword of each invalid text that it accepted; None if
    #: it accepted none.
    warned: bool | None
    #: The compile call; None unless it compiled.
    compile_ns: int | None
    #: Making the first matcher and computing its first mask.
    first_mask_ns: int | None
    #: The mean of a token's mask and commit, and how many masks are in it.
    between_ns: float | None
    tokens: int
    #: The same of all texts, near misses of length bounds too: sum, masks, longest.
    walked_ns: int
    masks: int
    longest_ns: int | None
    #: Processor time of a piece of work that is always the same, done just before.
    calibration_ns: int | None
    rss_bytes: int | None
    #: Whether the process had its core to itself.
    quiet: bool | None
    ended_by_wall_clock: bool
    #: Valid texts that were walked, and those that could be written to the end.
    valid: int
    valid_accepted: int
    #: Invalid texts that were walked, and those that were blocked.
    invalid: int
    invalid_blocked: int
    #: Valid texts with members in another order, and those that could be written.
    reordered: int
    reordered_accepted: int
    #: `TEXT:TOKENS` of each wrong text, with the tokens before that.
    wrong: str
    #: Classes of its wrong texts: what stands there; keyword; setting.
    why: str
    #: The verdict on each text, and where: what two measurements must agree in.
    verdicts: str
    #: What the task says of the case, as JSON.
    label: str
    fingerprint: str


_KINDS: Final[dict[str, Any]] = {
    "str": pl.String,
    "Outcome": pl.String,
    "bool": pl.Boolean,
    "int": pl.Int64,
    "float": pl.Float64,
    "tuple[str, ...]": pl.List(pl.String),
}
#: The columns of the table, with their types.
COLUMNS: Final[dict[str, Any]] = {
    field.name: _KINDS[str(field.type).removesuffix(" | None")]
    for field in fields(Attempt)
}


def table(attempts: Iterable[Attempt]) -> pl.DataFrame:
    """Return attempts as the table that reports ask."""
    lines = [
        {
            **{name: getattr(attempt, name) for name in COLUMNS},
            "outcome": attempt.outcome.value,
            "warnings": [*attempt.warnings],
        }
        for attempt in attempts
    ]
    return pl.DataFrame(lines, schema=COLUMNS)


def wrong_texts(wrong: str) -> dict[int, int]:
    """Read `Attempt.wrong`: each wrong text, to the tokens before that."""
    pairs = (part.split(":") for part in wrong.split())
    return {int(text): int(tokens) for text, tokens in pairs}


def attempts_in(
    run: RunRows, task: str, passes: Criterion | None = None
) -> Iterator[Attempt]:
    """Yield the attempts of one task, each case's repetitions one after the other.

    Args:
        run: The run.
        task: The task.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    for row in run.all_rows(task):
        yield attempt_of(row, run.header, passes)


def is_length_bound_miss(walked: InstanceResult) -> bool:
    """Return whether a text was made to violate a bound of a length.

    It is as long as the bound: these few texts hold most of the benchmark's tokens.
    """
    return not walked.valid and walked.label.get("keyword") in LENGTH_BOUNDS


def steps_ns(walks: Iterable[InstanceResult]) -> list[int]:
    """Return the time of each token's mask and commit, one text after the other."""
    # A token that is blocked, or refused, has no commit.
    return [
        mask + commit
        for walk in walks
        for mask, commit in zip_longest(walk.mask_ns, walk.commit_ns, fillvalue=0)
    ]


def attempt_of(row: Row, header: RunHeader, passes: Criterion | None = None) -> Attempt:
    """Return the line of a row.

    Args:
        row: The row.
        header: That of its run.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    outcome, compiled = outcome_of(row), did_compile(row)
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    ordinary = steps_ns(walk for walk in walks if not is_length_bound_miss(walk))
    misses = steps_ns(walk for walk in walks if is_length_bound_miss(walk))
    if passes is not None:
        passed: bool | None = passes(row)
    else:
        passed = outcome is Outcome.PASSED if walks else None
    refusals = header.participant(row.engine).refusals
    accepted = [
        str(walk.label.get("keyword") or (walk.why.keyword if walk.why else ""))
        for walk in walks
        if walk.verdict is WalkVerdict.ACCEPTED and not walk.valid
    ]
    valid, valid_accepted = _judged(walk for walk in walks if walk.valid)
    invalid, invalid_blocked = _judged(walk for walk in walks if not walk.valid)
    reordered, reordered_accepted = _judged(filter(is_judged_apart, row.walks))
    wrong = {
        number: walk.tokens if walk.at is None else walk.at
        for number, walk in enumerate(row.walks)
        if engine_is_wrong(walk)
    }
    why = {"; ".join(filter(None, it.why.cause)) for it in row.walks if it.why}
    return Attempt(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        repetition=row.repetition,
        weight=row.weight,
        outcome=outcome,
        compiled=compiled,
        passed=passed,
        phase=row.phase,
        detail=row.detail,
        warnings=row.warnings,
        warned=all(warns_of(row, keyword, refusals) for keyword in accepted)
        if accepted
        else None,
        compile_ns=row.compile_ns if compiled else None,
        first_mask_ns=row.first_mask_ns,
        between_ns=sum(ordinary) / len(ordinary) if ordinary else None,
        tokens=len(ordinary),
        walked_ns=sum(ordinary) + sum(misses),
        masks=len(ordinary) + len(misses),
        longest_ns=max(chain(ordinary, misses), default=None),
        calibration_ns=row.calibration_ns,
        rss_bytes=row.rss_bytes,
        quiet=row.quiet,
        ended_by_wall_clock=row.ended_by_wall_clock,
        valid=valid,
        valid_accepted=valid_accepted,
        invalid=invalid,
        invalid_blocked=invalid_blocked,
        reordered=reordered,
        reordered_accepted=reordered_accepted,
        wrong=" ".join(f"{text}:{at}" for text, at in wrong.items()),
        why=" | ".join(sorted(why)),
        verdicts=" ".join([outcome, *(f"{it.verdict}:{it.at}" for it in row.walks)]),
        label=orjson.dumps(row.label).decode(),
        fingerprint=row.fingerprint,
    )


def _judged(walks: Iterable[InstanceResult]) -> tuple[int, int]:
    """Return the number of texts walked to a verdict, and of those it is right in."""
    rights = [engine_is_right(walk) for walk in walks]
    return len(rights) - rights.count(None), rights.count(True)
