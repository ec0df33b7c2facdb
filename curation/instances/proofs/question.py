"""The question that each proof answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.keyword_values import number_of
from curation.instances.constraints.model import Conjunction
from curation.instances.constraints.reachable_keywords import Assertion
from curation.json.values import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.schema.subschemas import SchemaLocation


class ImplicationQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Does every value of a type that fails a keyword fail another one too?"""

    compiled: CompiledSchema
    #: Everything that applies to the value.
    conjunction: Conjunction
    #: The keyword, and the schema that holds it.
    assertion: Assertion
    #: One of `ALL_TYPES`.
    kind: str
    #: The other keywords that can refuse the value.
    others: tuple[Assertion, ...]

    @property
    def location(self) -> SchemaLocation:
        """Where the schema stands that holds the keyword."""
        return self.assertion.location

    @property
    def keyword(self) -> str:
        """The name of the keyword."""
        return self.assertion.keyword

    @property
    def schema(self) -> dict[str, Json]:
        """The schema that holds the keyword."""
        schema: dict[str, Json] = self.location.schema
        return schema

    @property
    def operand(self) -> Json:
        """The keyword's value."""
        return self.schema[self.keyword]

    @property
    def bound(self) -> float:
        """The keyword's value, which is a number."""
        return number_of(self.schema, self.keyword)

    def values(self, keyword: str) -> Iterator[Json]:
        """Yield the values of the other keywords of a name."""
        for other in self.others:
            if other.keyword == keyword:
                yield other.location.schema[keyword]

    def numbers(self, keyword: str) -> list[float]:
        """Return the numbers among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if is_number(value)]

    def texts(self, keyword: str) -> list[str]:
        """Return the strings among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if isinstance(value, str)]
