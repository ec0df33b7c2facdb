"""Import jsonschema without the grammar of IRIs, which takes more than a second.

`rfc3987-syntax` builds it on import, for two formats that no metaschema uses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_SLOW = "rfc3987_syntax"


def is_valid_syntax(term: str, value: str) -> bool:
    """Ask the real module, as jsonschema would have."""
    return bool(import_module(_SLOW).is_valid_syntax(term, value))


@contextmanager
def grammar_when_needed() -> Iterator[None]:
    """Let a stand-in take the module's place while jsonschema is imported.

    It imports the real one when an IRI is checked for the first time.
    """
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
