"""YAML read as JSON, event by event: no object is built, depth and size are bounded.

The default is YAML 1.2's core schema (specification 1.2.2, section 10.3), in which
every JSON text keeps its meaning: a property may be named `on`, a date stays text.
`yaml_1_1_scalar` reads plain scalars as PyYAML's safe loader does.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple

import yaml

from curation.core.documents import Reason, Rejected
from curation.core.json_types import Json, UntypedJson
from curation.json.text import INTEGER_TOO_LONG, MAX_DEPTH, depth

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_TAG = "tag:yaml.org,2002:"
_STR = f"{_TAG}str"
_FLOAT_TAG = f"{_TAG}float"
_TYPES = ("str", "int", "float", "bool", "null", "seq", "map")
_TAGS = frozenset((None, "!", *(f"{_TAG}{name}" for name in _TYPES)))
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
#: Most characters of a number: in any base it has fewer than 4,300 decimal digits,
#: which Python still writes.
_MAX_NUMBER = 3_500
_TOO_LONG = "a number of more than 4300 digits"
_NO_NAME = object()
#: The name of a member that merges mappings.
_MERGE = object()
_COLLECTION_AS_NAME = "a collection as a member's name"


class YamlFault(Enum):
    """Kinds of refused text."""

    SYNTAX = auto()
    """Not YAML, not exactly one document, or a scalar that its tag does not allow."""
    TAB = auto()
    """A tab where YAML allows none."""
    TAG = auto()
    """A tag that is not a JSON type's."""
    ALIAS = auto()
    """An alias, where none is allowed, that contains itself, or that adds up to more
    values than are read."""
    TOO_DEEP = auto()
    """Nested too deep."""
    DUPLICATE_NAME = auto()
    """Two members of one name in a mapping."""
    NOT_JSON = auto()
    """A value that JSON lacks: NaN, an infinity, a collection as a name."""
    NUMBER_TOO_LONG = auto()
    """An integer of more digits than Python converts."""


class YamlError(ValueError):
    """A refused YAML text.

    Attributes:
        fault: Kind of text.
        detail: Explanation for people, with line and column if they are known.
    """

    def __init__(self, fault: YamlFault, detail: str) -> None:
        """Create the error."""
        super().__init__(fault, detail)
        self.fault, self.detail = fault, detail


def core_scalar(text: str, tag: str | None = None) -> Json:
    """Return the value of a plain or tagged scalar in YAML 1.2's core schema.

    Raises:
        YamlError: it is not finite, or the tag is another type's.
    """
    if tag == "!":
        return text
    value = _core_value(text)
    if tag is None:
        return value
    if tag == _FLOAT_TAG and isinstance(value, int | float) and text[0] not in "tTfF":
        return finite(float(str(value)), text)
    if tag != _TAG + _TYPE_TAGS[type(value)]:
        raise YamlError(YamlFault.TAG, f"the tag {tag}")
    return value


_TYPE_TAGS = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
}


def _core_value(text: str) -> Json:
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
        if len(text) > _MAX_NUMBER:
            raise ValueError(_TOO_LONG)
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return finite(float(text), text)
    return finite(math.nan, text) if _NOT_FINITE.fullmatch(text) else text


def finite(number: float, text: str) -> float:
    """Return a number that JSON can hold.

    Raises:
        YamlError: the number is NaN or infinite.
    """
    if math.isfinite(number):
        return number
    raise YamlError(YamlFault.NOT_JSON, f"the number {text[:40]}")


def yaml_1_1_scalar(
    text: str, tag: str | None = None, *, normalize_dates: bool = False
) -> UntypedJson:
    """Return the value that PyYAML's safe loader gives a plain or tagged scalar.

    `no` is false, `012` is ten, `12:30:45` is 45045, `.inf` an infinity.

    Args:
        text: The scalar's text.
        tag: Its explicit tag, if it has one.
        normalize_dates: Write a date or time as Python's `str` does; by default it
            keeps its own text.

    Raises:
        yaml.YAMLError: PyYAML has no value for it (`=`, `<<`).
        ValueError: it is not a value of the tag's type, or no date of the calendar.
    """
    if tag in (None, "!"):
        resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ())
        tags = (str(tag) for tag, pattern in resolvers if pattern.match(text))
        tag = next(tags, _STR)
    if tag == f"{_TAG}timestamp" and not normalize_dates:
        return text
    if tag not in (_STR, _FLOAT_TAG) and len(text) > _MAX_NUMBER:
        raise ValueError(_TOO_LONG)
    try:
        value: UntypedJson = _CONSTRUCTOR.construct_document(yaml.ScalarNode(tag, text))
    except (IndexError, KeyError, OverflowError):
        raise ValueError(f"{text[:40]!r} is no {tag.removeprefix(_TAG)}") from None
    return str(value) if isinstance(value, datetime.date) else value


