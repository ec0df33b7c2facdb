"""The published schema of a line says what is written and what is read, no less."""

from __future__ import annotations

import json
from dataclasses import fields
from importlib.resources import files
from typing import TYPE_CHECKING

import jsonschema
import msgspec
import orjson
import pytest

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.results.outcomes import Outcome, outcome_of
from evaluation.results.reader import LINES, NotARow, parse_row
from evaluation.suites.coverage.judgement import Judgement
from evaluation.suites.coverage.judgement import TextVerdict as Said
from tests.evaluation.made_runs import line, many, row
from tests.evaluation.results.test_reader import HOSTILE
from tests.evaluation.suites.coverage.written_texts import row_of

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

SCHEMA = json.loads(
    files("evaluation.results").joinpath("row.schema.json").read_bytes()
)
_VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one() -> None:
    """It is valid under its own dialect, and names the files that readers look for."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert f" {LINES}:" in SCHEMA["title"]


def test_the_schema_names_every_field_and_word() -> None:
    """No field, result or verdict is missing, and none is there that is not ours."""
    walk = SCHEMA["$defs"]["walk"]["properties"]
    assert set(SCHEMA["properties"]) == {each.name for each in fields(Row)}
    assert set(walk) == {each.name for each in fields(InstanceResult)}
    assert set(SCHEMA["properties"]["result"]["enum"]) == set(Result)
    assert set(walk["verdict"]["enum"]) == set(WalkVerdict)


def _meaning(schema: UntypedJson, definitions: UntypedJson) -> UntypedJson:
    """Return a schema without references and without what only people read."""
    if isinstance(schema, list):
        return [_meaning(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _meaning(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    found = {
        name: {key: _meaning(each, definitions) for key, each in value.items()}
        if name == "properties"
        else _meaning(value, definitions)
        for name, value in schema.items()
        if name not in {"$schema", "$id", "$defs", "title", "description", "default"}
    }
    if "enum" in found:
        return {"enum": sorted(found["enum"])}
    if "anyOf" in found:
        return {"anyOf": sorted(found["anyOf"], key=str)}
    if isinstance(found.get("type"), list):
        return {"anyOf": sorted(({"type": each} for each in found["type"]), key=str)}
    if "required" in found:
        found["required"] = sorted(found["required"])
    return found


def test_the_schema_means_what_the_types_of_a_row_mean() -> None:
    """The published contract and what the reader checks against are one."""
    ours = msgspec.json.schema(Row)
    assert _meaning(SCHEMA, SCHEMA["$defs"]) == _meaning(ours, ours["$defs"])


def test_what_is_written_fits() -> None:
    """Each line that we write is an instance."""
    for each in many("alpha 1.0", 60):
        _VALIDATOR.validate(orjson.loads(line(each)))


@pytest.mark.parametrize("sample", [0, 3])
@pytest.mark.parametrize("judged", [None, Judgement(is_json=True, own=Said.VALID)])
def test_what_a_model_wrote_fits(judged: Judgement | None, sample: int) -> None:
    """The lines of task coverage are instances, too, and stand by their class."""
    step = DecodingStep(fed=1, forward_ns=2, mask_ns=None, wait_ns=3)
    made = row_of(
        Generation(id="o1", result=Result.OK, ending=TextEnding.END, steps=(step,)),
        judged,
        engine="alpha 1.0",
        repeat=sample,
    )
    _VALIDATOR.validate(orjson.loads(line(made)))
    passed = outcome_of(parse_row(line(made))) is Outcome.PASSED
    assert passed == (judged is not None)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "deep"])
def test_what_does_not_fit_is_not_read(name: str) -> None:
    """The reader and the schema refuse the same JSON."""
    try:
        given = json.loads(HOSTILE[name])
    except ValueError:
        return
    with pytest.raises(NotARow):
        parse_row(HOSTILE[name])
    assert not _VALIDATOR.is_valid(given)


@pytest.mark.parametrize("field", [each.name for each in fields(Row)])
def test_a_field_of_another_type_is_refused_by_both(field: str) -> None:
    """Whatever the field, a mistaken value is neither an instance nor a row."""
    given = orjson.loads(line(row()))
    wrongs: tuple[UntypedJson, ...] = (1.5, [[]], "???", {"a": 1})
    for wrong in wrongs:
        changed = {**given, field: wrong}
        content = orjson.dumps(changed)
        if _VALIDATOR.is_valid(changed):
            parse_row(content)
        else:
            with pytest.raises(NotARow):
                parse_row(content)
