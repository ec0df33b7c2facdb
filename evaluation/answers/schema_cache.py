"""Compile the schemas of records, and keep the latest ones."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.system.escaping import shortened

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Schemas kept; answers to one schema come one after the other, but for those of
#: several models.
_SIZE: Final = 1_024
_SHOWN: Final = 300


class SchemaCache:
    """Compiled schemas by text and dialect, the latest ones.

    Example:
        >>> SchemaCache().compiled('{"type": "null"}', "2020-12").is_valid(None)
        True
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._schemas: OrderedDict[tuple[str, str], CompiledSchema | str] = (
            OrderedDict()
        )

    def compiled(self, text: str | None, dialect: str) -> CompiledSchema | str:
        """Return a schema with its validators, or why it cannot be used.

        Args:
            text: The schema as JSON text; None if a record has none.
            dialect: Name of its dialect.
        """
        if text is None:
            return "the record has no schema"
        key = (dialect, text)
        schema = self._schemas.get(key)
        if schema is None:
            schema = self._schemas[key] = _compile(text, dialect)
            if len(self._schemas) > _SIZE:
                self._schemas.popitem(last=False)
        else:
            self._schemas.move_to_end(key)
        return schema


def _compile(text: str, dialect: str) -> CompiledSchema | str:
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        return shortened(f"{compiled.reason}: {compiled.detail}", _SHOWN)
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
    except ValueError as error:
        return shortened(str(error).partition("\n")[0], _SHOWN)
    return compiled
