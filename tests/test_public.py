"""The names that `csbdata` offers to those who import it, and no others."""

from __future__ import annotations

import subprocess
import sys

import pytest

import csbdata

PUBLIC = [
    "Bounds",
    "BuildRequest",
    "BuildResult",
    "CsbdataError",
    "ExtraSource",
    "FetchSettings",
    "Fit",
    "Instance",
    "ModelOptions",
    "PushRequest",
    "PushResult",
    "Record",
    "RecordedRun",
    "Relation",
    "RunRequest",
    "RunResult",
    "SchemaInstances",
    "SchemaReport",
    "TaskSettings",
    "TextJudgement",
    "Verification",
    "build",
    "check",
    "decode",
    "diff",
    "fit",
    "judge",
    "main",
    "open_run",
    "push",
    "reward",
    "run",
    "verify",
    "witnesses",
]
#: Each of these has an example, and says what it raises.
FUNCTIONS = ("build", "check", "decode", "diff", "fit", "push", "verify", "witnesses")


def test_exactly_these_names_are_public() -> None:
    """A name more or less is a decision: it changes this list."""
    assert csbdata.__all__ == PUBLIC
    assert dir(csbdata) == PUBLIC


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example_and_says_what_it_takes(name: str) -> None:
    """Whoever reads its documentation can call it."""
    text = str(getattr(csbdata, name).__doc__)
    assert f"{name}(" in text
    assert "Raises:" in text


def test_no_other_name_is_there() -> None:
    """A name that is misspelled is an error at once."""
    with pytest.raises(AttributeError, match="no attribute 'bild'"):
        _ = csbdata.bild


def test_importing_it_loads_nothing_heavy() -> None:
    """The names are imported when they are first asked for."""
    script = (
        "import sys, csbdata\n"
        "print({name.partition('.')[0] for name in sys.modules}\n"
        "    & {'curation', 'evaluation', 'typer', 'polars'})"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_check_is_one_call() -> None:
    """A schema is checked as a value, as text, or as the bytes of a file."""
    for schema in ({"type": "banana"}, '{"type": "banana"}', b'{"type": "banana"}'):
        report = csbdata.check(schema)
        assert [problem.code for problem in report.problems] == ["invalid_schema"]
    assert not csbdata.check(True).problems  # noqa: FBT003 (a boolean is a schema)


def test_two_schemas_are_compared_in_one_call() -> None:
    """As a value or as text, each in the draft that it declares."""
    first = '{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1}'
    relation = csbdata.diff(first, {"exclusiveMinimum": 1})
    assert (relation.kind, relation.only_first) == ("narrower", "1")
    with pytest.raises(csbdata.CsbdataError, match="invalid_schema"):
        csbdata.diff(first, {"type": "banana"})
