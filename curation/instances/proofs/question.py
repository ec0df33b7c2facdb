"""The question that each proof of `implied` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.model import Conjunction
    from curation.schema.locations import SchemaLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplicationQuestion:
    """Does every value of a type that fails a keyword fail another one too?"""

    compiled: CompiledSchema
    #: Everything that applies there.
    shape: Conjunction
    location: SchemaLocation
    keyword: str
    #: One of `merging.ALL_TYPES`.
    kind: str
    #: The other keywords that assert something there, and the places they are of.
    others: tuple[tuple[SchemaLocation, str], ...]

    @property
    def schema(self) -> dict[str, UntypedJson]:
        """The schema that holds the keyword."""
        schema: dict[str, UntypedJson] = self.location.schema
        return schema

    @property
    def operand(self) -> Any:  # noqa: ANN401 - whatever the keyword holds
        """The keyword's value."""
        return self.schema[self.keyword]

    def values(self, *keywords: str) -> Iterator[UntypedJson]:
        """Yield the values of other keywords of these names."""
        for part, word in self.others:
            if word in keywords:
                yield part.schema[word]
