"""Write a schema in five representations, and a sample in three formats.

YAML is in block style, members sorted by name, texts quoted where YAML 1.1 or 1.2 would
read another value. XML has an element a member with its type in an attribute, as
`json2xml` writes it. A member without a valid XML name becomes `<key name="...">`. A
name or a text with characters that XML lacks is escaped as in a JSON string, and its
element is marked `escaped="true"`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.dom.minidom import Document, Element

import yaml

from curation.json.values import is_number
from evaluation.suites.concodeeval.python_code import write_python
from evaluation.suites.concodeeval.suite import TEXTS
from evaluation.suites.concodeeval.xml_answer import ESCAPED, ITEM, KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json, UntypedJson
    from evaluation.suites.concodeeval.suite import Output

    Schema = dict[str, UntypedJson]

#: Plain texts that YAML 1.2 takes for numbers, and YAML 1.1 does not.
_NUMBER_IN_1_2: Final = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+"
)
#: Names that every XML parser accepts, without colons.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
#: Characters that XML 1.0 lacks (section 2.2), and the carriage return, which parsers
#: turn into a line feed.
_NOT_IN_XML: Final = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The same, and what an attribute does not keep, or an escape would be taken for.
_NOT_IN_ATTRIBUTE: Final = re.compile(rf"{_NOT_IN_XML.pattern}|[\t\n\\]")
_ENGLISH: Final = TEXTS["english"]
_PHRASES: Final = _ENGLISH["phrases"]
_FORMAT_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


class InexpressibleError(Exception):
    """A representation cannot express a schema; the message gives the reason."""


def write_sample(value: Json, output: Output) -> str:
    r"""Return a sample as text of one format.

    Example:
        >>> write_sample([1, 2], "yaml")
        '- 1\n- 2'
    """
    writers = {"json": write_json, "yaml": write_yaml, "xml": write_xml}
    return writers[output](value)


def write_json(value: Json) -> str:
    """Return a value as JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False)


class _Dumper(yaml.CSafeDumper):
    """Quotes texts that either version of YAML would read as another value."""


