"""Write a schema as classes of pydantic, the root's called `Schema`.

Keywords that pydantic lacks, such as `contains` or `format`, are in comments and are
listed. A value of the schema is data in the code: every text is a string literal, and
every comment is on one line of ASCII. The name of a property is in the code only if
it is a plain identifier that hides no other name; otherwise it becomes an alias.
"""

from __future__ import annotations

import json
import keyword
import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.json.values import is_number
from evaluation.suites.concodeeval.suite import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

    Schema = dict[str, Json]


class InexpressibleError(Exception):
    """A representation cannot express a schema; the message gives the reason."""


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
_BOUNDS: Final = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
#: Arguments of `Field` for keywords, by the types that they apply to.
_CONSTRAINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "number": _BOUNDS,
    "integer": _BOUNDS,
    "string": {"minLength": "min_length", "maxLength": "max_length"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
#: Other keywords that code expresses, by the types that they apply to.
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "array": ("items",),
    "object": ("properties", "required", "additionalProperties"),
}
_CHOICE: Final = frozenset(("enum", "const"))
#: Keywords that only comments express.
COMMENTED: Final = ("format", "contains", "minContains", "maxContains", "uniqueItems")
#: Keywords that demand nothing; comments too.
_ANNOTATIONS: Final = ("$schema", "$id", "title", "description", "default", "examples")


class _Annotation(NamedTuple):
    """The type of a field, with comments."""

    text: str
    comments: tuple[str, ...] = ()


def write_python(schema: Json) -> str:
    r"""Return a schema as Python code.

    What pydantic has no word for (`COMMENTED`) is in comments.

    Example:
        >>> code = write_python({"type": "number", "minimum": 3})
        >>> print(code.rpartition("\n\n\n")[2])
        class Schema(RootModel[Annotated[float, Field(ge=3)]]):
            model_config = ConfigDict(strict=True)

    Raises:
        InexpressibleError: the classes here cannot express it.
    """
    return _Writer().code(schema)


class _Writer:
    """Writes classes, each after those that it needs."""

    def __init__(self) -> None:
        self._blocks: list[str] = [_HEAD]
        self._names: set[str] = {ROOT_CLASS}

    def code(self, schema: Json) -> str:
        """Return the code of a whole schema."""
        if isinstance(schema, dict) and schema.get("type") == "object":
            self._model(ROOT_CLASS, schema)
        else:
            root = self._annotation(schema, "value")
            body = [*root.comments, "model_config = ConfigDict(strict=True)"]
            self._add_class(f"{ROOT_CLASS}(RootModel[{root.text}])", body)
        return "\n\n\n".join(self._blocks)

    def _add_class(self, head: str, body: list[str]) -> None:
        lines = [f"class {head}:", *(f"    {line}" if line else "" for line in body)]
        self._blocks.append("\n".join(lines))

    def _model(self, name: str, schema: Schema) -> None:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise InexpressibleError("properties or required of another kind")
        if not all(member in properties for member in required):
            raise InexpressibleError("a required property without a schema")
        additional = schema.get("additionalProperties", True)
        extra = "forbid" if additional is False else "allow"
        config = f'model_config = ConfigDict(extra="{extra}", strict=True)'
        body = [*self._comments(schema, "object"), config, ""]
        if isinstance(additional, dict) and additional:
            annotation = self._annotation(additional, "other")
            members = f"__pydantic_extra__: dict[str, {annotation.text}]"
            body += [*annotation.comments, members]
        for position, (member, inner) in enumerate(properties.items()):
            kind = self._annotation(inner, member)
            field = field_name(member, position)
            default = "" if member in required else " = None"
            if field != member:
                value = "" if member in required else "None, "
                default = f" = Field({value}alias={member!a})"
            body += [*kind.comments, f"{field}: {kind.text}{default}"]
        self._add_class(f"{name}(BaseModel)", body)

    def _annotation(self, schema: Json, hint: str) -> _Annotation:
        """Return the type of a schema's values; write the classes that it needs.

        Args:
            schema: The schema.
            hint: A name for its class.

        Raises:
            InexpressibleError: unknown type.
        """
        if schema is True or schema == {}:
            return _Annotation("Any")
        if not isinstance(schema, dict):
            raise InexpressibleError("a schema that is false")
        if "enum" in schema or "const" in schema:
            return self._choice(schema)
        if schema.get("type") == "object":
            name = class_name(hint, self._names)
            self._model(name, schema)
            return _Annotation(name)
        kinds = schema.get("type")
        types = kinds if isinstance(kinds, list) else [kinds]
        comments = self._comments(schema, *types)
        parts = [
            self._list(schema, hint)
            if kind == "array"
            else _Annotation(_scalar(kind, schema))
            for kind in types
        ]
        comments += tuple(chain.from_iterable(part.comments for part in parts))
        return _Annotation(" | ".join(part.text for part in parts), comments)

    def _list(self, schema: Schema, hint: str) -> _Annotation:
        comments: tuple[str, ...] = ()
        if "contains" in schema:
            inner = self._annotation(schema["contains"], "item")
            comments += (f"# contains: {self._named(inner)}",)
        items = _Annotation("Any")
        if "items" in schema:
            items = self._annotation(schema["items"], f"{hint} item")
            comments += tuple(f"# of an item: {line[2:]}" for line in items.comments)
        text = _constrained(f"list[{items.text}]", "array", schema)
        return _Annotation(text, comments)

    def _named(self, kind: _Annotation) -> str:
        """Return the name of a type, a new one if it has none."""
        if kind.text in self._names:
            return kind.text
        name = class_name("item", self._names)
        self._blocks.append("\n".join([*kind.comments, f"{name} = {kind.text}"]))
        return name

    def _choice(self, schema: Schema) -> _Annotation:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        comments = self._comments(schema)
        if not isinstance(values, list) or not values or len(_CHOICE & set(schema)) > 1:
            raise InexpressibleError("enum and const at once, or of another kind")
        if not all(
            value is None or isinstance(value, str | bool | int) for value in values
        ):
            raise InexpressibleError("an enum of other values than texts and integers")
        return _Annotation(f"Literal[{', '.join(map(ascii, values))}]", comments)

    def _comments(self, schema: Schema, *types: Json) -> tuple[str, ...]:
        """Return the comments of a schema.

        Raises:
            InexpressibleError: it has another keyword.
        """
        expressed = {"type"} if types else {"type", *_CHOICE}
        for kind in map(str, types):
            expressed.update(_CONSTRAINTS.get(kind, ()), _PARTS.get(kind, ()))
        comments = []
        for name, value in schema.items():
            if name in expressed:
                continue
            if name not in (*COMMENTED, *_ANNOTATIONS):
                raise InexpressibleError(f"the keyword {name}")
            if name != "contains":
                comments.append(f"# {name}: {json.dumps(value)}")
        return tuple(comments)


