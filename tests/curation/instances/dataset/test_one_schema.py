"""The library's entry to instances: what comes of one schema."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

from curation.instances.dataset import worker
from curation.instances.dataset.worker import witnesses
from curation.instances.values.model import InstanceKind
from curation.lint.satisfiability import Satisfiability

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


def test_a_schema_that_costs_too_much_has_witnesses_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by `csbdata instances`: both take one way, which tries without near misses."""
    file = tmp_path / "worker.py"
    file.write_text(_COSTLY)
    monkeypatch.setattr(worker, "_WORKER", file)
    found = witnesses(_SCHEMA)
    assert found.witnesses
    assert found.near_misses == ()
    assert found.detail.startswith("without near misses: crashed")
    request = worker.InstanceRequest(schema=json.dumps(_SCHEMA), dialect="")
    assert [found] == list(worker.witnesses_of_each([request]))


def test_a_schema_may_be_given_as_text() -> None:
    """The text of a schema gives what the schema gives."""
    assert witnesses(json.dumps(_SCHEMA)) == witnesses(_SCHEMA)


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
