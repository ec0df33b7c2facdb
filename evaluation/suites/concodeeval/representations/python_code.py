"""Python: a schema as classes of pydantic, the root's called `Schema`.

What pydantic cannot say, such as `contains` or `format`, stands in comments and is
listed. A value of the schema is data in the code: every text is a string literal, and
every comment is on one line of ASCII.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.json.pointer import pointer
from curation.json.values import is_number
from evaluation.suites.concodeeval.representations.python_names import (
    class_name,
    field_name,
)
from evaluation.suites.concodeeval.representations.representation import NotSayable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

    Schema = dict[str, Json]

#: The class of the root.
ROOT_CLASS: Final = "Schema"
_HEAD: Final = """\
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

# A field with a default may be left out."""
_TYPES: Final = {
    "number": "float",
    "integer": "int",
    "string": "str",
    "boolean": "bool",
}
#: Keywords that a `Field` says, by the types that they apply to.
_CONSTRAINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "number": {
        "minimum": "ge",
        "exclusiveMinimum": "gt",
        "maximum": "le",
        "exclusiveMaximum": "lt",
        "multipleOf": "multiple_of",
    },
    "string": {"minLength": "min_length", "maxLength": "max_length"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
#: Keywords that code says, by the types that they apply to.
_SAID: Final[Mapping[str, tuple[str, ...]]] = {
    **{kind: tuple(names) for kind, names in _CONSTRAINTS.items()},
    "array": (*_CONSTRAINTS["array"], "items"),
    "object": ("properties", "required", "additionalProperties"),
}
_CHOICE: Final = frozenset(("enum", "const"))
#: Keywords that pydantic has no words for; comments say them.
_UNSAID: Final = ("format", "contains", "minContains", "maxContains", "uniqueItems")
#: Keywords that demand nothing; comments say them too.
_ANNOTATIONS: Final = ("$schema", "$id", "title", "description", "default", "examples")


@dataclass(frozen=True, slots=True)
class PythonCode:
    """A schema as code, and what the code does not enforce."""

    text: str
    #: JSON pointers of keywords that only a comment says.
    unsaid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Annotation:
    """The type of a field, and what comments say beside it."""

    text: str
    comments: tuple[str, ...] = ()


class _BeyondPythonError(Exception):
    """A schema that the classes here do not cover, and what is too much."""


def write_python(schema: Json) -> str | NotSayable:
    """Return a schema as Python code, or why it cannot be said so."""
    code = python_code(schema)
    return code if isinstance(code, NotSayable) else code.text


def python_code(schema: Json) -> PythonCode | NotSayable:
    r"""Return a schema as Python code with what that leaves unsaid.

    Example:
        >>> code = python_code({"type": "number", "minimum": 3})
        >>> print(code.text.rpartition("\n\n\n")[2])
        class Schema(RootModel[Annotated[float, Field(ge=3)]]):
            model_config = ConfigDict(strict=True)
    """
    try:
        return _Writer().code(schema)
    except _BeyondPythonError as error:
        return NotSayable(str(error))


class _Writer:
    """Writes classes, those that others need first."""

    def __init__(self) -> None:
        self._blocks: list[str] = [_HEAD]
        self._names: set[str] = {ROOT_CLASS}
        self._unsaid: list[str] = []

    def code(self, schema: Json) -> PythonCode:
        """Return the code of a whole schema."""
        if isinstance(schema, dict) and _is_model(schema):
            self._model(ROOT_CLASS, schema, ())
        else:
            found = self._annotation(schema, (), "value")
            body = [*found.comments, "model_config = ConfigDict(strict=True)"]
            self._add_class(f"{ROOT_CLASS}(RootModel[{found.text}])", body)
        return PythonCode("\n\n\n".join(self._blocks), tuple(self._unsaid))

    def _add_class(self, head: str, body: list[str]) -> None:
        lines = [f"class {head}:", *(f"    {line}" if line else "" for line in body)]
        self._blocks.append("\n".join(lines))

    def _model(self, name: str, schema: Schema, path: Tokens) -> None:
        """Write the class of an object."""
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise _BeyondPythonError("properties or required of another kind")
        if not all(member in properties for member in required):
            raise _BeyondPythonError("a required property without a schema")
        body = [*self._comments(schema, "object", path=path)]
        body += self._other_members(schema.get("additionalProperties", True), path)
        for position, (member, inner) in enumerate(properties.items()):
            body += self._field(
                member,
                position,
                self._annotation(inner, (*path, "properties", member), member),
                is_required=member in required,
            )
        self._add_class(f"{name}(BaseModel)", body)

    def _other_members(self, schema: Json, path: Tokens) -> list[str]:
        """Return the lines that say which other members an object may have."""
        extra = "forbid" if schema is False else "allow"
        lines = [f'model_config = ConfigDict(extra="{extra}", strict=True)', ""]
        if isinstance(schema, dict) and schema:
            where = (*path, "additionalProperties")
            found = self._annotation(schema, where, "other")
            held = f"__pydantic_extra__: dict[str, {found.text}]"
            lines += [*found.comments, held]
        return lines

    def _field(
        self, member: str, position: int, found: _Annotation, *, is_required: bool
    ) -> list[str]:
        name = field_name(member, position)
        default = "" if is_required else " = None"
        if name != member:
            value = "" if is_required else "None, "
            default = f" = Field({value}alias={_literal(member)})"
        return [*found.comments, f"{name}: {found.text}{default}"]

    def _annotation(self, schema: Json, path: Tokens, hint: str) -> _Annotation:
        """Return the type that a schema amounts to; classes it needs are written.

        Args:
            schema: The schema.
            path: Where it stands.
            hint: What a class of it may be named after.

        Raises:
            _BeyondPythonError: there is no such type.
        """
        if schema is True or schema == {}:
            return _Annotation("Any")
        if not isinstance(schema, dict):
            raise _BeyondPythonError("a schema that is false")
        if "enum" in schema or "const" in schema:
            return self._choice(schema, path)
        if _is_model(schema):
            name = class_name(hint, self._names)
            self._model(name, schema, path)
            return _Annotation(name)
        named = schema.get("type")
        types = named if isinstance(named, list) else [named]
        comments = self._comments(schema, *types, path=path)
        parts: list[str] = []
        for kind in types:
            if kind == "array":
                found = self._list(schema, path, hint)
                comments += found.comments
                parts.append(found.text)
            else:
                parts.append(_scalar(kind, schema))
        return _Annotation(" | ".join(parts), comments)

    def _list(self, schema: Schema, path: Tokens, hint: str) -> _Annotation:
        comments: tuple[str, ...] = ()
        if "contains" in schema:
            inner = self._annotation(schema["contains"], (*path, "contains"), "item")
            comments += (f"# contains: {self._named(inner)}",)
        items = _Annotation("Any")
        if "items" in schema:
            items = self._annotation(schema["items"], (*path, "items"), f"{hint} item")
            comments += tuple(f"# of an item: {line[2:]}" for line in items.comments)
        text = _constrained(f"list[{items.text}]", "array", schema)
        return _Annotation(text, comments)

    def _named(self, found: _Annotation) -> str:
        """Return the name of a type; one that has none gets one."""
        if found.text in self._names:
            return found.text
        name = class_name("item", self._names)
        self._blocks.append("\n".join([*found.comments, f"{name} = {found.text}"]))
        return name

    def _choice(self, schema: Schema, path: Tokens) -> _Annotation:
        """Return the type of one of several given values."""
        listed = [schema["const"]] if "const" in schema else schema["enum"]
        comments = self._comments(schema, path=path)
        if not isinstance(listed, list) or not listed or len(_CHOICE & set(schema)) > 1:
            raise _BeyondPythonError("enum and const at once, or of another kind")
        if not all(
            value is None or isinstance(value, str | bool | int) for value in listed
        ):
            raise _BeyondPythonError("an enum of other values than texts and integers")
        return _Annotation(f"Literal[{', '.join(map(_literal, listed))}]", comments)

    def _comments(self, schema: Schema, *types: Json, path: Tokens) -> tuple[str, ...]:
        """Return the comments that a schema needs.

        Raises:
            _BeyondPythonError: it has a keyword that is not covered here.
        """
        said = {"type", *(_CHOICE if not types else ())}
        for kind in types:
            said.update(_SAID.get("number" if kind == "integer" else str(kind), ()))
        comments = []
        for name, value in schema.items():
            if name in said:
                continue
            if name not in (*_UNSAID, *_ANNOTATIONS):
                raise _BeyondPythonError(f"the keyword {name}")
            if name in _UNSAID:
                self._unsaid.append(pointer((*path, name)))
            if name != "contains":
                comments.append(f"# {name}: {json.dumps(value)}")
        return tuple(comments)


def _is_model(schema: Schema) -> bool:
    """Return whether a schema is that of an object with members of its own."""
    return schema.get("type") == "object"


def _scalar(kind: Json, schema: Schema) -> str:
    """Return the type of a scalar.

    Raises:
        _BeyondPythonError: it is none.
    """
    if kind == "null":
        return "None"
    if not isinstance(kind, str) or kind not in _TYPES:
        raise _BeyondPythonError("a schema without a type, or of objects and others")
    return _constrained(_TYPES[kind], "number" if kind == "integer" else kind, schema)


def _constrained(text: str, kind: str, schema: Schema) -> str:
    """Return a type with the constraints that a `Field` can say."""
    arguments = []
    for name, argument in _CONSTRAINTS.get(kind, {}).items():
        value = schema.get(name)
        if value is None:
            continue
        if not is_number(value):
            raise _BeyondPythonError(f"the value of {name}")
        arguments.append(f"{argument}={value!r}")
    return f"Annotated[{text}, Field({', '.join(arguments)})]" if arguments else text


def _literal(value: Json) -> str:
    """Return a text, an integer, a boolean or None as a literal of ASCII."""
    return ascii(value)
