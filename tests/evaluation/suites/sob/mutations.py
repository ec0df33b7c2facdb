"""Kinds of mutated answers: which metrics each lowers, and which mistake it is.

Every mutation takes a record whose truth is right, spoils one thing, and says what
must come of it. It says nothing (None) of a record in which there is no such thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from evaluation.suites.sob.metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from curation.core.json_types import Json
    from evaluation.suites.sob.records import SobRecord
    from evaluation.suites.sob.scorer import Mistake

#: Every metric: of a text that is not parsed.
EVERYTHING: Final = frozenset(Metric)
#: Of an answer that its schema refuses, whose required keys are all there.
REFUSED: Final = EVERYTHING - {Metric.JSON_PARSE, Metric.REQUIRED_KEYS}
#: Of an answer that lacks a required key.
LACKING: Final = EVERYTHING - {Metric.JSON_PARSE}
_WHOLE: Final = frozenset({Metric.PERFECT, Metric.PERFECT_AND_VALID})
#: Of a value in other words.
SPELLING: Final = _WHOLE | {Metric.VALUE_ACCURACY}
#: Of a wrong value.
VALUE: Final = SPELLING | {Metric.FAITHFULNESS}
#: Of a path that is missing, though it need not be there.
MISSING: Final = VALUE | {Metric.PATH_RECALL, Metric.STRUCTURE_COVERAGE}
#: Of one item or key too many, where coverage stays above its floor.
EXTRA_ITEM: Final = _WHOLE | {Metric.STRUCTURE_COVERAGE}
#: Of so many keys that no schema names that coverage falls below its floor.
EXTRA_KEYS: Final = EXTRA_ITEM | {Metric.VALUE_ACCURACY, Metric.FAITHFULNESS}
#: Of another way to write the same.
NOTHING: Final = frozenset[Metric]()


@dataclass(frozen=True, slots=True)
class Mutated:
    """A mutated answer."""

    text: str | None
    #: What one of the verdict's reasons must hold.
    because: str = ""


#: Returns a spoilt copy of a record's truth; draws are of record and mutation.
Spoil: TypeAlias = "Callable[[SobRecord, Json, Random], Mutated | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One kind of mutated answers."""

    name: str
    #: The metrics that fall below 1, all others staying there.
    lowers: frozenset[Metric]
    #: The class of the answer; None for one that is right.
    mistake: Mistake | None
    spoil: Spoil
    #: Whether the published reading agrees.
    in_both_readings: bool = True
