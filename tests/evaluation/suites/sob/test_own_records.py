"""Our own records: their truth follows from their text, and a reader can tell."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import jsonschema
import pytest
from msgspec.structs import replace

from curation.json.text import canonical
from curation.system.errors import NoInput
from evaluation.suites.sob.forms import (
    FEWEST,
    MOST,
    WRITTEN,
    _form,
    forms,
    kind,
    leaf_schemas,
)
from evaluation.suites.sob.generator import (
    LONGEST,
    OWN_RECORDS,
    SHORTEST,
    generated_records,
)
from evaluation.suites.sob.metrics import (
    PUBLISHED,
    RECOMMENDED,
    Expectation,
    Metric,
    score_answer,
)
from tests.evaluation.suites.sob.reader import read_truth

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.suites.sob.records import SobRecord


@cache
def _records() -> list[SobRecord]:
    return list(generated_records())


def test_there_are_enough_records_of_every_source_and_form() -> None:
    """All different, a third of each source, of every form that the sample has."""
    records = _records()
    assert len({record.record_id for record in records}) == OWN_RECORDS >= 150
    sources = Counter(record.source for record in records)
    assert sources == {"text": 60, "image": 60, "audio": 60}
    distinct = {canonical(record.json_schema) for record in records}
    assert len(distinct) > 45
    assert len(distinct) >= len(forms("")) * 3 // 4
    lengths = sorted(len(record.context) for record in records)
    assert lengths[0] >= SHORTEST
    assert lengths[len(lengths) // 2] > 1_500
    assert 10_000 < lengths[-1] <= LONGEST
    assert set(Counter(record.question_difficulty for record in records)) == {
        "easy",
        "medium",
        "hard",
    }


def test_a_second_reader_finds_every_leaf() -> None:
    """From text, question and schema alone it writes the truth, leaf by leaf."""
    for record in (*_records(), *generated_records(60, seed=7)):
        assert canonical(read_truth(record)) == canonical(record.ground_truth)


@pytest.mark.parametrize("values", [[-90, 0, 90], ["in::out", "in | out"]])
def test_a_choice_is_told_as_its_type_is(tmp_path: Path, values: list[Json]) -> None:
    """Numbers in digits, and texts in quotation marks, whatever they hold."""
    choices = {f"angle_{place}": {"enum": values} for place in range(8)}
    properties = choices | {"upright": {"enum": [True]}}
    schema = {"type": "object", "properties": properties}
    (tmp_path / "a.json").write_text(json.dumps(schema), "utf-8")
    for record in generated_records(6, schemas=str(tmp_path)):
        assert ("“" in record.context) is isinstance(values[0], str)
        assert canonical(read_truth(record)) == canonical(record.ground_truth)


def test_the_reader_reads_the_text() -> None:
    """A leaf that the text tells otherwise is another leaf in what it reads."""
    changed = sum(
        read_truth(replace(record, context=record.context.replace(" 1", " 2")))
        != record.ground_truth
        for record in _records()[:60]
    )
    assert changed > 20


def test_every_leaf_says_how_it_is_written() -> None:
    """Forms have 8 to 80 leaves, each with its form, and null where it may be."""
    for _, form in forms(""):
        jsonschema.Draft202012Validator.check_schema(form)
        leaves = list(leaf_schemas(form))
        assert FEWEST <= len(leaves) <= MOST
        for what, leaf in leaves:
            assert what
            assert WRITTEN[kind(leaf)] in leaf["description"]
            assert ("null if" in leaf["description"]) == isinstance(leaf["type"], list)


def test_the_truth_is_valid_and_worth_everything_in_both_readings() -> None:
    """But for Type Safety of the code, which knows no null."""
    for record in _records()[:60]:
        jsonschema.validate(record.ground_truth, record.json_schema)
        for rules in (RECOMMENDED, PUBLISHED):
            expected = Expectation.of(
                record.ground_truth, record.json_schema, record.source, rules
            )
            found = score_answer(record.ground_truth, expected).values
            lowered = {metric for metric in Metric if found[metric] < 1}
            assert lowered <= {Metric.TYPE_SAFETY}
            assert not lowered or None in expected.leaves.values()


def test_the_same_arguments_give_the_same_records() -> None:
    """And the first of more are those of fewer; another seed gives others."""
    ids = [record.record_id for record in _records()]
    assert [record.record_id for record in generated_records(30)] == ids[:30]
    assert not {record.record_id for record in generated_records(30, seed=1)} & {*ids}


def test_schemas_that_no_text_can_tell_are_no_input(tmp_path: Path) -> None:
    """It is said what a schema must have."""
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    with pytest.raises(NoInput, match="8 to 80 leaves"):
        list(generated_records(1, schemas=str(tmp_path)))


def test_a_schema_of_many_members_that_refer_to_itself_has_no_form() -> None:
    """It is given up, whatever its parts have for parts."""
    members: dict[str, Json] = {f"p{n}": {"$ref": "#"} for n in range(30)}
    assert _form({"type": "object", "properties": members}) is None
