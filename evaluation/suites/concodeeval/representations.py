"""Texts of values: a schema in five representations, a sample in three formats.

YAML is in block style, members sorted by name. XML has an element a member with its
type in an attribute, as `json2xml` writes it; the families' names of members are names
in XML too. In Python an object is a class of pydantic, a property a field as in the
published example: `size: float = Field(..., lt=5.1)`; keywords that pydantic lacks,
such as `contains` or `format`, are in comments, and the name of a property that would
hide another name is an alias.
"""

from __future__ import annotations

import json
from functools import partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.dom.minidom import Document, Element

import yaml

from evaluation.suites.concodeeval.suite import TEXTS, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json, UntypedJson


_HEAD: Final = """\
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

# A field with a default may be left out."""
_TYPES: Final = {
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "Item1",
}
#: Arguments of `Field` for keywords.
_ARGUMENTS: Final = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
}
#: Keywords without an argument.
_COMMENTED: Final = ("format", "minContains", "maxContains")
_ENGLISH: Final = TEXTS["english"]


def write_sample(value: Json, output: Output) -> str:
    r"""Return a sample as text of one format.

    Example:
        >>> write_sample([1, 2], "yaml")
        '- 1\n- 2'
    """
    writers = {"json": write_json, "yaml": write_yaml, "xml": write_xml}
    return writers[output](value)


def write_json(value: Json) -> str:
    """Return a value as JSON."""
    return json.dumps(value, indent=4, ensure_ascii=False)


def write_yaml(value: Json) -> str:
    """Return a value as a YAML document, without a line for its end."""
    text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
    return text.removesuffix("...\n").rstrip("\n")


def write_xml(value: Json, *, typed_root: bool = True) -> str:
    """Return a value as an XML document.

    Args:
        value: The value; XML has its characters and the names of its members.
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


def _element(name: str, value: Json) -> Element:
    """Return the element of a value, with those of its members or items."""
    element = Document().createElement(name)
    element.setAttribute("type", "null" if value is None else type(value).__name__)
    if isinstance(value, dict):
        for member, inner in value.items():
            element.appendChild(_element(member, inner))
    elif isinstance(value, list):
        for item in value:
            element.appendChild(_element("item", item))
    elif value not in (None, ""):
        text = value if isinstance(value, str) else json.dumps(value)
        element.appendChild(Document().createTextNode(text))
    return element


class _Value(NamedTuple):
    """What code says of a value: its type, arguments of its `Field`, comments."""

    type: str
    arguments: Sequence[str]
    comments: Sequence[str]

    @property
    def annotation(self) -> str:
        """The type with its constraints."""
        if not self.arguments:
            return self.type
        return f"Annotated[{self.type}, Field({', '.join(self.arguments)})]"


def write_python(schema: UntypedJson) -> str:
    r"""Return a schema as Python code.

    Example:
        >>> code = write_python({"type": "number", "minimum": 3})
        >>> print(code.rpartition("\n\n\n")[2])
        class Schema(RootModel[Annotated[float, Field(ge=3)]]):
            model_config = ConfigDict(strict=True)
    """
    blocks = [_HEAD]
    part = _part(schema)
    if part["type"] == "object":
        blocks.append(_model("Schema" if part is schema else "Item1", part))
    if schema["type"] != "object":
        root = _value(schema)
        body = [*root.comments, "model_config = ConfigDict(strict=True)"]
        blocks.append(_class(f"Schema(RootModel[{root.annotation}])", body))
    return "\n\n\n".join(blocks)


def _part(schema: UntypedJson) -> UntypedJson:
    """Return the schema of an array's elements, or of any other value itself."""
    return schema.get("items") or schema.get("contains") or schema


