"""Generate records whose truth is right by construction.

`families.py` draws values, and `families.toml` has the contexts that state them among
others that do not matter, the questions, and the fields of the answers with their
evidence. All names are invented. `reader` checks finished records.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

import msgspec

from curation.core.json_types import Json
from curation.json.pointer import pointer
from curation.json.text import canonical
from curation.json.values import type_of
from evaluation.suites.sob.families import DRAWS, Draw, Values
from evaluation.suites.sob.records import Evidence, SobRecord, Source, complexity_of

#: How many records the suite's own set has.
OWN_RECORDS: Final = 180


class _Text(msgspec.Struct, frozen=True, rename={"if_": "if", "else_": "else"}):
    """A text that depends on a value, or that is joined from the items of a list."""

    if_: str = ""
    then: str = ""
    else_: str = ""
    each: str = ""
    join: str = "\n"
    text: str = ""


class _Field(msgspec.Struct, frozen=True, rename={"quotes": "in"}):
    at: str
    value: str = ""
    quotes: tuple[str, ...] = ()
    by: str = ""
    of: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unknown: str = ""
    type: str = ""
    enum: tuple[str, ...] = ()
    about: str = ""
    about_list: str = ""
    optional: bool = False


class _Family(msgspec.Struct, frozen=True):
    """A family of records, as `families.toml` describes it."""

    name: str
    source: Source
    difficulty: str
    #: Whether the root of the answer may have other members.
    is_open: bool
    context: str
    question: str
    fields: tuple[_Field, ...]
    texts: dict[str, str | _Text]


def generated_records(count: int = OWN_RECORDS, seed: int = 0) -> Iterator[SobRecord]:
    """Yield records; the same number and seed give the same bytes everywhere.

    The first of more records are the same as those of fewer.
    """
    families = msgspec.convert(_toml("families.toml")["families"], tuple[_Family, ...])
    for number in range(count):
        draw = Draw(Random(f"{seed}/{number}"), _vocabulary())  # noqa: S311 - no secret
        yield _record(families[number % len(families)], draw)


@cache
def _vocabulary() -> Mapping[str, Sequence[str]]:
    return _toml("vocabulary.toml")


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))


def _record(family: _Family, draw: Draw) -> SobRecord:
    values = DRAWS[family.name](draw)
    _write_texts(family, values)
    context = _context(family, values, draw)
    question = family.question.format_map(values)
    fields = [(tuple(field.at.split(".")), field) for field in family.fields]
    evidence: dict[str, Evidence] = {}
    schema, truth = _answer(fields, values, (), evidence)
    if family.is_open:
        del schema["additionalProperties"]
    content = canonical([context, question, schema, truth])
    return SobRecord(
        record_id=hashlib.sha256(content).hexdigest(),
        source=family.source,
        context=context,
        question=question,
        json_schema=schema,
        ground_truth=truth,
        schema_complexity=complexity_of(schema),
        question_difficulty=family.difficulty,
        family=family.name,
        evidence=evidence,
    )


def _write_texts(family: _Family, values: Values) -> None:
    """Add a family's texts to the drawn values, or to the items of a list of them."""
    for name, text in family.texts.items():
        items, _, key = name.rpartition("[].")
        if items:
            for item in values[items]:
                item[key] = _written(text, {**values, **item})
        else:
            values[name] = _written(text, values)


def _written(text: str | _Text, values: Values) -> str:
    if isinstance(text, str):
        return text.format_map(values)
    if text.each:
        items = values[text.each]
        return text.join.join(
            text.text.format_map({**values, **item}) for item in items
        )
    return (text.then if values[text.if_] else text.else_).format_map(values)


def _context(family: _Family, values: Values, draw: Draw) -> str:
    context = family.context.format_map(values)
    if family.source == "text":
        documents = [document.strip() for document in context.split("\n\n")]
        return "\n\n".join(draw.random.sample(documents, len(documents)))
    return _transcript(context, draw) if family.source == "audio" else context


