"""Two JSON texts as a short diff of lines, at a bounded cost."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

from curation.core.documents import ABSENT, Rejected
from curation.core.json_types import Json
from curation.json.text import parse, write

#: Number of unchanged lines shown around a change.
CONTEXT = 2
# difflib takes quadratic time; what differs beyond so many lines is summarised.
_MOST_LINES = 3_000


def lines_of(text: str) -> list[str]:
    """Return a JSON text as indented lines; no lines where nothing stands."""
    if text == ABSENT:
        return []
    value = parse(text.encode("utf-8", "surrogatepass"))
    if isinstance(value, Rejected):
        return text.splitlines()
    return _indented(value, "")


def _indented(value: Json, indent: str) -> list[str]:
    if isinstance(value, dict) and value:
        heads = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        return _members("{}", heads, list(value.values()), indent)
    if isinstance(value, list) and value:
        return _members("[]", [""] * len(value), value, indent)
    return [indent + write(value)]


def _members(
    brackets: str, heads: Sequence[str], values: Sequence[Json], indent: str
) -> list[str]:
    inner = indent + "  "
    lines = [indent + brackets[0]]
    for head, value in zip(heads, values, strict=True):
        first, *more = _indented(value, inner)
        lines += [inner + head + first.removeprefix(inner), *more]
        lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    return [*lines, indent + brackets[1]]


def line_diff(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff, each with its sign in front.

    A line that starts with `@` stands for lines left out.
    """
    old, new = lines_of(before), lines_of(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if len(gone) + len(come) > _MOST_LINES:
        return [f"@ {len(gone):,} lines became {len(come):,}: too many to show"]
    above = old[max(start - CONTEXT, 0) : start]
    below = old[len(old) - end :][:CONTEXT]
    lines = difflib.unified_diff(
        [*above, *gone, *below], [*above, *come, *below], n=CONTEXT, lineterm=""
    )
    # Two lines of file names and the first hunk's position say nothing here.
    return ["@ ..." if line.startswith("@@") else line for line in list(lines)[3:]]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
