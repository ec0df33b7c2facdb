"""Facts: values that carry the reason why a reader of the context knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from curation.json.pointer import pointer
from evaluation.suites.sob.records import Evidence

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: A truth in the making: JSON whose leaves are facts.
FactTree: TypeAlias = "Fact | dict[str, FactTree] | list[FactTree]"


@dataclass(frozen=True, slots=True)
class Fact:
    """A leaf of a truth, with its evidence."""

    value: Json
    evidence: Evidence


def stated(value: Json, quote: str) -> Fact:
    """Return a value that stands in a quote, possibly in another spelling."""
    return Fact(value, Evidence(kind="stated", quotes=(quote,)))


def affirmed(quote: str) -> Fact:
    """Return true, as the quote says so."""
    return Fact(True, Evidence(kind="affirmed", quotes=(quote,)))  # noqa: FBT003 (a JSON value)


def denied(quote: str) -> Fact:
    """Return false, as the quote says so with a negation."""
    return Fact(False, Evidence(kind="denied", quotes=(quote,)))  # noqa: FBT003 (a JSON value)


def absent(*terms: str) -> Fact:
    """Return null: the context holds none of the terms."""
    return Fact(None, Evidence(kind="absent", terms=terms))


def unknown(quote: str) -> Fact:
    """Return null: the quote says, with a negation, that nobody knows."""
    return Fact(None, Evidence(kind="unknown", quotes=(quote,)))


def derived(
    value: Json, operation: str, operands: tuple[Json, ...], *quotes: str
) -> Fact:
    """Return what an operation makes of figures that stand in the quotes."""
    evidence = Evidence(
        kind="derived", quotes=quotes, operation=operation, operands=operands
    )
    return Fact(value, evidence)


def separated(tree: FactTree) -> tuple[Json, dict[str, Evidence]]:
    """Return the truth of a tree of facts, and the evidence by JSON pointer."""
    evidence: dict[str, Evidence] = {}

    def plain(inner: FactTree, tokens: tuple[str, ...]) -> Json:
        if isinstance(inner, Fact):
            evidence[pointer(tokens)] = inner.evidence
            return inner.value
        if isinstance(inner, dict):
            return {
                name: plain(child, (*tokens, name)) for name, child in inner.items()
            }
        return [
            plain(child, (*tokens, str(index))) for index, child in enumerate(inner)
        ]

    return plain(tree, ()), evidence
