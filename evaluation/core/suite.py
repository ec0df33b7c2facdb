"""The protocol of a suite: its records, prompts, scorer and tables.

`evaluation.runner` does the rest for all suites; docs/suites.md shows a whole suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Final,
    Generic,
    TypeAlias,
    TypeVar,
)

import msgspec

from evaluation.core.cases import Label, Weight
from evaluation.core.records import (
    Prompt,
    Record,
    RecordRequest,
    RecordSet,
    Response,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curation.core.json_types import Json
    from evaluation.reporting.tables import Table

#: Judges a response to one record: pure, deterministic, never raises for a model's
#: text.
Judge: TypeAlias = Callable[[Response], Verdict]
#: Prepares a record (schema, truth, facts of tables): once, before its responses.
Scorer: TypeAlias = Callable[[Record], Judge]
#: The settings of one suite: a frozen struct with a default for every field.
S = TypeVar("S", bound=msgspec.Struct)

#: Class of an answer that an engine left out, in every suite.
ENGINE_ERROR: Final = "engine_error"
#: Classes that scoring itself gives, in every suite.
SCORING_TIMEOUT: Final = "scoring_timeout"
SCORING_FAILED: Final = "scoring_failed"
SCORING_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        SCORING_TIMEOUT: "scoring took longer than allowed; counted as failed",
        SCORING_FAILED: "the scorer crashed or ran out of memory; counted as failed",
    }
)
#: Classes of every suite, each with the sentence that explains it.
COMMON_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {ENGINE_ERROR: "the engine refused the schema, or failed", **SCORING_CLASSES}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredResponse:
    """The verdicts on one record's answers by one model under one condition."""

    record: str
    group: str
    repeat: int
    model: str
    condition: str
    #: The verdict on every attempt, the first answer first; one at least.
    verdicts: Annotated[tuple[Verdict, ...], msgspec.Meta(min_length=1)]
    #: That of the record.
    weight: Weight = 1.0
    #: Sums over the attempts; None where a figure is not known.
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    #: The name in rows and tables; empty for model and condition together.
    participant: str = ""
    #: How the last attempt was written (`Response.writing`).
    writing: Label | None = None

    @property
    def label(self) -> str:
        """The name in rows and tables."""
        return self.participant or f"{self.model} {self.condition}"

    @property
    def verdict(self) -> Verdict:
        """The verdict on the last attempt."""
        return self.verdicts[-1]

    @property
    def cluster(self) -> str:
        """What its answer depends on: the schema or the kind of its record, or that."""
        return str(self.verdict.details.get("cluster") or self.record)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """A run of a suite as its tables read it."""

    #: The suite's facts in the header: settings, compat, origin, ...
    facts: Mapping[str, Json]
    #: The responses of each model and condition, in the header's order.
    by_label: Mapping[str, Sequence[ScoredResponse]]

    @property
    def counted(self) -> Mapping[str, Sequence[ScoredResponse]]:
        """The responses that count in rates."""
        return {
            label: [response for response in side if response.verdict.counted]
            for label, side in self.by_label.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording(Generic[S]):
    """Records whose requests a model rewords (`generate --rewriter`)."""

    #: Returns the request to reword a record.
    prompt: Callable[[Record, S], Prompt]
    #: Returns the record with the model's text, unchanged if the text lost anything.
    accept: Callable[[Record, str], Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Generic[S]):
    """One suite; `SUITE` in the module `suite` of its folder.

    Example:
        docs/suites.md has one in full, with the commands that run it.
    """

    #: What `csbdata suite` calls it.
    name: str
    #: One sentence for the help text.
    summary: str
    #: The class of its settings; `--set NAME=VALUE` sets a field.
    settings: type[S]
    #: Its failure classes, each with the sentence that explains it, in the order of
    #: their precedence. A verdict has one of them, or passes.
    classes: Mapping[str, str]
    #: Returns how a record is asked.
    prompt: Callable[[Record, S], Prompt]
    #: Returns what prepares records and judges their responses; called once in each
    #: process.
    scorer: Callable[[S], Scorer]
    #: Yields the suite's own tables of a scored run, around which standings, pairs,
    #: classes and costs are; None for rates by group.
    tables: Callable[[ScoredRun], Iterable[Table]] | None = None
    #: Yields `count` generated records, drawn with a seed: `generate(count, seed,
    #: settings)`; None where it has no generator.
    generate: Callable[[int, int, S], Iterable[Record]] | None = None
    #: Returns the requested records, if not all are generated.
    records: Callable[[RecordRequest, S], RecordSet] | None = None
    #: What `--data` calls the data that its authors publish on the Hub; a run without
    #: `--data` has these where the Hub answers, and else generated ones.
    published: str = ""
    #: Lets a model reword generated records; None where it cannot.
    rewording: Rewording[S] | None = None
    #: Whether rows report how each answer was written: tokens, times, passes, and how
    #: its engine ended.
    keeps_writing: bool = False
    #: Seconds in which one response must be scored.
    scoring_seconds: float = 10.0
    #: A cheaper scorer for a response on which `scorer` ran out of time or crashed;
    #: None: that is the verdict.
    fallback: Callable[[S], Scorer] | None = None
    #: Returns what settings refer to, for the run's header: the text of a prompt's
    #: file, ...
    facts: Callable[[S], Mapping[str, Json]] | None = None
    #: The settings of the published reading (`NAME@paper`); empty without another.
    paper: Mapping[str, Json] = field(default_factory=dict)
    #: Reads one line of a response file as the benchmark's authors publish them; None
    #: for a line in another layout. None without such files.
    published_response: Callable[[Mapping[str, Json]], Response | None] | None = None
