"""MaskBench's test format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.instances.dataset.records import (
    MaskFile,
    MaskTest,
    maskbench_names,
    meta_of,
    write_files,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def file_of(schema: UntypedJson, *tests: MaskTest, unique_id: str = "o1") -> MaskFile:
    """Return a file of a schema and its tests."""
    return MaskFile(
        split="Github_easy",
        unique_id=unique_id,
        description="a test",
        schema=schema,
        tests=tests,
        name=maskbench_names([("Github_easy", unique_id)])["Github_easy", unique_id],
    )


@given(
    values=st.lists(st.tuples(VALUES, st.booleans()), max_size=3),
    unique_id=st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[tuple[UntypedJson, bool]],
    unique_id: str,
) -> None:
    """Names, keys' order, numbers and any text survive the round trip."""
    folder = tmp_path_factory.mktemp("maskbench")
    tests = [
        MaskTest(description="made", valid=valid, data=data) for data, valid in values
    ]
    file = file_of({"type": "object"}, *tests, unique_id=unique_id)
    assert write_files([file], folder) == 1
    (path,) = folder.iterdir()
    again = json.loads(path.read_text("ascii"))
    assert json.dumps(again["schema"]) == json.dumps(file.schema)
    assert [each["valid"] for each in again["tests"]] == [valid for _, valid in values]
    assert json.dumps([each["data"] for each in again["tests"]]) == json.dumps(
        [each.data for each in file.tests]
    )


def test_a_name_is_split_and_file() -> None:
    """`{Split}---{file}.json`, as MaskBench's runner expects."""
    assert file_of({}).name == "Github_easy---o1.json"
    assert "/" not in file_of({}, unique_id="a/b").name


@pytest.mark.parametrize(
    ("schema", "features", "raw"),
    [
        (
            {"type": ["integer", "null"], "minimum": 0, "multipleOf": 3},
            ["@minmaxInteger", "multipleOf", "multipleOf:3"],
            ["minimum", "type", "type:[]", "type:integer", "type:null"],
        ),
        (
            {"anyOf": [{"format": "date"}], "required": [], "items": True},
            ["@siblingKeys", "format", "format:date", "items"],
            ["_boolSchema", "_requiredEmpty", "anyOf:trivial", "required"],
        ),
        (
            {"properties": {"a": {"maxLength": 1}}, "additionalProperties": {}},
            ["@minmaxLength", "additionalProperties", "additionalProperties:object"],
            ["maxLength", "properties"],
        ),
    ],
)
def test_features_have_the_names_that_maskbench_uses(
    schema: UntypedJson, features: list[str], raw: list[str]
) -> None:
    """Features are what an engine has to implement; raw ones are taken for granted."""
    found = meta_of(schema)
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
    found = meta_of(schema)
    assert found["full_size"] == len(
        json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()
    )
    assert found["stripped_size"] == len('{"type":"string"}')
