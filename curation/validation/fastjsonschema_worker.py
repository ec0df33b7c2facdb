"""The worker process in which fastjsonschema compiles schemas.

fastjsonschema writes Python source and runs it, and would fetch what a `$ref` names:
hence a process of its own, and a handler of every scheme that refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from curation.core.json_types import Json

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


def _is_flat(value: Json) -> bool:
    """Return whether Python surely reads the literal of a value."""
    level = [value]
    for _ in range(_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False


def _shorten_programs() -> dict[tuple[int, str], tuple[Json, bool]]:
    """Have fastjsonschema leave the schema out of the errors that its programs raise.

    Each error holds the part of the schema that it is about, references expanded: most
    of what a program costs. Where Python might not read the literal, it stays.

    Returns:
        By the identity of a part and its scope, whether it is left out: to be cleared
        with each schema.
    """
    from fastjsonschema import generator  # noqa: PLC0415 - only the child needs it

    writer: Any = generator.CodeGenerator
    detailed, expand = writer.exc, writer._expand_refs  # noqa: SLF001 (no public name)
    flat: dict[tuple[int, str], tuple[Json, bool]] = {}

    def raise_message(
        self: Any,  # noqa: ANN401 (untyped library)
        message: str,
        *args: object,
        append_to_msg: str | None = None,
        rule: str | None = None,
    ) -> None:
        part, scope = self._definition, self._resolver.resolution_scope
        if (id(part), scope) not in flat:
            expanded = expand(self, part)
            flat[id(part), scope] = part, isinstance(part, dict) and _is_flat(expanded)
        if not flat[id(part), scope][1]:
            detailed(self, message, *args, append_to_msg=append_to_msg, rule=rule)
            return
        text = f'"{message}"' + (f" + ({append_to_msg})" if append_to_msg else "")
        value = self.e(part.get(rule)) if "{definition_rule}" in text else ""
        raised = f"raise JsonSchemaValueException({text})"
        self.l(raised, *args, definition="{}", rule=repr(rule), definition_rule=value)

    writer.exc = raise_message
    return flat


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
    flat = _shorten_programs()
    verdict("true")

    def handle(text: str) -> str:
        flat.clear()
        return verdict(text)

    return handle
