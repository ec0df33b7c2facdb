"""The places of an answer where a field stands, with what the schema says of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlace:
    """One member of one object of an answer."""

    holder: dict[str, UntypedJson]
    name: str
    schema: Mapping[str, UntypedJson]
    required: bool
    #: 0 for the members of an item.
    depth: int

    @property
    def value(self) -> UntypedJson:
        """What stands there."""
        return self.holder[self.name]

    @property
    def kind(self) -> str:
        """The type that the schema asks for; `enum` where it lists values."""
        return "enum" if "enum" in self.schema else str(self.schema.get("type", ""))


def field_places(
    items: UntypedJson, schema: Mapping[str, UntypedJson], depth: int = 0
) -> Iterator[FieldPlace]:
    """Yield every place of a list of items, or of one object."""
    if isinstance(items, list):
        for item in items:
            yield from field_places(item, schema.get("items", {}), depth)
    elif isinstance(items, dict):
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            if name in items:
                yield FieldPlace(
                    holder=items,
                    name=name,
                    schema=member,
                    required=name in required,
                    depth=depth,
                )
                yield from field_places(items[name], member, depth + 1)