def _scalar(kind: Json, schema: Schema) -> str:
    """Return the type of a scalar.

    Raises:
        InexpressibleError: not a scalar.
    """
    if kind == "null":
        return "None"
    if not isinstance(kind, str) or kind not in _TYPES:
        raise InexpressibleError("a schema without a type, or of objects and others")
    return _constrained(_TYPES[kind], kind, schema)


def _constrained(text: str, kind: str, schema: Schema) -> str:
    """Return a type with its constraints as a `Field`."""
    arguments = []
    for name, argument in _CONSTRAINTS.get(kind, {}).items():
        value = schema.get(name)
        if value is None:
            continue
        if not is_number(value):
            raise InexpressibleError(f"the value of {name}")
        arguments.append(f"{argument}={value!r}")
    return f"Annotated[{text}, Field({', '.join(arguments)})]" if arguments else text


_RESERVED: Final = frozenset(TEXTS["reserved_in_python"])
_PLAIN: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_WORDS: Final = re.compile(r"[A-Za-z0-9]+")


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
        _PLAIN.fullmatch(name)
        and not keyword.iskeyword(name)
        and not name.startswith(("model_", "field_"))
        and name not in _RESERVED
        # Classes begin with a capital, and are named in annotations.
        and not name[0].isupper()
    )
    return name if is_usable else f"field_{position}"


def class_name(hint: str, names: set[str]) -> str:
    """Return the name of a new class, and add it to the names.

    Args:
        hint: The role of the class: a property's name, `item`.
        names: The names of other classes.

    Example:
        >>> class_name("price list", {"PriceList"})
        'PriceList2'
    """
    words = _WORDS.findall(hint) if hint.isascii() else []
    stem = "".join(word[:1].upper() + word[1:] for word in words)[:40]
    if not stem or stem[0].isdigit() or stem in _RESERVED or keyword.iskeyword(stem):
        stem = f"Value{stem}"
    name = stem
    count = 1
    while name in names:
        count += 1
        name = f"{stem}{count}"
    names.add(name)
    return name
