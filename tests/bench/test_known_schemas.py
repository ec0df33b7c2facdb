"""Known schemas of npm: their pins, and the table of what becomes of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bench.data.known_schemas import outcome, pinned, table

if TYPE_CHECKING:
    from pathlib import Path


def test_each_schema_is_pinned_once() -> None:
    """Twenty schemas, each with an exact version and the digest of its file."""
    schemas = pinned()
    assert len({(schema.package, schema.path) for schema in schemas}) == 20
    for schema in schemas:
        assert re.fullmatch(r"[0-9]+(\.[0-9]+)+", schema.version)
        assert re.fullmatch(r"[0-9a-f]{64}", schema.sha256)


def test_an_outcome_says_what_a_user_meets(tmp_path: Path) -> None:
    """Problems, instances, reach and cost are those of the two commands."""
    file = tmp_path / "a.json"
    (tmp_path / "b.json").write_text('{"anyOf": [{"const": 1}, {"const": "x"}]}')
    file.write_text(
        '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",'
        ' "properties": {"a": {"$ref": "b.json"},'
        ' "b": {"type": "null", "pattern": ""}}}'
    )
    result = outcome(file)
    assert result["problems"] == {"type-excludes-keyword": 1}
    assert (result["sites"], result["branches"]) == ("2 of 2", "2 of 2")
    assert result["witnesses"] > 1
    assert result["check"]["megabytes"] > 0 < result["check"]["seconds"]
    row = table({"A": result}).splitlines()[-1]
    assert "| draft-07 (declared) | kept | 1 type-excludes-keyword |" in row
