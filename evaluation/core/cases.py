"""The nouns of a measurement: cases, results, rows.

A task turns records (`evaluation.core.records`) into `Case`s: each is one schema to
compile, and texts to walk through the engine's masks. Running a case yields exactly one
`Row`, also where the engine crashes or hangs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec

from curation.core.json_types import UntypedJson

if TYPE_CHECKING:
    from curation.core.json_types import Json

    #: Labels that a task gives to a case or a walk, by name.
    Label: TypeAlias = Mapping[str, Json]
else:
    # msgspec cannot decode a recursive type such as JSON's.
    Label = Mapping[str, UntypedJson]

#: The largest integer that a table can hold.
_MAX_SIZE: Final = (1 << 63) - 1
#: An integer from 0 to 2^63 - 1: a count, a position, or nanoseconds.
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=_MAX_SIZE)]


#: Tokens above which a text is walked after all others of its case.
LONG_TEXT: Final = 512


#: One over the records of its config in its cluster of near-duplicates: in a mean with
#: these weights every cluster counts once.
Weight: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceWalk:
    """One text to feed through a grammar, token by token, to the end."""

    text: str
    valid: bool
    #: What the task wants back in the row: kind, keyword, pointer, order, ...
    label: Label = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One schema of one task: an engine compiles it, then walks every text."""

    task: str
    id: str
    config: str
    schema: str
    walks: tuple[InstanceWalk, ...] = ()
    #: That of its sample.
    weight: Weight = 1.0
    #: Labels to copy into the row: dialect, features, size, ... In a case without
    #: walks, `outcome` is the verdict on a text (`evaluation.results.outcomes`).
    label: Label = field(default_factory=dict)


class Result(StrEnum):
    """How one case ended."""

    OK = "ok"
    """Compiled, and every walk was walked, to its end or to where it was refused."""
    COMPILE_ERROR = "compile_error"
    """The engine refused the schema with a message."""
    TIMEOUT = "timeout"
    """No answer within the deadline of its phase; the worker was killed."""
    UNDECIDED = "undecided"
    """The wall clock ended it while its process waited for a core: not a result of
    the engine, and skipped by `evaluation.results.reader`."""
    CRASH = "crash"
    """The worker died of a signal, or ended by itself."""
    OUT_OF_MEMORY = "out_of_memory"
    """An allocation failed, or the memory limit was passed."""
    ENGINE_ERROR = "engine_error"
    """The engine failed while walking: neither a refusal nor a death."""
    ERROR = "error"
    """A model or its server failed; the engine did not."""
    TOO_MUCH_OUTPUT = "too_much_output"
    """The engine printed more than it may, and did not end."""
    PROTOCOL_ERROR = "protocol_error"
    """What came back is not an answer."""


