"""Schemas are drawn, shown and sampled: one record for each, the same every time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from curation.download.cache import FetchSettings
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.values.words import split
from curation.system.errors import BadConfiguration
from curation.validation.metaschemas import RUST_VALIDATORS
from evaluation.core.records import Instance, Record, RecordRequest, Verdict
from evaluation.core.suite import ScoredRun
from evaluation.runner.request import choose_suite
from evaluation.suites.concodeeval.prompts import prompt, shots
from evaluation.suites.concodeeval.records import (
    FAMILIES,
    MAX_ANSWER,
    generate_schema,
    generate_schemas,
    is_certain,
    is_writable,
    records,
    with_samples,
)
from evaluation.suites.concodeeval.suite import (
    ConcodeSettings,
    Reading,
    read_fields,
)
from tests.evaluation.suites.concodeeval.drawn import (
    SEED,
    drawn,
    made_records,
    made_schemas,
    scored,
)
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curation.core.json_types import Json


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


def _drawn(reading: Reading) -> list[dict[str, Json]]:
    return [drawn(name, seed, reading) for name in FAMILIES for seed in range(40)]


@pytest.mark.parametrize(
    ("family", "number", "attempt"),
    [
        # What nothing satisfies, or nothing that a model can write, is drawn again.
        ("composite_0_10_object", 6, 0),
        ("composite_0_10_object", 7, 1),
    ],
)
def test_an_unsatisfiable_draw_is_replaced_unless_the_paper_is_followed(
    family: str, number: int, attempt: int
) -> None:
    """The paper keeps the first draw."""
    attempts: dict[Reading, int] = {"recommended": attempt, "paper": 0}
    for reading, kept in attempts.items():
        made = generate_schema(family, number, 0, reading)
        schema = drawn(family, f"0/{family}_i_{number}/{kept}", reading)
        assert made.schema == json.dumps(schema)
        valid = [row for row in made.instances if row.valid]
        assert bool(valid) is (kept == attempt)


def test_every_schema_of_the_families_has_a_short_witness() -> None:
    """Twenty-four are two of each family; ids are those of the published files."""
    assert [made.id for made in made_schemas()] == [
        f"{family}_i_{number}_s{SEED}" for family in FAMILIES for number in range(2)
    ]
    assert {"number_0_10", "string_0_50", "composite_0_100_object"} < {*FAMILIES}
    assert generate_schema("number_0_10", 1, 0, "recommended").id == "number_0_10_i_1"
    for made in made_schemas():
        valid = [row for row in made.instances if row.valid]
        assert min(len(row.text) for row in valid) <= MAX_ANSWER


def test_the_same_seed_draws_the_same_schema_alone_or_among_others() -> None:
    """A schema depends on seed and id, not on how many are drawn.

    What another seed draws has another name: else runs would pair schemas that differ.
    """
    alone = generate_schema("number_0_10", 1, SEED, "recommended")
    assert alone in made_schemas()
    other = generate_schema("number_0_10", 1, SEED + 1, "recommended")
    assert other.schema != alone.schema
    assert other.id != alone.id


def test_the_keywords_are_those_of_the_published_schemas() -> None:
    """No enum, pattern, reference or combinator; families have type and bounds."""
    known = set(
        split(
            "type multipleOf minimum exclusiveMinimum maximum exclusiveMaximum format "
            "minLength maxLength items contains minContains maxContains properties "
            "required additionalProperties"
        )
    )
    schemas = _drawn("recommended")
    assert set().union(*map(_keywords, schemas)) == known
    orders = set()
    for number, schema in enumerate(schemas):
        orders.add(" ".join(schema))
        root, high = [*FAMILIES.values()][number // 40]
        assert schema["type"] == root
        assert schema.get("minLength", 0) == schema.get("minimum", 0) == 0
        assert schema.get("maxLength", high) == schema.get("maximum", high) == high
        assert ("required" in schema) is (schema.get("additionalProperties") is True)
    assert {"type format maxLength", "type maxLength format"} <= orders
    # Both bounds were drawn as 0, with which nothing would satisfy `contains`.
    assert drawn("composite_0_10_array", 262, "recommended")["maxContains"] == 1


@pytest.mark.parametrize(
    ("reading", "spelt", "is_idle"),
    [("recommended", "date-time", False), ("paper", "data-time", True)],
)
def test_typo_and_idle_keywords_stand_in_the_papers_reading_alone(
    reading: Reading,
    spelt: str,
    is_idle: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """`data-time` is no format, and `minContains` means nothing beside `items`."""
    schemas = _drawn(reading)
    assert {*re.findall("dat[ae]-time", json.dumps(schemas))} == {spelt}
    assert any({"items", "minContains"} <= {*schema} for schema in schemas) is is_idle


@pytest.mark.parametrize(
    ("schemas", "least", "apart"),
    [
        (made_schemas, 0, 0.02),
        pytest.param(
            lambda: generate_schemas(602, 0, "recommended"),
            2_401,
            0.01,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_both_validators_agree_with_every_label_and_the_share_is_kept(
    schemas: Callable[[], Iterable[Record]], least: int, apart: float
) -> None:
    """55 % of all samples are valid, each schema's are distinct."""
    labels: list[bool] = []
    for made, shown in with_samples(schemas(), 5, 0):
        schema = json.loads(made.constraint)
        for one in shown:
            value = json.loads(one.text)
            assert Draft202012Validator(schema).is_valid(value) is one.valid
            assert RUST_VALIDATORS["2020-12"](schema).is_valid(value) is one.valid
            assert bool(one.keyword) is not one.valid
        assert len({one.text for one in shown}) == len(shown)
        labels += [one.valid for one in shown]
    assert len(labels) >= least
    assert abs(labels.count(True) / len(labels) - 0.55) < apart