def _element_text(text: str, _value: UntypedJson) -> Hashable:
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlOptions:
    """Parameters of the reader; the defaults are for schema files."""

    #: Value of a plain scalar (text, None) or of one with an explicit tag (text, tag).
    scalar: Callable[..., UntypedJson] = core_scalar
    #: Name of a member, by the text and the value of its scalar.
    name: Callable[[str, UntypedJson], Hashable] = _element_text
    #: Refuse two members of one name; otherwise the last one counts and the names are
    #: reported.
    unique_names: bool = True
    #: Let `<<: *defaults` merge mappings.
    merge_keys: bool = True
    #: Most values of a document, each alias counted with all that it represents.
    #: None: aliases are refused and values are not counted.
    max_values: int | None = 1_000_000
    #: Most levels of nesting.
    max_depth: int = MAX_DEPTH


class YamlDocument(NamedTuple):
    """The value of one document and remarks on its text."""

    value: UntypedJson
    #: Names that occur twice in a mapping, in order of appearance.
    duplicates: tuple[str, ...] = ()
    #: It holds a mapping in braces, or is a list in brackets: JSON's notation.
    is_flow: bool = False


def parse_yaml(content: bytes) -> Json | Rejected:
    """Return the JSON value of one YAML document, or the reason it has none.

    Example:
        >>> parse_yaml(b"on: yes")
        {'on': 'yes'}
    """
    try:
        value: Json = read_yaml(content.decode()).value
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    except YamlError as error:
        if error.fault is YamlFault.NUMBER_TOO_LONG:
            return INTEGER_TOO_LONG
        detail = f"not JSON as YAML: {error.detail}"
        return Rejected(reason=Reason.NOT_JSON, detail=detail)
    # Aliases nest without brackets.
    if depth(value) > MAX_DEPTH:
        detail = f"not JSON as YAML: nested over {MAX_DEPTH} levels"
        return Rejected(reason=Reason.NOT_JSON, detail=detail)
    return value


def read_yaml(text: str, options: YamlOptions | None = None) -> YamlDocument:
    """Return the value of a YAML text that holds one document.

    Args:
        text: The YAML text.
        options: Parameters; by default for schema files.

    Raises:
        YamlError: the text is refused.

    Example:
        >>> read_yaml("no: [1, .5, 2024-01-01]").value
        {'no': [1, 0.5, '2024-01-01']}
    """
    options = options or YamlOptions()
    try:
        return _Builder(options).build(text)
    except yaml.YAMLError as error:
        if "nesting depth" in str(error):  # a limit of PyYAML's own, from 6.0.4 on
            raise _too_deep(options) from None
        raise _syntax_error(text, error) from None
    except UnicodeEncodeError:
        detail = "half of a surrogate pair"
        raise YamlError(YamlFault.SYNTAX, detail) from None
    except YamlError:
        raise
    except ValueError as error:
        is_long = "4300" in str(error)
        fault = YamlFault.NUMBER_TOO_LONG if is_long else YamlFault.SYNTAX
        raise YamlError(fault, str(error)) from None


def _too_deep(options: YamlOptions) -> YamlError:
    return YamlError(YamlFault.TOO_DEEP, f"nested over {options.max_depth} levels")


def _syntax_error(text: str, error: yaml.YAMLError) -> YamlError:
    mark: Any = getattr(error, "problem_mark", None)
    if mark is None:
        return YamlError(YamlFault.SYNTAX, " ".join(str(error).split()))
    problem = str(getattr(error, "problem", ""))
    is_tab = text[mark.index : mark.index + 1] == "\t" or "tab" in problem.split()
    fault = YamlFault.TAB if is_tab else YamlFault.SYNTAX
    return YamlError(fault, _placed(problem, mark))


def _placed(detail: str, mark: Any) -> str:  # noqa: ANN401 - untyped library
    return f"{detail} (line {mark.line + 1}, column {mark.column + 1})"


@dataclass(slots=True)
class _Open:
    value: list[UntypedJson] | dict[Hashable, UntypedJson]
    #: Its anchor, if it has one.
    anchor: str | None
    #: Name of the member whose value comes next.
    name: Any = _NO_NAME
    #: Number of values in it, aliases expanded.
    size: int = 1
    #: Types and texts of the names so far.
    names: set[Hashable] = field(default_factory=set)
    #: Mappings that `<<` merges into it.
    merged: list[dict[Hashable, UntypedJson]] = field(default_factory=list)


