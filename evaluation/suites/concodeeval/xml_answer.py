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
from collections.abc import Iterable, Sequence
from typing import Final, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from curation.core.json_types import Json
from evaluation.suites.concodeeval.suite import MAX_DEPTH, NotRead, Reading

#: The element of a member without a valid XML name; its attribute `name` has it.
KEY: Final = "key"
#: The attribute of elements whose name and text are escaped as in a JSON string.
ESCAPED: Final = "escaped"
#: The name of an array's elements.
ITEM: Final = "item"
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS: Final = {"true": True, "false": False, "True": True, "False": False}
#: Values of `type` that are scalars.
_SCALARS: Final = ("null", "boolean", "number", "integer")


def read_xml(text: str, schema: Json, reading: Reading) -> Json | NotRead:
    """Return the value of an XML text.

    Args:
        text: The answer; its root element may have any name.
        schema: The schema of the value, for elements without a `type`.
        reading: The reading.

    Example:
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "recommended")
        {'a': 1}
        >>> read_xml("<all><a type='int'>1</a></all>", {}, "paper")
        {'all': {'a': {'@type': 'int', '#text': '1'}}}
    """
    root = read_elements(text)
    if isinstance(root, NotRead):
        return root
    if reading == "paper":
        return {root.tag: _as_xmltodict(root)}
    try:
        return _value(root, schema)
    except _RefusalError as error:
        return NotRead(error.why, str(error))
    except ValueError as error:
        return NotRead("not_json", str(error))


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
            return [_value(child, _item_schema(schema)) for child in element]
    return _untyped(element, schema)


def _untyped(element: ElementTree.Element, schema: Json) -> Json:
    types = _types(schema)
    if len(element):
        names = [child.tag for child in element]
        is_list = set(names) == {ITEM} and "object" not in types
        if is_list or ("array" in types and "object" not in types):
            return [_value(child, _item_schema(schema)) for child in element]
        return _members(element, schema)
    text = _text_of(element).strip()
    if not text and "array" in types:
        return []
    # A root without a type is an object, as `json2xml` writes it.
    if not text and ("object" in types or not types):
        return {}
    value = _scalar(text, [name for name in types if name in _SCALARS])
    return _unescaped(_text_of(element), element) if isinstance(value, str) else value


def _scalar(text: str, types: Sequence[str]) -> Json:
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


def _members(children: Iterable[ElementTree.Element], schema: Json) -> Json:
    """Return an object; elements of one name are the items of an array."""
    by_name: dict[str, list[ElementTree.Element]] = {}
    for child in children:
        by_name.setdefault(_name(child), []).append(child)
    members: dict[str, Json] = {}
    for name, elements in by_name.items():
        inner = _property_schema(schema, name)
        if len(elements) == 1:
            members[name] = _value(elements[0], inner)
        elif any("type" in element.attrib for element in elements):
            detail = f"the member {name[:80]!r} stands twice"
            raise _RefusalError("duplicate_name", detail)
        else:
            items = _item_schema(inner)
            members[name] = [_value(element, items) for element in elements]
    return members


def _name(element: ElementTree.Element) -> str:
    name = element.get("name") if element.tag == KEY else None
    return element.tag if name is None else _unescaped(name, element)


def _unescaped(text: str, element: ElementTree.Element) -> str:
    if element.get(ESCAPED) != "true":
        return text
    unescaped: str = json.loads(f'"{text}"', strict=False)
    unescaped.encode()  # half of a surrogate pair is not a text
    return unescaped


def _types(schema: Json) -> list[str]:
    kinds = schema.get("type") if isinstance(schema, dict) else None
    names = kinds if isinstance(kinds, list) else [kinds]
    return [name for name in names if isinstance(name, str)]


def _item_schema(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return {}
    return schema.get("items", schema.get("contains", {}))


def _property_schema(schema: Json, name: str) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties.get(name, {}) if isinstance(properties, dict) else {}


def _as_xmltodict(element: ElementTree.Element) -> Json:
    """Return an element as `xmltodict.parse` does by default."""
    members: dict[str, Json] = {f"@{name}": value for name, value in element.items()}
    for child in element:
        value = _as_xmltodict(child)
        earlier = members.get(child.tag)
        if child.tag not in members:
            members[child.tag] = value
        elif isinstance(earlier, list):
            earlier.append(value)
        else:
            members[child.tag] = [earlier, value]
    text = _text_of(element).strip() or None
    if not members:
        return text
    if text is not None:
        members["#text"] = text
    return members


class _RefusalError(Exception):
    """A rejected text, and the reason."""

    def __init__(self, why: str, detail: str) -> None:
        super().__init__(detail)
        self.why = why


class _Builder(ElementTree.TreeBuilder):
    """Builds elements of a limited depth, without a document type."""

    level = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        """Take a start tag."""
        self.level += 1
        if self.level > MAX_DEPTH:
            raise _RefusalError("too_deep", f"nested over {MAX_DEPTH} levels")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        """Take an end tag."""
        self.level -= 1
        return super().end(tag)

    def doctype(self, name: str, *_: object) -> NoReturn:
        """Refuse a document type."""
        raise _RefusalError("xml_doctype", f"the document type of <{name}>")


def read_elements(text: str) -> ElementTree.Element | NotRead:
    """Return the root element of an XML text (XML 1.0), or its fault.

    Example:
        >>> read_elements("<a b='1'>text</a>").attrib
        {'b': '1'}
    """
    builder = _Builder()
    # The encoding follows from the bytes, whatever the text declares.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.Parse(text.strip().encode("utf-8", "surrogatepass"))
        parser.Parse(b"", True)  # noqa: FBT003 (expat takes it by position alone)
    except _RefusalError as error:
        return NotRead(error.why, str(error))
    except expat.ExpatError as error:
        return NotRead("syntax", str(error))
    return builder.close()


def _text_of(element: ElementTree.Element) -> str:
    """Return the character data of an element itself."""
    return "".join((element.text or "", *(inner.tail or "" for inner in element)))
