"""The worker process in which fastjsonschema compiles schemas.

fastjsonschema writes Python source and runs it, and would fetch a `$ref`'s document:
hence its own process, and a handler of every scheme that refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from curation.core.json_types import Json

#: Levels of a literal up to which Python surely reads it: it gives up at 200 brackets.
_LEVELS = 60
#: By identity and scope; while a value is kept here, no other has its identity.
_Known = dict[tuple[int, str | None], tuple[Json, int]]
#: The verdict on a schema that compiles.
COMPILES = "compiles"


class RemoteReferenceError(LookupError):
    """The schema needs another document, which is not fetched."""


class Refusing:
    """Handlers of every URI scheme there is: they refuse."""

    def __contains__(self, scheme: object) -> bool:
        """Return True: there is a handler for every scheme."""
        return True

    def __getitem__(self, scheme: str) -> Callable[[str], NoReturn]:
        """Return the handler that refuses."""

        def refuse(uri: str) -> NoReturn:
            raise RemoteReferenceError(uri)

        return refuse


def _levels(
    value: Json,
    resolver: Any,  # noqa: ANN401 (untyped library)
    memo: _Known,
    *,
    expand: bool = True,
) -> int:
    """Return the levels of objects and arrays, as fastjsonschema would expand a value.

    It replaces a reference by its target, whose own references stay.

    Raises:
        Exception: fastjsonschema does not find a target.
    """
    if not isinstance(value, dict | list):
        return 0
    key = id(value), resolver.resolution_scope if expand else None
    if key not in memo:
        if expand and isinstance(value, dict) and isinstance(value.get("$ref"), str):
            with resolver.resolving(value["$ref"]) as target:
                levels = _levels(target, resolver, memo, expand=False)
        else:
            members = value.values() if isinstance(value, dict) else value
            inner = (
                _levels(member, resolver, memo, expand=expand) for member in members
            )
            levels = 1 + max(inner, default=-1)
        memo[key] = value, levels
    return memo[key][1]


def _shorten_programs() -> _Known:
    """Have fastjsonschema leave the schema out of the errors that its programs raise.

    Each error holds the part of the schema that it is about, references expanded: most
    of a program's cost. Where Python might not read the literal, it stays.

    Returns:
        The levels of the parts of a schema: to be cleared with each.
    """
    from fastjsonschema import generator  # noqa: PLC0415 - only the child needs it

    writer: Any = generator.CodeGenerator
    detailed = writer.exc
    memo: _Known = {}

    def raise_message(
        self: Any,  # noqa: ANN401 (untyped library)
        message: str,
        *args: object,
        append_to_msg: str | None = None,
        rule: str | None = None,
    ) -> None:
        part = self._definition
        depth = _levels(part, self._resolver, memo)
        if not isinstance(part, dict) or depth >= _LEVELS:
            detailed(self, message, *args, append_to_msg=append_to_msg, rule=rule)
            return
        text = f'"{message}"' + (f" + ({append_to_msg})" if append_to_msg else "")
        value = self.e(part.get(rule)) if "{definition_rule}" in text else ""
        raised = f"raise JsonSchemaValueException({text})"
        self.l(raised, *args, definition="{}", rule=repr(rule), definition_rule=value)

    writer.exc = raise_message
    return memo


def verdict(text: str) -> str:
    """Return `compiles`, or the name of the exception with which it ended."""
    import fastjsonschema  # noqa: PLC0415 - only the child needs it

    try:
        handlers: Any = Refusing()
        fastjsonschema.compile(json.loads(text), handlers=handlers)
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
    memo = _shorten_programs()
    verdict("true")

    def handle(text: str) -> str:
        memo.clear()
        return verdict(text)

    return handle
