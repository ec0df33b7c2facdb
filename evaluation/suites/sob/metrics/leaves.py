"""A JSON value as its leaves: which scalar stands at the end of which path?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from curation.json.pointer import pointer

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules

#: The steps to a value: names of members and indices of items. A name is never an
#: index: `("0",)` and `(0,)` are two paths.
Path: TypeAlias = "tuple[str | int, ...]"
#: What stands in a wildcarded path for every index.
ANY_INDEX: Final = "*"


def all_leaves(value: Json) -> dict[Path, Json]:
    """Return every leaf by its path, empty objects and arrays among them.

    They come in the order in which they stand. A scalar root is no leaf, as the paper
    compares structured answers only; an empty root is one, at the path of no steps.

    Example:
        >>> all_leaves({"a": [1, {"b": None}], "c": {}})
        {('a', 0): 1, ('a', 1, 'b'): None, ('c',): {}}
    """
    leaves: dict[Path, Json] = {}
    if not isinstance(value, dict | list):
        return leaves
    stack: list[tuple[Path, Json]] = [((), value)]
    while stack:
        path, inner = stack.pop()
        if isinstance(inner, dict) and inner:
            members: list[tuple[Path, Json]] = [
                ((*path, name), member) for name, member in inner.items()
            ]
        elif isinstance(inner, list) and inner:
            members = [((*path, index), item) for index, item in enumerate(inner)]
        else:
            leaves[path] = inner
            continue
        members.reverse()
        stack += members
    return leaves


def without_empty(leaves: dict[Path, Json]) -> dict[Path, Json]:
    """Return the leaves that are scalars or null, as the paper counts them."""
    return {
        path: value
        for path, value in leaves.items()
        if not isinstance(value, dict | list)
    }


def compared_leaves(leaves: dict[Path, Json], rules: ScoringRules) -> dict[Path, Json]:
    """Return the leaves that the metrics compare, under the paths of a reading."""
    chosen = leaves if rules.empty_leaves else without_empty(leaves)
    if rules.exact_paths:
        return chosen
    # Two paths may have one text: the later leaf takes the place of the earlier.
    return {(joined(path),): value for path, value in chosen.items()}


def joined(path: Path) -> str:
    """Return a path as the published code writes it: `a.b[0].c`."""
    text = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in path
    )
    return text.removeprefix(".")


def wildcarded(path: Path) -> tuple[str, ...]:
    """Return the path with every index as `*`: the place in the schema, not the item.

    Example:
        >>> wildcarded(("items", 3, "name"))
        ('items', '*', 'name')
    """
    return tuple(ANY_INDEX if isinstance(step, int) else step for step in path)


def pointer_of(path: Path) -> str:
    """Return a path as a JSON pointer (RFC 6901)."""
    return pointer(tuple(map(str, path)))