class _Builder:
    """Build the value of one document from the parser's events, without recursion."""

    def __init__(self, options: YamlOptions) -> None:
        self._options = options
        self._open: list[_Open] = []
        self._roots: list[UntypedJson] = []
        #: Text, value and size by anchor; the size is None until the end has come.
        self._anchors: dict[str, tuple[str | None, UntypedJson, int | None]] = {}
        self._duplicates: list[str] = []
        self._is_flow = False

    def build(self, text: str) -> YamlDocument:
        loader = yaml.CSafeLoader(text)
        try:
            while (event := loader.get_event()) is not None:
                try:
                    self._take(event)
                except YamlError as error:
                    detail = _placed(error.detail, event.start_mark)
                    raise YamlError(error.fault, detail) from None
        finally:
            loader.dispose()
        if not self._roots:
            raise YamlError(YamlFault.SYNTAX, "no document")
        return YamlDocument(
            value=self._roots[0],
            duplicates=tuple(self._duplicates),
            is_flow=self._is_flow,
        )

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent) and self._roots:
            raise YamlError(YamlFault.SYNTAX, "several YAML documents in one file")
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start({}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start([], event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        text, tag = event.value, event.tag
        self._refuse_tag(tag)
        is_plain = tag is None and event.implicit[0]
        value: UntypedJson = text
        merges = self._options.merge_keys and self._expects_name
        if is_plain and text in ("<<", "=") and merges:
            value = _MERGE if text == "<<" else text
        elif is_plain:
            value = self._options.scalar(text)
        elif tag not in (None, _STR):
            value = self._options.scalar(text, tag)
        if event.anchor is not None and value is not _MERGE:
            self._anchors[event.anchor] = (text, value, 1)
        self._add(value, 1, text)

    @property
    def _expects_name(self) -> bool:
        if not self._open:
            return False
        holder = self._open[-1]
        return isinstance(holder.value, dict) and holder.name is _NO_NAME

    def _start(
        self,
        value: list[UntypedJson] | dict[Hashable, UntypedJson],
        event: Any,  # noqa: ANN401 - untyped library
    ) -> None:
        self._refuse_tag(event.tag)
        if self._expects_name:
            raise YamlError(YamlFault.NOT_JSON, _COLLECTION_AS_NAME)
        if len(self._open) >= self._options.max_depth:
            raise _too_deep(self._options)
        if event.flow_style and (isinstance(value, dict) or not self._open):
            self._is_flow = True
        if event.anchor is not None:
            self._anchors[event.anchor] = (None, value, None)
        self._open.append(_Open(value, event.anchor))

    def _end(self) -> None:
        closed = self._open.pop()
        if closed.merged and isinstance(closed.value, dict):
            members = dict(closed.value)
            closed.value.clear()
            for mapping in closed.merged:
                closed.value.update(mapping)
            closed.value.update(members)
        anchor = closed.anchor
        if anchor is not None and closed.value is self._anchors[anchor][1]:
            self._anchors[anchor] = (None, closed.value, closed.size)
        self._add(closed.value, closed.size)

    def _alias(self, anchor: str) -> None:
        if self._options.max_values is None:
            raise YamlError(YamlFault.ALIAS, f"the alias *{anchor}")
        if anchor not in self._anchors:
            raise YamlError(YamlFault.SYNTAX, f"no anchor {anchor[:40]}")
        text, value, size = self._anchors[anchor]
        if size is None:
            raise YamlError(YamlFault.ALIAS, "an alias inside its own anchor")
        self._add(value, size, text)

    def _refuse_tag(self, tag: str | None) -> None:
        if tag not in _TAGS:
            raise YamlError(YamlFault.TAG, f"the tag {tag}")

    def _add(self, value: UntypedJson, size: int, text: str | None = None) -> None:
        """Add a finished value to the collection that is open.

        Args:
            value: The value.
            size: Values that it adds up to.
            text: Its text, if it is a scalar.
        """
        if not self._open:
            self._roots.append(value)
            return
        holder = self._open[-1]
        holder.size += size
        limit = self._options.max_values
        if limit is not None and holder.size > limit:
            raise YamlError(YamlFault.ALIAS, f"over {limit:,} values")
        if isinstance(holder.value, list):
            holder.value.append(value)
        elif holder.name is _NO_NAME:
            holder.name = self._name(holder, value, text)
        elif holder.name is _MERGE:
            # The winner last.
            mappings = value[::-1] if isinstance(value, list) else [value]
            if not all(isinstance(mapping, dict) for mapping in mappings):
                detail = "`<<` merges a mapping or a list of mappings"
                raise YamlError(YamlFault.SYNTAX, detail)
            holder.merged.extend(mappings)
            holder.name = _NO_NAME
        else:
            holder.value[holder.name] = value
            holder.name = _NO_NAME

    def _name(self, holder: _Open, value: UntypedJson, text: str | None) -> Hashable:
        if text is None:
            raise YamlError(YamlFault.NOT_JSON, _COLLECTION_AS_NAME)
        name = value if value is _MERGE else self._options.name(text, value)
        if self._options.unique_names:
            identity: Hashable = name
        else:
            identity = (type(value), text)
        if identity in holder.names:
            if self._options.unique_names and name is not _MERGE:
                detail = f"the member {str(name)[:80]!r} stands twice"
                raise YamlError(YamlFault.DUPLICATE_NAME, detail)
            self._duplicates.append(text)
        holder.names.add(identity)
        return name
