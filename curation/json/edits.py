"""Many edits of one JSON value at once, each part copied at most once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens


@dataclass(frozen=True, slots=True)
class Put:
    """Put this value in the place of a member, under its name or another."""

    value: UntypedJson
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Take the member away, if it is there."""


def rewritten(value: UntypedJson, edits: Mapping[Tokens, Put | Drop]) -> UntypedJson:
    """Return a copy with the edits made; what no edit concerns is shared.

    Tokens lead to members of objects; an edit of a member that is not there
    changes nothing. Key order stays.
    """
    if not edits:
        return value
    tree: dict[str, UntypedJson] = {}
    for tokens, edit in edits.items():
        node = tree
        for token in tokens[:-1]:
            node = node.setdefault(token, {})
        node[tokens[-1]] = edit
    return _rewritten(value, tree)


def _rewritten(value: UntypedJson, tree: Mapping[str, UntypedJson]) -> UntypedJson:
    if isinstance(value, list):
        return [
            _rewritten(each, tree[str(index)]) if str(index) in tree else each
            for index, each in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    result: dict[str, UntypedJson] = {}
    for name, each in value.items():
        edit = tree.get(name)
        if isinstance(edit, Put):
            result[edit.name or name] = edit.value
        elif isinstance(edit, dict):
            result[name] = _rewritten(each, edit)
        elif edit is None:
            result[name] = each
    return result
