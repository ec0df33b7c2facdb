"""What is made of a schema follows from the schema alone; MaskBench's format."""

from __future__ import annotations

import doctest
import gc
import json
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.core.benchmark import InstanceKind
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset import make_instances as module
from curation.instances.dataset import worker
from curation.instances.dataset.make_instances import make_instances
from curation.instances.dataset.records import (
    compute_meta,
    maskbench_names,
    maskbench_text,
)
from curation.instances.dataset.worker import InstanceRequest, program, start, witnesses
from curation.lint.satisfiability import Satisfiability
from curation.system.user_files import parse_name
from curation.workers.child import collecting
from curation.workers.limits import DOCUMENT_BYTES, Ending, Limits
from curation.workers.process import Program
from curation.workers.worker import Worker
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.dataset.make_instances import SchemaInstances


_DRAFT = "draft-07"


#: A text, or a choice between texts, each of them maybe another choice: a search in it
#: goes deep before it ends.
(_DEEP,) = table(__file__, "deep")


def _made_inside(frames: int) -> SchemaInstances:
    if frames:
        return _made_inside(frames - 1)
    return make_instances(json.dumps(_DEEP), _DRAFT)


@pytest.mark.slow
def test_the_depth_of_the_caller_decides_nothing() -> None:
    """What is made a few frames deep, in a thread, is made among more of them."""
    with ThreadPoolExecutor(1) as threads:
        made = [threads.submit(_made_inside, frames).result() for frames in (0, 9, 18)]
    assert made[0].instances
    assert made == made[:1] * 3


@pytest.mark.slow
def test_a_search_ends_at_a_level_and_never_for_want_of_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three quarters of them are enough, whatever is cached or imported by then.

    Where frames ran out, the record before it in the same process decided.
    """
    made = _made_inside(0)
    monkeypatch.setattr(module, "_FRAMES", module._FRAMES * 3 // 4)
    assert _made_inside(0) == made


def test_the_interpreters_limit_is_the_callers_again() -> None:
    """After a call, whatever it was before."""
    before = sys.getrecursionlimit()
    make_instances("{}", _DRAFT)
    assert sys.getrecursionlimit() == before


_SCHEMA: dict[str, object] = {"type": "integer", "minimum": 3}


def test_witnesses_and_near_misses_are_values() -> None:
    """A witness is accepted, and a near miss says which keyword refuses it."""
    found = witnesses(_SCHEMA)
    assert found.answer is Satisfiability.SATISFIABLE
    assert found.dialect == "2020-12"
    assert found.witnesses[0].kind == InstanceKind.MINIMAL
    assert all(isinstance(row.value, int) and row.value >= 3 for row in found.witnesses)
    assert (2, "minimum") in [(row.value, row.keyword) for row in found.near_misses]
    assert {*found.witnesses, *found.near_misses} == {*found.instances}


_COSTLY = """
import os
from curation.instances.dataset.worker import start as start_whole
from curation.workers.protocol import serve

def start(setup):
    handle = start_whole(setup)
    return lambda request: handle(request) if request.get("lean") else os.abort()

serve(start)
"""


@pytest.mark.slow
def test_a_schema_that_costs_too_much_has_witnesses_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by `csbdata instances`: both take one way, which tries without near misses."""
    file = tmp_path / "worker.py"
    file.write_text(_COSTLY)
    program = Program(file=file, setup=worker.InstanceSetup())
    monkeypatch.setattr(worker, "program", lambda *_: program)
    found = witnesses(_SCHEMA)
    assert found.witnesses
    assert found.near_misses == ()
    assert found.detail.startswith("without near misses: crashed")
    request = worker.InstanceRequest(schema=json.dumps(_SCHEMA), dialect="")
    assert [found] == list(worker.witnesses_of_each([request]))


def test_a_schema_may_be_given_as_text() -> None:
    """The text of a schema gives what the schema gives."""
    assert witnesses(json.dumps(_SCHEMA)) == witnesses(_SCHEMA)


@pytest.mark.slow
def test_the_count_is_the_most_that_is_looked_for() -> None:
    """One witness is the smallest one; more are more, all distinct."""
    (only,) = witnesses(_SCHEMA, count=1).witnesses
    assert only.kind == InstanceKind.MINIMAL
    texts = [row.text for row in witnesses(_SCHEMA, count=12).witnesses]
    assert 4 < len(texts) <= 12
    assert len({*texts}) == len(texts)


def test_a_dialect_decides_what_keywords_mean() -> None:
    """`exclusiveMinimum: true` is a schema of draft-04 alone."""
    strict: dict[str, object] = {**_SCHEMA, "exclusiveMinimum": True}
    assert witnesses(strict, dialect="draft-04").answer is Satisfiability.SATISFIABLE
    assert witnesses(strict, dialect="2020-12").reason == "unusable"