def _instance(text: str, *, valid: bool = True) -> Instance:
    return Instance(text=text, valid=valid, kind="random")


@pytest.mark.parametrize(
    ("valid", "invalid", "count", "labels"),
    [
        # Of the first ones 1 of 1, 1 of 2, 2 of 3, ... are due to be valid.
        ([5], [5], 5, ["ynyny"]),
        ([5], [5], 1, ["y"]),
        ([5], [5], 0, [""]),
        # The next schema makes up for the share that one cannot have.
        ([1, 5], [5, 5], 3, ["yn", "yny"]),
        ([0, 0, 5], [5, 5, 5], 2, ["", "", "yn"]),
        ([5, 5], [0, 5], 2, ["y", "ny"]),
    ],
)
def test_a_schema_has_the_samples_that_are_due(
    valid: list[int], invalid: list[int], count: int, labels: list[str]
) -> None:
    """In that order; a schema without one that is due has fewer."""
    schemas = [
        Record(
            id=f"s{place}",
            schema='{"type": "number", "minimum": 0}',
            dialect="2020-12",
            instances=(
                *(_instance(str(number)) for number in range(accepted)),
                *(_instance(str(-1 - n), valid=False) for n in range(refused)),
            ),
        )
        for place, (accepted, refused) in enumerate(zip(valid, invalid, strict=True))
    ]
    found = [shown for _, shown in with_samples(schemas, count, 0)]
    assert ["".join("ny"[one.valid] for one in shown) for shown in found] == labels


