"""Forms: schemas of the benchmark whose every leaf can be told in a text.

A form keeps a schema's names, types, bounds and descriptions. Optional members that no
text can tell go (unions, patterns, free maps), objects are closed, and the description
of each leaf says how its value is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from jsonschema_rs import Draft202012Validator, ValidationError

from curation.core.documents import Rejected
from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import at, tokens_of_fragment
from curation.json.text import canonical, parse, plain
from curation.json.values import type_of
from curation.system.package_data import raw_folder

#: A schema as a form has it, or a part of one.
Form: TypeAlias = "dict[str, UntypedJson]"
#: Leaves of a form, and the share of them that must tell what they are.
FEWEST, MOST = 8, 80
_TELLING: Final = 0.8
_DEEPEST: Final = 5
_MOST_VALUES: Final = 16
#: Parts of a schema that are looked at: one that refers to itself has any number.
_MOST_PARTS: Final = 100_000
_LETTERS: Final = 4
#: How many items a text tells at most; the least numbers that a schema may ask for.
ITEMS: Final = 3
_COUNTS: Final = range(ITEMS + 1)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: Keywords that no form has, and those of a leaf and of an array that it keeps.
_UNTOLD: Final = frozenset(
    ("allOf", "anyOf", "oneOf", "not", "if", "pattern", "patternProperties", "contains")
)
_KEPT: Final = (
    *("enum", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "multipleOf", "minItems", "maxItems", "uniqueItems"),
)
#: How a leaf of a type, or a string of a format, is written.
WRITTEN: Final = {
    "string": "The words between the quotation marks.",
    "integer": "In digits, without separators.",
    "number": "In digits, without separators.",
    "boolean": "true for yes, false for no.",
    "enum": "One of the values, as the text spells it.",
    "date": "As YYYY-MM-DD.",
    "date-time": "As YYYY-MM-DDThh:mm:ssZ.",
    "email": "The whole address.",
    "uri": "The whole address.",
    "hostname": "The whole name.",
    "uuid": "The whole identifier.",
}


def phrase(name: str) -> str:
    """Return a name as words: `maxFileSize` is `max file size`."""
    return " ".join(_WORD.findall(name)).lower()


@lru_cache(maxsize=4)
def forms(place: str) -> tuple[tuple[str, Form], ...]:
    """Return the forms of all schemas of a place, each once, with the schema's name.

    Args:
        place: A source expression, such as a build; empty for the embedded sample.

    Raises:
        CsbdataError: the data cannot be read.
    """
    by_text: dict[bytes, tuple[str, Form]] = {}
    for name, text in _schemas(place):
        value = parse(text)
        form = None if isinstance(value, Rejected) else _form(plain(value))
        if form is not None:
            by_text.setdefault(canonical(form), (name, form))
    return tuple(by_text.values())


def _schemas(place: str) -> Iterator[tuple[str, bytes]]:
    if not place:
        folder = raw_folder() / "sample"
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            yield path.relative_to(folder).as_posix(), path.read_bytes()
        return
    from curation.download.acquire import FetchSettings  # noqa: PLC0415 - heavy
    from evaluation.data import open_data  # noqa: PLC0415 - heavy

    fetch = FetchSettings.from_environment()
    for record in open_data(place, instances=False, settings=fetch).records():
        yield record.key, (record.schema or "").encode()


def _form(schema: Json) -> Form | None:
    form = _told(schema, schema, 0, iter(range(_MOST_PARTS)))
    if form is None or form.get("type") != "object":
        return None
    leaves = [*leaf_schemas(form)]
    telling = sum(
        "description" in leaf
        or sum(map(str.isalpha, what.partition(" of ")[0])) >= _LETTERS
        for what, leaf in leaves
    )
    is_unique = len({what for what, _ in leaves}) == len(leaves)
    if not FEWEST <= len(leaves) <= MOST or telling < _TELLING * len(leaves):
        return None
    for _, leaf in leaves:
        about = str(leaf.get("description", "")).strip().rstrip(".")
        null = " null if the text says that it is not known." * is_nullable(leaf)
        leaf["description"] = f"{about}. {WRITTEN[kind(leaf)]}{null}".removeprefix(". ")
    try:
        Draft202012Validator(form, validate_formats=True)
    except ValidationError:
        return None
    return form if is_unique else None


def leaf_schemas(form: Form, what: str = "") -> Iterator[tuple[str, Form]]:
    """Yield the leaves of a form with what a text calls them, those of items once."""
    for name, inner in form.get("properties", {}).items():
        yield from leaf_schemas(inner, named(name, what))
    if "items" in form:
        yield from leaf_schemas(form["items"], f"entry of {what}")
    elif "properties" not in form:
        yield what, form


def named(name: str, what: str) -> str:
    """Return what a text calls a member: `size of entry 2 of files`."""
    return f"{phrase(name)} of {what}" if what else phrase(name)


def kind(schema: Form) -> str:
    """Return what a leaf of a form is written as: a key of `WRITTEN`."""
    types = schema["type"]
    names = types if isinstance(types, list) else [types]
    own = next(name for name in names if name != "null")
    is_choice = "enum" in schema and own == "string"
    return "enum" if is_choice else str(schema.get("format", own))


def is_nullable(schema: Form) -> bool:
    """Return whether a leaf of a form may be null."""
    return isinstance(schema["type"], list)


def _told(
    schema: UntypedJson, root: Json, level: int, parts: Iterator[int]
) -> Form | None:
    """Return a schema as a part of a form; None if a text cannot tell its values.

    Of a schema with more `parts` than may be looked at, the others are left out.
    """
    if next(parts, None) is None:
        return None
    schema = _resolved(schema, root)
    if schema is None or level > _DEEPEST or _UNTOLD & schema.keys():
        return None
    types = _types(schema)
    others = [one for one in types if one != "null"]
    if len(others) != 1 or others[0] is None:
        return None
    told: Form = {"type": types if len(types) > 1 else others[0]}
    if isinstance(title := schema.get("description", schema.get("title")), str):
        told["description"] = title
    told |= {name: schema[name] for name in _KEPT if name in schema}
    if others[0] == "object":
        return _told_object(schema, root, told, level, parts)
    if others[0] == "array":
        items = _told(schema.get("items"), root, level + 1, parts)
        fits = items and "items" not in items and told.get("minItems", 0) in _COUNTS
        told |= {"type": "array", "items": items and _never_null(items)}
        return told if fits else None
    values = told.get("enum", [True])
    if len(values) > _MOST_VALUES or not any(one is not None for one in values):
        return None
    if others[0] != "string":
        told.pop("format", None)
    return told if kind(told) in WRITTEN else None


def _resolved(schema: UntypedJson, root: Json) -> Form | None:
    """Return a schema, or what it refers to, with its `const` as an `enum`."""
    if isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str):
        about = {name: schema[name] for name in ("description",) if name in schema}
        try:
            target: UntypedJson = at(root, tokens_of_fragment(reference))
            schema = {**target, **about}
        except (LookupError, TypeError, ValueError):
            return None
    if not isinstance(schema, dict):
        return None
    return {**schema, "enum": [schema["const"]]} if "const" in schema else schema


def _never_null(told: Form) -> Form:
    types = told["type"]
    if isinstance(types, list):
        types = next(one for one in types if one != "null")
    return {**told, "type": types}


def _types(schema: Form) -> list[UntypedJson]:
    declared, values = schema.get("type"), schema.get("enum")
    if declared is None and isinstance(values, list):
        declared = sorted({type_of(value) for value in values})
    if declared is None and "properties" in schema:
        return ["object"]
    return declared if isinstance(declared, list) else [declared]


def _told_object(
    schema: Form, root: Json, told: Form, level: int, parts: Iterator[int]
) -> Form | None:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return None
    names = required if isinstance(required, list) else []
    members: Form = {}
    for name, inner in properties.items():
        member = _told(inner, root, level + 1, parts)
        # Two names of the same words could not be told apart, nor null and absent.
        if member and phrase(name) and phrase(name) not in map(phrase, members):
            members[name] = member if name in names else _never_null(member)
    if not members or not members.keys() >= {*map(str, names)}:
        return None
    return {
        **told,
        "type": "object",
        "properties": members,
        "required": [name for name in members if name in names],
        "additionalProperties": False,
    }