@pytest.mark.parametrize(
    ("schema", "answer", "reason"),
    [
        (False, Satisfiability.UNSATISFIABLE, "proof"),
        ("{", Satisfiability.UNKNOWN, "not_json"),
        ({"$ref": "elsewhere.json"}, Satisfiability.UNKNOWN, "unusable"),
    ],
)
def test_without_a_witness_there_is_a_reason(
    schema: dict[str, object] | bool | str,  # noqa: FBT001 (a boolean is a schema)
    answer: Satisfiability,
    reason: str,
) -> None:
    """What cannot be read or met is no error; the result says why."""
    found = witnesses(schema)
    assert (found.answer, found.reason, found.instances) == (answer, reason, ())


def test_arguments_that_mean_nothing_are_errors() -> None:
    """An unknown dialect and a count of none are the caller's mistakes."""
    with pytest.raises(ValueError, match="no dialect 'draft-05'"):
        witnesses(_SCHEMA, dialect="draft-05")
    with pytest.raises(ValueError, match="1 or more"):
        witnesses(_SCHEMA, count=0)


def test_the_example_of_the_docstring_is_so() -> None:
    """The docstring shows what is returned."""
    failed, run = doctest.testmod(worker)
    assert (failed, run > 0) == (0, True)


_CHOICE = {
    "type": "object",
    "properties": {name: {"type": "string", "format": "date"} for name in "abcdefgh"},
    "required": ["a"],
    "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
}


def _alive() -> list[CompiledSchema]:
    return [each for each in gc.get_objects() if type(each) is CompiledSchema]


def test_nothing_of_a_schema_is_left_when_it_is_done() -> None:
    """Its parts refer to each other, and are collected before the next one comes."""
    # Held here, so that none of them is taken for a new one, whoever lets go of it.
    before = _alive()
    known = set(map(id, before))
    gc.disable()
    try:
        handle = collecting(start({"seed": 0}))
        for dialect in ("draft-07", "2020-12", ""):
            unit = InstanceRequest(schema=json.dumps(_CHOICE), dialect=dialect)
            answer = handle(msgspec.to_builtins(unit))
            assert isinstance(answer, dict)
            assert answer["instances"]
            assert known.issuperset(map(id, _alive()))
    finally:
        gc.enable()


def resources(count: int) -> dict[str, Json]:
    """Return a schema of resources, each of which may contain any of them."""
    rng = random.Random(count)
    names = [f"Resource{number}" for number in range(count)]
    any_of_them: Json = {"oneOf": [{"$ref": f"#/definitions/{name}"} for name in names]}
    definitions: dict[str, Json] = {"Any": any_of_them}
    for name in names:
        fields: dict[str, Json] = {
            f"field{number}": {
                "type": "string",
                "pattern": f"^[a-z]{{1,{number + 1}}}$",
            }
            for number in range(12)
        }
        definitions[name] = {
            "type": "object",
            "properties": {
                "kind": {"const": name},
                **fields,
                "next": {"$ref": f"#/definitions/{rng.choice(names)}"},
                "contained": {"type": "array", "items": {"$ref": "#/definitions/Any"}},
            },
            "required": ["kind"],
            "additionalProperties": False,
        }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
        "$ref": "#/definitions/Any",
    }


@pytest.mark.slow
def test_memory_does_not_grow_with_schemas_times_schemas() -> None:
    """Each branch leads to all the others; a validator for each would be 400 MB."""
    limits = Limits(memory_mb=96, seconds=60.0, wall_times=8.0)
    request = InstanceRequest(
        schema=json.dumps(resources(150)), dialect="", lean=True, covering=2
    )
    with Worker(program(), limits) as child:
        result = child.ask(request)
    assert result.ending is Ending.OK, result.detail


def test_shared_and_single_validators_agree() -> None:
    """A value is judged alike by one of the first subschemas asked and a later one."""
    schema = resources(30)
    shared = CompiledSchema.from_json(schema, "draft-07")
    places = [
        shared.location_at(("definitions", "Any", "oneOf", str(n))) for n in range(30)
    ]
    values: list[Json] = [{"kind": f"Resource{n}"} for n in range(30)]
    for number, place in enumerate(places):
        accepted = [shared.accepts(place, value) for value in values]
        assert accepted == [other == number for other in range(30)]


