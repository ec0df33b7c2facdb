"""Schemas, and records: a schema in one representation, a format, and a task.

The published generator of schemas is not public: this one is a reconstruction from the
paper's description and from the schemas that it shows. Its schemas are of twelve
families. A family is a kind of root and a bound of its sizes: `string_0_50`,
`composite_0_10_array`. A member's id adds its number: `string_0_50_i_3`.

A record's group is the family of its schema, or the config of a real one. Its id begins
with its cell, such as `generation-python-yaml`: the task, the representation of the
schema, and the format of the sample.

The samples of task 2 are witnesses and near misses, a set share of them valid. A label
is the verdict of the validators. An instance on which they differ, or whose verdict
depends on whether formats are asserted, is not shown.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import read_schema
from curation.instances.dataset.make_instances import SchemaInstances, make_instances
from curation.instances.judging.validators import verdicts
from curation.instances.values.words import WORDS
from curation.json.text import parse, plain
from curation.system.errors import BadUsage
from evaluation.core.records import GENERATED, Record, RecordRequest, RecordSet
from evaluation.data import open_data
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.python_code import InexpressibleError
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.suite import (
    DEFAULT_COUNT,
    DIALECTS,
    OUTPUTS,
    TEXTS,
    ConcodeSettings,
    Output,
    Reading,
    RecordFields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.records import Instance

    Schema = dict[str, Json]

#: The bounds of sizes: of numbers, of lengths, of counts of items and properties.
HIGHS: Final = (10, 50, 100)


#: The types at the root of a schema.
ROOTS: Final = ("number", "string", "array", "object")


class SchemaFamily(NamedTuple):
    """One kind of root with one bound of sizes.

    Example:
        >>> SchemaFamily("array", 50).name
        'composite_0_50_array'
    """

    root: str
    #: Lower bounds are 0 in every family.
    high: int

    @property
    def name(self) -> str:
        """The name of the family in ids and tables."""
        if self.root in ("array", "object"):
            return f"composite_0_{self.high}_{self.root}"
        return f"{self.root}_0_{self.high}"

    def member(self, number: int) -> str:
        """Return the id of one schema of the family, by its number from 0."""
        return f"{self.name}_i_{number}"


FAMILIES: Final = tuple(SchemaFamily(root, high) for root in ROOTS for high in HIGHS)


def members(count: int = DEFAULT_COUNT) -> list[tuple[SchemaFamily, int]]:
    """Return families and numbers of `count` schemas, spread evenly.

    The first families get one more each if `count` is not a multiple of twelve.

    Example:
        >>> [family.member(number) for family, number in members(13)][:2]
        ['number_0_10_i_0', 'number_0_10_i_1']
    """
    share, extra = divmod(count, len(FAMILIES))
    return [
        (family, number)
        for index, family in enumerate(FAMILIES)
        for number in range(share + (index < extra))
    ]


#: Characters of the smallest witness of a schema: within a budget of 1,024 tokens a
#: model can write it.
LONGEST_ANSWER: Final = 2_000
#: Witnesses of a schema.
_WITNESSES: Final = 5
#: Draws for one id before it is a fault of the generator.
_DRAWS: Final = 100


def generate_schemas(
    count: int = DEFAULT_COUNT,
    seed: int = 0,
    reading: Reading = "recommended",
) -> Iterator[Record]:
    """Yield records of schemas family by family; equal arguments give equal ones.

    A schema does not depend on the number of others.

    Args:
        count: The number, spread evenly over the twelve families.
        seed: Another one gives other schemas.
        reading: `paper` keeps the misspelt format, the idle keywords and unsatisfiable
            schemas; a schema may then have no instance.

    Example:
        >>> next(generate_schemas(12)).id
        'number_0_10_i_0'
    """
    for family, number in members(count):
        yield generate_schema(family, number, seed, reading)


def generate_schema(
    family: SchemaFamily, number: int, seed: int, reading: Reading
) -> Record:
    """Return one schema of a family with its instances, by its number.

    Raises:
        ValueError: none of a hundred draws has a witness; a defect of the family.
    """
    name = family.member(number)
    dialect = DIALECTS[reading]
    for attempt in range(_DRAWS):
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{seed}/{name}/{attempt}")  # noqa: S311 - no secret
        text = json.dumps(draw_schema(family, rng, reading))
        instances = make_instances(text, dialect, seed, count=_WITNESSES)
        if reading == "paper" or _is_answerable(instances):
            return Record(
                id=f"{name}_s{seed}" if seed else name,
                group=family.name,
                schema=text,
                dialect=dialect,
                instances=recorded_instances(instances),
            )
    raise ValueError(f"{name}: no schema of {_DRAWS} drawn has a short witness")


def draw_schema(family: SchemaFamily, rng: random.Random, reading: Reading) -> Schema:
    """Draw a schema of a family, satisfiable or not."""
    match family.root:
        case "number":
            return _number(rng, family.high)
        case "string":
            return _string(rng, family.high, reading)
        case "array":
            return _array(rng, family.high, reading)
    return _object(rng, family.high, reading)


def _is_answerable(instances: SchemaInstances) -> bool:
    return any(len(row.text) <= LONGEST_ANSWER for row in instances.witnesses)


#: `date-time` is misspelt in the published schemas, so that validators ignore it.
_MISSPELT: Final = "data-time"
#: The smallest divisor of two decimals; 0 would be no schema.
_SMALLEST_DIVISOR: Final = 0.01


def _number(rng: random.Random, high: int, *, inner: bool = False) -> Schema:
    """Draw a schema of a number between 0 and `high`, each bound optional.

    Inside an object or array the bounds are anywhere between 0 and `high`.
    """
    lowest = rng.uniform(0, high) if inner else 0
    bounds: Schema = {}
    _put(bounds, rng.choice(("", "minimum", "exclusiveMinimum")), lowest)
    largest = rng.uniform(lowest, high) if inner else high
    _put(bounds, rng.choice(("", "maximum", "exclusiveMaximum")), largest)
    divisor: Schema = {}
    _put(
        divisor,
        rng.choice(("", "multipleOf")),
        max(_SMALLEST_DIVISOR, round(rng.uniform(0, high), 2)),
    )
    return {"type": "number"} | _in_either_order(rng, divisor, bounds)


def _string(
    rng: random.Random, high: int, reading: Reading, *, inner: bool = False
) -> Schema:
    """Draw a schema of a string of at most `high` characters or of any length.

    Inside an object or array the lengths are anywhere between 0 and `high`.
    """
    shortest = 0
    longest = high
    if inner:
        shortest, longest = sorted(rng.randint(0, high) for _ in range(2))
    lengths: Schema = {}
    _put(lengths, rng.choice(("", "minLength")), shortest)
    _put(lengths, rng.choice(("", "maxLength")), longest)
    form: Schema = {}
    _put(form, rng.choice(("", "format")), _format(rng, reading))
    return {"type": "string"} | _in_either_order(rng, form, lengths)


def _format(rng: random.Random, reading: Reading) -> str:
    name: str = rng.choice(TEXTS["formats"])
    return _MISSPELT if name == "date-time" and reading == "paper" else name


def _put(schema: Schema, keyword: str, value: Json) -> None:
    """Add a keyword; an empty name adds none."""
    if keyword:
        schema[keyword] = value


def _in_either_order(rng: random.Random, base: Schema, second: Schema) -> Schema:
    return base | second if rng.choice((True, False)) else second | base


_PROPERTIES: Final = ("any", "boolean", "null", "number", "string")
_ITEMS: Final = ("number", "string", "boolean", "object")


def _object(rng: random.Random, high: int, reading: Reading) -> Schema:
    """Draw a schema of an object of 1 to `high` properties, each a scalar or anything.

    `required` appears only with `additionalProperties: true`, as in the published
    schemas, and may be empty.
    """
    names = rng.sample(WORDS, rng.randint(1, high))
    schema: Schema = {
        "type": "object",
        "properties": {name: _inner(rng, _PROPERTIES, high, reading) for name in names},
    }
    is_open = rng.choice((True, False))
    schema["additionalProperties"] = is_open
    if is_open:
        schema["required"] = _required(rng, names)
    return schema


def _array(rng: random.Random, high: int, reading: Reading) -> Schema:
    """Draw a schema of an array, by `items` or by `contains`.

    `contains` may come with `minContains` and `maxContains`. The published schemas
    have them with `items` too, where they mean nothing, and their `minContains` is 0.
    """
    holder = rng.choice(("items", "contains"))
    schema: Schema = {"type": "array", holder: _inner(rng, _ITEMS, high, reading)}
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


def _inner(
    rng: random.Random, kinds: Sequence[str], high: int, reading: Reading
) -> Schema:
    """Draw the schema of a property or an item, of one of some kinds."""
    kind = rng.choice(kinds)
    match kind:
        case "any":
            return {}
        case "number":
            return _number(rng, high, inner=True)
        case "string":
            return _string(rng, high, reading, inner=True)
        case "object":
            return _object(rng, high, reading)
    return {"type": kind}


def _required(rng: random.Random, names: list[str]) -> list[Json]:
    if rng.choice((True, False)):
        return []
    required = set(rng.sample(names, rng.randint(0, len(names))))
    return [name for name in names if name in required]


def records(request: RecordRequest, settings: ConcodeSettings) -> RecordSet:
    """Return the records of the suite's own schemas, or of those that `--data` names.

    Raises:
        BadConfiguration: a representation or a format does not exist.
        CsbdataError: the data cannot be read or fetched.
    """
    if request.data is None:
        generated = _own_records(settings.count, request.seed, settings)
        return RecordSet(
            name="concodeeval", origin=GENERATED, records=generated, generated=True
        )
    data = open_data(
        request.data,
        selection=replace(request, limit=settings.count, ids=frozenset()),
        settings=request.fetch,
    )
    return RecordSet(
        name=data.name,
        origin=data.origin,
        records=list(records_of(data.records(), request.seed, settings)),
    )


def generate(count: int, seed: int, settings: ConcodeSettings) -> Iterator[Record]:
    """Yield the records of a number of the suite's own schemas."""
    schemas = generate_schemas(count, seed, settings.reading)
    return records_of(schemas, seed, settings)


