"""jsonschema: its validator of each dialect, imported without a wait of two seconds.

Its optional dependency `rfc3987-syntax` builds the grammar of IRIs while it is
imported, for two formats that no metaschema uses. Every worker process would pay for
it. While jsonschema is imported a stand-in takes that module's place; it imports the
real one when an IRI is checked for the first time.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from curation.schema.dialects import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PYTHON_VALIDATORS", "SchemaError", "jsonschema"]

_SLOW = "rfc3987_syntax"


def is_valid_syntax(term: str, value: str) -> bool:
    """Ask the real module, as jsonschema would have."""
    return bool(import_module(_SLOW).is_valid_syntax(term, value))


@contextmanager
def _standing_in() -> Iterator[None]:
    if _SLOW in sys.modules or find_spec(_SLOW) is None:
        yield
        return
    stand_in = ModuleType(_SLOW)
    stand_in.is_valid_syntax = is_valid_syntax  # type: ignore[attr-defined] # a module of our own
    sys.modules[_SLOW] = stand_in
    try:
        yield
    finally:
        del sys.modules[_SLOW]


with _standing_in():
    import jsonschema
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

#: Dialect name to the class of validators of its schemas, draft-03 included. Their
#: common protocol lacks what is needed of them, so they are not typed.
PYTHON_VALIDATORS: Final[Mapping[str, Any]] = {
    name: validator_for({"$schema": dialect.uri}) for name, dialect in BY_NAME.items()
}
