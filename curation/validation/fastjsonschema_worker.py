"""The worker process in which fastjsonschema compiles schemas.

fastjsonschema writes Python source and runs it, and would fetch what a `$ref` names:
hence a process of its own, and a handler of every scheme that refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from curation.core.json_types import Json
from curation.workers.collecting import collecting
from curation.workers.protocol import serve

#: Levels of a literal up to which Python surely reads it: it gives up at 200 brackets.
_LEVELS = 60
#: The verdict on a schema that compiles.
COMPILES = "compiles"


class RemoteReferenceError(LookupError):
    """The schema needs another document, which is not fetched."""


def _refuse(uri: str) -> NoReturn:
    raise RemoteReferenceError(uri)


class Refusing(Mapping[str, Callable[[str], Any]]):
    """A handler for every URI scheme there is: it refuses."""

    def __getitem__(self, scheme: str) -> Callable[[str], Any]:
        """Return the handler that refuses."""
        return _refuse

    def __contains__(self, scheme: object) -> bool:
        """Return True: there is a handler for every scheme."""
        return True

    def __iter__(self) -> Iterator[str]:
        """Name no scheme: there is no end of them."""
        return iter(())

    def __len__(self) -> int:
        """Count the schemes that are named."""
        return 0


def _brief(value: Json) -> str:
    """Return a literal for a value of the schema in the program; an empty one, if flat.

    The program repeats the schema around each message, a thousand times its length.
    """
    level = [value]
    for _ in range(_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return "{}" if isinstance(value, dict) else repr(None)
    return repr(value)


def _remember_literals() -> dict[int, tuple[Json, str]]:
    """Have fastjsonschema make the literals of a schema's values once for each value.

    It makes them again for every message, references expanded, which is a third of what
    a schema costs.

    Returns:
        The literals by the identity of their values, to be cleared with each schema.
    """
    from fastjsonschema import generator  # noqa: PLC0415 - only the child needs it

    expand: Callable[..., Json] = generator.CodeGenerator._expand_refs  # noqa: SLF001 (no public name)
    literals: dict[int, tuple[Json, str]] = {}

    def expanded(self: Any, value: Json) -> Json:  # noqa: ANN401 (untyped library)
        known = vars(self).setdefault("expanded", {})
        key = id(value), self._resolver.resolution_scope
        if key not in known:
            known[key] = value, expand(self, value)
        answer: Json = known[key][1]
        return answer

    def literal(value: Json) -> str:
        if id(value) not in literals:
            literals[id(value)] = value, _brief(value)
        return literals[id(value)][1]

    vars(generator)["repr_default"] = literal
    setattr(generator.CodeGenerator, "_expand_refs", expanded)  # noqa: B010 (a method)
    return literals


def verdict(text: str) -> str:
    """Return `compiles`, or the name of the exception with which it ended."""
    import fastjsonschema  # noqa: PLC0415 - only the child needs it

    try:
        fastjsonschema.compile(json.loads(text), handlers=Refusing())
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it is the verdict
        # `re.error` and its like mean nothing without their module.
        kind = type(error)
        short = kind.__name__
        return short if short[0].isupper() else f"{kind.__module__}.{short}"
    return COMPILES


def start(_setup: Json) -> Callable[[str], str]:
    """Import fastjsonschema; return the handler of one schema's text."""
    literals = _remember_literals()
    verdict("true")

    def handle(text: str) -> str:
        literals.clear()
        return verdict(text)

    return collecting(handle)


if __name__ == "__main__":
    serve(start)