@pytest.mark.slow
def test_time_grows_as_the_schema_does() -> None:
    """Four times the resources take less than nine times the processor time."""

    def seconds(count: int) -> float:
        compiled = CompiledSchema.from_json(resources(count), "draft-07")
        value: Json = {"kind": "Resource0"}
        start = time.process_time()
        for number in range(count):
            place = ("definitions", "Any", "oneOf", str(number))
            compiled.accepts(compiled.location_at(place), value)
        return time.process_time() - start

    seconds(40)
    large, small = (min(seconds(n) for _ in range(3)) for n in (320, 80))
    assert large < 9 * max(small, 0.01)


def test_a_huge_schema_gets_witnesses_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The detail says why there are no near misses."""
    made = make_instances(json.dumps(resources(8)))
    assert made.near_misses
    monkeypatch.setattr("curation.instances.dataset.make_instances.HUGE", 1_000)
    made = make_instances(json.dumps(resources(8)))
    assert made.answer is Satisfiability.SATISFIABLE
    assert made.near_misses == ()
    assert made.detail == "without near misses: more than 1,000 characters"


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf", "not"])
def test_what_doubles_is_counted_and_not_tried(keyword: str) -> None:
    """Definitions that refer to the next one twice: no validator is asked."""
    twice = "oneOf" if keyword == "not" else keyword
    definitions: dict[str, Json] = {"0": {"type": "object", "required": ["a"]}}
    for link in range(24):
        definitions[str(link + 1)] = {twice: [{"$ref": f"#/$defs/{link}"}] * 2}
    last: Json = {"$ref": "#/$defs/24"}
    top = {"not": last} if keyword == "not" else {"allOf": [last]}
    made = make_instances(json.dumps({"$defs": definitions, **top}), "2020-12")
    assert (made.answer, made.reason) == (Satisfiability.UNKNOWN, "exhausted")
    assert made.detail.endswith("schemas are entered for one value")


@pytest.mark.parametrize("pattern", [r"^(a|aa)+$", r"^(\w+\s?)+$", "(x+x+)+y"])
def test_a_pattern_that_backtracks_is_matched_by_an_automaton(pattern: str) -> None:
    """A long text of it is judged by both validators, in no time."""
    schema = {"type": "string", "pattern": pattern, "minLength": 60}
    made = make_instances(json.dumps(schema), "2020-12")
    refused = [row for row in made.near_misses if row.keyword == "pattern"]
    assert len(made.witnesses) > 1
    for row in (*made.witnesses, *refused[:1]):
        assert json.loads(row.verdicts)["jsonschema"] == [row.valid, row.valid]


def test_a_file_over_the_limit_is_too_large_and_not_cut() -> None:
    """A reader stops one byte after the limit: what it has is no JSON any more."""
    requests = [InstanceRequest(schema='"' + "x" * DOCUMENT_BYTES, dialect="")]
    (made,) = worker.witnesses_of_each(requests)
    assert made.reason == "too_large"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values=st.lists(st.tuples(VALUES, st.booleans()), max_size=3))
def test_what_is_written_is_read_again(
    values: list[tuple[UntypedJson, bool]],
) -> None:
    """Keys' order, numbers and any text survive the round trip, in ASCII."""
    tests = [
        {"description": "made", "valid": valid, "data": data} for data, valid in values
    ]
    text = maskbench_text("a test", {"type": "object"}, tests)
    assert text.isascii()
    again = json.loads(text)
    assert again["schema"] == {"type": "object"}
    assert json.dumps(again["tests"]) == json.dumps(tests)


@given(
    st.text(min_size=1, max_size=10).filter(
        lambda text: text.isprintable() and "---" not in text
    )
)
@example("o1")
@example("a/b")
def test_a_name_is_split_and_file(unique_id: str) -> None:
    """`{Split}---{file}.json`, as MaskBench's runner expects, is read back."""
    (name,) = maskbench_names([("Github_easy", unique_id)]).values()
    assert name.startswith("Github_easy---")
    assert "/" not in name
    assert parse_name(Path(name)) == ("Github_easy", unique_id)


@pytest.mark.parametrize(
    ("schema", "features", "raw"),
    table(__file__, "features"),
)
def test_features_have_the_names_that_maskbench_uses(
    schema: UntypedJson, features: list[str], raw: list[str]
) -> None:
    """Features are what an engine has to implement; raw ones are taken for granted."""
    found = compute_meta(schema)
    assert found["features"] == features
    assert found["raw_features"] == raw


def test_sizes_are_of_the_compact_text_with_and_without_notes() -> None:
    """Annotations and unknown keywords do not count in the stripped size."""
    schema: UntypedJson = {
        "title": "A",
        "type": "string",
        "x-note": [1],
        "description": "é",
    }
    found = compute_meta(schema)
    assert found["full_size"] == len(
        json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()
    )
    assert found["stripped_size"] == len('{"type":"string"}')
