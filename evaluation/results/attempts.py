"""The table of attempts: each engine's result on each case, one typed line each.

Every report of engines is a query on it. Times are what MaskBench calls by these names:
the compile call alone; and, for each token, its mask and taking the token
(specification: guidance-ai/jsonschemabench, maskbench). Walks labelled `apart` have
separate columns, and near misses of length bounds are in no mean: they are as long
as their schema's bound, so that few of them would be most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import orjson

from evaluation.core.cases import (
    LONG_TEXT,
    InstanceResult,
    Result,
    Row,
    WalkVerdict,
    Weight,
    Whole,
)
from evaluation.results.outcomes import (
    Outcome,
    did_compile,
    engine_is_right,
    engine_is_wrong,
    is_judged_apart,
    read_outcome,
)
from evaluation.results.refusal_messages import has_warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.core.run_header import RunHeader

#: Whether a row is as it should be, by its task (`Task.passes`).
Criterion: TypeAlias = Callable[[Row], bool]
#: Name of the table in a run's folder: JSON lines, only ever appended to.
ATTEMPTS: Final = "attempts.jsonl"
#: Keywords that bound how long a value is.
LENGTH_BOUNDS: Final = frozenset(
    {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
)


class Attempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line: the result of one case under one engine, once.

    In the file its `result` and `walks` follow (`evaluation.core.cases.Row`).
    """

    engine: str
    task: str
    #: Config of the record, or group of the task's own case.
    config: str
    id: str
    #: Which measurement of the case it is, from 0.
    repetition: Whole
    #: In a mean in which every cluster of near-duplicates counts once.
    weight: Weight
    #: None if a busy machine left it undecided: then it is in no table.
    outcome: Outcome | None
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
    #: Time of the compile call, rejections included; None in a run's frame.
    compile_ns: Whole | None
    #: Making the first matcher and computing its first mask.
    first_mask_ns: Whole | None
    #: The mean of a token's mask and commit, and how many masks are in it.
    between_ns: float | None
    tokens: Whole
    #: Processor time of a piece of work that is always the same, done just before.
    calibration_ns: Whole | None
    rss_bytes: Whole | None
    #: Whether the process had its core to itself.
    quiet: bool | None
    ended_by_wall_clock: bool
    #: Valid texts walked, and those that could be written to the end.
    valid: Whole
    valid_accepted: Whole
    #: Invalid texts walked, and those blocked.
    invalid: Whole
    invalid_blocked: Whole
    #: Valid texts with members in another order, and those that could be written.
    reordered: Whole
    reordered_accepted: Whole
    #: `TEXT:TOKENS` of each wrong text, with the tokens before that.
    wrong: str
    #: Classes of its wrong texts: kind of byte; keyword; setting.
    why: str
    #: The task's label of the case, as JSON.
    label: msgspec.Raw
    fingerprint: str


def wrong_texts(wrong: str) -> dict[int, int]:
    """Read `Attempt.wrong`: each wrong text, to the tokens before that."""
    pairs = (part.split(":") for part in wrong.split())
    return {int(text): int(tokens) for text, tokens in pairs}


def is_length_bound_miss(walked: InstanceResult) -> bool:
    """Return whether a text was made to violate a bound of a length.

    It is as long as the bound: these few texts hold most of the benchmark's tokens.
    """
    return not walked.valid and walked.label.get("keyword") in LENGTH_BOUNDS


def steps_ns(walks: Iterable[InstanceResult]) -> list[int]:
    """Return the time of each token's mask and commit, one text after the other."""
    # A token blocked, or refused, has no commit.
    return [
        mask + commit
        for walk in walks
        for mask, commit in zip_longest(walk.mask_ns, walk.commit_ns, fillvalue=0)
    ]


