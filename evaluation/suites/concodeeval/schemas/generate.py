"""Draw the schemas of the suite, each proven satisfiable by a witness.

The published generator is not public: this one is a reconstruction from the paper's
description and from the schemas that it shows.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.dataset.make_instances import make_instances
from evaluation.core.cases import Instance, Sample
from evaluation.suites.concodeeval.compatibility import SuiteReading
from evaluation.suites.concodeeval.schemas.composites import array_schema, object_schema
from evaluation.suites.concodeeval.schemas.families import (
    DEFAULT_COUNT,
    Root,
    SchemaFamily,
    members,
)
from evaluation.suites.concodeeval.schemas.scalars import root_number, root_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.satisfiability import Satisfiability

#: Characters of the smallest witness of a schema: within a budget of 1,024 tokens a
#: model can write it.
LONGEST_ANSWER: Final = 2_000
#: Witnesses that are looked for.
_WITNESSES: Final = 5
#: Draws for one id before it is a fault of the generator.
_DRAWS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSchema:
    """A schema of the suite with its instances, and whether it can be met."""

    #: Its `config` is the family's name.
    sample: Sample
    #: `satisfiable` unless the reading is the paper's.
    satisfiable: Satisfiability
    #: Schemas drawn before it and left: unsatisfiable, without a witness, or with none
    #: of at most `LONGEST_ANSWER` characters.
    dropped: int


def generate_schemas(
    count: int = DEFAULT_COUNT,
    seed: int = 0,
    reading: SuiteReading = SuiteReading.RECOMMENDED,
) -> Iterator[GeneratedSchema]:
    """Yield schemas family by family; equal arguments give equal ones.

    A schema does not depend on how many others are drawn.

    Args:
        count: How many, spread evenly over the twelve families.
        seed: Another one gives other schemas.
        reading: `PAPER` keeps the misspelt format, the idle keywords and the schemas
            that nothing satisfies; a schema may then have no instance.

    Raises:
        ValueError: `count` is negative.

    Example:
        >>> first = next(generate_schemas(12))
        >>> first.sample.id, first.satisfiable
        ('number_0_10_i_0', <Satisfiability.SATISFIABLE: 'satisfiable'>)
    """
    for family, number in members(count):
        yield generate_schema(family, number, seed, reading)


def generate_schema(
    family: SchemaFamily, number: int, seed: int, reading: SuiteReading
) -> GeneratedSchema:
    """Return one schema of a family, by its number.

    Raises:
        ValueError: none of a hundred draws has a witness, which only an edited
            family can bring about.
    """
    name = family.member(number)
    for attempt in range(_DRAWS):
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{seed}/{name}/{attempt}")  # noqa: S311 - no secret
        text = json.dumps(draw_schema(family, rng, reading))
        made = make_instances(text, reading.dialect, seed, count=_WITNESSES)
        if reading is SuiteReading.PAPER or _is_answerable(made):
            sample = Sample(
                id=name,
                config=family.name,
                split="",
                schema=text,
                dialect=reading.dialect,
                instances=_instances(made),
            )
            return GeneratedSchema(
                sample=sample, satisfiable=made.answer, dropped=attempt
            )
    raise ValueError(f"{name}: no schema of {_DRAWS} drawn has a short witness")


def draw_schema(
    family: SchemaFamily, rng: random.Random, reading: SuiteReading
) -> Json:
    """Draw a schema of a family, whether anything satisfies it or not."""
    match family.root:
        case Root.NUMBER:
            return root_number(rng, family.high)
        case Root.STRING:
            return root_string(rng, family.high, reading)
        case Root.ARRAY:
            return array_schema(rng, family.high, reading)
    return object_schema(rng, family.high, reading)


def _is_answerable(made: SchemaInstances) -> bool:
    return any(len(row.text) <= LONGEST_ANSWER for row in made.witnesses)


def _instances(made: SchemaInstances) -> tuple[Instance, ...]:
    return tuple(
        Instance(
            text=row.text,
            valid=row.valid,
            kind=row.kind,
            keyword=row.keyword,
            schema_pointer=row.schema_pointer,
        )
        for row in made.instances
    )