def _value(schema: UntypedJson) -> _Value:
    """Return what code says of a schema's values."""
    text = _TYPES.get(schema.get("type"), "Any")
    comments: list[str] = []
    if text == "list":
        item = _value(_part(schema))
        holder = "items" if "items" in schema else "contains"
        if holder == "items":
            text = f"list[{item.annotation}]"
        else:
            comments.append(f"# contains: {item.annotation}")
        comments += [f"# of {holder}: {comment[2:]}" for comment in item.comments]
    comments += [
        f"# {name}: {json.dumps(schema[name])}" for name in schema if name in _COMMENTED
    ]
    arguments = [
        f"{argument}={schema[name]!r}"
        for name, argument in _ARGUMENTS.items()
        if name in schema
    ]
    return _Value(text, arguments, comments)


def _model(name: str, schema: UntypedJson) -> str:
    """Return the class of an object of scalars."""
    required = schema.get("required", ())
    extra = "allow" if schema["additionalProperties"] else "forbid"
    body = [f'model_config = ConfigDict(extra="{extra}", strict=True)', ""]
    for position, (member, inner) in enumerate(schema["properties"].items()):
        value = _value(inner)
        arguments = ["..." if member in required else "None", *value.arguments]
        field = member
        if iskeyword(member) or member in TEXTS["reserved_in_python"]:
            field = f"field_{position}"
            arguments.append(f"alias={member!r}")
        body += [*value.comments, f"{field}: {value.type}"]
        if arguments != ["..."]:
            body[-1] += f" = Field({', '.join(arguments)})"
    return _class(f"{name}(BaseModel)", body)


def _class(head: str, body: Sequence[str]) -> str:
    lines = [f"class {head}:", *(f"    {line}" if line else "" for line in body)]
    return "\n".join(lines)


def write_english(schema: UntypedJson) -> str:
    """Return a schema in sentences of fixed forms.

    There are four forms: a scalar, an object of scalars, and an array of either, by
    `items` or by `contains`. A description determines its schema, key order aside.

    Example:
        >>> print(write_english({"type": "string", "maxLength": 9}))
        The schema defines a single value:
        A string that must be at most 9 characters long
    """
    return "\n".join(_lines(schema))


def _lines(schema: UntypedJson) -> Iterator[str]:
    part = _part(schema)
    if schema["type"] == "array":
        yield _ENGLISH["arrays"]["items" if "items" in schema else "contains"]
    elif schema["type"] != "object":
        yield "The schema defines a single value:"
    if part["type"] == "object":
        yield from _object(part)
    else:
        yield _scalar(part)
    for keyword, phrase in _ENGLISH["counts"].items():
        if keyword in schema:
            yield phrase.format(schema[keyword])


def _object(schema: UntypedJson) -> Iterator[str]:
    is_open = schema["additionalProperties"]
    yield _ENGLISH["object"]["head"]
    yield f"* `additionalProperties`: Whether other properties are allowed: {is_open}"
    if required := schema.get("required"):
        yield f"* `required`: These properties must be there: {json.dumps(required)}"
    elif is_open:
        yield "* `required`: No property has to be there."
    yield from ("", "Properties object", "")
    for name, inner in schema["properties"].items():
        yield f"{name}: {_scalar(inner)}"


def _scalar(schema: UntypedJson) -> str:
    """Return the schema of a scalar, or an empty schema, in one phrase."""
    if not schema:
        return "Any value"
    noun: str = _ENGLISH["nouns"][schema["type"]]
    phrases = [
        phrase.format(value)
        for keyword, value in schema.items()
        if (phrase := _ENGLISH["phrases"].get(keyword))
    ]
    return f"{noun} that must be {', '.join(phrases)}" if phrases else noun


#: Every representation by the name in settings and tables, in the paper's order: its
#: name in prompts, and what returns the text of a schema.
REPRESENTATIONS: Final[Mapping[str, tuple[str, Callable[[Json], str]]]] = {
    "json": ("JSON", write_json),
    "xml": ("XML", partial(write_xml, typed_root=False)),
    "yaml": ("YAML", write_yaml),
    "python": ("Python", write_python),
    "nl": ("natural language", write_english),
}