@lru_cache(maxsize=2)
def _own_records(
    count: int, seed: int, settings: ConcodeSettings
) -> tuple[Record, ...]:
    """Return the suite's own records, cached."""
    return tuple(generate(count, seed, settings))


def records_of(
    records: Iterable[Record], seed: int, settings: ConcodeSettings
) -> Iterator[Record]:
    """Yield the records of schemas, all cells of one schema together.

    A schema that a representation cannot express has no record there.

    Args:
        records: Schemas with their instances.
        seed: Seed of the choice of instances in task 2.
        settings: The tasks, representations and formats.
    """
    names = _choices("representations", settings.representations, [*REPRESENTATIONS])
    outputs = msgspec.convert(
        _choices("outputs", settings.outputs, [*OUTPUTS]), list[Output]
    )
    labelled = LabelledSamples(settings.samples, settings.yes_share, seed)
    for record in records:
        parsed = parse(record.constraint.encode("utf-8", "surrogatepass"))
        if isinstance(parsed, Rejected):
            continue
        schema = plain(parsed)
        instances = [*labelled.of(record)] if settings.task != "generation" else []
        for name in names:
            try:
                text = REPRESENTATIONS[name].write(schema)
            except InexpressibleError:
                continue
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
                yield from _validation_records(record, fields, instances)


