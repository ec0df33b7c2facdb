"""Write a schema as classes of pydantic, the root's called `Schema`.

A property is a field as in the published example: `size: float = Field(..., lt=5.1)`.
Keywords that pydantic lacks, such as `contains` or `format`, are in comments. A value
of the schema is data in the code: every text is a string literal, and every comment is
on one line of ASCII. The name of a property is in the code only if it is a plain
identifier that hides no other name; otherwise it becomes an alias.
"""

from __future__ import annotations

import json
import keyword
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.json.values import is_number
from evaluation.suites.concodeeval.suite import TEXTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson

_HEAD: Final = """\
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

# A field with a default may be left out."""
_TYPES: Final = {
    "number": "float",
    "integer": "int",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "array": "list",
}
_BOUNDS: Final = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
#: Arguments of `Field` for keywords, by the types that they apply to.
_ARGUMENTS: Final[dict[str, dict[str, str]]] = {
    "number": _BOUNDS,
    "integer": _BOUNDS,
    "string": {"minLength": "min_length", "maxLength": "max_length"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
_RESERVED: Final = frozenset(TEXTS["reserved_in_python"])


class _Value(NamedTuple):
    """What code says of a value: its type, arguments of its `Field`, comments."""

    type: str
    arguments: Sequence[str] = ()
    comments: Sequence[str] = ()

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
    root = _value(schema, blocks, "Schema")
    if root.type != "Schema":
        body = [*root.comments, "model_config = ConfigDict(strict=True)"]
        blocks.append(_class(f"Schema(RootModel[{root.annotation}])", body))
    return "\n\n\n".join(blocks)


def _value(schema: UntypedJson, blocks: list[str], name: str = "") -> _Value:
    """Return what code says of a schema's values.

    Args:
        schema: The schema.
        blocks: The code so far, to which the classes that it needs are added.
        name: The name of its class, if it is of objects; empty for any.
    """
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    kind = str(schema.get("type"))
    if kind == "object":
        return _Value(_model(schema, blocks, name))
    text = _TYPES.get(kind, "Any")
    arguments = {
        name: f"{argument}={schema[name]!r}"
        for name, argument in _ARGUMENTS.get(kind, {}).items()
        if is_number(schema.get(name))
    }
    comments: list[str] = []
    expressed = {*arguments, "type"} if kind in _TYPES else set()
    for holder in ("items", "contains") if kind == "array" else ():
        if isinstance(schema.get(holder), dict):
            inner = _value(schema[holder], blocks)
            if holder == "items":
                text = f"list[{inner.annotation}]"
            else:
                comments.append(f"# contains: {inner.annotation}")
            comments += [f"# of {holder}: {line[2:]}" for line in inner.comments]
            expressed.add(holder)
    comments += _comments(schema, expressed)
    return _Value(text, [*arguments.values()], comments)


def _comments(schema: UntypedJson, expressed: set[str]) -> list[str]:
    """Return comments on the keywords that code does not express."""
    return [
        f"# {json.dumps(name)[1:-1]}: {json.dumps(value)}"
        for name, value in schema.items()
        if name not in expressed
    ]


def _model(schema: UntypedJson, blocks: list[str], name: str) -> str:
    """Add the class of an object, after those that it needs, and return its name."""
    required = schema.get("required", [])
    properties = {**schema.get("properties", {})}
    for member in required:
        properties.setdefault(member, True)
    fields: list[str] = []
    for position, (member, inner) in enumerate(properties.items()):
        value = _value(inner, blocks)
        field = field_name(member, position)
        arguments = ["..." if member in required else "None", *value.arguments]
        if field != member:
            arguments.append(f"alias={member!a}")
        fields += [*value.comments, f"{field}: {value.type}"]
        if arguments != ["..."]:
            fields[-1] += f" = Field({', '.join(arguments)})"
    expressed = {"type", "properties", "required"}
    is_open = schema.get("additionalProperties", True)
    if isinstance(is_open, bool):
        expressed.add("additionalProperties")
    extra = "allow" if is_open else "forbid"
    config = f'model_config = ConfigDict(extra="{extra}", strict=True)'
    name = name or f"Item{len(blocks)}"
    body = [*_comments(schema, expressed), config, "", *fields]
    blocks.append(_class(f"{name}(BaseModel)", body))
    return name


def _class(head: str, body: Sequence[str]) -> str:
    lines = [f"class {head}:", *(f"    {line}" if line else "" for line in body)]
    return "\n".join(lines).rstrip()


def field_name(name: str, position: int) -> str:
    """Return the name of a property in code; an alias if the name is unusable.

    Args:
        name: The property's name.
        position: Its position among the properties, from 0.

    Example:
        >>> field_name("size", 0), field_name("class", 1), field_name("a b", 2)
        ('size', 'field_1', 'field_2')
    """
    is_usable = (
        name.isascii()
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and name not in _RESERVED
        # Classes begin with a capital, and are named in annotations.
        and not name[0].isupper()
        and not name.startswith(("_", "model_", "field_"))
    )
    return name if is_usable else f"field_{position}"