class WalkVerdict(StrEnum):
    """What an engine's masks do with one text."""

    ACCEPTED = "accepted"
    """Every token was in its mask, and the end was allowed after the last."""
    BLOCKED = "blocked"
    """A token was not in its mask."""
    UNFINISHED = "unfinished"
    """Every token was in its mask, but the end was not allowed."""
    LIED = "lied"
    """Mask and commit disagree: a token in the mask was refused, or one outside it
    accepted."""
    MASK_GAP = "mask_gap"
    """A token was not in its mask, and commits alone take the valid text to its end: by
    other tokens a model could write it."""
    CONTRADICTED = "contradicted"
    """A token was not in its mask (or the end not allowed) which after the very same
    tokens was, in another text of the case: the engine gave two answers."""
    ENGINE_ERROR = "engine_error"
    """The engine raised, or reported a failure."""
    NOT_RUN = "not_run"
    """The walk was never reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of one case; part of every fingerprint."""

    #: Processor time, as for the walks: another's work is not the engine's.
    compile_seconds: float = 40.0
    run_seconds: float = 40.0
    #: Seconds by the wall clock until an engine is loaded; it decides no row.
    load_seconds: float = 180.0
    #: How many times as long either may take by the wall clock.
    wall_times: float = 4.0
    #: MiB above the worker's memory when it is ready.
    memory_mb: int = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The class of a wrong walk, and the place in the schema that governs it."""

    #: The part of the text where it was blocked, or `accepted to its end`.
    stands: str
    #: The keyword that governs the place, or that the text violates; may be empty.
    keyword: str = ""
    #: Relevant traits of its schema: `beside $ref`, `in anyOf`, `without type`; of
    #: an engine's failure the message, without numbers and names.
    setting: str = ""
    #: Location of its schema: `root`, `property`, `item`, `behind $ref`, ...
    context: str = ""
    #: The JSON pointer of its schema.
    pointer: str = ""

    @property
    def cause(self) -> tuple[str, str, str]:
        """The class: all but the place."""
        return self.stands, self.keyword, self.setting


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceResult:
    """What came of one walk; times are in nanoseconds."""

    verdict: WalkVerdict
    valid: bool
    #: Tokens of the text (the end not counted).
    tokens: Whole
    #: Index of the token at which it was blocked, lied about, or the engine failed;
    #: None otherwise.
    at: Whole | None = None
    #: Bytes of a blocked valid text that the grammar accepts one at a time:
    #: the next byte is rejected.
    byte: Whole | None = None
    #: Time of each mask's computation, in order; the first is part of time to first
    #: mask where a fresh matcher is made.
    mask_ns: tuple[Whole, ...] = ()
    #: Time of each commit, in order.
    commit_ns: tuple[Whole, ...] = ()
    #: Nanoseconds of the walk in which the process had to wait for its core, by the
    #: system's own count; they are taken out of its times before it is written.
    waited_ns: Whole | None = None
    #: Tokens of a valid text that the engine offered as forced (the only way on); None
    #: if it lacks this, and for an invalid text, where it is not tested.
    forced: Whole | None = None
    detail: str = ""
    #: Why it went wrong; None if it did not, and in older runs.
    why: Why | None = None
    label: Label = field(default_factory=dict)


class StoredText(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a run's line has of an `InstanceResult`; mask times as written."""

    verdict: WalkVerdict
    valid: bool
    tokens: Whole
    at: Whole | None = None
    forced: Whole | None = None
    why: Why | None = None
    label: Label = {}
    mask_ns: msgspec.Raw = msgspec.Raw(b"[]")


class StoredTexts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a run's line has of a `Row`: the case and its texts."""

    engine: str
    task: str
    config: str
    id: str
    walks: tuple[StoredText, ...] = ()
    label: Label = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one engine made of one case; `results.attempts` makes a run's line of it."""

    #: The engine with its version and preset, as the header names it.
    engine: str
    task: str
    id: str
    config: str
    result: Result
    #: That of its case or record.
    weight: Weight = 1.0
    #: Index of the repetition, from 0; each runs in a separate process.
    repetition: Whole = 0
    #: `compile`, `walk` or, where a model writes, `generate`: where it ended, unless
    #: `ok`.
    phase: str = ""
    #: The engine's message, or how the worker died.
    detail: str = ""
    #: What the engine printed or warned of, line by line.
    warnings: tuple[str, ...] = ()
    #: Nanoseconds of the compile call alone; None where it did not end.
    compile_ns: Whole | None = None
    #: Nanoseconds of it in which the process had to wait for its core; taken out
    #: before it is written.
    compile_waited_ns: Whole | None = None
    #: Nanoseconds of making the first matcher and computing its first mask.
    first_mask_ns: Whole | None = None
    #: Nanoseconds of processor time of a piece of work that is always the same, done by
    #: the same process just before: how fast the machine was. None in older runs.
    calibration_ns: Whole | None = None
    #: Whether the wall clock ended it, before its processor time was used up.
    ended_by_wall_clock: bool = False
    #: Resident bytes of the worker when the case was done.
    rss_bytes: Whole | None = None
    #: Whether the worker had its core to itself (no involuntary context switch).
    quiet: bool | None = None
    walks: tuple[InstanceResult, ...] = ()
    label: Label = field(default_factory=dict)
    #: Fingerprint of what decides this row: schema, walks, engine, options, limits.
    fingerprint: str = ""
