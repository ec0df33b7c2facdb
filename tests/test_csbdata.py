"""The module `csbdata`: its own packages come first, and these names are offered."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

import csbdata
from tests.programs import ended as program_ended

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from curation.core.json_types import GivenSchema

ROOT = Path(csbdata.__file__).parent


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder whose packages `curation` and `evaluation` cannot be used."""
    for name in ("curation", "evaluation"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not ours')")
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    return tmp_path


def run(folder: Path, *words: str) -> CompletedProcess[str]:
    """Run Python with the folder before everything else on its path."""
    path = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return program_ended(sys.executable, *words, cwd=folder, env={**os.environ, **path})


COMMAND = "import csbdata; csbdata.main()"


@pytest.mark.parametrize(
    "words",
    [
        "check schema.json",
        pytest.param(
            "eval --task masks --engine llguidance --data schema.json",
            marks=pytest.mark.slow,
        ),
        pytest.param("build --sample --out out", marks=pytest.mark.slow),
    ],
)
def test_commands_work_beside_packages_of_the_same_names(
    hostile: Path, words: str
) -> None:
    """The command line, its plug-ins and its worker processes use our own."""
    ended = run(hostile, "-c", COMMAND, *words.split())
    assert ended.returncode in {0, 1}, ended.stderr
    assert "not ours" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_package_that_was_imported_before_is_one_error(tmp_path: Path) -> None:
    """It names the file and what to do."""
    (tmp_path / "evaluation.py").touch()
    ended = run(tmp_path, "-c", "import evaluation, csbdata")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ImportError: csbdata needs its own package 'evaluation'")
    assert str(tmp_path / "evaluation.py") in last
    assert last.endswith("import csbdata first, or rename the other")


def test_ctrl_c_while_modules_load_is_one_line() -> None:
    """Nothing has begun that would have to be cleaned up."""
    script = """
import csbdata, os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "curation.cli":
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))
sys.meta_path.insert(0, Interrupting())
csbdata.main()
"""
    ended = run(ROOT, "-c", script, "--version")
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "csbdata: stopped\n"


def test_it_says_its_version() -> None:
    """That of the distribution."""
    assert csbdata.__version__ == version("csbdata")


PUBLIC = [
    "Bounds",
    "BuildRequest",
    "BuildResult",
    "CsbdataError",
    "ExtraSource",
    "ExtractionScore",
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
    "score",
    "verify",
    "witnesses",
]
#: Each of these has an example, and says what it raises.
FUNCTIONS = [name for name in PUBLIC if name.islower() and name != "main"]


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


def test_a_missing_library_is_named_with_its_command(tmp_path: Path) -> None:
    """By the name that needs it, in a session and in `help`."""
    ended = run(
        tmp_path,
        "-c",
        "import sys; sys.modules['pooch'] = None; import csbdata; csbdata.build",
    )
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: build: this needs the library pooch: ")
    assert last.endswith("'csbdata[build]'")


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


@pytest.mark.parametrize(("kind", "schema"), [("bytes", b"{}"), ("set", {"enum": {1}})])
def test_what_no_schema_can_hold_is_named(kind: str, schema: GivenSchema) -> None:
    """By its type in Python."""
    with pytest.raises(csbdata.CsbdataError, match=f"{kind} is no type of JSON"):
        csbdata.judge("1", schema)


class _Invoice(BaseModel):
    total: int


@pytest.mark.slow
def test_a_model_is_a_schema_in_every_call() -> None:
    """Whoever has a model of pydantic has no need to ask it for its schema."""
    schema = _Invoice.model_json_schema()
    answer = '{"total": 7}'
    assert csbdata.check(_Invoice) == csbdata.check(schema)
    assert csbdata.fit(_Invoice, "openai-strict").fits
    assert csbdata.diff(_Invoice, schema).kind.value == "equal"
    assert csbdata.witnesses(_Invoice) == csbdata.witnesses(schema)
    assert csbdata.judge(answer, _Invoice).valid
    assert csbdata.reward(answer, _Invoice) == csbdata.reward(answer, schema) > 0
    gold = {"a": {"total": 7}}
    assert not csbdata.score(_Invoice, gold, {"a": answer}).mistakes


def test_a_fit_is_shown_in_a_line() -> None:
    """It holds compiled schemas, which nobody wants to see in a session."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    shown = repr(csbdata.fit(schema, "openai-strict"))
    assert shown == "<Fit for openai-strict: accepted; closed, nullable: narrower>"


def test_a_run_is_opened_by_the_text_of_its_path(tmp_path: Path) -> None:
    """The error is that of any missing folder."""
    with pytest.raises(csbdata.CsbdataError, match="No such file"):
        csbdata.open_run(str(tmp_path))
