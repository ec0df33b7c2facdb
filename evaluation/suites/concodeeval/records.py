"""Schemas, and records: a schema in one representation, a format, and a task.

The published generator of schemas is not public: this one is a reconstruction from the
paper's description and from the schemas that it shows. Its schemas are of twelve
families. A family is a kind of root and a bound of its sizes: `string_0_50`,
`composite_0_10_array`. A member's id adds its number: `string_0_50_i_3`.

A record's group is the family of its schema. Its id begins with its cell, such as
`generation-python-yaml`: the task, the representation of the schema, and the format of
the sample.

The samples of task 2 are witnesses and near misses, a set share of them valid. A label
is the verdict of the validators. An instance on which they differ, or whose verdict
depends on whether formats are asserted, is not shown.
"""

from __future__ import annotations

import json
import random
import re
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset.make_instances import make_instances
from curation.instances.judging.validators import verdicts
from curation.instances.values.words import WORDS
from curation.system.errors import BadUsage
from evaluation.core.records import GENERATED, Record, RecordRequest, RecordSet
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.suite import (
    DIALECTS,
    OUTPUTS,
    TEXTS,
    ConcodeSettings,
    Reading,
    RecordFields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.records import Instance

    Schema = dict[str, Json]

Choice = TypeVar("Choice", bound=str)

#: The kinds of properties and of items.
_PROPERTIES: Final = ("any", "boolean", "null", "number", "string")
_ITEMS: Final = ("number", "string", "boolean", "object")
#: The bounds of sizes: of numbers, of lengths, of counts of items and properties. Lower
#: bounds are 0 in every family.
HIGHS: Final = (10, 50, 100)
#: The type at the root of a family's schemas, and the bound of their sizes.
FAMILIES: Final = {
    **{f"number_0_{high}": ("number", high) for high in HIGHS},
    **{f"string_0_{high}": ("string", high) for high in HIGHS},
    **{f"composite_0_{high}_array": ("array", high) for high in HIGHS},
    **{f"composite_0_{high}_object": ("object", high) for high in HIGHS},
}
#: Characters of the smallest witness of a schema: within a budget of 1,024 tokens a
#: model can write it.
MAX_ANSWER: Final = 2_000
#: Witnesses of a schema.
_WITNESSES: Final = 5
#: Draws for one id before it is a fault of the generator.
_DRAWS: Final = 100
#: Escapes in JSON of characters that XML 1.0 lacks or changes (section 2.2).
_NOT_IN_XML: Final = re.compile(r"\\(?:u00[01]|[bfr])")


def generate_schemas(count: int, seed: int, reading: Reading) -> Iterator[Record]:
    """Yield records of schemas family by family; equal arguments give equal ones.

    A schema does not depend on the number of others.

    Args:
        count: The number, spread evenly over the twelve families; the first ones get
            one more each if it is not a multiple of twelve.
        seed: Another one gives other schemas.
        reading: `paper` keeps the misspelt format, the idle keywords and unsatisfiable
            schemas; a schema may then have no instance.

    Example:
        >>> next(generate_schemas(12, 0, "recommended")).id
        'number_0_10_i_0'
    """
    share, extra = divmod(count, len(FAMILIES))
    for position, family in enumerate(FAMILIES):
        for number in range(share + (position < extra)):
            yield generate_schema(family, number, seed, reading)


@lru_cache(maxsize=1_024)
def generate_schema(family: str, number: int, seed: int, reading: Reading) -> Record:
    """Return one schema of a family with its instances, by its number.

    Raises:
        ValueError: none of a hundred draws has a witness; a defect of the family.
    """
    name = f"{family}_i_{number}"
    dialect = DIALECTS[reading]
    for attempt in range(_DRAWS):
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{seed}/{name}/{attempt}")  # noqa: S311 - no secret
        text = json.dumps(draw_schema(*FAMILIES[family], rng, reading))
        instances = make_instances(text, dialect, seed, count=_WITNESSES)
        lengths = [len(row.text) for row in instances.witnesses]
        if reading == "paper" or min(lengths, default=inf) <= MAX_ANSWER:
            return Record(
                id=f"{name}_s{seed}" if seed else name,
                group=family,
                schema=text,
                dialect=dialect,
                instances=recorded_instances(instances),
            )
    raise ValueError(f"{name}: no schema of {_DRAWS} drawn has a short witness")


def draw_schema(
    kind: str, high: int, rng: random.Random, reading: Reading, *, inner: bool = False
) -> Schema:
    """Draw a schema of one kind, satisfiable or not.

    Args:
        kind: A type, or `any`.
        high: The bound of sizes.
        rng: Draws.
        reading: `paper` keeps the misspelt format and the idle keywords.
        inner: Whether it is of a property or an item, whose bounds are anywhere
            between 0 and `high`.
    """
    match kind:
        case "number":
            return _number(high, rng, inner=inner)
        case "string":
            return _string(high, rng, reading, inner=inner)
        case "array":
            return _array(high, rng, reading)
        case "object":
            return _object(high, rng, reading)
    return {} if kind == "any" else {"type": kind}


def _number(high: int, rng: random.Random, *, inner: bool) -> Schema:
    """Draw a schema of a number, each bound optional."""
    smallest = rng.uniform(0, high) if inner else 0
    lower = rng.choice(("", "minimum", "exclusiveMinimum"))
    largest = rng.uniform(smallest, high) if inner else high
    upper = rng.choice(("", "maximum", "exclusiveMaximum"))
    multiple = rng.choice(("", "multipleOf"))
    # A step of 0 would be no schema.
    step = max(0.01, round(rng.uniform(0, high), 2))
    return _scalar("number", {multiple: step}, {lower: smallest, upper: largest}, rng)


def _string(high: int, rng: random.Random, reading: Reading, *, inner: bool) -> Schema:
    """Draw a schema of a string, of bounded length or any."""
    shortest = 0
    longest = high
    if inner:
        shortest, longest = sorted(rng.randint(0, high) for _ in range(2))
    lower = rng.choice(("", "minLength"))
    upper = rng.choice(("", "maxLength"))
    keyword = rng.choice(("", "format"))
    form: str = rng.choice(TEXTS["formats"])
    if form == "date-time" and reading == "paper":
        # It is misspelt in the published schemas, so that validators ignore it.
        form = "data-time"
    return _scalar("string", {keyword: form}, {lower: shortest, upper: longest}, rng)


def _scalar(
    kind: str, first: Mapping[str, Json], second: Mapping[str, Json], rng: random.Random
) -> Schema:
    """Return a schema with the keywords of both in either order; "" is none."""
    members = {**first, **second} if rng.choice((True, False)) else {**second, **first}
    members.pop("", None)
    return {"type": kind, **members}


def _object(high: int, rng: random.Random, reading: Reading) -> Schema:
    """Draw a schema of an object of 1 to `high` properties, each a scalar or anything.

    `required` appears only with `additionalProperties: true`, as in the published
    schemas, and may be empty.
    """
    names = rng.sample(WORDS, rng.randint(1, high))
    schema: Schema = {
        "type": "object",
        "properties": {
            name: draw_schema(rng.choice(_PROPERTIES), high, rng, reading, inner=True)
            for name in names
        },
    }
    is_open = rng.choice((True, False))
    schema["additionalProperties"] = is_open
    if is_open:
        is_empty = rng.choice((True, False))
        drawn = [] if is_empty else rng.sample(names, rng.randint(0, len(names)))
        schema["required"] = [name for name in names if name in drawn]
    return schema


def _array(high: int, rng: random.Random, reading: Reading) -> Schema:
    """Draw a schema of an array, by `items` or by `contains`.

    `contains` may come with `minContains` and `maxContains`. The published schemas
    have them with `items` too, where they mean nothing, and their `minContains` is 0.
    """
    holder = rng.choice(("items", "contains"))
    inner = draw_schema(rng.choice(_ITEMS), high, rng, reading, inner=True)
    schema: Schema = {"type": "array", holder: inner}
    minimum, maximum = sorted(rng.randint(0, high) for _ in range(2))
    if reading == "paper":
        minimum = 0
        maximum = high
    elif holder == "items":
        return schema
    if rng.choice((True, False)):
        schema["minContains"] = minimum
    if rng.choice((True, False)):
        # Without `minContains` one is required.
        schema["maxContains"] = max(maximum, 1)
    return schema


def records(request: RecordRequest, settings: ConcodeSettings) -> RecordSet:
    """Return the records of the suite's schemas.

    Raises:
        BadUsage: a representation or a format does not exist, or data are named.
    """
    if request.data is not None:
        raise BadUsage("suite concodeeval reads no --data", hint="leave --data out")
    return RecordSet(
        name="concodeeval",
        origin=GENERATED,
        records=list(generate(settings.count, request.seed, settings)),
        generated=True,
    )


def generate(count: int, seed: int, settings: ConcodeSettings) -> Iterator[Record]:
    """Yield the records of a number of schemas, all cells of one schema together.

    Args:
        count: The number of schemas.
        seed: Seed of the schemas, and of the choice of instances in task 2.
        settings: The tasks, representations and formats.
    """
    names = _chosen("representations", settings.representations, [*REPRESENTATIONS])
    outputs = _chosen("outputs", settings.outputs, OUTPUTS)
    number = 0 if settings.task == "generation" else settings.samples
    schemas = generate_schemas(count, seed, settings.reading)
    for record, samples in with_samples(schemas, number, seed):
        for name in names:
            text = REPRESENTATIONS[name][1](json.loads(record.constraint))
            for output in outputs:
                fields = RecordFields(
                    task="generation",
                    representation=name,
                    output=output,
                    family=record.group,
                    schema_id=record.id,
                    schema=record.constraint,
                    length=len(text.split()),
                )
                if settings.task != "validation":
                    yield fields.record(record.id, record.dialect)
                for place, sample in enumerate(samples, start=1):
                    yield msgspec.structs.replace(
                        fields,
                        task="validation",
                        sample=sample.text,
                        label="yes" if sample.valid else "no",
                        keyword=sample.keyword,
                    ).record(f"{place}_{record.id}", record.dialect)


def _chosen(setting: str, text: str, choices: Sequence[Choice]) -> list[Choice]:
    """Return the choices that a setting names, separated by commas, in their order.

    Raises:
        BadUsage: one does not exist.
    """
    named = {name.strip() for name in text.split(",")}
    if unknown := named.difference(choices):
        message = f"--set {setting} has no {min(unknown)!r}"
        raise BadUsage(message, hint=f"choose from {', '.join(choices)}")
    return [choice for choice in choices if choice in named]


#: Characters of the longest sample.
MAX_SAMPLE: Final = 4_000
#: The share of valid samples.
YES_SHARE: Final = 0.55


def with_samples(
    schemas: Iterable[Record], count: int, seed: int
) -> Iterator[tuple[Record, list[Instance]]]:
    """Yield each schema with its labelled samples, a set share of all of them valid.

    A schema with too few distinct instances has fewer; the next schemas make up for
    the share, not for the number.

    Args:
        schemas: Schemas with their instances.
        count: The number of samples a schema.
        seed: Seed of the choice.
    """
    yes = total = 0
    for record in schemas:
        value = json.loads(record.constraint)
        compiled = CompiledSchema.from_json(value, record.dialect)
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{seed}/{record.id}")  # noqa: S311 - no secret
        drawn = rng.sample(record.instances, len(record.instances))
        pool = list(filter(is_writable, drawn))
        samples: list[Instance] = []
        while len(samples) < count:
            due = yes < YES_SHARE * (total + 1) - 0.5
            matching = (it for it in pool if it.valid is due)
            sample = next((it for it in matching if is_certain(compiled, it)), None)
            if sample is None:
                break
            pool.remove(sample)
            samples.append(sample)
            total += 1
            yes += due
        yield record, samples


def is_writable(instance: Instance) -> bool:
    """Return whether an instance is short, and of characters that XML has."""
    text = instance.text
    return len(text) <= MAX_SAMPLE and not _NOT_IN_XML.search(text)


def is_certain(compiled: CompiledSchema, instance: Instance) -> bool:
    """Return whether the label of an instance is beyond doubt."""
    checked = verdicts(compiled, json.loads(instance.text), ask_jsonschema=True)
    rust = {checked.jsonschema_rs, checked.jsonschema_rs_plain}
    return rust | {checked.jsonschema, checked.jsonschema_plain} == {instance.valid}
