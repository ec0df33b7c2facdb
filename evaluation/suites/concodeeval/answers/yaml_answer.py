"""Answers written as YAML, read event by event: no object is made, no alias followed.

The recommended reading is YAML 1.2's core schema (specification 1.2.2, section 10.3),
in which every JSON text means what it says. The paper's is that of PyYAML, YAML 1.1
with dates turned into strings: `no` is a boolean there, `12:30:45` the number 45045.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from evaluation.suites.concodeeval.answers.model import (
    MAX_DEPTH,
    NotRead,
    Read,
    Unreadable,
)
from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json

    #: What a plain scalar means.
    Resolve = Callable[[str], Json]

_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE: Final = frozenset(("true", "True", "TRUE"))
_FALSE: Final = frozenset(("false", "False", "FALSE"))
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_TAG: Final = "tag:yaml.org,2002:"
_CONSTRUCTOR: Final = yaml.constructor.SafeConstructor()
_COLLECTION_TAGS: Final = frozenset((None, "!", f"{_TAG}map", f"{_TAG}seq"))


class _RefusalError(Exception):
    """What the reader refuses, and why."""

    def __init__(self, why: Unreadable, detail: str) -> None:
        super().__init__(detail)
        self.why = why


def read_yaml(
    text: str, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Read | NotRead:
    """Return the value of a YAML text that holds one document.

    Example:
        >>> read_yaml("no: [1, .5, 2024-01-01]")
        Read(value={'no': [1, 0.5, '2024-01-01']})
    """
    resolve = _pyyaml_scalar if reading is SuiteReading.PAPER else _core_scalar
    try:
        builder = _Builder(resolve, unique=reading is not SuiteReading.PAPER)
        return Read(builder.build(text))
    except _RefusalError as error:
        return NotRead(error.why, str(error))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        problem = getattr(error, "problem", None) or type(error).__name__
        return NotRead(Unreadable.SYNTAX, f"{problem}{where}")
    except ValueError as error:
        return NotRead(Unreadable.SYNTAX, str(error)[:200])


class _Builder:
    """Builds the value of one document from the parser's events."""

    def __init__(self, resolve: Resolve, *, unique: bool) -> None:
        self._resolve, self._unique = resolve, unique
        #: Collections that are open, the outermost first.
        self._open: list[list[Json] | dict[str, Json]] = []
        #: The pending member name of each, where it is an object and a name has come.
        self._names: list[str | None] = []
        self._root: list[Json] = []

    def build(self, text: str) -> Json:
        """Return the value.

        Raises:
            yaml.YAMLError: it is no YAML.
            ValueError: it holds a character that YAML has not.
        """
        next_event = yaml.CSafeLoader(text).get_event
        while True:
            event = next_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._add(self._scalar(event))
            elif kind is yaml.MappingStartEvent:
                self._begin({}, event)
            elif kind is yaml.SequenceStartEvent:
                self._begin([], event)
            elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
                self._open.pop()
                self._names.pop()
            elif isinstance(event, yaml.AliasEvent):
                raise _RefusalError(Unreadable.YAML_ALIAS, f"the alias *{event.anchor}")
            elif kind is yaml.StreamEndEvent:
                break
        if len(self._root) != 1:
            count = len(self._root)
            raise _RefusalError(Unreadable.SYNTAX, f"{count} documents, not one")
        return self._root[0]

    def _begin(self, made: list[Json] | dict[str, Json], event: Any) -> None:  # noqa: ANN401 - untyped library
        if event.tag not in _COLLECTION_TAGS:
            raise _RefusalError(Unreadable.YAML_TAG, f"the tag {event.tag}")
        if len(self._open) >= MAX_DEPTH:
            raise _RefusalError(Unreadable.TOO_DEEP, f"nested over {MAX_DEPTH} levels")
        self._add(made)
        self._open.append(made)
        self._names.append(None)

    def _add(self, value: Json) -> None:
        if not self._open:
            self._root.append(value)
            return
        holder = self._open[-1]
        if isinstance(holder, list):
            holder.append(value)
            return
        name = self._names[-1]
        if name is None:
            self._names[-1] = self._name(value, holder)
        else:
            holder[name] = value
            self._names[-1] = None

    def _name(self, value: Json, holder: dict[str, Json]) -> str:
        """Return a member's name; JSON has strings for names, YAML anything."""
        if isinstance(value, list | dict):
            raise _RefusalError(Unreadable.NOT_JSON, "a collection as a member's name")
        name = value if isinstance(value, str) else _as_name(value)
        if self._unique and name in holder:
            detail = f"the member {name[:80]!r} stands twice"
            raise _RefusalError(Unreadable.DUPLICATE_NAME, detail)
        return name

    def _scalar(self, event: Any) -> Json:  # noqa: ANN401 - as above
        text: str = event.value
        if event.tag is None:
            return self._resolve(text) if event.implicit[0] else text
        if event.tag in ("!", f"{_TAG}str"):
            return text
        if event.tag.startswith(_TAG):
            value = self._resolve(text)
            if event.tag in _tags_of(value):
                return value
        raise _RefusalError(Unreadable.YAML_TAG, f"the tag {event.tag}")


def _tags_of(value: Json) -> tuple[str, ...]:
    if value is None:
        return (f"{_TAG}null",)
    if isinstance(value, bool):
        return (f"{_TAG}bool",)
    if isinstance(value, int):
        return (f"{_TAG}int", f"{_TAG}float")
    return (f"{_TAG}float",) if isinstance(value, float) else ()


def _as_name(value: float | bool | None) -> str:  # noqa: FBT001 - a value, no switch
    """Return what Python's `json` writes for a name that is no string."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def _core_scalar(text: str) -> Json:
    """Return what a plain scalar means in the core schema of YAML 1.2."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return _finite(float(text), text)
    return _finite(math.nan, text) if _NOT_FINITE.fullmatch(text) else text


def _pyyaml_scalar(text: str) -> Json:
    """Return what `yaml.safe_load` and `json.dumps(default=str)` make of a scalar."""
    tag = _tag_of_plain(text)
    made = _CONSTRUCTOR.construct_document(yaml.ScalarNode(tag, text))
    if isinstance(made, float):
        return _finite(made, text)
    return made if made is None or isinstance(made, bool | int | str) else str(made)


def _tag_of_plain(text: str) -> str:
    """Return what YAML 1.1 takes a plain scalar for, by PyYAML's own table."""
    patterns = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in patterns.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return f"{_TAG}str"


def _finite(number: float, text: str) -> float:
    if math.isfinite(number):
        return number
    raise _RefusalError(Unreadable.NOT_JSON, f"the number {text[:40]}")
