"""Schemas kept compiled: those that were asked last."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.system.escaping import shortened

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Answers to one schema come one after the other, but for those of several models.
_KEPT: Final = 1_024
_SHOWN: Final = 300


class SchemaCache:
    """Compiles schemas, each once while it is in use.

    Example:
        >>> SchemaCache().compiled('{"type": "null"}', "2020-12").is_valid(None)
        True
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: OrderedDict[tuple[str, str], CompiledSchema | str] = OrderedDict()

    def compiled(self, text: str, dialect: str) -> CompiledSchema | str:
        """Return a schema with its validators, or why it cannot be used."""
        key = (dialect, text)
        found = self._kept.get(key)
        if found is None:
            found = _compile(text, dialect)
            self._kept[key] = found
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found


def _compile(text: str, dialect: str) -> CompiledSchema | str:
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        return shortened(f"{compiled.reason}: {compiled.detail}", _SHOWN)
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
    except ValueError as error:
        return shortened(str(error).partition("\n")[0], _SHOWN)
    return compiled
