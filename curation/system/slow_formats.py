"""Import jsonschema without libraries of formats that no metaschema uses.

`rfc3987_syntax` builds a grammar on import, which takes more than a second;
`isoduration` imports arrow, and `rfc3986_validator` compiles large patterns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

#: Each library, and its function that jsonschema calls.
_SLOW = {
    "isoduration": "parse_duration",
    "rfc3986_validator": "validate_rfc3986",
    "rfc3987_syntax": "is_valid_syntax",
}


class DurationParsingError(ValueError):
    """Replaces the exception of `isoduration` for an invalid duration."""


def _when_needed(library: str, function: str) -> Callable[..., object]:
    def call(*arguments: object, **named: object) -> object:
        """Ask the real library, as jsonschema would have, once for each text.

        An answer of `rfc3987_syntax` takes about 20 ms.

        Raises:
            DurationParsingError: it is not a duration.
        """
        real = import_module(library)
        try:
            return getattr(real, function)(*arguments, **named)
        except getattr(real, "DurationParsingException", ()) as error:
            raise DurationParsingError(str(error)) from error

    return lru_cache(maxsize=1_024)(call)


@contextmanager
def formats_when_needed() -> Iterator[None]:
    """Put stubs in the libraries' places while jsonschema is imported.

    They import the real ones when a value of such a format is checked.
    """
    absent = [name for name in _SLOW if name not in sys.modules and find_spec(name)]
    for name in absent:
        stand_in = ModuleType(name)
        vars(stand_in)[_SLOW[name]] = _when_needed(name, _SLOW[name])
        vars(stand_in)["DurationParsingException"] = DurationParsingError
        sys.modules[name] = stand_in
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
