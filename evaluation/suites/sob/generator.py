"""Generate records whose truth is right by construction.

Facts are the leaves of an instance of a form (`forms`). A voice of `voices.toml` tells
them, among those of other instances of the same form. What is not told is absent from
the truth, or null if the text says so. All names are invented.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from random import Random
from typing import Any, Final, TypeAlias

import jsonschema_rs

from curation.core.json_types import Json
from curation.json.text import canonical
from curation.json.values import is_number
from curation.system.errors import NoInput
from evaluation.suites.sob.forms import ITEMS, Form, forms, is_nullable, kind, named
from evaluation.suites.sob.records import SobRecord, Source, complexity_of

#: How many records the suite's own set has.
OWN_RECORDS: Final = 180
#: Characters of a context.
SHORTEST, LONGEST = 500, 30_000
#: Draws of a record until its form accepts the truth, and facts that it tells at least.
_ATTEMPTS: Final = 20
_FEWEST: Final = 5
#: How often an optional member is told, a null stands for a value, a figure is first
#: given wrong in a meeting, and small talk stands between two sentences.
_TOLD, _NULL, _WRONG, _TALK = 0.75, 0.15, 0.1, 0.12
#: Other things that the same text tells of, and how often there are so many.
_OTHERS: Final[Mapping[int, int]] = {0: 3, 1: 5, 2: 4, 4: 3, 8: 1}
_SOURCES: Final[tuple[Source, ...]] = ("text", "image", "audio")
#: Digits of numbers that are drawn without bounds.
_REACH: Final = 9_999
#: What is told, and how.
_Facts: TypeAlias = dict[str, str]


def generated_records(
    count: int = OWN_RECORDS, seed: int = 0, schemas: str = ""
) -> Iterator[SobRecord]:
    """Yield records; the same arguments give the same bytes everywhere.

    The first of more records are the same as those of fewer. Each form has its turn
    before one comes again.

    Args:
        count: How many.
        seed: Of all draws.
        schemas: A source expression of schemas; empty for the embedded sample.
    """
    by_turn = list(forms(schemas))
    Random(f"{seed} order").shuffle(by_turn)  # noqa: S311 - no secret
    turn = made = 0
    while made < count:
        if turn >= len(by_turn) and not made:
            what = "no schema in it has 8 to 80 leaves that a text can tell"
            raise NoInput(what, schemas or "the embedded sample")
        family, form = by_turn[turn % len(by_turn)]
        draw = Random(f"{seed}/{turn}")  # noqa: S311 - no secret
        record = _record(family, form, _SOURCES[made % len(_SOURCES)], draw)
        turn += 1
        if record is not None:
            made += 1
            yield record


@cache
def _texts(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))


@lru_cache(maxsize=4_096)
def _validator(form: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(json.loads(form), validate_formats=True)


def _record(family: str, form: Form, source: Source, draw: Random) -> SobRecord | None:
    """Return a record of a form; None if no instance of it was drawn."""
    drawn = _instance(form, draw)
    if drawn is None:
        return None
    truth, facts = drawn
    others = draw.choices([*_OTHERS], [*_OTHERS.values()])[0]
    words = _texts("vocabulary.toml")
    names = draw.sample(words["company"], min(others + 1, len(words["company"])))
    name, *other_names = [f"{one} {draw.choice(words['thing'])}" for one in names]
    told = [(name, facts)]
    for other in other_names:
        instance = _instance(form, draw)
        told += [(other, instance[1])] if instance else []
    draw.shuffle(told)
    voice = draw.choice([*_texts("voices.toml")[source].values()])
    documents = [_document(source, voice, *one, draw) for one in told]
    context = "\n\n".join(documents)
    if source == "audio":
        context = _stamped("\n".join(documents).split("\n"), draw)
    if not SHORTEST <= len(context) <= LONGEST:
        return None
    question = draw.choice(_texts("voices.toml")["questions"]).format(name=name)
    content = canonical([context, question, form, truth])
    return SobRecord(
        record_id=hashlib.sha256(content).hexdigest(),
        source=source,
        context=context,
        question=question,
        json_schema=form,
        ground_truth=truth,
        schema_complexity=complexity_of(form),
        question_difficulty=("easy", "medium", "hard")[min(2, len(told) - 1)],
        family=family,
    )


def _instance(form: Form, draw: Random) -> tuple[Json, _Facts] | None:
    validator = _validator(json.dumps(form))
    for _ in range(_ATTEMPTS):
        facts: _Facts = {}
        truth = _value(form, "", facts, draw)
        # Nothing tells an empty object from an absent one.
        is_told = len(facts) >= _FEWEST and "{}" not in json.dumps(truth)
        if is_told and validator.is_valid(truth):
            return truth, facts
    return None


def _value(schema: Form, what: str, facts: _Facts, draw: Random) -> Json:
    """Return a value of a part of a form, and add what is told of it."""
    if "properties" in schema:
        members: dict[str, Json] = {}
        for name, inner in schema["properties"].items():
            is_required = name in schema["required"]
            if is_required or draw.random() < _TOLD:
                before = len(facts)
                value = _value(inner, named(name, what), facts, draw)
                if is_required or len(facts) > before:
                    members[name] = value
        return members
    if "items" in schema:
        least = max(1, schema.get("minItems", 1))
        count = draw.randint(
            least, max(least, min(ITEMS, schema.get("maxItems", ITEMS)))
        )
        entries = [f"entry {number} of {what}" for number in range(1, count + 1)]
        return [_value(schema["items"], entry, facts, draw) for entry in entries]
    told: tuple[Json, str] = None, "not known"
    if not is_nullable(schema) or draw.random() >= _NULL:
        told = _leaf(schema, what, draw)
    facts[what] = told[1]
    return told[0]


def _leaf(schema: Form, what: str, draw: Random) -> tuple[Json, str]:
    """Return the value of a leaf, and how a text tells it."""
    values = [one for one in schema.get("enum", ()) if one is not None]
    chosen = draw.choice(values) if values else None
    match kind(schema):
        case "enum":
            return chosen, f"“{chosen}”"
        case "boolean":
            is_so = draw.random() < 1 / 2 if chosen is None else chosen
            return is_so, "yes" if is_so else "no"
        case "integer" | "number" as number:
            value = chosen
            if value is None:
                value = _number(schema, draw, whole=number == "integer")
            return value, f"{value:,}" if draw.random() < 1 / 2 else str(value)
        case "date" | "date-time" as form:
            minutes = timedelta(minutes=draw.randrange(2**26))
            day = datetime(1901, 1, 1, tzinfo=UTC) + minutes
            told = f"{day.day} {day:%B %Y}"
            if form == "date":
                return day.date().isoformat(), told
            return f"{day:%Y-%m-%dT%H:%M:00Z}", f"{told}, {day:%H:%M} UTC"
    text = _words(schema, what, draw)
    return text, f"“{text}”"


def _bound(schema: Form, *names: str) -> float | None:
    return next((schema[name] for name in names if is_number(schema.get(name))), None)


def _number(schema: Form, draw: Random, *, whole: bool) -> float:
    low = _bound(schema, "minimum", "exclusiveMinimum")
    high = _bound(schema, "maximum", "exclusiveMaximum")
    low = (1 if high is None else high - _REACH) if low is None else low
    high = low + _REACH if high is None else high
    step: float = schema.get("multipleOf", 1)
    if whole or step != 1:
        first = -int(-low // step)
        return round(draw.randint(first, max(first, int(high // step))) * step, 6)
    number = round(draw.uniform(low, high), 2)
    return int(number) if number == int(number) else number


def _words(schema: Form, what: str, draw: Random) -> str:
    """Return a text by the name of its leaf, or by its format and length."""
    words = _texts("vocabulary.toml")
    pick = {name: draw.choice(options) for name, options in words.items()}
    pick |= {
        "number": str(draw.randint(100, 9_999)),
        "hex": f"{draw.getrandbits(48):012x}",
    }
    own = f"{schema.get('format', '')} {what.partition(' of ')[0]}"
    shapes = _texts("voices.toml")["values"]
    shape = next((shape for hint, shape in shapes.items() if hint in own), shapes["_"])
    text = str(shape).format_map(pick)
    while len(text) < schema.get("minLength", 0):
        text += f" {draw.choice(words['thing'])}"
    most = schema.get("maxLength", len(text))
    return text if len(text) <= most else str(pick["hex"])[:most]


def _document(
    source: Source, voice: Mapping[str, Any], name: str, facts: _Facts, draw: Random
) -> str:
    """Return what a voice tells of one thing: a paragraph, a sheet, or turns."""
    speakers = [
        one.upper() for one in draw.sample(_texts("vocabulary.toml")["given"], 3)
    ]
    what = [*facts]
    if source == "text":
        draw.shuffle(what)
    lines: list[str] = []
    for one in what:
        statement = draw.choice(voice["says"])
        if source == "audio" and draw.random() < _WRONG:
            wrong = facts[draw.choice(what)]
            lines.append(statement.format(name=name, what=one, value=wrong))
            statement = draw.choice(voice["corrects"])
        lines.append(statement.format(name=name, what=one, value=facts[one]))
        if draw.random() < _TALK:
            lines.append(draw.choice(voice["talk"]))
    if source == "audio":
        return "\n".join(f"{draw.choice(speakers)}: {line}" for line in lines)
    joint = " " if source == "text" else "\n"
    return str(voice["head"]).format(name=name) + joint.join(lines)


def _stamped(lines: list[str], draw: Random) -> str:
    """Return the turns of a meeting with their times."""
    seconds = 0
    stamped = []
    for line in lines:
        seconds += draw.randint(4, 48)
        stamped.append(f"[{seconds // 60}:{seconds % 60:02d}] {line}")
    return "\n".join(stamped)
