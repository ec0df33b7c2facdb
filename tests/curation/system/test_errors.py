"""Faults: one line each, with an exit code; and a missing extra's command."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import curation.system.errors
from curation.system.errors import CsbdataError
from curation.system.extras import install_extra, missing_library
from curation.system.words import counted
from tests.slow_cases import first_fast


def _all(root: type[CsbdataError]) -> list[type[CsbdataError]]:
    below = [each for child in root.__subclasses__() for each in _all(child)]
    return [root, *below]


OURS = [
    each
    for each in _all(CsbdataError)
    if each.__module__ == curation.system.errors.__name__
]


@pytest.mark.parametrize("kind", OURS)
def test_the_tree_is_drawn_in_the_docstring(kind: type[CsbdataError]) -> None:
    """With the exit code of each."""
    drawn = [
        line.split() for line in (curation.system.errors.__doc__ or "").splitlines()
    ]
    line = next(each for each in drawn if kind.__name__ in each)
    assert str(kind.exit_code) in line


@pytest.mark.parametrize("kind", OURS)
def test_a_fault_is_one_line(kind: type[CsbdataError]) -> None:
    """Where, what, what next; line breaks inside become spaces."""
    fault = kind("two\nlines", "place", "do it")
    assert str(fault) == "place: two lines: do it"
    assert str(kind("what")) == "what"


def test_a_fault_travels_between_processes() -> None:
    """With its parts."""
    fault = pickle.loads(pickle.dumps(CsbdataError("a", "b", "c")))  # noqa: S301 # our own
    assert (fault.what, fault.where, fault.then) == ("a", "b", "c")


_DECLARED = ["rich>=15", 'hf-xet>=1; extra == "build"', "torch>=2 ; extra == 'models'"]
#: Starts a command line in an installation that has no library of the extra `build`.
_LIGHT = """
import re, sys
from importlib.metadata import requires
lines = [line for line in requires("csbdata") if "'build'" in line]
held = {{re.match("[\\\\w-]+", line)[0].replace("-", "_") for line in lines}}
class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in held:
            raise ModuleNotFoundError(name, name=name)
assert len(held) > 8
sys.meta_path.insert(0, Absent)
sys.argv[1:] = {words!r}
from csbdata import main
main()
"""


@pytest.mark.parametrize(
    ("module", "extra"), [("hf_xet.core", "build"), ("torch", "models")]
)
def test_the_extra_of_a_library_is_named(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a module of it is missing."""
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: _DECLARED)
    fault = missing_library(ModuleNotFoundError("no", name=module))
    assert fault is not None
    assert fault.then == install_extra(extra)


@pytest.mark.parametrize("module", ["rich", "curation.none_such", None])
def test_what_no_extra_holds_is_a_defect(
    module: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library of the base installation, or a module of ours."""
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: _DECLARED)
    assert missing_library(ModuleNotFoundError("no", name=module)) is None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    first_fast(
        2,
        [
            (["check", "{schema}"], 0, ""),
            (["build", "--sample"], 69, "csbdata[build]"),
            (["eval", "--engine", "none"], 69, "csbdata[build]"),
            (["instances", "{schema}"], 0, ""),
            (["explain", "references"], 0, ""),
            (["verify", "."], 69, "csbdata[build]"),
            (["--help"], 0, ""),
        ],
    ),
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_a_light_installation_checks_schemas_and_says_what_else_needs(
    words: list[str], code: int, said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """polars, pyarrow, matplotlib and their like are of the extra `build`."""
    folder = tmp_path_factory.mktemp("light")
    schema = folder / "schema.json"
    schema.write_text('{"type": "integer"}', encoding="utf-8")
    typed = [word.format(schema=schema) for word in words]
    ended = subprocess.run(
        [sys.executable, "-c", _LIGHT.format(words=typed)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr[-2000:]
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "schema", "1 schema"),
        (0, "schema", "0 schemas"),
        (2, "URL with a password", "2 URLs with a password"),
        (1_000, "e-mail address", "1,000 e-mail addresses"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, text: str) -> None:
    """One schema is no "1 schemas", and what is plural is the noun."""
    assert counted(number, noun) == text
