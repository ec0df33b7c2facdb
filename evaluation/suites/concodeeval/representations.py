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
from evaluation.suites.concodeeval.python_code import InexpressibleError, write_python
from evaluation.suites.concodeeval.suite import TEXTS
from evaluation.suites.concodeeval.xml_answer import ESCAPED, ITEM, KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.suites.concodeeval.suite import Output

    Schema = dict[str, Json]

#: Plain texts that YAML 1.2 takes for numbers, and YAML 1.1 does not.
_NUMBER_IN_1_2: Final = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+"
)
_INDENT: Final = "  "
_ROOT: Final = "all"
#: Names that every XML parser accepts, without colons.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
#: Characters that XML 1.0 lacks (section 2.2), and the carriage return, which parsers
#: turn into a line feed.
_NOT_IN_XML: Final = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What an attribute does not keep, or an escape would be taken for.
_KEPT_IN_JSON: Final = re.compile(r"[\t\n\\]")
_ENGLISH: Final = TEXTS["english"]
_PHRASES: Final = _ENGLISH["phrases"]
_FORMAT_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


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
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]  # as PyYAML documents


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
    root = document.appendChild(document.createElement(_ROOT))
    if typed_root:
        root.setAttribute("type", _type_of(value))
    _fill(root, value, is_escaped=_needs_escapes(value))
    return document.toprettyxml(_INDENT).rstrip("\n")


def write_xml_schema(schema: Json) -> str:
    """Return a schema as an XML document, its root without a type if it is an object.

    An object of one member named `item` keeps its type: it would be read as an array.
    """
    is_plain = isinstance(schema, dict) and set(schema) != {ITEM}
    return write_xml(schema, typed_root=not is_plain)


def _fill(element: Element, value: Json, *, is_escaped: bool) -> None:
    """Write a value into its element."""
    if isinstance(value, dict):
        for name, member in value.items():
            _add_child(element, name, member)
    elif isinstance(value, list):
        for item in value:
            _add_child(element, ITEM, item)
    else:
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        text = _escaped(text) if is_escaped else text
        if value not in (None, ""):
            element.appendChild(Document().createTextNode(text))
    if is_escaped:
        element.setAttribute(ESCAPED, "true")


def _add_child(parent: Element, name: str, value: Json) -> None:
    is_plain = bool(_NAME.fullmatch(name))
    is_escaped = _needs_escapes(value)
    element = parent.appendChild(Document().createElement(name if is_plain else KEY))
    if not is_plain:
        is_escaped |= _needs_escapes(name) or bool(_KEPT_IN_JSON.search(name))
        element.setAttribute("name", _escaped(name) if is_escaped else name)
    element.setAttribute("type", _type_of(value))
    _fill(element, value, is_escaped=is_escaped)


def _needs_escapes(value: Json) -> bool:
    return isinstance(value, str) and _NOT_IN_XML.search(value) is not None


def _escaped(text: str) -> str:
    """Return a text as in a JSON string of ASCII characters."""
    return json.dumps(text)[1:-1]


def _type_of(value: Json) -> str:
    return "null" if value is None else type(value).__name__


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
    return "\n".join(_schema(schema))


def _schema(schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict):
        raise InexpressibleError("a boolean schema")
    if schema.get("type") == "array":
        yield from _array(schema)
    elif schema.get("type") == "object":
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
    properties = schema.get("properties")
    is_open = schema.get("additionalProperties")
    if not isinstance(properties, dict) or not isinstance(is_open, bool):
        raise InexpressibleError("an object without properties, or open by a schema")
    yield _ENGLISH["object"]["head"]
    yield f"* `additionalProperties`: Whether other properties are allowed: {is_open}"
    required = schema.get("required")
    if isinstance(required, list) and required:
        yield f"* `required`: These properties must be there: {json.dumps(required)}"
    elif isinstance(required, list):
        yield "* `required`: No property has to be there."
    yield from ("", "Properties object", "")
    for name, inner in properties.items():
        # A name that is not an identifier is quoted as in JSON.
        label = name if name.isidentifier() else json.dumps(name)
        yield f"{label}: {_scalar(inner)}"


def _scalar(schema: Json) -> str:
    """Return the schema of a scalar, or an empty schema, in one phrase."""
    if not isinstance(schema, dict):
        raise InexpressibleError("a boolean schema")
    _check_keywords(schema, ("type", *_PHRASES))
    if not schema:
        return "Any value"
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _ENGLISH["nouns"]:
        raise InexpressibleError(f"the type {json.dumps(kind)}")
    phrases = [
        _phrase(keyword, value)
        for keyword, value in schema.items()
        if keyword != "type"
    ]
    noun = _ENGLISH["nouns"][kind]
    return f"{noun} that must be {', '.join(phrases)}" if phrases else noun


def _phrase(keyword: str, value: Json) -> str:
    if isinstance(value, str) and _FORMAT_NAME.fullmatch(value):
        text = value if keyword == "format" else json.dumps(value)
    elif is_number(value):
        text = json.dumps(value)
    else:
        raise InexpressibleError(f"the value of {keyword}")
    return str(_PHRASES[keyword]).format(text)


def _check_keywords(schema: Schema, keywords: Sequence[str]) -> None:
    """Refuse other keywords.

    Raises:
        InexpressibleError: the schema has another type.
    """
    unknown = [keyword for keyword in schema if keyword not in keywords]
    if unknown:
        raise InexpressibleError(f"the keyword {unknown[0]}")


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