def _transcript(context: str, draw: Draw) -> str:
    """Return the turns of a meeting with their times, and chatter between some."""
    seconds = draw.number(3, 20)
    turns = [line for line in context.split("\n") if line]
    speakers = sorted({turn.partition(":")[0] for turn in turns})
    lines: list[str] = []
    for turn in turns:
        if lines and draw.chance(0.35):
            speaker = draw.random.choice(speakers)
            lines.append(f"{speaker}: {draw.random.choice(draw.vocabulary['chatter'])}")
        lines.append(turn)
    stamped = []
    for line in lines:
        stamped.append(f"[{seconds // 60}:{seconds % 60:02d}] {line}")
        seconds += draw.number(4, 48)
    return "\n".join(stamped)


def _answer(
    fields: Sequence[tuple[tuple[str, ...], _Field]],
    values: Values,
    place: tuple[str, ...],
    evidence: dict[str, Evidence],
) -> tuple[dict[str, Json], Json]:
    """Return the schema and the truth at a place of the answer.

    Args:
        fields: The leaves at or below the place, with the rest of their path.
        values: Values and texts by name.
        place: The reference tokens of the place.
        evidence: Is given the evidence of each leaf, by JSON pointer.
    """
    path, field = fields[0]
    if not path:
        truth, evidence[pointer(place)] = _leaf(field, values)
        return _leaf_schema(field, truth), truth
    members: dict[str, list[tuple[tuple[str, ...], _Field]]] = {}
    for path, field in fields:
        members.setdefault(path[0], []).append((path[1:], field))
    properties: dict[str, Json] = {}
    truth = {}
    for step, inner in members.items():
        name = step.removesuffix("[]")
        if step == name:
            answer = _answer(inner, values, (*place, name), evidence)
            properties[name], truth[name] = answer
            continue
        items = [
            _answer(
                inner,
                # A scalar item is named `item`.
                values | (item if isinstance(item, dict) else {"item": item}),
                (*place, name, str(index)),
                evidence,
            )
            for index, item in enumerate(values[name])
        ]
        array: dict[str, Json] = {"type": "array", "items": items[0][0]}
        about = inner[0][1].about_list
        properties[name] = {**array, "description": about} if about else array
        truth[name] = [item for _, item in items]
    optional = {path[0] for path, field in fields if field.optional and path[1:] == ()}
    required: list[Json] = [name for name in properties if name not in optional]
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    return {**schema, "required": required, "additionalProperties": False}, truth


def _leaf(field: _Field, values: Values) -> tuple[Json, Evidence]:
    last = field.at.rpartition(".")[2]
    name = field.value or ("item" if last.endswith("[]") else last)
    value = values.get(name)
    if value is None and field.absent:
        return None, Evidence(kind="absent", terms=field.absent)
    if value is None:
        quote = field.unknown.format_map(values)
        return None, Evidence(kind="unknown", quotes=(quote,))
    quotes = tuple(filter(None, _listed(field.quotes, values)))
    operands = tuple(_listed(field.of, values))
    if field.by and None not in operands:
        evidence = Evidence(
            kind="derived", quotes=quotes, operation=field.by, operands=operands
        )
    elif isinstance(value, bool):
        evidence = Evidence(kind="affirmed" if value else "denied", quotes=quotes)
    else:
        evidence = Evidence(kind="stated", quotes=quotes)
    return value.isoformat() if isinstance(value, date) else value, evidence


def _listed(names: Sequence[str], values: Values) -> Iterator[Any]:
    """Yield what names stand for: a template, values, or a value of each item."""
    for name in names:
        items, _, key = name.rpartition("[].")
        if items:
            yield from (item[key] for item in values[items])
        elif name not in values:
            yield name.format_map(values)
        elif isinstance(values[name], list):
            yield from values[name]
        else:
            yield values[name]


def _leaf_schema(field: _Field, truth: Json) -> dict[str, Json]:
    if field.enum:
        return {"type": "string", "enum": [*field.enum]}
    kind = field.type.removesuffix("?")
    schema: dict[str, Json] = {"type": [kind, "null"]}
    if kind == field.type:
        number = "number" if isinstance(truth, float) else type_of(truth)
        schema = {"type": kind or number}
    return {**schema, "description": field.about} if field.about else schema
