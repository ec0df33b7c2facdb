"""Answers written as XML: what value an element says.

The recommended reading goes by an element's `type` (`str`, `int`, `float`, `bool`,
`null`, `dict`, `list`) and, where it has none, by the schema of the value. The paper's
is that of `xmltodict`: the root is an object with one member, and every scalar a text.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.answers.model import NotRead, Read, Unreadable
from evaluation.suites.concodeeval.answers.xml_elements import (
    XmlElement,
    read_elements,
)
from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json

#: The element of a member whose name is no XML name; its attribute `name` is that.
KEY: Final = "key"
#: The attribute that says that name and text are escaped as in a JSON string.
ESCAPED: Final = "escaped"
#: The name of an array's elements.
ITEM: Final = "item"
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BOOLEANS: Final = {"true": True, "false": False, "True": True, "False": False}
#: What the schema of a value may call for, by the values of its `type`.
_SCALARS: Final = ("null", "boolean", "number", "integer")


def read_xml(text: str, schema: Json, reading: SuiteReading) -> Read | NotRead:
    """Return the value of an XML text.

    Args:
        text: The answer; its root element may have any name.
        schema: What the value is meant to satisfy, for elements without a `type`.
        reading: `PAPER` is that of `xmltodict`.

    Example:
        >>> read_xml("<all><a type='int'>1</a></all>", {}, SuiteReading.RECOMMENDED)
        Read(value={'a': 1})
        >>> read_xml("<all><a type='int'>1</a></all>", {}, SuiteReading.PAPER)
        Read(value={'all': {'a': {'@type': 'int', '#text': '1'}}})
    """
    root = read_elements(text)
    if isinstance(root, NotRead):
        return root
    if reading is SuiteReading.PAPER:
        return Read({root.name: _as_xmltodict(root)})
    try:
        return Read(_value(root, schema))
    except _DuplicateError as error:
        return NotRead(Unreadable.DUPLICATE_NAME, str(error))
    except ValueError as error:
        return NotRead(Unreadable.NOT_JSON, str(error))


class _DuplicateError(Exception):
    """A member stands twice."""


def _value(element: XmlElement, schema: Json) -> Json:
    """Return the value of an element.

    Raises:
        ValueError: a number that JSON has not, or an escape that is none.
    """
    match element.attributes.get("type"):
        case "str":
            return _text(element)
        case "int" | "float":
            return _scalar(element.text.strip(), ("number",))
        case "bool":
            return _scalar(element.text.strip(), ("boolean",))
        case "null":
            return None if not element.text.strip() else element.text
        case "dict":
            return _members(element.children, schema)
        case "list":
            return [_value(child, _item_schema(schema)) for child in element.children]
    return _untyped(element, schema)


def _untyped(element: XmlElement, schema: Json) -> Json:
    """Return the value of an element that does not say its type."""
    types = _types(schema)
    if element.children:
        names = [child.name for child in element.children]
        is_list = set(names) == {ITEM} and "object" not in types
        if is_list or ("array" in types and "object" not in types):
            return [_value(child, _item_schema(schema)) for child in element.children]
        return _members(element.children, schema)
    text = element.text.strip()
    if not text and "array" in types:
        return []
    # A root without a type is an object, as `json2xml` writes it.
    if not text and ("object" in types or not types):
        return {}
    found = _scalar(text, [name for name in types if name in _SCALARS])
    return _text(element) if isinstance(found, str) else found


def _scalar(text: str, types: Sequence[str]) -> Json:
    """Return a text as a scalar of one of the types; a text that is none stays one."""
    if "null" in types and text in ("", "null"):
        return None
    if "boolean" in types and text in _BOOLEANS:
        return _BOOLEANS[text]
    if ("number" in types or "integer" in types) and _NUMBER.fullmatch(text):
        number: int | float = json.loads(text)
        if not math.isfinite(number):
            raise ValueError(f"the number {text[:40]} is too large for a double")
        return number
    return text


def _members(children: Sequence[XmlElement], schema: Json) -> Json:
    """Return an object; elements of one name are the items of an array."""
    by_name: dict[str, list[XmlElement]] = {}
    for child in children:
        by_name.setdefault(_name(child), []).append(child)
    made: dict[str, Json] = {}
    for name, elements in by_name.items():
        inner = _property_schema(schema, name)
        if len(elements) == 1:
            made[name] = _value(elements[0], inner)
        elif any("type" in element.attributes for element in elements):
            raise _DuplicateError(f"the member {name[:80]!r} stands twice")
        else:
            made[name] = [_value(element, _item_schema(inner)) for element in elements]
    return made


def _name(element: XmlElement) -> str:
    name = element.attributes.get("name") if element.name == KEY else None
    return element.name if name is None else _unescaped(name, element)


def _text(element: XmlElement) -> str:
    return _unescaped(element.text, element)


def _unescaped(text: str, element: XmlElement) -> str:
    """Return a text without its escapes, if the element says that it has some."""
    if element.attributes.get(ESCAPED) != "true":
        return text
    found: str = json.loads(f'"{text}"', strict=False)
    return found


def _types(schema: Json) -> list[str]:
    """Return what `type` of a schema names."""
    named = schema.get("type") if isinstance(schema, dict) else None
    listed = named if isinstance(named, list) else [named]
    return [name for name in listed if isinstance(name, str)]


def _item_schema(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return {}
    return schema.get("items", schema.get("contains", {}))


def _property_schema(schema: Json, name: str) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties.get(name, {}) if isinstance(properties, dict) else {}


def _as_xmltodict(element: XmlElement) -> Json:
    """Return what `xmltodict.parse` makes of an element, defaults throughout."""
    made: dict[str, Json] = {
        f"@{name}": value for name, value in element.attributes.items()
    }
    for child in element.children:
        value = _as_xmltodict(child)
        held = made.get(child.name)
        if child.name not in made:
            made[child.name] = value
        elif isinstance(held, list):
            held.append(value)
        else:
            made[child.name] = [held, value]
    text = element.text.strip() or None
    if not made:
        return text
    if text is not None:
        made["#text"] = text
    return made
