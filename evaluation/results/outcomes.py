"""Outcomes of rows, and other facts out of their labels."""

from __future__ import annotations

from typing import Final

from curation.core.documents import Explained
from evaluation.core.cases import (
    InstanceResult,
    Result,
    Row,
    StoredText,
    StoredTexts,
    WalkVerdict,
)

#: Key of a walk's label: a walk with it is measured, but is not part of the outcome.
APART = "apart"
#: Key of the label of a row without walks, where a model wrote a text: its class.
WRITTEN = "outcome"
#: The class of a text that is as its schema wants it.
COMPLIANT = "compliant"

#: Verdicts in which an engine is at odds with itself.
FAULTS = frozenset(
    {WalkVerdict.LIED, WalkVerdict.CONTRADICTED, WalkVerdict.ENGINE_ERROR}
)
#: Verdicts that do not show whether the text may be written.
_TELLS_NOTHING = FAULTS | {WalkVerdict.NOT_RUN}


class Outcome(Explained):
    """One word for one case."""

    PASSED = (
        "passed",
        "every valid instance was accepted to its end, every invalid one blocked",
    )
    UNTESTED = ("untested", "compiled, but no instance to walk")
    OVER_CONSTRAINED = ("over_constrained", "a valid instance was blocked")
    MASK_GAP = ("mask_gap", "a valid instance was blocked at a token that commit takes")
    UNDER_CONSTRAINED = ("under_constrained", "an invalid instance was accepted")
    WRONG_BOTH_WAYS = (
        "wrong_both_ways",
        "a valid instance was blocked and an invalid one accepted",
    )
    NOT_COMPLIANT = (
        "not_compliant",
        "a text that a model wrote under it violates the schema",
    )
    LIED = ("lied", "mask and commit disagreed about a token")
    CONTRADICTED = (
        "contradicted",
        "blocked a token in one text and allowed it in another, after the same tokens",
    )
    ENGINE_ERROR = ("engine_error", "the engine failed while an instance was walked")
    COMPILE_ERROR = ("compile_error", "the engine refused the schema and said so")
    TIMEOUT = ("timeout", "no answer within the deadline")
    CRASH = ("crash", "the process died")
    OUT_OF_MEMORY = ("out_of_memory", "the memory limit was reached")
    ERROR = ("error", "the model or its server failed")
    TOO_MUCH_OUTPUT = ("too_much_output", "it printed without end")
    PROTOCOL_ERROR = ("protocol_error", "the reply was not an answer")


#: Best first. An honest refusal is better than a wrong mask, and that is better than
#: an engine that dies.
RANKS: Final = (
    (Outcome.PASSED, Outcome.UNTESTED),
    (Outcome.COMPILE_ERROR,),
    (Outcome.OVER_CONSTRAINED, Outcome.MASK_GAP, Outcome.NOT_COMPLIANT),
    (Outcome.WRONG_BOTH_WAYS, Outcome.UNDER_CONSTRAINED),
    (Outcome.ENGINE_ERROR, Outcome.ERROR, Outcome.LIED, Outcome.CONTRADICTED),
    (
        Outcome.CRASH,
        Outcome.OUT_OF_MEMORY,
        Outcome.TIMEOUT,
        Outcome.TOO_MUCH_OUTPUT,
        Outcome.PROTOCOL_ERROR,
    ),
)


def is_judged_apart(walked: InstanceResult | StoredText) -> bool:
    """Return whether a walk is measured with the others and judged apart."""
    return bool(walked.label.get(APART))


def did_compile(row: Row) -> bool:
    """Return whether the engine compiled the schema."""
    return row.result is Result.OK or row.phase not in {"", "compile"}


def text_class(row: Row) -> str | None:
    """Return the class of the text that a model wrote; None if the row has walks."""
    written = None if row.walks else row.label.get(WRITTEN)
    return None if written is None else str(written)


def text_keyword(row: Row) -> str:
    """Return the keyword that a model's text violates; empty if unknown."""
    judged = row.label.get("judgement")
    if not isinstance(judged, dict):
        return ""
    return str(judged.get("keyword") or "")


def engine_is_right(walked: InstanceResult | StoredText) -> bool | None:
    """Return whether the engine was right about a text; None if unknown.

    A valid text must be written to its end, an invalid one blocked at a token or the
    end.
    """
    if walked.verdict in _TELLS_NOTHING:
        return None
    return (walked.verdict is WalkVerdict.ACCEPTED) is walked.valid


def engine_is_wrong(walked: InstanceResult) -> bool:
    """Return whether a walk that counts shows the engine to be wrong about its text."""
    return not is_judged_apart(walked) and (
        engine_is_right(walked) is False or walked.verdict in FAULTS
    )


def read_outcome(row: Row) -> Outcome:
    """Return the outcome of a row; walks labelled `apart` do not count.

    Where a model wrote a text, its class decides in place of walks.
    """
    if row.result is not Result.OK:
        return Outcome(row.result.value)
    text = text_class(row)
    if text is not None:
        return Outcome.PASSED if text == COMPLIANT else Outcome.NOT_COMPLIANT
    counted = [walk for walk in row.walks if not is_judged_apart(walk)]
    verdicts = {walk.verdict for walk in counted}
    for verdict in (WalkVerdict.LIED, WalkVerdict.CONTRADICTED):
        if verdict in verdicts:
            return Outcome(verdict.value)
    kinds = {walk.valid for walk in counted if engine_is_right(walk) is False}
    if kinds == {True, False}:
        return Outcome.WRONG_BOTH_WAYS
    if True in kinds:
        wrong = {walk.verdict for walk in counted if engine_is_right(walk) is False}
        only_missed = wrong == {WalkVerdict.MASK_GAP}
        return Outcome.MASK_GAP if only_missed else Outcome.OVER_CONSTRAINED
    if kinds:
        return Outcome.UNDER_CONSTRAINED
    if any(engine_is_right(walk) for walk in counted):
        return Outcome.PASSED
    return Outcome.UNTESTED


def number_in(row: Row | StoredTexts, name: str, default: int) -> int:
    """Return a number in a row's label; the default where it is not one."""
    value = row.label.get(name)
    return value if type(value) is int else default
