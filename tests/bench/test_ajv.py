"""AJV as a third judge: the ledger names what it judges otherwise, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.data.ajv import Ajv, Asked, compared
from bench.generators.peers import Absent, ajv_judge
from curation.instances.dataset.make_instances import make_instances

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGREED = (
    (
        '{"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, '
        '{"pattern": "^(.*)$", "type": "string"}]}}, "additionalProperties": false}'
    ),
    '{"type": "integer", "maximum": 9223372036854775807}',
    '{"items": {"oneOf": [{"const": 1}, {"format": "date", "type": "string"}]}}',
)
#: Each with its dialect and the cause why AJV differs on some of its instances.
_DIFFERING = (
    (
        (
            '{"$ref": "#/definitions/a", "type": "null", "definitions": '
            '{"a": {"type": "integer"}}}'
        ),
        "draft-07",
        "ref_siblings",
    ),
    (
        '{"type": "string", "minLength": 3, "const": 7, "examples": "none"}',
        "draft-04",
        "later_keyword",
    ),
    ('{"type": "string", "format": "idn-email"}', "draft-07", "unknown_format"),
    (
        (
            '{"type": "object", "required": ["a"], "properties": {"a": {"type": '
            '"object", "properties": {"constructor": {"type": "string"}}}}}'
        ),
        "draft-07",
        "inherited_name",
    ),
    (
        (
            '{"type": "object", "required": ["toString"], '
            '"properties": {"toString": {"maximum": 3}}}'
        ),
        "2020-12",
        "inherited_name",
    ),
)


def _asked(schema: str, dialect: str) -> Asked:
    made = make_instances(schema, dialect)
    return Asked(
        name="r",
        dialect=dialect,
        schema=schema,
        instances={row.number: (row.text, row.valid) for row in made.instances},
        stated={one.number: one.cause.value for one in made.ajv},
    )


@pytest.fixture(scope="module")
def ajv() -> Iterator[Ajv]:
    """Give AJV, if npm can install it."""
    root = Path(__file__).parents[2]
    command = ajv_judge(root / "build" / "peers", root / "bench" / "data")
    if isinstance(command, Absent):
        pytest.skip(f"not run: {command.reason}")
    with Ajv(command) as started:
        yield started


@pytest.mark.nightly
@pytest.mark.parametrize("schema", _AGREED)
def test_ajv_agrees_on_what_is_made(ajv: Ajv, schema: str) -> None:
    """No witness is refused and no near miss accepted, beyond doubles included."""
    found = compared(ajv, [_asked(schema, "draft-07")])
    assert found["witness"] > 0
    assert found["near miss"] > 0
    assert found["where"] == found["stated_but_agreed_on"] == []


@pytest.mark.nightly
@pytest.mark.parametrize(("schema", "dialect", "cause"), _DIFFERING)
def test_ajv_differs_on_what_the_ledger_names_and_nothing_else(
    ajv: Ajv, schema: str, dialect: str, cause: str
) -> None:
    """Each difference is stated with its cause, and each statement is one."""
    found = compared(ajv, [_asked(schema, dialect)])
    assert {one["cause"] for one in found["where"]} == {cause}
    assert found["stated_but_agreed_on"] == []


@pytest.mark.nightly
def test_what_the_ledger_does_not_name_is_unexplained(ajv: Ajv) -> None:
    """AJV enforces what stands beside a `$ref`, which draft-07 ignores."""
    schema = '{"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}'
    record = Asked(
        "r", "draft-07", schema, {0: ("1", True), 1: ("null", True)}, {1: "x"}
    )
    found = compared(ajv, [record])
    assert [one["cause"] for one in found["where"]] == ["unexplained"]
    assert [one["number"] for one in found["stated_but_agreed_on"]] == [1]


def test_what_ajv_does_not_compile_is_named_with_its_reason(ajv: Ajv) -> None:
    """Records are grouped by what AJV says, without what it says of one alone."""
    records = [
        Asked(name, "draft-07", schema, {0: ("1", True)}, {})
        for name, schema in (
            ("b", '{"pattern": "("}'),
            ("a", '{"pattern": "a{2,1}"}'),
            ("c", '{"$ref": "#/nowhere"}'),
        )
    ]
    assert compared(ajv, records)["not_compiled"] == {
        "total": 3,
        "Invalid regular expression": ["a", "b"],
        "can't resolve reference": ["c"],
    }
