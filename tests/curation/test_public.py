"""What `curation` offers to those who import it, and nothing else."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import curation

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = [
    "BuildRequest",
    "BuildResult",
    "CsbdataError",
    "ExtraSource",
    "FetchSettings",
    "Fit",
    "PushRequest",
    "PushResult",
    "SchemaInstances",
    "SchemaReport",
    "Verification",
    "build",
    "check",
    "decode",
    "fit_schema",
    "push",
    "verify",
    "witnesses",
]
#: What does something; the others are what it takes and returns.
FUNCTIONS = ("build", "check", "decode", "fit_schema", "push", "verify", "witnesses")


def test_exactly_these_names_are_public() -> None:
    """A name more or less is a decision: it changes this list."""
    assert curation.__all__ == PUBLIC
    assert dir(curation) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    """Each can be had, and says what it is."""
    assert getattr(curation, name).__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example_and_says_what_it_takes(name: str) -> None:
    """Whoever reads its documentation can call it."""
    text = str(getattr(curation, name).__doc__)
    assert f"{name}(" in text
    assert "Raises:" in text


def test_no_other_name_is_there() -> None:
    """A name that is misspelled is an error at once."""
    with pytest.raises(AttributeError, match="no attribute 'bild'"):
        _ = curation.bild


def test_no_folder_has_the_name_of_a_function() -> None:
    """Importing a module never hides a public name."""
    folders = {module.name for module in pkgutil.iter_modules(curation.__path__)}
    assert not folders & set(PUBLIC)


def test_importing_it_loads_nothing_else() -> None:
    """The names are imported when they are first asked for."""
    script = (
        "import json, sys, curation\n"
        "print(json.dumps([name for name in sys.modules if 'curation' in name]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == ["curation"]


@pytest.mark.slow
def test_a_build_is_one_call(tmp_path: Path) -> None:
    """Nothing but a request is needed; the same request finds it built."""
    request = curation.BuildRequest(out=tmp_path / "out", sample=True, jobs=2)
    result = curation.build(request)
    assert (result.manifest.name, result.unchanged) == (
        "JSONSchemaBench-partial",
        False,
    )
    assert curation.build(request).unchanged


@pytest.mark.parametrize(
    "schema", [{"type": "banana"}, '{"type": "banana"}', b'{"type": "banana"}']
)
def test_a_check_is_one_call(schema: dict[str, str] | str | bytes) -> None:
    """A schema is checked as a value, as text, or as the bytes of a file."""
    report = curation.check(schema)
    assert [problem.code for problem in report.problems] == ["invalid_schema"]
    assert not curation.check(True).problems  # noqa: FBT003 (a boolean is a schema)
