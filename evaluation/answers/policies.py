"""Which part of an answer is the JSON, or whatever was asked for: named policies.

What was published takes the answer out of its fences in five ways, and they differ in
what they do to fences that do not close, to backticks inside strings and to text
around. A suite says by name which of them it follows, and its results say so too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

_FENCE: Final = "```"
_OPENING: Final = re.compile(r"\A```[ \t]*([^\s`]*)[ \t]*\r?\n?")
_PAIR: Final = re.compile(r"```(.*?)```", re.DOTALL)
#: A first line that names a language and holds nothing else.
_LANGUAGE: Final = re.compile(r"\A[ \t]*\.?([A-Za-z][\w+#-]*)[ \t]*\r?\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a policy takes out of an answer."""

    #: None where the policy finds no answer; `problem` says why.
    text: str | None
    #: Whether it stood in a fence.
    fenced: bool = False
    #: The language that the fence names; empty for none.
    language: str = ""
    #: What stands before and after it.
    before: str = ""
    after: str = ""
    #: `unclosed_fence`, `no_fence` or `no_braces`; empty where all is well.
    problem: str = ""


#: Takes the answer out of a text without thinking.
Policy: TypeAlias = Callable[[str], Extraction]


def raw(text: str) -> Extraction:
    """Return the whole text, without the white space around it."""
    return Extraction(text=text.strip())


def outer_fence(text: str) -> Extraction:
    """Return the content of a fence that holds the whole text, else the text.

    Only that one fence is taken off: backticks inside strings stay. A fence that is
    opened and not closed is taken off too, as an answer that was cut is told by what
    it holds.
    """
    text = text.strip()
    opening = _OPENING.match(text)
    if opening is None:
        return Extraction(text=text)
    body = text[opening.end() :]
    closed = body.endswith(_FENCE)
    return Extraction(
        text=(body[: -len(_FENCE)] if closed else body).strip(),
        fenced=True,
        language=opening[1],
        problem="" if closed else "unclosed_fence",
    )


def strict_fence(text: str) -> Extraction:
    """Return the lines between the first two lines that begin with a fence.

    Without any such line the whole text is the answer; a fence that is not closed is
    none. Source: the published validator of IFStruct.
    """
    lines = text.split("\n")
    marks = [place for place, line in enumerate(lines) if line.startswith(_FENCE)]
    if not marks:
        return Extraction(text=text.strip())
    first = marks[0]
    before = "\n".join(lines[:first])
    language = lines[first].strip().strip("`").strip()
    if len(marks) == 1:
        return Extraction(
            text=None, language=language, before=before, problem="unclosed_fence"
        )
    return Extraction(
        text="\n".join(lines[first + 1 : marks[1]]),
        fenced=True,
        language=language,
        before=before,
        after="\n".join(lines[marks[1] + 1 :]),
    )


def first_fence(text: str) -> Extraction:
    """Return what stands between the first two marks of three backticks.

    A first line that only names a language is no part of it. Without a pair of marks
    there is no answer. Source: the published scripts of ConCodeEval.
    """
    pair = _PAIR.search(text)
    if pair is None:
        problem = "unclosed_fence" if _FENCE in text else "no_fence"
        return Extraction(text=None, before=text, problem=problem)
    named = _LANGUAGE.match(pair[1])
    return Extraction(
        text=pair[1][named.end() if named else 0 :].strip(),
        fenced=True,
        language=named[1] if named else "",
        before=text[: pair.start()],
        after=text[pair.end() :],
    )


def strip_all_backticks(text: str) -> Extraction:
    """Return a text that begins with a fence without any mark of three backticks.

    It damages strings that hold such marks; kept as the published reading of the
    prompted pass rate, which deletes every "```json" and "```".
    """
    text = text.strip()
    if not text.startswith(_FENCE):
        return Extraction(text=text)
    cleaned = text.replace(f"{_FENCE}json", "").replace(_FENCE, "").strip()
    return Extraction(text=cleaned, fenced=True)


def outer_braces(text: str) -> Extraction:
    """Return what stands from the first opening bracket to the last closing one.

    Brackets are those of objects and arrays; the last one is of the kind of the first.
    """
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not starts:
        return Extraction(text=None, before=text, problem="no_braces")
    start = min(starts)
    end = text.rfind("}" if text[start] == "{" else "]")
    if end < start:
        return Extraction(text=text[start:].strip(), before=text[:start])
    return Extraction(
        text=text[start : end + 1], before=text[:start], after=text[end + 1 :]
    )


#: Every policy by the name that settings and results give it.
POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        policy.__name__: policy
        for policy in (
            raw,
            outer_fence,
            strict_fence,
            first_fence,
            strip_all_backticks,
            outer_braces,
        )
    }
)