def _write_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if _NUMBER_IN_1_2.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def write_yaml(value: Json) -> str:
    """Return a value as a YAML document, without a line for its end."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
    )
    return text.removesuffix("...\n").rstrip("\n")


def write_xml(value: Json, *, typed_root: bool = True) -> str:
    """Return a value as an XML document.

    Args:
        value: The value.
        typed_root: Give the root element its type. Published schemas, whose root is
            always an object, do not.

    Example:
        >>> print(write_xml({"type": "null"}, typed_root=False))
        <?xml version="1.0" ?>
        <all>
          <type type="str">null</type>
        </all>
    """
    document = Document()
    root = document.appendChild(_element("all", value))
    if not typed_root:
        root.removeAttribute("type")
    return document.toprettyxml("  ").rstrip("\n")


def write_xml_schema(schema: Json) -> str:
    """Return a schema as an XML document, its root without a type if it is an object.

    An object of one member named `item` keeps its type: it would be read as an array.
    """
    is_plain = isinstance(schema, dict) and set(schema) != {ITEM}
    return write_xml(schema, typed_root=not is_plain)


def _element(name: str, value: Json) -> Element:
    """Return the element of a value, with those of its members or items."""
    is_plain = bool(_NAME.fullmatch(name))
    element = Document().createElement(name if is_plain else KEY)
    is_escaped = isinstance(value, str) and bool(_NOT_IN_XML.search(value))
    if not is_plain:
        is_escaped |= bool(_NOT_IN_ATTRIBUTE.search(name))
        element.setAttribute("name", _escaped(name) if is_escaped else name)
    kind = "null" if value is None else type(value).__name__
    element.setAttribute("type", kind)
    if is_escaped:
        element.setAttribute(ESCAPED, "true")
    if isinstance(value, dict):
        for member, inner in value.items():
            element.appendChild(_element(member, inner))
    elif isinstance(value, list):
        for item in value:
            element.appendChild(_element(ITEM, item))
    elif value not in (None, ""):
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        text = _escaped(text) if is_escaped else text
        element.appendChild(Document().createTextNode(text))
    return element


def _escaped(text: str) -> str:
    """Return a text as in a JSON string of ASCII characters."""
    return json.dumps(text)[1:-1]


def write_english(schema: Json) -> str:
    """Return a schema in sentences of fixed forms.

    There are four forms: a scalar, an object of scalars, and an array of either, by
    `items` or by `contains`. A description determines its schema, key order aside.

    Example:
        >>> print(write_english({"type": "string", "maxLength": 9}))
        The schema defines a single value:
        A string that must be at most 9 characters long

    Raises:
        InexpressibleError: the schema has none of the forms.
    """
    return "\n".join(_lines(schema))


def _lines(schema: UntypedJson) -> Iterator[str]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "array":
        yield from _array(schema)
    elif kind == "object":
        yield from _object(schema)
    else:
        yield "The schema defines a single value:"
        yield _scalar(schema)


def _array(schema: Schema) -> Iterator[str]:
    holders = [name for name in _ENGLISH["arrays"] if name in schema]
    if len(holders) != 1:
        raise InexpressibleError("an array with items and contains, or with neither")
    _check_keywords(schema, ("type", *holders, *_ENGLISH["counts"]))
    yield _ENGLISH["arrays"][holders[0]]
    inner = schema[holders[0]]
    if isinstance(inner, dict) and inner.get("type") == "object":
        yield from _object(inner)
    else:
        yield _scalar(inner)
    for keyword, phrase in _ENGLISH["counts"].items():
        if keyword in schema:
            yield phrase.format(json.dumps(schema[keyword]))


def _object(schema: Schema) -> Iterator[str]:
    _check_keywords(schema, ("type", "properties", "additionalProperties", "required"))
    is_open = schema.get("additionalProperties")
    if "properties" not in schema or not isinstance(is_open, bool):
        raise InexpressibleError("an object without properties, or open by a schema")
    yield _ENGLISH["object"]["head"]
    yield f"* `additionalProperties`: Whether other properties are allowed: {is_open}"
    if required := schema.get("required"):
        yield f"* `required`: These properties must be there: {json.dumps(required)}"
    elif "required" in schema:
        yield "* `required`: No property has to be there."
    yield from ("", "Properties object", "")
    for name, inner in schema["properties"].items():
        # A name that is not an identifier is quoted as in JSON.
        label = name if name.isidentifier() else json.dumps(name)
        yield f"{label}: {_scalar(inner)}"


def _scalar(schema: UntypedJson) -> str:
    """Return the schema of a scalar, or an empty schema, in one phrase."""
    if not isinstance(schema, dict):
        raise InexpressibleError("a boolean schema")
    _check_keywords(schema, ("type", *_PHRASES))
    if not schema:
        return "Any value"
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _ENGLISH["nouns"]:
        raise InexpressibleError(f"the type {json.dumps(kind)}")
    phrases = [_phrase(name, value) for name, value in schema.items() if name != "type"]
    noun = _ENGLISH["nouns"][kind]
    return f"{noun} that must be {', '.join(phrases)}" if phrases else noun


def _phrase(keyword: str, value: UntypedJson) -> str:
    is_name = keyword == "format" and _FORMAT_NAME.fullmatch(value)
    if not is_name and not is_number(value):
        raise InexpressibleError(f"the value of {keyword}")
    text = value if is_name else json.dumps(value)
    return str(_PHRASES[keyword]).format(text)


def _check_keywords(schema: Schema, keywords: Sequence[str]) -> None:
    """Refuse other keywords.

    Raises:
        InexpressibleError: the schema has one.
    """
    for name in schema:
        if name not in keywords:
            raise InexpressibleError(f"the keyword {name}")


class Representation(NamedTuple):
    """One way to write a schema.

    Example:
        >>> REPRESENTATIONS["yaml"].write({"type": "null"})
        "type: 'null'"
    """

    #: The name in prompts.
    title: str
    #: Returns the text of a schema, always the same one, or raises
    #: `InexpressibleError`.
    write: Callable[[Json], str]


#: Every representation by the name in settings and tables, in the paper's order.
REPRESENTATIONS: Final[Mapping[str, Representation]] = {
    "json": Representation("JSON", write_json),
    "xml": Representation("XML", write_xml_schema),
    "yaml": Representation("YAML", write_yaml),
    "python": Representation("Python", write_python),
    "nl": Representation("natural language", write_english),
}
