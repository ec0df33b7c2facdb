"""From draft-03 to draft-04, where the meaning stays the same.

The meaning of a draft-03 schema is what jsonschema's `Draft3Validator` accepts.
A boolean `required` becomes a name in the parent's list, `extends` becomes
`allOf`, `disallow` `not`, `divisibleBy` `multipleOf`, a type that is a schema
`anyOf`, the type `any` nothing. Source: draft-zyp-json-schema-03 and -04.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from curation.core.documents import ABSENT, Change
from curation.json.pointer import at, pointer, tokens_of
from curation.json.text import write
from curation.schema.dialects import ANY_DIALECT, DRAFT_03, DRAFT_04
from curation.schema.keyword_usage import usage
from curation.schema.subschemas import edited, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens

#: Formats that have another name since draft-04.
FORMATS = {"ip-address": "ipv4", "host-name": "hostname"}
_ANY = "any"


class CannotUpgradeError(ValueError):
    """The schema has no draft-04 form of the same meaning; the message says why."""


def upgraded(schema: UntypedJson, rule: str) -> tuple[UntypedJson, list[Change]]:
    """Return the draft-04 form of a draft-03 schema, and what was changed.

    `$schema` is left to the caller. The changes are signed with the rule's name.

    Raises:
        CannotUpgradeError: no draft-04 schema with the same meaning is known.
    """
    _refuse_hidden(schema)
    work = _Upgrade(rule=rule)
    result = edited(schema, DRAFT_03, work.place)
    result = edited(result, DRAFT_04, work.leftover)
    _refuse_broken(schema, result)
    return result, work.changes


@dataclass(slots=True)
class _Upgrade:
    """One upgrade under way: the edits of a place, and the record of them."""

    rule: str
    changes: list[Change] = field(default_factory=list)

    def _record(
        self, tokens: Tokens, before: UntypedJson, after: UntypedJson, note: str
    ) -> None:
        self.changes.append(
            Change(
                rule=self.rule,
                pointer=pointer(tokens),
                before=before if before is ABSENT else write(before),
                after=after if after is ABSENT else write(after),
                note=note,
            )
        )

    def place(self, tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        """Return one schema in draft-04's words; the schemas inside are done."""
        if not isinstance(schema, dict):
            return schema
        result: dict[str, UntypedJson] = {}
        for word, value in schema.items():
            new_word, new = _translated(word, value)
            if new_word != word:
                self._record(
                    (*tokens, new_word or word),
                    {word: value},
                    {new_word: new} if new_word else ABSENT,
                    f"{word} of draft-03",
                )
            elif new is not value:
                self._record((*tokens, word), value, new, f"{word} of draft-03")
            if new_word:
                result[new_word] = new
        lifted = self._lifted(tokens, result)
        return schema if not self.changes else lifted

    def _lifted(
        self, tokens: Tokens, schema: dict[str, UntypedJson]
    ) -> dict[str, UntypedJson]:
        """Return the schema with its properties' `required` in a list of its own."""
        members = schema.get("properties")
        if not isinstance(members, dict):
            return schema
        names = [
            name
            for name, each in members.items()
            if isinstance(each, dict) and each.get("required") is True
        ]
        if not names:
            return schema
        needed = set(names)
        kept = {
            name: _without_required(each) if name in needed else each
            for name, each in members.items()
        }
        for name in names:
            gone = (*tokens, "properties", name, "required")
            self._record(gone, True, ABSENT, "required of draft-03")  # noqa: FBT003 (a JSON value)
        note = "required of its properties"
        self._record((*tokens, "required"), ABSENT, names, note)
        return {**schema, "properties": kept, "required": names}

    def leftover(self, tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        """Return the schema without a boolean `required` that means nothing."""
        if not isinstance(schema, dict):
            return schema
        value = schema.get("required")
        if not isinstance(value, bool):
            return schema
        note = "required says nothing but in a property"
        if value is False:
            note = "what is not said to be required is optional"
        self._record((*tokens, "required"), value, ABSENT, note)
        return _without_required(schema)


def _without_required(schema: dict[str, UntypedJson]) -> dict[str, UntypedJson]:
    return {word: each for word, each in schema.items() if word != "required"}


def _translated(word: str, value: UntypedJson) -> tuple[str, UntypedJson]:
    """Return a keyword and its value in draft-04's words; no word where it goes."""
    if word == "divisibleBy":
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise CannotUpgradeError(f"divisibleBy is {write(value)[:80]}")
        return "multipleOf", value
    if word == "extends":
        bases = value if isinstance(value, list) else [value]
        if not bases or not all(isinstance(each, dict) for each in bases):
            raise CannotUpgradeError("extends holds no schema")
        return "allOf", bases
    if word == "disallow":
        return "not", _one_of_types(value, word)
    if word == "type":
        return _translated_type(value)
    if word == "dependencies" and isinstance(value, dict):
        if any(isinstance(each, str) for each in value.values()):
            return word, {
                name: [each] if isinstance(each, str) else each
                for name, each in value.items()
            }
    elif word == "format" and isinstance(value, str):
        return word, FORMATS.get(value, value)
    return word, value


def _translated_type(value: UntypedJson) -> tuple[str, UntypedJson]:
    if value == _ANY or (isinstance(value, list) and _ANY in value):
        return "", None
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return "anyOf", _one_of_types(value, "type")["anyOf"]
    return "type", value


def _one_of_types(value: UntypedJson, word: str) -> dict[str, UntypedJson]:
    """Return the schema of instances that have one of some draft-03 types."""
    types = [value] if isinstance(value, str) else value
    if not isinstance(types, list) or not types:
        raise CannotUpgradeError(f"{word} holds no type")
    if _ANY in types:
        return {}
    names = [each for each in types if isinstance(each, str)]
    schemas = [each for each in types if isinstance(each, dict)]
    if len(names) + len(schemas) < len(types):
        raise CannotUpgradeError(f"{word} holds what is no type")
    named = {"type": names[0] if len(names) == 1 else names}
    if not schemas:
        return named
    return {"anyOf": [named, *schemas] if names else schemas}


def _local_targets(schema: UntypedJson) -> Iterator[tuple[str, UntypedJson]]:
    """Yield the reference and target of every local pointer that leads somewhere."""
    for each in subschemas(schema, ANY_DIALECT):
        ref = each.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            try:
                yield ref, at(schema, tokens_of(unquote(ref[1:])))
            except LookupError:
                continue


def _refuse_hidden(schema: UntypedJson) -> None:
    """Refuse what a reference would bring into play behind the upgrade's back."""
    seen = {id(each) for each in subschemas(schema, DRAFT_03)}
    for ref, target in _local_targets(schema):
        if not isinstance(target, dict):
            continue
        if target.get("required") is True:
            raise CannotUpgradeError(f"required stands behind the reference {ref}")
        if id(target) not in seen and usage(target).old:
            raise CannotUpgradeError(f"{ref} leads where no keyword holds a schema")


def _refuse_broken(before: UntypedJson, after: UntypedJson) -> None:
    """Refuse an upgrade that moved what a reference leads to."""
    still = {ref for ref, _ in _local_targets(after)}
    for ref, _ in _local_targets(before):
        if ref not in still:
            raise CannotUpgradeError(f"{ref} leads to what the upgrade moves")
