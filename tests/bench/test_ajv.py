"""AJV as a third judge: what it is asked, and why it differs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.ajv import Ajv, Asked, compared, without_newer, without_siblings
from bench.peers import Absent, ajv_judge
from curation.instances.dataset.make_instances import make_instances

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMAS = (
    (
        '{"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, '
        '{"pattern": "^(.*)$", "type": "string"}]}}, "additionalProperties": false}'
    ),
    '{"type": "integer", "maximum": 9223372036854775807}',
    '{"items": {"oneOf": [{"const": 1}, {"format": "date", "type": "string"}]}}',
)


def test_siblings_go_and_definitions_stay() -> None:
    """Where a reference hides what stands beside it, its definitions are needed."""
    schema = {"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}
    assert without_siblings(schema) == {
        "$ref": "#/definitions/a",
        "definitions": {"a": {}},
    }


def test_keywords_newer_than_draft_04_go() -> None:
    """They are dropped at every depth."""
    schema = {"items": [{"const": 1, "type": "integer"}]}
    assert without_newer(schema) == {"items": [{"type": "integer"}]}


@pytest.fixture(scope="module")
def ajv() -> Iterator[Ajv]:
    """Give AJV, if npm can install it."""
    root = Path(__file__).parents[2]
    command = ajv_judge(root / "build" / "peers", root / "bench")
    if isinstance(command, Absent):
        pytest.skip(f"not run: {command.reason}")
    with Ajv(command) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("schema", _SCHEMAS)
def test_ajv_agrees_on_what_is_made(ajv: Ajv, schema: str) -> None:
    """No witness is refused and no near miss accepted, beyond doubles included."""
    made = make_instances(schema, "draft-07")
    instances = [(row.text, row.valid) for row in made.instances]
    found = compared(ajv, iter([Asked("r", "draft-07", schema, instances)]))
    assert found["witness"] > 0
    assert found["near miss"] > 0
    assert found["where"] == []


@pytest.mark.slow
def test_a_disagreement_has_its_cause(ajv: Ajv) -> None:
    """AJV enforces what stands beside a `$ref`, which draft-07 ignores."""
    schema = '{"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}'
    record = Asked("r", "draft-07", schema, [("1", True)])
    found = compared(ajv, iter([record]))
    assert [one["cause"] for one in found["where"]] == ["siblings of $ref"]
