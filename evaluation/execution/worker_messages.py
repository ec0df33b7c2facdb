"""What a worker that walks texts is asked, and what it answers, as types.

The other end is `walk_session.py`, which runs in an engine's own Python and knows the
standard library only: it names the same members.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluation.core.cases import WalkVerdict, Whole


class CompileQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Compile a schema; the grammar is kept for the next question."""

    #: The schema's text.
    compile: str
    #: Whether untimed work comes first, in a process that has not done any yet.
    warm_up: bool = False


class WalkQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Walk texts through the masks of the grammar compiled last."""

    #: The tokens of each text; None where none spell it.
    walks: Sequence[Sequence[int] | None]
    #: What all walks together may take: of processor time, and by the wall clock.
    seconds: float
    wall_seconds: float
    #: Of which texts forced tokens are counted: of the first valid one, since asking
    #: for them costs as much as a commit.
    forced: Sequence[bool] = ()


class WorkerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer of `walk_session.py` says beside what was asked."""

    #: Whether nothing else was given the worker's core.
    quiet: bool | None = None
    #: What the engine printed meanwhile.
    printed: str = ""
    #: Whether it printed as much as it may.
    printed_too_much: bool = False
    rss_bytes: Whole | None = None


class CompileAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `compile`: how long it took, or why the schema is refused."""

    compile_ns: Whole | None = None
    #: Nanoseconds of it in which the process waited for its core.
    waited_ns: Whole | None = None
    #: Processor time of the calibration work, just before.
    calibration_ns: Whole | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


class WalkedText(msgspec.Struct, frozen=True, array_like=True):
    """One walk in the answer to `walks`; a list on the wire."""

    verdict: WalkVerdict
    at: Whole | None
    mask_ns: tuple[Whole, ...]
    commit_ns: tuple[Whole, ...]
    forced: Whole | None
    detail: str
    waited_ns: Whole | None = None


class WalkAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `walks`."""

    #: Of the walks that were begun, in order.
    walks: tuple[WalkedText, ...] = ()
    first_mask_ns: Whole | None = None
    #: Nanoseconds of applying a mask to logits; None where the engine has no kernel.
    apply_ns: Whole | None = None
    #: Says so where the deadline ended the walks.
    late: str = ""
    #: Whether that was the wall clock's.
    by_wall_clock: bool = False
