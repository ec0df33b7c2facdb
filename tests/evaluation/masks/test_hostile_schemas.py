"""Schemas that hurt engines: whatever comes of them, the run goes on and says it."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from curation.download.cache import FetchSettings
from evaluation.core.cases import Bounds, Result, WalkVerdict
from evaluation.setup.engine_files import find_engine
from evaluation.setup.environments import find_interpreter
from tests.evaluation.measuring import measured, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row
    from evaluation.core.records import Record

_BOUNDS = Bounds(compile_seconds=3.0, run_seconds=3.0, memory_mb=1024)
#: Calls that ask again.
_TURNS = 3


def _nested(levels: int) -> UntypedJson:
    schema: UntypedJson = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def _object(**properties: UntypedJson) -> UntypedJson:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


NASTY: dict[str, UntypedJson] = {
    "many-items": {"type": "array", "items": {"type": "integer"}, "minItems": 10_000},
    "long-text": {"type": "string", "maxLength": 100_000},
    "recursion": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "endless": {"$ref": "#/$defs/a", "$defs": {"a": _object(a={"$ref": "#/$defs/a"})}},
    "large-enum": {"enum": [f"value {index}" for index in range(20_000)]},
    "unsatisfiable": {"allOf": [{"type": "string"}, {"type": "integer"}]},
    "forbidden": _object(a=False),
    "formats": _object(
        a={"type": "string", "format": "date-time"},
        b={"type": "string", "format": "email"},
        c={"type": "string", "format": "uri"},
    ),
    "not": {"not": {"type": "string"}},
    "conditional": {"if": {"type": "string"}, "then": {"minLength": 3}},
    "unique": {"type": "array", "uniqueItems": True},
    "remote": {"$ref": "http://127.0.0.1:9/schema.json"},
    "deep": _nested(400),
    "optional": {
        "type": "object",
        "properties": {f"p{index}": {"type": "integer"} for index in range(1000)},
        "additionalProperties": False,
    },
    "lookbehind": {"type": "string", "pattern": "(?<=a)b"},
    "backtracking": {"type": "string", "pattern": "^(a+)+$"},
    "alternatives": {
        "anyOf": [
            _object(**{letter: {"type": "string"}}) for letter in string.ascii_letters
        ]
    },
    "surrogate": {"enum": ["\ud800"]},
    "true": True,
    "no-keyword": {"\u0000": "\u0000"},
}
_WELL = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def _samples() -> list[Record]:
    """Return every nasty schema, each followed by one that is well."""
    schemas = []
    for name, schema in NASTY.items():
        schemas += [(name, schema), (f"after {name}", _WELL)]
    return [
        structs.replace(sample(name, '{"a": 1}'), schema=json.dumps(schema))
        for name, schema in schemas
    ]


def _rows(folder: Path, spec: str) -> dict[str, Row]:
    found = find_interpreter(FetchSettings.from_environment().cache, find_engine(spec))
    if isinstance(found, str):
        pytest.skip(found)
    samples = _samples()
    request = replace(
        request_of(folder, samples, bounds=_BOUNDS),
        fetch=FetchSettings.from_environment(),
    )
    totals, run = measured(folder, [spec], request)
    assert not totals.unavailable
    assert totals.ran == len(samples)
    for _ in range(_TURNS):
        # What a busy machine left undecided the same call asks again.
        if run.undecided:
            _, run = measured(folder, [spec], request)
    rows = {each.id: each for each in run.rows()}
    assert len(samples) == len(rows)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    ["llguidance", "outlines_core", "lm_format_enforcer", "xgrammar", "llama_cpp"],
)
def test_a_nasty_schema_is_an_outcome(spec: str, tmp_path: Path) -> None:
    """Each has one row with a reason, and the schema after it is measured well."""
    rows = _rows(tmp_path, spec)
    for name in NASTY:
        row, after = rows[name], rows[f"after {name}"]
        assert row.result is not Result.PROTOCOL_ERROR, (name, row.detail)
        assert row.result is Result.OK or row.detail, name
        assert after.result is Result.OK, (name, after.detail)
        assert [each.verdict for each in after.walks] == [WalkVerdict.ACCEPTED], name
