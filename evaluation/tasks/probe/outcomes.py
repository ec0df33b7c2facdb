"""Outcomes of probes, and the engines' documented support."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from curation.core.documents import Explained
from evaluation.core.cases import Result, Row
from evaluation.results.outcomes import Outcome, number_in, read_outcome

_TABLE: Final = Path(__file__).with_name("support.toml")
#: The version of a document that names none.
_NOWHERE: Final = "unknown"
#: Prefix of a feature that is one value of `format`.
FORMAT: Final = "format:"
#: Features that Figure 4 has under another's name.
_SAME: Final = {"then": "if", "else": "if", "additionalItems:object": "additionalItems"}


class Support(StrEnum):
    """How a feature is supported."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNKNOWN = "unknown"


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One document's statements on one version of an engine: a `[[support]]`."""

    engines: tuple[str, ...]
    #: As in the document; `unknown` if it names none.
    version: str
    #: ISO 8601; `unknown` where the document has none.
    date: str
    document: str
    #: Whether the source is the paper's Figure 4.
    paper: bool = False
    yes: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    no: tuple[str, ...] = ()

    @property
    def features(self) -> Mapping[str, Support]:
        """What is declared of each feature."""
        return {
            **dict.fromkeys(self.yes, Support.YES),
            **dict.fromkeys(self.partly, Support.PARTLY),
            **dict.fromkeys(self.no, Support.NO),
        }

    def features_in(self, _contexts: frozenset[str]) -> Mapping[str, Support]:
        """Return `features`: a document knows no contexts."""
        return self.features

    def of(self, feature: str) -> Support:
        """Return the declared support of a feature, under any of its names."""
        return self.features.get(_SAME.get(feature, feature), Support.UNKNOWN)

    @property
    def title(self) -> str:
        """A heading for its column."""
        version = "" if self.version == _NOWHERE else f" {self.version}"
        return f"{self.engines[0]}{version}{' (paper)' if self.paper else ''}"


class _SupportFile(msgspec.Struct, frozen=True, kw_only=True):
    features: tuple[str, ...]
    support: tuple[Declaration, ...]


@cache
def _file() -> _SupportFile:
    return msgspec.toml.decode(_TABLE.read_bytes(), type=_SupportFile)


def declarations() -> tuple[Declaration, ...]:
    """Return all declarations, in the order of the file."""
    return _file().support


def features() -> tuple[str, ...]:
    """Return the features of the paper's Figure 4, in its order."""
    return _file().features


def coverage(used: Iterable[str], support: Mapping[str, Support]) -> Support:
    """Return whether all features of a schema are supported, partly, or not."""
    supports = {_support(feature, support) for feature in used}
    if supports <= {Support.YES}:
        return Support.YES
    return Support.PARTLY if supports <= {Support.YES, Support.PARTLY} else Support.NO


def _support(feature: str, support: Mapping[str, Support]) -> Support:
    if feature in support:
        return support[feature]
    general = "format" if feature.startswith(FORMAT) else _SAME.get(feature, feature)
    return support.get(general, Support.UNKNOWN)


class ProbeOutcome(Explained):
    """One word for one probe in one context."""

    ENFORCED = ("enforced", "the valid value passes, the violating one does not")
    TOLERATED = ("tolerated", "nothing to enforce, and the valid value passes")
    IGNORED = ("ignored", "compiled without a word, and the violating value passes")
    WARNED = (
        "warned",
        "the violating value passes, but the engine warned of the keyword",
    )
    REFUSED = ("refused", "the schema is not compiled, and the engine says so")
    OVER_STRICT = ("over-strict", "the valid value is blocked")
    WRONG = ("wrong", "the valid value is blocked, and the violating one passes")
    LIED = ("lied", "mask and commit disagree")
    CONTRADICTED = ("contradicted", "two answers after the same tokens")
    ENGINE_ERROR = ("engine error", "the engine failed while a value was walked")
    TIMEOUT = ("timeout", "no answer within the deadline")
    CRASH = ("crash", "the engine died, or gave no answer")


#: What is as the specification has it.
GOOD: Final = frozenset({ProbeOutcome.ENFORCED, ProbeOutcome.TOLERATED})
_OF_STANDING: Final = {
    Outcome.PASSED: ProbeOutcome.ENFORCED,
    Outcome.OVER_CONSTRAINED: ProbeOutcome.OVER_STRICT,
    Outcome.MASK_GAP: ProbeOutcome.OVER_STRICT,
    Outcome.UNDER_CONSTRAINED: ProbeOutcome.IGNORED,
    Outcome.WRONG_BOTH_WAYS: ProbeOutcome.WRONG,
    Outcome.LIED: ProbeOutcome.LIED,
    Outcome.CONTRADICTED: ProbeOutcome.CONTRADICTED,
    Outcome.ENGINE_ERROR: ProbeOutcome.ENGINE_ERROR,
    Outcome.COMPILE_ERROR: ProbeOutcome.REFUSED,
    Outcome.TIMEOUT: ProbeOutcome.TIMEOUT,
}


class ProbeResult(NamedTuple):
    """One attempt of the task `probe`, judged."""

    name: str
    feature: str
    context: str
    dialect: str
    outcome: ProbeOutcome


def judge_probe(attempt: Mapping[str, Any]) -> ProbeResult:
    """Judge a line of the table of attempts.

    It has whether the engine warned of the keyword whose text it accepted.
    """
    label = msgspec.json.decode(attempt["label"])
    walked = attempt["valid"] + attempt["invalid"]
    texts = label.get("texts")
    if type(texts) is not int:
        texts = walked
    outcome = of_outcome(Outcome(attempt["outcome"]), texts)
    if outcome is ProbeOutcome.IGNORED and attempt["warned"]:
        outcome = ProbeOutcome.WARNED
    if outcome in GOOD and walked < texts:
        outcome = ProbeOutcome.CRASH
    return ProbeResult(
        name=str(label.get("probe")),
        feature=str(label.get("feature")),
        context=str(label.get("context")),
        dialect=attempt["config"],
        outcome=outcome,
    )


def outcome(row: Row) -> ProbeOutcome:
    """Return the outcome of a probe, warnings aside; a missing walk is a death."""
    texts = number_in(row, "texts", len(row.walks))
    if row.result is Result.OK and len(row.walks) < texts:
        return ProbeOutcome.CRASH
    return of_outcome(read_outcome(row), texts)


def of_outcome(outcome: Outcome, texts: int) -> ProbeOutcome:
    """Return what became of a probe by the outcome of its case, warnings aside.

    Args:
        outcome: The outcome of all its walks.
        texts: How many there are; one alone leaves nothing to enforce.
    """
    standing = _OF_STANDING.get(outcome, ProbeOutcome.CRASH)
    if standing is ProbeOutcome.ENFORCED and texts == 1:
        return ProbeOutcome.TOLERATED
    return standing


def proven(outcomes: Iterable[ProbeResult]) -> Mapping[str, tuple[Support, int, int]]:
    """Return the support of each feature by its probes, and the number of good ones.

    Yes if all ways and contexts are as specified, partly if some are, otherwise no.
    """
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for result in outcomes:
        counts[result.feature][result.outcome in GOOD] += 1
    return {
        feature: (_level(tally[True], tally.total()), tally[True], tally.total())
        for feature, tally in counts.items()
    }


def _level(good: int, total: int) -> Support:
    if good == total:
        return Support.YES
    return Support.PARTLY if good else Support.NO
