"""All that a rule needs: one named decision about one document, with its source.

The modules of `curation.rules` hold them, and `curation.rules.sets` lists them in their
order.

Example:
    >>> @rule(
    ...     "my-rule",
    ...     summary="One sentence: the edit, and its condition.",
    ...     source="The clause, section or measurement that it follows.",
    ... )
    ... def my_rule(document, context):
    ...     return document  # or document.changed(schema, changes), or Rejected(...)
    >>> my_rule.name
    'my-rule'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from curation.core.documents import (
    ABSENT,
    Change,
    Document,
    Lint,
    Origin,
    Reason,
    Rejected,
)
from curation.core.json_types import Json

__all__ = [
    "ABSENT",
    "BenchmarkRule",
    "Candidate",
    "Change",
    "Context",
    "Document",
    "Json",
    "Library",
    "Lint",
    "Origin",
    "Reason",
    "Rejected",
    "RepairKind",
    "Rule",
    "rule",
]


class Library(Protocol):
    """The other documents of a source, by absolute URI without fragment."""

    def get(self, uri: str, /) -> Json | None:
        """Return the parsed document, or None if the source has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Context of a rule, in addition to its document."""

    library: Library


#: The decision: the document, changed or not, or its end; pure, and never on the
#: network.
ApplyRule = Callable[[Document, Context], Document | Rejected]


class RepairKind(StrEnum):
    """How sure a repair is to match the author's intention."""

    LOSSLESS = "lossless"
    """The text before has one meaning, by some draft or by any, and keeps it."""
    MECHANICAL = "mechanical"
    """The text before has no meaning; the same slip is always repaired the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, as `csbdata explain` lists it."""

    name: str
    #: One sentence: the edit and its condition.
    summary: str
    #: The paper section, specification clause or measurement it follows.
    source: str
    apply: ApplyRule
    #: The reasons with which it can reject.
    reasons: tuple[Reason, ...] = ()
    #: Which kind of repair it makes; None if it is not a repair of a schema's text.
    repair: RepairKind | None = None
    #: The lint codes that it can leave.
    lints: Mapping[str, str] = field(default_factory=dict)


def rule(  # noqa: PLR0913 (the facts of a rule)
    name: str,
    *,
    summary: str,
    source: str,
    reasons: tuple[Reason, ...] = (),
    repair: RepairKind | None = None,
    lints: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[ApplyRule], Rule]:
    """Make a rule of a function; the arguments are the fields of `Rule`."""

    def of(apply: ApplyRule) -> Rule:
        return Rule(
            name=name,
            summary=summary,
            source=source,
            apply=apply,
            reasons=reasons,
            repair=repair,
            lints=lints,
        )

    return of


class Candidate(NamedTuple):
    """What a benchmark rule may know of a record that has come this far."""

    config: str
    unique_id: str
    #: sha256 of the canonical form.
    sha256: str
    field_count: int
    #: Its source's own bounds (`curation.sources.readers.Source`).
    quota: int | None
    least_fields: int
    #: Outside the ten configs.
    extra: bool


class BenchmarkRule(NamedTuple):
    """A rule that needs to see all records at once, such as the removal of copies.

    It runs after every document rule, in one process, on candidates in benchmark
    order; it never sees or changes a schema.
    """

    name: str
    summary: str
    source: str
    #: The decision: which candidates end here, by their position.
    judge: Callable[[Sequence[Candidate]], Mapping[int, Rejected]]
    reasons: tuple[Reason, ...] = ()
