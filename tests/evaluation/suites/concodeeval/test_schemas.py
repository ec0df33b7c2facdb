"""The suite's schemas: twelve families, drawn the same every time, all satisfiable."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from curation.instances.regex.words import split
from evaluation.suites.concodeeval.schemas import (
    FAMILIES,
    LONGEST_ANSWER,
    Root,
    SchemaFamily,
    draw_schema,
    generate_schema,
    generate_schemas,
    members,
)
from evaluation.suites.concodeeval.settings import SuiteReading
from tests.evaluation.suites.concodeeval.drawn import SEED, made_schemas

if TYPE_CHECKING:
    from curation.core.json_types import Json


_SMALL_OBJECTS = SchemaFamily(Root.OBJECT, 10)


def _keywords(schema: Json) -> set[str]:
    """Return the keywords of a schema of the families, and of its parts."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    properties = schema.get("properties")
    inner = list(properties.values()) if isinstance(properties, dict) else []
    for part in (schema.get("items"), schema.get("contains"), *inner):
        found |= _keywords(part)
    return found


def _drawn(reading: SuiteReading) -> list[Json]:
    return [
        draw_schema(family, random.Random(seed), reading)
        for family in FAMILIES
        for seed in range(40)
    ]


def test_six_hundred_schemas_are_fifty_of_each_family() -> None:
    """Names and numbers are those of the published files."""
    listed = [family.member(number) for family, number in members()]
    assert len(set(listed)) == 600
    assert {"number_0_10_i_0", "string_0_50_i_49", "composite_0_100_object_i_49"} < set(
        listed
    )
    assert len(members(13)) == 13


def test_every_schema_has_a_short_witness() -> None:
    """What nothing satisfies, or nothing that a model can write, is drawn again."""
    for made in made_schemas():
        valid = [row for row in made.instances if row.valid]
        assert min(len(row.text) for row in valid) <= LONGEST_ANSWER


def test_an_unsatisfiable_draw_is_replaced_unless_the_paper_is_followed() -> None:
    """Of two schemas the second is drawn twice; the paper keeps its first draw."""
    recommended = SuiteReading.RECOMMENDED
    for number, attempt in ((6, 0), (7, 1)):
        name = _SMALL_OBJECTS.member(number)
        draw = random.Random(f"0/{name}/{attempt}")
        schema = json.dumps(draw_schema(_SMALL_OBJECTS, draw, recommended))
        made = generate_schema(_SMALL_OBJECTS, number, 0, recommended)
        assert made.schema == schema
    paper = generate_schema(_SMALL_OBJECTS, 7, 0, SuiteReading.PAPER)
    assert not any(row.valid for row in paper.instances)


def test_the_same_seed_draws_the_same_schema_alone_or_among_others() -> None:
    """A schema depends on seed and id, not on how many are drawn."""
    alone = generate_schema(FAMILIES[0], 1, SEED, SuiteReading.RECOMMENDED)
    assert alone in made_schemas()
    other = generate_schema(FAMILIES[0], 1, SEED + 1, SuiteReading.RECOMMENDED)
    assert other.schema != alone.schema


def test_the_keywords_are_those_of_the_published_schemas() -> None:
    """No enum, pattern, reference or combinator; every family has its root's type."""
    known = set(
        split(
            "type multipleOf minimum exclusiveMinimum maximum exclusiveMaximum format "
            "minLength maxLength items contains minContains maxContains properties "
            "required additionalProperties"
        )
    )
    found = [_keywords(schema) for schema in _drawn(SuiteReading.RECOMMENDED)]
    assert set().union(*found) == known
    for family in FAMILIES:
        schema = draw_schema(family, random.Random(0), SuiteReading.RECOMMENDED)
        assert isinstance(schema, dict)
        assert schema["type"] == Root(family.root).value


def test_typo_and_idle_keywords_stand_in_the_papers_reading_alone() -> None:
    """`data-time` is no format, and `minContains` means nothing beside `items`."""
    recommended = json.dumps(_drawn(SuiteReading.RECOMMENDED))
    paper = json.dumps(_drawn(SuiteReading.PAPER))
    assert "date-time" in recommended
    assert "data-time" not in recommended
    assert "data-time" in paper
    idle = [
        isinstance(schema, dict) and {"items", "minContains"} <= set(schema)
        for reading in SuiteReading
        for schema in _drawn(reading)
    ]
    half = len(idle) // 2
    assert not any(idle[:half])
    assert any(idle[half:])


def test_what_another_seed_draws_has_another_name() -> None:
    """Else runs of two seeds would pair schemas that differ."""
    first, other = (next(generate_schemas(13, seed)).id for seed in (0, 1))
    assert first != other
