"""What a keyword of jsonschema's is given: the validator that calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import ValidationError
    from referencing.jsonschema import Schema

    from curation.core.json_types import Json


class PythonValidator(Protocol):
    """A validator of jsonschema's, as far as keywords use it.

    jsonschema calls a keyword as a function of the validator, the keyword's value,
    the instance and the schema that holds the keyword; it yields errors.
    """

    #: The schema that it validates against.
    schema: Json
    #: What is asked about formats; None where they are not asserted.
    format_checker: Any
    #: jsonschema's own; resolves references from where the schema stands.
    _resolver: Any

    def evolve(self, *, schema: Json | Schema, _resolver: Any = ...) -> Self:  # noqa: ANN401 - as above
        """Return a validator of another schema."""

    def is_valid(self, instance: Json) -> bool:
        """Return whether the schema accepts an instance."""

    def descend(
        self,
        instance: Json,
        schema: Json,
        path: str | int | None = None,
        schema_path: str | int | None = None,
    ) -> Iterator[ValidationError]:
        """Yield what another schema holds against a member of the instance."""
