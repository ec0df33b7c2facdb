"""Lints of `csbdata check` alone: values that their schema refuses, unused definitions.

A build does not flag them: no keyword of a record is idle or wrong for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import jsonschema_rs

from curation.checking import parts, unknown_words
from curation.checking.report import NOTE, SchemaProblem, problem_at
from curation.instances.constraints.keyword_values import array_of, object_of
from curation.json import text as jsontext
from curation.json.pointer import fragment_of, pointer
from curation.references.reachable import applied, taking_part
from curation.schema.keywords import CONTAINERS
from curation.schema.misspellings import slips
from curation.validation.metaschemas import RUST_DRAFTS, RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.schema import Schema

UNUSED: Final = "unused-definition"
SLIP: Final = "required-misspelt"
MISPLACED: Final = "keyword-among-properties"
ENUM: Final = "enum-values"
REFUSED: Final = "refused-default", "refused-example"
#: Every code, with its meaning.
CODES: Final[Mapping[str, str]] = {
    unknown_words.CODE: unknown_words.MEANING,
    **parts.CODES,
    MISPLACED: "a keyword of the object, among its properties",
    SLIP: "a required name that is one slip away from a property",
    ENUM: "an `enum` without values, or with one twice",
    REFUSED[0]: "the schema refuses its own default",
    REFUSED[1]: "the schema refuses its own example",
    UNUSED: "no reference leads to the definition from the root of this file",
}
_ROOT: Final = "json-schema:///csbdata/checked"


def refused_values(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield each default and example that the neighbouring schema refuses, and why.

    Schemas that refer to other files are passed over.
    """
    cases = [*_defaults_and_examples(schema)]
    if not cases:
        return
    name, root = schema.dialect.name, urljoin(_ROOT, schema.base)
    try:
        registry = jsonschema_rs.Registry(
            [(root, jsontext.plain(schema.value))],
            draft=RUST_DRAFTS[name],
            retriever=refuse,
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return

    def errors(numbers: Sequence[int]) -> dict[int, str]:
        """Return the first error of each value, judged by one validator together."""
        refs = {f"v{at}": {"$ref": root + fragment_of(cases[at][0])} for at in numbers}
        values = {f"v{at}": jsontext.plain(cases[at][3]) for at in numbers}
        messages: dict[int, str] = {}
        try:
            validator = RUST_VALIDATORS[name]({"properties": refs}, registry=registry)
        except (ValueError, jsonschema_rs.ReferencingError):
            if len(numbers) > 1:
                for at in numbers:
                    messages |= errors([at])
            return messages
        for error in validator.iter_errors(values):
            messages.setdefault(int(str(error.instance_path[0])[1:]), error.message)
        return messages

    for at, message in sorted(errors(range(len(cases))).items()):
        tokens, code, member, _ = cases[at]
        yield problem_at(
            f"{pointer(tokens)}/{member}", code, f"{CODES[code]}: {message}"
        )


def _defaults_and_examples(schema: Schema) -> Iterator[tuple[Tokens, str, str, Json]]:
    """Yield tokens of a schema, code, member, and value."""
    for location in taking_part(schema.value, schema.dialect):
        tokens, keywords = location.tokens, location.schema
        if "default" in keywords:
            yield tokens, REFUSED[0], "default", keywords["default"]
        for index, value in enumerate(array_of(keywords, "examples")):
            yield tokens, REFUSED[1], f"examples/{index}", value


def enum_faults(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield each `enum` that is empty, and each of its values that came before."""
    for location in taking_part(schema.value, schema.dialect):
        values, enum = location.keywords.get("enum"), f"{location.pointer}/enum"
        if values == []:
            yield problem_at(enum, ENUM, "an empty `enum` accepts nothing")
        values, texts = array_of(location.keywords, "enum"), set()
        if {*map(type, values)} <= {str} and len({*map(str, values)}) == len(values):
            continue
        for index, value in enumerate(values):
            text = jsontext.canonical(value)
            if text in texts:
                message = f"the value is in the `enum` already: {text.decode()}"
                yield problem_at(f"{enum}/{index}", ENUM, message)
            texts.add(text)


def property_faults(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield required names that misspell a property, and keywords among properties.

    A required name may be a property of another schema in the file.
    """
    locations = [*taking_part(schema.value, schema.dialect)]
    properties = [object_of(it.keywords, "properties") for it in locations]
    known = {name for names in properties for name in names}
    for location, names in zip(locations, properties, strict=True):
        if names.get("additionalProperties") is False:
            where = f"{location.pointer}/properties/additionalProperties"
            yield problem_at(where, MISPLACED, CODES[MISPLACED])
        for index, name in enumerate(array_of(location.keywords, "required")):
            near = () if name in known else {*slips(str(name))} & names.keys()
            for meant in sorted(near)[:1]:
                message = f"no property is called `{name}`; did you mean `{meant}`?"
                where = f"{location.pointer}/required/{index}"
                yield problem_at(where, SLIP, message)


def unused_definitions(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield the root's definitions that nothing leads to; none of a mere library."""
    root = schema.value
    if not isinstance(root, dict) or CONTAINERS.isdisjoint(root):
        return
    entered = {tokens[:2] for tokens in applied(schema)}
    for keyword in sorted(CONTAINERS) if entered - {()} else ():
        for name in object_of(root, keyword):
            if (keyword, name) not in entered:
                yield problem_at(pointer((keyword, name)), UNUSED, CODES[UNUSED], NOTE)
