"""Lints of `csbdata check` alone: words that are no keyword, values that are refused.

A build does not flag them: no keyword of a record is idle or wrong for them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import jsonschema_rs

from curation.core.problems import NOTE, SchemaProblem
from curation.instances.constraints.keyword_values import read_array, read_object
from curation.json import text as jsontext
from curation.json.pointer import pointer, to_fragment, upwards
from curation.lint.contradictions import TABLES, may_match
from curation.lint.lint import nearest, plausible
from curation.references.reachable import applied, taking_part
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.misspellings import slips
from curation.schema.roots import constrains
from curation.validation.metaschemas import RUST_DRAFTS, RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.schema import Schema
    from curation.schema.dialects import Dialect

UNUSED: Final = "unused-definition"
#: Every code of `csbdata check` alone, with its meaning.
CODES: Final[Mapping[str, str]] = TABLES["check"]
_ROOT: Final = "json-schema:///csbdata/checked"
_SPELLINGS: Final = {
    keyword.lower().strip("$"): keyword for keyword in sorted(KNOWN_KEYWORDS)
}
#: No keyword is spelt so: a namespace's word, or a sentence.
_NAMESPACED: Final = re.compile(r"^[xX][-_]|^_|[:./ ]|.-")
#: Words about which nothing is reported: keywords, and by its source each annotation
#: or keyword that its author knows to be an extension.
_EXPECTED: Final = KNOWN_KEYWORDS.union(*map(str.split, TABLES["extensions"].values()))


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
        refs = {f"v{at}": {"$ref": root + to_fragment(cases[at][0])} for at in numbers}
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
        yield SchemaProblem(
            f"{pointer(tokens)}/{member}", code, f"{CODES[code]}: {message}"
        )


def _defaults_and_examples(schema: Schema) -> Iterator[tuple[Tokens, str, str, Json]]:
    """Yield tokens of a schema, code, member, and value."""
    for location in taking_part(schema.value, schema.dialect):
        tokens, keywords = location.tokens, location.schema
        if "default" in keywords:
            yield tokens, "refused-default", "default", keywords["default"]
        for index, value in enumerate(read_array(keywords, "examples")):
            yield tokens, "refused-example", f"examples/{index}", value


def enum_faults(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield each `enum` that is empty, and each of its values that came before."""
    for location in taking_part(schema.value, schema.dialect):
        values, enum = location.keywords.get("enum"), f"{location.pointer}/enum"
        if values == []:
            yield SchemaProblem(enum, "enum-values", "an empty `enum` accepts nothing")
        values, texts = read_array(location.keywords, "enum"), set()
        for index, value in enumerate(values):
            text = jsontext.canonical(value)
            if text in texts:
                message = f"the value is in the `enum` already: {text.decode()}"
                yield SchemaProblem(f"{enum}/{index}", "enum-values", message)
            texts.add(text)


def property_faults(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield required names that misspell a property, and keywords among properties.

    A required name may be a property of another schema in the file.
    """
    locations = [*taking_part(schema.value, schema.dialect)]
    properties = [read_object(it.keywords, "properties") for it in locations]
    known = {name for names in properties for name in names}
    for location, names in zip(locations, properties, strict=True):
        if names.get("additionalProperties") is False:
            where = f"{location.pointer}/properties/additionalProperties"
            code = "keyword-among-properties"
            yield SchemaProblem(where, code, CODES[code])
        patterns = read_object(location.keywords, "patternProperties")
        for index, name in enumerate(read_array(location.keywords, "required")):
            is_known = (
                not isinstance(name, str)
                or name in known
                or any(may_match(pattern, name) for pattern in patterns)
            )
            near = () if is_known else {*slips(str(name))} & names.keys()
            for meant in sorted(near)[:1]:
                message = f"no property is called `{name}`; did you mean `{meant}`?"
                where = f"{location.pointer}/required/{index}"
                yield SchemaProblem(where, "required-misspelt", message)


def unused_definitions(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield the root's definitions that nothing leads to; none of a mere library."""
    root = schema.value
    if not isinstance(root, dict) or CONTAINERS.isdisjoint(root):
        return
    entered = {tokens[:2] for tokens in applied(schema)}
    for keyword in sorted(CONTAINERS) if entered - {()} else ():
        for name in read_object(root, keyword):
            if (keyword, name) not in entered:
                yield SchemaProblem(
                    pointer((keyword, name)), UNUSED, CODES[UNUSED], NOTE
                )


def unknown_words(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield the words that are no keyword.

    Extensions are left out. A word that its author meant to restrict something is a
    warning, others are notes.
    A member that a reference passes through holds definitions, and so do its siblings.
    """
    passed: set[Tokens] = set()
    for reference in schema.references:
        target = schema.lookup(reference.text, reference.base)
        if target is not None:
            passed.update(upwards(target.tokens))
    for location in taking_part(schema.value, schema.dialect):
        keywords = location.keywords
        words = [word for word in keywords if word not in _EXPECTED]
        # A group of definitions among definitions has no keyword.
        is_group = len(words) == len(keywords) and not CONTAINERS.isdisjoint(
            location.tokens[-2:-1]
        )
        is_passed = any((*location.tokens, word) in passed for word in words)
        if not (is_group or is_passed):
            for word in words:
                if judged := _judged(word, keywords, schema.dialect):
                    message, level = judged
                    where = pointer((*location.tokens, word))
                    yield SchemaProblem(where, "unknown-keyword", message, level)


def find_misspelling(word: str) -> str:
    """Return the keyword that a word misspells; empty for none."""
    return nearest(word) or _SPELLINGS.get(_plain(word), "")


def _plain(word: str) -> str:
    return re.sub("[-_$@#]", "", word).lower()


def _judged(
    word: str, schema: Mapping[str, Json], dialect: Dialect
) -> tuple[str, str] | None:
    """Return what is wrong with a word, and its level; None for an extension."""
    value, start, fault = schema[word], f"unknown keyword `{word}`", "warning"
    if advice := TABLES["advice"].get(word):
        level = NOTE if word == "discriminator" else fault
        return f"{start}: {advice}", level
    # Words of generators, databases, form libraries and other schema languages, in
    # lower case without `-` and `_`, have keywords that they may mean.
    synonyms = TABLES["synonyms"].get(_plain(word), "")
    for keyword in (find_misspelling(word) or synonyms).split():
        is_note = keyword in ANNOTATIONS and keyword != "format"
        is_effective = is_note or keyword in dialect.effective | CONTAINERS
        if is_effective and keyword not in schema and _may_hold(keyword, value):
            return f"{start}; did you mean `{keyword}`?", NOTE if is_note else fault
    if _NAMESPACED.search(word):
        return None
    values = value if isinstance(value, list) else [value]
    if any(isinstance(inner, dict) and constrains(inner) for inner in values):
        advice = "a property belongs below `properties`"
        return f"{start}: the schema in it applies to nothing; {advice}", fault
    return f"{start}: validators ignore it; extensions begin with `x-`", NOTE


def _may_hold(keyword: str, value: Json) -> bool:
    """Return whether a value may be the one of a keyword."""
    if keyword in ("$ref", "$schema"):
        return isinstance(value, str) and ("#" in value or value.endswith(".json"))
    if keyword in ("type", "format"):
        return isinstance(value, str | list)
    return keyword in ANNOTATIONS or plausible(keyword, value)
