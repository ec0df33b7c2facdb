"""Draw the schemas of the suite: twelve families, each schema with a witness.

The published generator is not public: this one is a reconstruction from the paper's
description and from the schemas that it shows. A family is a kind of root and a bound
of its sizes: `string_0_50`, `composite_0_10_array`. A member's id adds its number:
`string_0_50_i_3`.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.dataset.make_instances import SchemaInstances, make_instances
from curation.instances.values.words import WORDS
from evaluation.core.records import Record
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.suite import DEFAULT_COUNT, DIALECTS, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json

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


#: The formats of the published schemas, `date-time` among them.
FORMATS: Final = (
    *("date", "time", "date-time", "duration", "email", "idn-email", "hostname"),
    *("idn-hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference"),
    *("uri-template", "uuid", "json-pointer", "relative-json-pointer", "regex"),
)
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
    name = rng.choice(FORMATS)
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
