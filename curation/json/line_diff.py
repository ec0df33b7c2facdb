"""Two JSON texts as a short diff of lines, at a bounded cost."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import msgspec

from curation.core.documents import ABSENT, Rejected
from curation.json.text import parse, write

#: Number of unchanged lines shown around a change.
CONTEXT = 2
# difflib takes quadratic time; what differs beyond this many lines is summarised.
_MAX_LINES = 3_000


def split_lines(text: str) -> list[str]:
    """Return a JSON text as indented lines; none for an empty text."""
    if text == ABSENT:
        return []
    value = parse(text.encode("utf-8", "surrogatepass"))
    if isinstance(value, Rejected):
        return text.splitlines()
    return msgspec.json.format(write(value), indent=2).split("\n")


def line_diff(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff, each with its sign in front.

    A line that starts with `@` represents omitted lines.
    """
    old, new = split_lines(before), split_lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    if len(gone) + len(come) > _MAX_LINES:
        return [f"@ {len(gone):,} lines became {len(come):,}: too many to show"]
    above = old[max(start - CONTEXT, 0) : start]
    below = old[len(old) - end :][:CONTEXT]
    lines = difflib.unified_diff(
        [*above, *gone, *below], [*above, *come, *below], n=CONTEXT, lineterm=""
    )
    # Two lines of file names and the first hunk's position are useless here.
    return ["@ ..." if line.startswith("@@") else line for line in list(lines)[3:]]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    for index, (a, b) in enumerate(zip(before, after, strict=False)):
        if a != b:
            return index
    return min(len(before), len(after))
