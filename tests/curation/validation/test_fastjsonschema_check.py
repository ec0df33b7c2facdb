"""fastjsonschema in a child: verdicts, memory of them, nothing fetched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.validation import fastjsonschema_check
from curation.validation.fastjsonschema_check import try_fastjsonschema
from curation.validation.fastjsonschema_worker import COMPILES, verdict
from tests.made import record, sha256

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.records import BenchmarkRecord


def of(schema: object) -> BenchmarkRecord:
    """Return a record of this schema."""
    text = json.dumps(schema)
    return record(sha256(text)[:8], json_schema=text, sha256=sha256(text))


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "string"}, COMPILES),
        (True, COMPILES),
        ({"type": "strange"}, "JsonSchemaDefinitionException"),
        ({"pattern": "("}, "re.error"),
        ({"$ref": "#/definitions/x"}, "JsonSchemaDefinitionException"),
        ({"$ref": "ftp://127.0.0.1/x"}, "RemoteReferenceError"),
        ({"$ref": "other.json"}, "RemoteReferenceError"),
        ({"properties": {'a"\n\'"""{x}\\': {"type": "string"}}}, COMPILES),
    ],
)
def test_verdicts(schema: object, wanted: str) -> None:
    """What compiles is said to, and what does not by the exception's name."""
    assert verdict(json.dumps(schema)) == wanted


def test_what_is_too_large_is_counted_and_never_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Characters times levels decide, the same on every machine."""
    monkeypatch.setattr(fastjsonschema_check, "LONGEST", 100)
    small, large = of({"const": 1}), of({"const": "x" * 100})
    verdicts = try_fastjsonschema([small, large], tmp_path, jobs=1)
    assert [each.fastjsonschema for each in verdicts] == [COMPILES, "too_large"]


def test_a_program_without_its_schema_is_no_other_program() -> None:
    """What would nest too deep for Python still fails, and nothing else does."""
    deep: object = {"type": "string"}
    for _ in range(120):
        deep = {"type": "object", "properties": {"a": deep}}
    assert verdict(json.dumps(deep)) == "SyntaxError"
    assert verdict(json.dumps({"type": "object", "properties": {"a": {}}})) == COMPILES


def test_nothing_is_fetched(trap: tuple[str, list[str]], tmp_path: Path) -> None:
    """A remote reference is refused, not followed."""
    address, seen = trap
    (done,) = try_fastjsonschema([of({"$ref": f"{address}/x"})], tmp_path, jobs=1)
    assert done.fastjsonschema == "RemoteReferenceError"
    assert seen == []


def test_records_keep_their_order_and_are_remembered(tmp_path: Path) -> None:
    """Each record gets its own verdict; the second time none is asked for."""
    records = [of({"const": number}) for number in range(40)]
    records.insert(7, of({"type": "strange"}))
    steps: list[int] = []
    first = try_fastjsonschema(records, tmp_path, jobs=2, progress=steps.append)
    assert [each.unique_id for each in first] == [each.unique_id for each in records]
    failed = [at for at, each in enumerate(first) if each.fastjsonschema != COMPILES]
    assert failed == [7]
    assert sum(steps) == len(records)
    again: list[int] = []
    assert try_fastjsonschema(records, tmp_path, jobs=2, progress=again.append) == first
    assert again == [len(records)]


def test_a_damaged_memory_is_made_anew(tmp_path: Path) -> None:
    """What cannot be read is asked for again."""
    records = [of({"const": 1})]
    first = try_fastjsonschema(records, tmp_path, jobs=1)
    (memory,) = tmp_path.iterdir()
    memory.write_bytes(b"[1]")
    assert try_fastjsonschema(records, tmp_path, jobs=1) == first
