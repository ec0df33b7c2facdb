"""Probes, and the places in a schema where they are put.

A probe is the smallest usual schema around one keyword, a value that it accepts and one
that only this keyword refuses. Members are in the order of the schema, for engines
that require an order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from curation.core.json_types import Json
from curation.schema.dialects import BY_NAME, DIALECTS, Dialect

ROOT: Final = "root"
#: Where a probe is put, in the order of the reports.
CONTEXTS: Final = (ROOT, "property", "item", "$ref", "allOf", "anyOf", "oneOf")
#: Types of which an alternative that neither value fits is made.
_TYPES: Final = ("null", "boolean", "integer", "string", "array", "object")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One keyword, or one way to use it."""

    #: Unique; the keyword, and in brackets the variant.
    name: str
    keyword: str
    schema: dict[str, Json]
    valid: Json
    #: Keyword to a value that it alone rejects; a pair of keywords may have two, and a
    #: keyword that asserts nothing has none.
    violating: Mapping[str, Json]
    #: Its name among the features of the paper's Figure 4; the keyword by default.
    feature: str = ""
    #: The oldest and the newest dialect that have it.
    since: str = DIALECTS[0].name
    until: str = DIALECTS[-1].name
    #: Schemas for `#/$defs/NAME`, which belong at the root.
    definitions: Mapping[str, Json] = field(default_factory=dict)
    contexts: tuple[str, ...] = CONTEXTS

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """The dialects that have it, oldest first."""
        low = BY_NAME[self.since].order
        high = BY_NAME[self.until].order
        return tuple(dialect for dialect in DIALECTS if low <= dialect.order <= high)

    @property
    def group(self) -> str:
        """The feature that it belongs to."""
        return self.feature or self.keyword


class PlacedProbe(NamedTuple):
    """A probe in one context of one dialect."""

    probe: Probe
    context: str
    dialect: str
    schema: dict[str, Json]
    valid: Json
    violating: Mapping[str, Json]


def place_probe(probe: Probe, context: str, dialect: Dialect) -> PlacedProbe:
    """Return a probe's schema and values, put into a context.

    Raises:
        ValueError: the probe is not for this context.
    """
    if context not in probe.contexts:
        raise ValueError(context)
    schema = _wrapped(probe, context)
    definitions = dict(probe.definitions)
    if context == "$ref":
        definitions["probe"] = probe.schema
    document: dict[str, Json] = {"$schema": dialect.uri, **schema}
    if definitions:
        document["$defs"] = definitions
    return PlacedProbe(
        probe=probe,
        context=context,
        dialect=dialect.name,
        schema=_in_words_of(dialect, document),
        valid=_value(probe.valid, context),
        violating={
            keyword: _value(value, context)
            for keyword, value in probe.violating.items()
        },
    )


def _wrapped(probe: Probe, context: str) -> dict[str, Json]:
    inner = probe.schema
    if context == ROOT:
        return dict(inner)
    if context in {"property", "$ref"}:
        reference: dict[str, Json] = {"$ref": "#/$defs/probe"}
        inside = reference if context == "$ref" else inner
        return {"type": "object", "properties": {"a": inside}, "required": ["a"]}
    if context == "item":
        return {"type": "array", "items": inner}
    if context == "allOf":
        return {"allOf": [inner, _beside(probe)]}
    kinds = _kinds(probe)
    other = next(kind for kind in _TYPES if kind not in kinds)
    return {context: [inner, {"type": other}]}


def _value(value: Json, context: str) -> Json:
    if context not in {"property", "$ref", "item"}:
        return value
    return [value] if context == "item" else {"a": value}


def _beside(probe: Probe) -> dict[str, Json]:
    """Return a schema that adds nothing: the same type, or a mere title."""
    type_ = probe.schema.get("type")
    if isinstance(type_, str) and type_ in _kinds(probe):
        return {"type": type_}
    return {"title": "anything"}


def _kinds(probe: Probe) -> set[str]:
    """Return the types that any of a probe's values has."""
    return set[str]().union(*map(_kind, (probe.valid, *probe.violating.values())))


def _kind(value: Json) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"number", "integer"}
    if isinstance(value, str):
        return {"string"}
    return {"array" if isinstance(value, list) else "object"}


def _in_words_of(dialect: Dialect, schema: dict[str, Json]) -> dict[str, Json]:
    text = json.dumps(schema)
    if dialect.definitions_keyword != "$defs":
        text = text.replace("#/$defs/", "#/definitions/")
        text = text.replace('"$defs":', '"definitions":')
    if dialect.id_keyword != "$id":
        text = text.replace('"$id":', f'"{dialect.id_keyword}":')
    words: dict[str, Json] = json.loads(text)
    return words


#: A format that no draft knows.
UNKNOWN: Final = "unknown"


def _read() -> Iterator[Probe]:
    """Yield the probes; a line without `violating` has nothing that violates it."""
    lines = Path(__file__).with_name("probes.jsonl").read_text("utf-8").splitlines()
    for columns in map(json.loads, lines):
        contexts = tuple(columns.get("contexts", CONTEXTS))
        violating = (
            {columns["keyword"]: columns["violating"]} if "violating" in columns else {}
        )
        yield Probe(**columns | {"violating": violating, "contexts": contexts})


KEYWORD_PROBES: Final = tuple(_read())
#: The value of `format` by the name of its probe; `UNKNOWN` for an undefined one.
FORMAT_OF_PROBE: Final[dict[str, str]] = {
    probe.name: str(probe.schema["format"]) if probe.violating else UNKNOWN
    for probe in KEYWORD_PROBES
    if probe.keyword == "format"
}


@cache
def pairs() -> tuple[Probe, ...]:
    """Return the probes of two keywords in one place, the most frequent pair first.

    Each is named after its first keyword, and put where schemas have the two.
    """
    _, *lines = Path(__file__).with_name("pairs.jsonl").read_text("utf-8").splitlines()
    return tuple(
        Probe(
            name=" + ".join(pair["keywords"]),
            keyword=next(iter(pair["violating"])),
            schema=pair["schema"],
            valid=pair["valid"],
            violating=pair["violating"],
            since=pair["dialect"],
            until=pair["dialect"],
            contexts=tuple(pair["places"]),
        )
        for pair in map(json.loads, lines)
    )
