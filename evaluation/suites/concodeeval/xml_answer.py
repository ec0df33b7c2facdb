"""Read an answer written as XML; nothing is followed, fetched or expanded.

The recommended reading goes by an element's `type` (`str`, `int`, `float`, `bool`,
`null`, `dict`, `list`) and, without one, by the schema of the value. The paper's is
`xmltodict`'s: the root is an object with one member, and every scalar a text.

A document type is refused as soon as it begins: entities, and with them entity bombs
and external entities, can occur nowhere else.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from evaluation.suites.concodeeval.suite import MAX_DEPTH, Reading, UnreadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curation.core.json_types import Json

#: The element of a member without a valid XML name; its attribute `name` has it.
KEY: Final = "key"
#: The attribute of elements whose name and text are escaped as in a JSON string.
ESCAPED: Final = "escaped"
#: The name of an array's elements.
ITEM: Final = "item"
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS: Final = {"true": True, "false": False, "True": True, "False": False}


def read_xml(text: str, schema: Json, reading: Reading) -> Json:
    """Return the value of an XML text.

    Args:
        text: The answer; its root element may have any name.
        schema: The schema of the value, for elements without a `type`.
        reading: The reading.

    Raises:
        UnreadError: it has no value.

    Example:
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "recommended")
        {'a': 1}
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "paper")
        {'all': {'a': {'@type': 'int', '#text': '1'}}}
    """
    builder = _Builder()
    # The encoding follows from the bytes, whatever the text declares.
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        content = text.strip().encode("utf-8", "surrogatepass")
        parser.Parse(content, True)  # noqa: FBT003 (expat takes it by position alone)
        root = builder.close()
        if reading == "paper":
            return {root.tag: _as_xmltodict(root)}
        return _value(root, schema)
    except expat.ExpatError as error:
        raise UnreadError("syntax", str(error)) from None
    except ValueError as error:
        raise UnreadError("not_json", str(error)) from None


class _Builder(ElementTree.TreeBuilder):
    """Builds elements of a limited depth, without a document type."""

    level = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        """Take a start tag."""
        self.level += 1
        if self.level > MAX_DEPTH:
            raise UnreadError("too_deep", f"nested over {MAX_DEPTH} levels")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        """Take an end tag."""
        self.level -= 1
        return super().end(tag)

    def doctype(self, name: str, *_: object) -> NoReturn:
        """Refuse a document type."""
        raise UnreadError("xml_doctype", f"the document type of <{name}>")


def _value(element: ElementTree.Element, schema: Json) -> Json:
    """Return the value of an element.

    Raises:
        ValueError: a number that JSON lacks, or a wrong escape.
    """
    text = _text_of(element)
    match element.get("type"):
        case "str":
            return _unescaped(text, element)
        case "int" | "float":
            return _scalar(text.strip(), ("number",))
        case "bool":
            return _scalar(text.strip(), ("boolean",))
        case "null":
            return text if text.strip() else None
        case "dict":
            return _members(element, schema)
        case "list":
            return _items(element, schema)
    types = _part(schema, "type") or []
    types = types if isinstance(types, list) else [types]
    if len(element):
        is_list = {child.tag for child in element} == {ITEM} or "array" in types
        is_array = is_list and "object" not in types
        return (_items if is_array else _members)(element, schema)
    if not text.strip() and "array" in types:
        return []
    # A root without a type is an object, as `json2xml` writes it.
    if not text.strip() and ("object" in types or not types):
        return {}
    value = _scalar(text.strip(), types)
    return _unescaped(text, element) if isinstance(value, str) else value


def _scalar(text: str, types: Sequence[Json]) -> Json:
    """Return a text as a scalar of one of the types, or the text itself."""
    if "null" in types and text in ("", "null"):
        return None
    if "boolean" in types and text in _BOOLEANS:
        return _BOOLEANS[text]
    if ("number" in types or "integer" in types) and _NUMBER.fullmatch(text):
        number: int | float = json.loads(text)
        if isinstance(number, float) and not math.isfinite(number):
            raise ValueError(f"the number {text[:40]} is too large for a double")
        return number
    return text


def _items(elements: Iterable[ElementTree.Element], schema: Json) -> Json:
    inner = _part(schema, "items") or _part(schema, "contains")
    return [_value(element, inner) for element in elements]


def _members(element: ElementTree.Element, schema: Json) -> Json:
    """Return an object; elements of one name are the items of an array."""
    members: dict[str, Json] = {}
    for name, elements in _by_name(element, _name).items():
        inner = _part(schema, "properties", name)
        if len(elements) == 1:
            members[name] = _value(elements[0], inner)
        elif any("type" in element.attrib for element in elements):
            raise UnreadError(
                "duplicate_name", f"the member {name[:80]!r} stands twice"
            )
        else:
            members[name] = _items(elements, inner)
    return members


def _by_name(
    element: ElementTree.Element, name_of: Callable[[ElementTree.Element], str]
) -> dict[str, list[ElementTree.Element]]:
    """Return the children of an element by their names."""
    by_name: dict[str, list[ElementTree.Element]] = {}
    for child in element:
        by_name.setdefault(name_of(child), []).append(child)
    return by_name


def _name(element: ElementTree.Element) -> str:
    name = element.get("name") if element.tag == KEY else None
    return element.tag if name is None else _unescaped(name, element)


def _unescaped(text: str, element: ElementTree.Element) -> str:
    if element.get(ESCAPED) != "true":
        return text
    unescaped: str = json.loads(f'"{text}"', strict=False)
    unescaped.encode()  # half of a surrogate pair is not a text
    return unescaped


def _part(schema: Json, *path: str) -> Json:
    """Return a part of a schema; `{}` where there is none."""
    for name in path:
        schema = schema.get(name, {}) if isinstance(schema, dict) else {}
    return schema


def _as_xmltodict(element: ElementTree.Element) -> Json:
    """Return an element as `xmltodict.parse` does by default."""
    members: dict[str, Json] = {f"@{name}": value for name, value in element.items()}
    for name, children in _by_name(element, lambda child: child.tag).items():
        values = [_as_xmltodict(child) for child in children]
        members[name] = values if len(values) > 1 else values[0]
    text = _text_of(element).strip()
    if members and text:
        members["#text"] = text
    return members or text or None


def _text_of(element: ElementTree.Element) -> str:
    """Return the character data of an element itself."""
    return "".join((element.text or "", *(inner.tail or "" for inner in element)))