def make_attempt(
    row: Row, header: RunHeader, passes: Criterion | None = None
) -> Attempt:
    """Return the attempt of a row.

    Args:
        row: The row, its times without waiting for a core.
        header: That of its run.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    outcome = None if row.result is Result.UNDECIDED else read_outcome(row)
    compiled = did_compile(row)
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    steps = steps_ns(walk for walk in walks if not is_length_bound_miss(walk))
    passed = outcome is Outcome.PASSED if walks and outcome else None
    if passes is not None and outcome:
        passed = passes(row)
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
    why = {"; ".join(filter(None, walk.why.cause)) for walk in row.walks if walk.why}
    shared = {
        name: getattr(row, name)
        for name in Attempt.__struct_fields__
        if hasattr(row, name)
    }
    computed: dict[str, Any] = {
        "outcome": outcome,
        "compiled": compiled,
        "passed": passed,
        "warned": all(has_warning(row, keyword, refusals) for keyword in accepted)
        if accepted
        else None,
        "between_ns": sum(steps) / len(steps) if steps else None,
        "tokens": len(steps),
        "valid": valid,
        "valid_accepted": valid_accepted,
        "invalid": invalid,
        "invalid_blocked": invalid_blocked,
        "reordered": reordered,
        "reordered_accepted": reordered_accepted,
        "wrong": " ".join(f"{text}:{at}" for text, at in wrong.items()),
        "why": " | ".join(sorted(why)),
        "label": msgspec.Raw(orjson.dumps(row.label, default=msgspec.to_builtins)),
    }
    return Attempt(**shared | computed)


def make_line(row: Row, header: RunHeader, passes: Criterion | None = None) -> bytes:
    """Return the line of a row: its attempt, how it ended, and its texts.

    Args:
        row: The row; waiting for a core is taken out of its times.
        header: That of its run.
        passes: Whether a row is as it should be; None: its outcome decides.
    """
    net = without_waits(row)
    columns = msgspec.structs.asdict(make_attempt(net, header, passes))
    line = {
        **columns,
        "label": row.label,
        "result": row.result,
        "walks": net.walks,
    }
    return orjson.dumps(line, default=msgspec.to_builtins)


def _judged(walks: Iterable[InstanceResult]) -> tuple[int, int]:
    """Return the number of texts walked to a verdict, and of those it is right in."""
    rights = [engine_is_right(walk) for walk in walks]
    return len(rights) - rights.count(None), rights.count(True)


#: A step that takes this many times the median may contain waiting for the core.
_WAIT_FACTOR: Final = 4


def without_waits(row: Row) -> Row:
    """Return a row without the time spent waiting for the core.

    Applying it twice changes nothing more: removed waits leave no trace.
    """
    compile_ns = row.compile_ns
    waited = row.compile_waited_ns or 0
    # A time that is all waiting is better than no time.
    if compile_ns is not None and waited < compile_ns:
        compile_ns -= waited
    first_ns = row.first_mask_ns
    timed = [walk for walk in row.walks if walk.mask_ns]
    # The first walked text.
    walk = min(timed, key=lambda walk: walk.tokens > LONG_TEXT, default=None)
    if first_ns is not None and walk is not None:
        first_ns += _walk_without_waits(walk).mask_ns[0] - walk.mask_ns[0]
    return replace(
        row,
        walks=tuple(map(_walk_without_waits, row.walks)),
        compile_ns=compile_ns,
        compile_waited_ns=None,
        first_mask_ns=first_ns,
    )


def _walk_without_waits(walked: InstanceResult) -> InstanceResult:
    """Take waiting out of the steps that are far above their median.

    Each step loses a share of its excess; the process may have waited between steps.
    """
    if not walked.waited_ns:
        return walked
    steps = [*walked.mask_ns, *walked.commit_ns]
    masks = len(walked.mask_ns)
    excess = [*_far_above(walked.mask_ns), *_far_above(walked.commit_ns)]
    share = min(1.0, walked.waited_ns / (sum(excess) or 1.0))
    net = [int(ns - share * above) for ns, above in zip(steps, excess, strict=True)]
    return replace(
        walked, mask_ns=tuple(net[:masks]), commit_ns=tuple(net[masks:]), waited_ns=None
    )


def _far_above(times: Sequence[int]) -> list[float]:
    """Return the excess of each time over the median, 0 unless far above."""
    middle = median(times) if times else 0
    return [ns - middle if ns > _WAIT_FACTOR * middle else 0.0 for ns in times]
