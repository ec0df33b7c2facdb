"""Many edits of one JSON value at once, each part copied at most once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

    _Tree = dict[str, "Put | Drop | _Tree"]


@dataclass(frozen=True, slots=True)
class Put:
    """Put this value in the place of a member, under its name or another."""

    value: Json
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Take the member away, if it is there."""


def rewritten(value: Json, edits: Mapping[Tokens, Put | Drop]) -> Json:
    """Return a copy with the edits made; what no edit concerns is shared.

    Key order stays.

    Args:
        value: Any JSON value; it is not changed.
        edits: To each member of an object, named by its tokens, what becomes of it.
            No tokens may lead into what another edit replaces. An edit of a member
            that is not there changes nothing.

    Example:
        >>> rewritten({"a": 1, "b": {"c": 2}}, {("a",): Drop(), ("b", "c"): Put(3)})
        {'b': {'c': 3}}
    """
    if not edits:
        return value
    tree: _Tree = {}
    for tokens, edit in edits.items():
        branch = tree
        for token in tokens[:-1]:
            inner = branch.setdefault(token, {})
            if not isinstance(inner, dict):
                raise TypeError(tokens)
            branch = inner
        branch[tokens[-1]] = edit
    return _rewritten(value, tree)


def _rewritten(value: Json, tree: _Tree) -> Json:
    if isinstance(value, list):
        items = [tree.get(str(index)) for index in range(len(value))]
        return [
            _rewritten(item, edit) if isinstance(edit, dict) else item
            for item, edit in zip(value, items, strict=True)
        ]
    if not isinstance(value, dict):
        return value
    result: dict[str, Json] = {}
    for name, member in value.items():
        edit = tree.get(name)
        if isinstance(edit, Put):
            result[edit.name or name] = edit.value
        elif isinstance(edit, dict):
            result[name] = _rewritten(member, edit)
        elif edit is None:
            result[name] = member
    return result
