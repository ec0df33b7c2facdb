"""What every family of records is written with: draws, spellings, schemas."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from evaluation.suites.sob.generator.reader import MONTHS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from curation.core.json_types import Json
    from evaluation.suites.sob.generator.facts import FactTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a family writes; the rest of a record follows from it."""

    context: str
    question: str
    schema: dict[str, Json]
    truth: FactTree
    difficulty: str = "medium"


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws of one record: names come without repetition."""

    random: Random
    vocabulary: Mapping[str, Sequence[str]]
    _used: set[tuple[str, str]] = field(default_factory=set)

    def word(self, kind: str) -> str:
        """Return a word of a list of the vocabulary that was not drawn before."""
        left = [
            word for word in self.vocabulary[kind] if (kind, word) not in self._used
        ]
        chosen = self.random.choice(left)
        self._used.add((kind, chosen))
        return chosen

    def words(self, kind: str, count: int) -> list[str]:
        """Return several different words of a list."""
        return [self.word(kind) for _ in range(count)]

    def person(self) -> str:
        """Return a full name; neither of its parts comes again."""
        return f"{self.word('given')} {self.word('family')}"

    def company(self) -> str:
        """Return the name of a company."""
        return f"{self.word('company')} {self.word('trade')}"

    def number(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both possible."""
        return self.random.randint(low, high)

    def chance(self, share: float = 0.5) -> bool:
        """Return true as often as the share says."""
        return self.random.random() < share

    def day(self, first_year: int, last_year: int) -> date:
        """Return a day of these years."""
        start = date(first_year, 1, 1)
        span = (date(last_year, 12, 31) - start).days
        return start + timedelta(days=self.random.randint(0, span))

    def shuffled(self, parts: Sequence[str]) -> list[str]:
        """Return the parts in another order."""
        return self.random.sample(parts, len(parts))


#: A family draws its facts and writes them down.
Family = "Callable[[Draw], Draft]"


def written(day: date) -> str:
    """Return a day in words: `3 March 1904`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def grouped(number: float) -> str:
    """Return a number with its thousands grouped: `12,400`."""
    return f"{number:,}"


def cents(amount: float) -> str:
    """Return an amount with two decimals and its thousands grouped."""
    return f"{amount:,.2f}"


def described(kind: Json, description: str = "") -> dict[str, Json]:
    """Return the schema of a scalar of a type, or of several."""
    schema: dict[str, Json] = {"type": kind}
    return {**schema, "description": description} if description else schema


def nullable(kind: str, description: str = "") -> dict[str, Json]:
    """Return the schema of a scalar that may be null."""
    return described([kind, "null"], description)


def one_of(*values: str) -> dict[str, Json]:
    """Return the schema of a string that is one of some words."""
    return {"type": "string", "enum": [*values]}


def listed(items: dict[str, Json], description: str = "") -> dict[str, Json]:
    """Return the schema of an array."""
    schema: dict[str, Json] = {"type": "array", "items": items}
    return {**schema, "description": description} if description else schema


def closed(
    properties: dict[str, Json], optional: Sequence[str] = ()
) -> dict[str, Json]:
    """Return the schema of an object that has no other members."""
    return {**opened(properties, optional), "additionalProperties": False}


def opened(
    properties: dict[str, Json], optional: Sequence[str] = ()
) -> dict[str, Json]:
    """Return the schema of an object that may have other members."""
    required: list[Json] = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}
