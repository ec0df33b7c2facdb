"""Which instances AJV is known to judge otherwise, and why.

AJV is a program for node, which no build needs. What it does otherwise than a draft
says is known, though, and each cause is a way to read the schema: it is written into a
copy of the schema here, and jsonschema-rs judges by that copy. So the ledger names
these instances on every machine alike, and `python -m bench ajv` asks AJV itself
whether it names too many or too few.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import with_siblings
from curation.schema.subschemas import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.interpretations import Interpretations
    from curation.instances.model import InstanceRow
    from curation.json.pointer import Tokens

    _Edit = Callable[[Tokens, Json], Json]

#: Formats that jsonschema-rs asserts and ajv-formats 3.0.1 has not got.
_UNKNOWN_FORMATS: Final = frozenset(
    {"idn-email", "idn-hostname", "iri", "iri-reference"}
)
#: What every object of JavaScript inherits (ECMA-262, 20.1.3), but `__proto__`, which
#: AJV leaves out. Each of them is a function.
_INHERITED: Final = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)
#: Assertions that no function meets, whatever they ask for.
_REFUSE_FUNCTIONS: Final = frozenset({"type", "enum", "const"})


class AjvCause(StrEnum):
    """Why AJV judges an instance otherwise than the draft does."""

    REF_SIBLINGS = "ref_siblings"
    """It enforces what stands beside a `$ref`, which the draft ignores."""
    LATER_KEYWORD = "later_keyword"
    """It enforces a keyword that came with a later draft."""
    UNKNOWN_FORMAT = "unknown_format"
    """It has no such format, and asserts nothing."""
    INHERITED_NAME = "inherited_name"
    """It takes what every object of JavaScript inherits, such as `constructor`, for a
    property of the instance."""


class AjvDifference(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that AJV judges otherwise."""

    #: Position among the instances of the record, from 0.
    number: int
    cause: AjvCause


def ajv_differences(
    interpretations: Interpretations, rows: Sequence[InstanceRow]
) -> tuple[AjvDifference, ...]:
    """Return the instances of a schema that AJV judges otherwise, and why.

    Args:
        interpretations: The schema.
        rows: Its instances, with the verdict `valid` of its draft, formats asserted.

    Example:
        >>> from curation.instances.dataset.make_instances import make_instances
        >>> made = make_instances('{"format": "iri"}', "draft-07")
        >>> [difference.cause for difference in made.ajv]
        [<AjvCause.UNKNOWN_FORMAT: 'unknown_format'>]
    """
    own, edits = interpretations.own, _edits(interpretations.own)
    if interpretations.heeding is None and not edits:
        return ()
    whole = interpretations.strictest
    for edit in edits.values():
        whole = _edited(whole, edit)
    found = []
    for row in rows:
        value = row.value
        if whole.is_valid(value) != row.valid:
            cause = _cause(own, edits, value, accepted=row.valid)
            found.append(AjvDifference(number=row.number, cause=cause))
    return tuple(found)


def _edits(compiled: CompiledSchema) -> dict[AjvCause, _Edit]:
    """Return what AJV reads otherwise in a schema, whatever its draft ignores."""
    text = compiled.canonical
    edits: dict[AjvCause, _Edit] = {}
    if any(name in text for name in _quoted(_UNKNOWN_FORMATS)):
        edits[AjvCause.UNKNOWN_FORMAT] = _without_unknown_formats
    if any(name in text for name in _quoted(_INHERITED)):
        edits[AjvCause.INHERITED_NAME] = _with_inherited_names
    return edits


@cache
def _quoted(names: frozenset[str]) -> tuple[bytes, ...]:
    """Return names as a schema's canonical form spells them."""
    return tuple(f'"{name}"'.encode() for name in sorted(names))


def _cause(
    own: CompiledSchema,
    edits: Mapping[AjvCause, _Edit],
    value: Json,
    *,
    accepted: bool,
) -> AjvCause:
    """Return the cause which by itself turns a verdict around."""
    for cause, edit in edits.items():
        if _edited(own, edit).is_valid(value) != accepted:
            return cause
    siblings = CompiledSchema(with_siblings(own), own.dialect)
    if siblings.is_valid(value) != accepted:
        return AjvCause.REF_SIBLINGS
    return AjvCause.LATER_KEYWORD


def _edited(compiled: CompiledSchema, edit: _Edit) -> CompiledSchema:
    """Return a schema with an edit made at each subschema."""
    schema = edited(compiled.schema, compiled.dialect, edit)
    return CompiledSchema(schema, compiled.dialect)


def _without_unknown_formats(_tokens: Tokens, schema: Json) -> Json:
    if isinstance(schema, dict) and schema.get("format") in _UNKNOWN_FORMATS:
        return {name: value for name, value in schema.items() if name != "format"}
    return schema


def _with_inherited_names(_tokens: Tokens, schema: Json) -> Json:
    """Return a schema as it is for objects that have what JavaScript's inherit.

    `required` is met by that, and the schema of such a property has a function to judge
    where the object has no such property of its own.
    """
    if not isinstance(schema, dict):
        return schema
    required, members = schema.get("required"), schema.get("properties")
    asked = required if isinstance(required, list) else []
    wanted = [name for name in asked if name not in _INHERITED]
    if isinstance(members, dict):
        named = sorted(members.keys() & _INHERITED)
        wanted += [name for name in named if _refuses_functions(members[name])]
    if wanted == asked:
        return schema
    others = {name: value for name, value in schema.items() if name != "required"}
    return {**others, "required": wanted} if wanted else others


def _refuses_functions(schema: Json) -> bool:
    """Return whether a schema refuses a value that is of none of JSON's types."""
    if not isinstance(schema, dict):
        return schema is False
    return not _REFUSE_FUNCTIONS.isdisjoint(schema)
