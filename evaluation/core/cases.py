"""The nouns of a measurement: what is asked of an engine, and what came of it.

A `Sample` is a schema with instances. A task turns samples into `Case`s, each one
schema to compile and texts to walk through its masks; the driver turns every unit
into exactly one `Row`, whatever the engine does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A JSON text and whether its schema accepts it."""

    text: str
    valid: bool
    #: What it was made for: `minimal`, `full`, `random`, `near_miss`, `suite`, ...
    kind: str
    #: The keyword that alone refuses it; empty for a valid one or where unknown.
    keyword: str = ""
    #: Where in the schema that keyword stands, a JSON pointer.
    schema_pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One schema to measure with."""

    #: The record's `unique_id`, or the file's name.
    id: str
    config: str
    #: `train`, `val`, `test`; empty where the data has no splits.
    split: str
    #: JSON text, key order and number spelling kept.
    schema: str
    #: The dialect's name (`curation.schema.dialects`).
    dialect: str
    instances: tuple[Instance, ...] = ()
    #: Feature names, as the `features` column has them.
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceWalk:
    """One text to feed through a grammar, token by token, to the end."""

    text: str
    valid: bool
    #: Whatever the task wants back in the row: kind, keyword, pointer, order, ...
    label: Mapping[str, UntypedJson] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One schema x task: compile, then walk every text. One engine's worth of work."""

    task: str
    id: str
    config: str
    schema: str
    walks: tuple[InstanceWalk, ...] = ()
    #: Whatever the task wants back in the row: dialect, features, size, ... Of a unit
    #: without walks `outcome` means what a model wrote (`evaluation.results.outcomes`).
    label: Mapping[str, UntypedJson] = field(default_factory=dict)


class Result(StrEnum):
    """What came of one unit."""

    OK = "ok"
    """Compiled, and every walk was walked, to its end or to where it was refused."""
    COMPILE_ERROR = "compile_error"
    """The engine refused the schema and said so."""
    TIMEOUT = "timeout"
    """No answer within the deadline of its phase; the worker was killed."""
    CRASH = "crash"
    """The worker died of a signal, or ended by itself."""
    OUT_OF_MEMORY = "out_of_memory"
    """An allocation failed, or the memory limit was passed."""
    ERROR = "error"
    """The engine raised while walking: neither a refusal nor a death."""
    PROTOCOL_ERROR = "protocol_error"
    """What came back is not an answer."""


class WalkVerdict(StrEnum):
    """What an engine's masks said about one text."""

    ACCEPTED = "accepted"
    """Every token was in its mask, and the end was allowed after the last."""
    BLOCKED = "blocked"
    """A token was not in its mask."""
    UNFINISHED = "unfinished"
    """Every token was in its mask, but the end was not allowed."""
    LIED = "lied"
    """Mask and commit disagree: a token in the mask was refused, or one outside it
    accepted."""
    NOT_RUN = "not_run"
    """The walk was never reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceResult:
    """One walk's outcome; times in nanoseconds."""

    verdict: WalkVerdict
    valid: bool
    #: Tokens of the text (the end not counted).
    tokens: int
    #: Index of the token at which it was blocked or lied about; None otherwise.
    at: int | None = None
    #: Time of each mask's computation, in order; the first is part of time to first
    #: mask where a fresh matcher is made.
    mask_ns: tuple[int, ...] = ()
    #: Time of each commit, in order.
    commit_ns: tuple[int, ...] = ()
    #: Tokens that the engine offered as forced (the only way on); None if it offers
    #: none of this.
    forced: int | None = None
    detail: str = ""
    label: Mapping[str, UntypedJson] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a run's results: an engine x schema x task."""

    #: The engine with its version and preset, as the header names it.
    engine: str
    task: str
    id: str
    config: str
    result: Result
    #: `compile`, `walk` or, where a model writes, `generate`: where it ended, unless
    #: `ok`.
    phase: str = ""
    #: What the engine said, or how the worker died.
    detail: str = ""
    #: What the engine printed or warned of, line by line.
    warnings: tuple[str, ...] = ()
    #: Nanoseconds of the compile call alone; None where it did not end.
    compile_ns: int | None = None
    #: Nanoseconds of making the first matcher and computing its first mask.
    first_mask_ns: int | None = None
    #: Resident bytes of the worker when the unit was done.
    rss_bytes: int | None = None
    #: Whether the worker had its core to itself (no involuntary context switch).
    quiet: bool | None = None
    walks: tuple[InstanceResult, ...] = ()
    label: Mapping[str, UntypedJson] = field(default_factory=dict)
    #: Fingerprint of what decides this row: schema, walks, engine, options, limits.
    fingerprint: str = ""