@pytest.mark.parametrize(
    ("schema", "text", "valid", "is_shown"),
    [
        ('{"type": "string", "maxLength": 4000}', '"deck"', True, True),
        ('{"type": "string", "maxLength": 2}', '"deck"', False, True),
        # A wrong label, and one that depends on whether formats are asserted.
        ('{"type": "string", "maxLength": 2}', '"deck"', True, False),
        ('{"type": "string", "format": "date"}', '"soon"', False, False),
        # XML has no bell, and ends lines with a line feed.
        ('{"type": "string"}', '"bell \\u0007"', True, False),
        ('{"type": "string"}', '"a\\rb"', True, False),
        ('{"type": "string"}', '"a\\tb\\n"', True, True),
        ('{"type": "string"}', f'"{"x" * 3_998}"', True, True),
        ('{"type": "string"}', f'"{"x" * 3_999}"', True, False),
    ],
)
def test_a_sample_is_short_certain_and_text_in_every_format(
    schema: str,
    text: str,
    valid: bool,  # noqa: FBT001 (a parameter)
    is_shown: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """Nobody could tell which label is right otherwise, or read it."""
    instance = _instance(text, valid=valid)
    compiled = CompiledSchema.from_json(json.loads(schema), "2020-12")
    shown = is_writable(instance) and is_certain(compiled, instance)
    assert shown is is_shown


_SMALL = ConcodeSettings(representations="python,nl", outputs="json,xml", samples=2)


def test_every_cell_asks_about_the_same_schemas() -> None:
    """So that representations can be compared in pairs."""
    made = made_records(_SMALL)
    by_cell: dict[str, list[str]] = {}
    for record in made:
        cell, _, name = record.id.partition(":")
        fields = read_fields(record)
        assert cell.split("-") == [fields.task, fields.representation, fields.output]
        by_cell.setdefault(cell, []).append(f"{record.group}/{name}")
    assert len(by_cell) == 8
    assert by_cell["generation-python-json"] == by_cell["generation-nl-xml"]
    assert by_cell["validation-python-json"] == by_cell["validation-nl-xml"]
    assert len(by_cell["generation-nl-json"]) == 24
    assert len({record.key for record in made}) == len(made)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"representations": "json,toml"}, r"no 'toml'.*choose from"),
        ({"outputs": "toml"}, r"no 'toml'.*choose from"),
        ({"outputs": ""}, r"no ''.*choose from"),
        ({"samples": 0}, "samples"),
        ({"count": 0}, "count"),
        ({"budget": 0}, "budget"),
        ({"tasks": "x"}, "tasks"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(
    values: dict[str, Json], why: str
) -> None:
    """One line, before anything is drawn or asked."""
    with pytest.raises(BadConfiguration, match=why):
        made_records(choose_suite("concodeeval", values).settings)  # type: ignore[arg-type]  # this suite's


def test_the_published_settings_are_one_name() -> None:
    """The scripts' prompt and budget."""
    published = ConcodeSettings(reading="paper", form="base", verdict_budget=20)
    assert choose_suite("concodeeval", {}, "paper").settings == published


def test_the_records_are_those_of_its_schemas_alone() -> None:
    """As many as the settings say; `--data` would be ignored, so it is refused."""
    fetch = FetchSettings(mirror=None, cache=Path())
    settings = ConcodeSettings(
        count=13, task="generation", outputs="xml,json", representations="nl"
    )
    found = records(RecordRequest(data=None, fetch=fetch), settings)
    assert found.generated
    assert len(found.records) == 26
    assert len({read_fields(record).family for record in found.records}) == 12
    with pytest.raises(BadConfiguration, match="no --data"):
        records(RecordRequest(data="build", fetch=fetch), settings)


@pytest.mark.parametrize(
    ("cell", "settings", "pattern", "budget"), table(__file__, "prompts")
)
def test_a_prompt_has_the_form_that_is_asked_for(
    cell: str, settings: dict[str, Any], pattern: str, budget: int
) -> None:
    """Chat asks for a fence and a base form opens it; examples are those of Table 2.

    Task 2 shows schema and sample, and a description without its request.
    """
    record = next(it for it in made_records(_SMALL) if it.id.startswith(cell))
    asked = prompt(record, ConcodeSettings(**settings))
    (turn,) = asked.messages
    assert re.fullmatch(pattern, turn.content, re.DOTALL), turn.content
    assert asked.budget == budget


def test_examples_are_mined_from_the_most_frequent_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the family and with the keyword, the shortest sample; else a fixed one."""
    failed = [("number_0_10", "multipleOf")] * 2 + [("string_0_10", "maxLength")]
    details: list[dict[str, Json]] = [
        {"task": "generation", "family": family, "keywords": {keyword: 1}}
        for family, keyword in failed
    ]
    details.append({"task": "validation", "family": "number_0_50"})
    answers = [scored(Verdict(passed=False, details=facts)) for facts in details]
    run = ScoredRun(facts={}, by_label={"mine": answers})
    monkeypatch.setattr("evaluation.results.reader.open_run", lambda _: run)
    monkeypatch.setattr("evaluation.results.suite_rows.scored_run", lambda *_: run)
    found = shots(ConcodeSettings(errors="mined"))
    shortest = {"number_0_10": "0", "string_0_10": '"^solid$"'}
    for (schema, sample), (family, keyword) in zip(found, failed[1:], strict=False):
        assert json.loads(schema)["type"] == family.partition("_")[0]
        assert keyword in schema
        assert sample == shortest[family]
    assert found[2:] == shots(ConcodeSettings())[:1]