def _validation_records(
    record: Record, fields: RecordFields, instances: Sequence[Instance]
) -> Iterator[Record]:
    for number, instance in enumerate(instances, start=1):
        yield msgspec.structs.replace(
            fields,
            task="validation",
            sample=instance.text,
            label="yes" if instance.valid else "no",
            keyword=instance.keyword,
        ).record(f"{number}_{record.id}", record.dialect)


def _choices(setting: str, text: str, choices: list[str]) -> list[str]:
    """Return the comma-separated names of a setting, each once.

    Raises:
        BadUsage: one does not exist, or none is named.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    unknown = [name for name in names if name not in choices]
    if unknown or not names:
        message = f"{setting} has no {unknown[0]!r}" if unknown else f"no {setting}"
        raise BadUsage(f"--set {message}", then=f"choose from {', '.join(choices)}")
    return names


#: Characters of the longest sample.
LONGEST_SAMPLE: Final = 4_000


class LabelledSamples:
    """Chooses samples schema by schema, and keeps to the share of valid ones.

    Example:
        >>> chosen = LabelledSamples(per_schema=5, yes_share=0.55, seed=0)
        >>> [sample.valid for sample in chosen.of(schema)]
        [True, False, True, True, False]
    """

    def __init__(self, per_schema: int, yes_share: float, seed: int) -> None:
        """Take the number of samples a schema, and the share of valid ones."""
        self._per_schema = per_schema
        self._share = yes_share
        self._seed = seed
        self._yes = self._count = 0

    def of(self, record: Record) -> Iterator[Instance]:
        """Yield the samples of one schema, in their order.

        A schema with too few distinct instances has fewer; the next schemas make up
        for the share, not for the number.
        """
        compiled = read_schema(record.constraint, record.dialect)
        if isinstance(compiled, Rejected):
            return
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{self._seed}/{record.id}")  # noqa: S311 - no secret
        pool = rng.sample(record.instances, len(record.instances))
        for _ in range(self._per_schema):
            due = self._yes < self._share * (self._count + 1) - 0.5
            certain = (
                instance
                for instance in pool
                if instance.valid is due and is_certain(compiled, instance)
            )
            sample = next(certain, None)
            if sample is None:
                return
            pool.remove(sample)
            self._count += 1
            self._yes += due
            yield sample


def is_certain(compiled: CompiledSchema, instance: Instance) -> bool:
    """Return whether the label of a short instance is beyond doubt."""
    if len(instance.text) > LONGEST_SAMPLE:
        return False
    checked = verdicts(compiled, json.loads(instance.text), ask_jsonschema=True)
    opinions = {
        checked.jsonschema_rs,
        checked.jsonschema_rs_plain,
        checked.jsonschema,
        checked.jsonschema_plain,
    }
    return not checked.error and opinions == {instance.valid}
