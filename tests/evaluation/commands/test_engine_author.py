"""`csbdata eval --engine ./mine.py`: what an engine's author is shown, and given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration, Unavailable
from evaluation.analysis.engine_faults import fault_lines, faults
from evaluation.commands import engines
from evaluation.core.cases import Result as RowResult
from evaluation.results.reader import open_run
from evaluation.setup import engine_files
from tests.evaluation.made_runs import HEAD, row, write_run
from tests.evaluation.measuring import miniature
from tests.evaluation.tokenizers import made
from tests.invoking import invoke
from tests.programs import ended
from tests.slow_cases import first_fast
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer.testing import Result as Answer

    from evaluation.core.cases import Row


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with an empty cache and a tiny tokenizer."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made.byte_level(tmp_path / "tokenizer")
    return tmp_path


def _words(*names: str, schemas: Sequence[dict[str, Any]] = ()) -> list[str]:
    """Return the words of a run of task masks over schemas.

    Each has the valid text {} and the invalid 7.
    """
    tests = [{"valid": True, "data": {}}, {"valid": False, "data": 7}]
    Path("data").mkdir(exist_ok=True)
    for number, schema in enumerate(schemas or [{"type": "object"}]):
        case = {"schema": schema, "tests": tests}
        Path("data", f"Made---{number}.json").write_text(json.dumps(case), "utf-8")
    chosen = [word for name in names for word in ("--engine", name)]
    words = ["--data", "data", "--tokenizer", "tokenizer", "--task", "masks"]
    return ["eval", *chosen, *words, "--run-dir", "run"]


def _measure(*names: str, schemas: Sequence[dict[str, Any]] = ()) -> Answer:
    return invoke(*_words(*names, schemas=schemas), env={"COLUMNS": "300"})


def _engines() -> list[str]:
    """Return the engine of each row, without its version."""
    return [row.engine.split()[0] for row in open_run(Path("run")).rows()]


#: An engine under which nothing may be written.
_MUTE = """
class Mute:
    def __init__(self, tokenizer, options):
        self.nothing = bytes(tokenizer.vocab_size)
    def compile(self, schema):
        return schema
    def start(self, grammar):
        return self
    def mask(self):
        return self.nothing
    def commit(self, token):
        return False
    def may_end(self):
        return False
def load(tokenizer, options):
    return Mute(tokenizer, options)
"""
_FILES = {
    "mute": _MUTE,
    "slip": _MUTE.replace("return self.nothing", "{}['x']"),
    "no_mask": _MUTE.replace("return self.nothing", "return None"),
    "no_answer": _MUTE.replace("bytes(", "b'\\xff' * (").replace("return False", "..."),
}
_WIDE = {"type": "object", "description": "of no account", "maxProperties": 9}


@pytest.mark.parametrize(("engine", "more", "shown"), table(__file__, "faults"))
def test_a_fault_is_shown_with_its_cause_and_the_smallest_schema(
    engine: str, more: dict[str, Any], shown: list[str]
) -> None:
    """Above all tables; parts of the schema that do not matter are gone."""
    path = miniature(engine)
    if engine in _FILES:
        path = f"{engine}.py"
        Path(path).write_text(_FILES[engine], "utf-8")
    schemas = [_WIDE | more, _WIDE | more | {"minItems": 2}]
    answer = _measure(path, schemas=schemas)
    assert answer.exit_code == 0
    above, tables, _ = answer.stdout.partition("Coverage")
    assert tables
    for line in shown:
        assert line.replace("PATH", str(path)) in above


def _refused(number: int, kind: str, detail: str, **more: Any) -> Row:  # noqa: ANN401 (fields of a row)
    failed = {"result": RowResult(kind), "phase": "compile", "walks": ()}
    return row(id=f"o{number}", detail=detail, **failed, **more)


def test_a_cause_is_shown_by_its_smallest_schema_and_many_are_counted(
    folder: Path,
) -> None:
    """The worst first, then the commonest; a class of its own for each message."""
    rows = [
        _refused(0, "crash", "of another", engine="beta 2.0"),
        row(id="o1"),
        _refused(2, "compile_error", "no"),
        _refused(3, "engine_error", "limit 5", label={"size": 50}),
        _refused(4, "engine_error", "limit 9", label={"size": 40}),
        _refused(5, "engine_error", "limit 7", label={"size": 40}),
        _refused(6, "engine_error", "other\nlines"),
        _refused(7, "crash", "dead", label={"size": 1}),
        _refused(8, "timeout", "late"),
    ]
    data = folder / "o.json"
    data.write_text("{}", "utf-8")
    header = {
        **HEAD,
        "tokenizer": {"name": str(folder / "tokenizer")},
        "data": {"name": "o.json", "place": str(data)},
    }
    run = open_run(write_run(folder / "made", rows, header))
    found = faults(run, "alpha 1.0")
    shown = [(fault.row.id, fault.schemas) for fault in found]
    assert shown == [("o7", 1), ("o8", 1), ("o4", 3), ("o6", 1), ("o2", 1)]
    fetch = FetchSettings(mirror=None, cache=folder / "cache", offline=True)
    said: list[str] = []
    lines = fault_lines(run, "alpha 1.0", fetch, said.append)
    assert [line for line in lines if line[:1].strip()] == [
        "alpha 1.0: crash in 1 schema: compile: dead",
        "alpha 1.0: timeout in 1 schema: compile: late",
        "alpha 1.0: engine error in 3 schemas: compile: limit 9",
        "alpha 1.0: engine error in 1 schema: compile: other",
        f"and 1 other cause: csbdata results show {run.folder} --failures",
    ]
    assert said == ["alpha 1.0: looking for the smallest schemas under which it fails"]
    assert fault_lines(run, "none", fetch, said.append) == []


def test_an_engine_without_a_fault_has_no_lines_of_them() -> None:
    """The first thing on the screen is the first table."""
    answer = _measure("none")
    assert answer.stdout.lstrip().startswith(("By schema", "Coverage"))


def test_a_file_in_the_folder_of_engines_is_an_engine_by_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is edited."""
    (folder / "second.py").write_text(_MUTE, "utf-8")
    monkeypatch.setattr(engine_files, "_FOLDER", folder)
    answer = _measure("second")
    assert answer.exit_code == 0, answer.stderr
    assert _engines() == ["second"]


def test_engines_are_listed_with_what_can_be_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any version of a file of its own, the installed one of a library, or none."""
    for name, library in (("second", ""), ("third", "pytest"), ("fourth", "no-such")):
        about = f'"distribution": "{library}", "summary"'
        source = Path(miniature("accept_all")).read_text("utf-8")
        (folder / f"{name}.py").write_text(source.replace('"summary"', about), "utf-8")
    monkeypatch.setattr(engine_files, "_FOLDER", folder)
    words = invoke("engines", env={"COLUMNS": "300"}).stdout.split()
    shown = [words[words.index(name) + 1] for name in ("second", "third", "fourth")]
    assert shown == ["any", pytest.__version__, "none"]
    assert words[words.index("third") + 2] == "(here)"
    answer = invoke("engines", "--format", "json")
    listed = {it["name"]: it for it in json.loads(answer.stdout)["engines"]}
    assert {name: (it["usable"], it["installed"]) for name, it in listed.items()} == {
        "second": (True, None),
        "third": (True, pytest.__version__),
        "fourth": (False, None),
    }


def test_an_engine_that_nobody_wants_is_not_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit 1, and nothing was made."""
    monkeypatch.setattr(engines, "_ask_for_leave", lambda _, yes: yes)
    answer = invoke("engines", "add", "xgrammar==0.1.8")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "nothing was installed" in answer.stderr


@pytest.mark.parametrize(
    "content", first_fast(1, ["x = = 1", "ABOUT = 3", "# no load"])
)
def test_a_broken_file_costs_its_engine_and_not_the_run(content: str) -> None:
    """The others have their rows, and the exit code says that one had none.

    Alone it ends the command, with exit code 78, before anything is written.
    """
    Path("mine.py").write_text(content, "utf-8")
    answer = _measure("./mine.py", miniature("accept_all"))
    assert isinstance(answer.exception, Unavailable)
    assert "mine (no version)" in str(answer.exception)
    assert "mine.py" in answer.stderr.splitlines()[0]
    assert _engines() == ["accept_all"]
    rows = Path("run").rename("before")
    alone = _measure("./mine.py").exception
    assert isinstance(alone, BadConfiguration)
    assert alone.exit_code == 78
    assert rows.exists()
    assert not Path("run").exists()


_READS_VARIABLES = """
import os
ABOUT = {"version": "1", "variables": ("MY_ENGINE_LOG",)}
class Engine:
    def compile(self, schema):
        import mine_inside
        raise ValueError(f"{mine_inside.NAME} {os.environ.get('MY_ENGINE_LOG')} "
                         f"{os.environ.get('MY_TOKEN')}")
def load(tokenizer, options):
    return Engine()
"""


def test_a_library_on_pythonpath_and_named_variables_reach_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no others: an engine is told no secret that it does not name."""
    Path("mine.py").write_text(_READS_VARIABLES, "utf-8")
    Path("lib").mkdir()
    Path("lib/mine_inside.py").write_text("NAME = 'inside'", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(Path("lib").resolve()))
    monkeypatch.setenv("MY_ENGINE_LOG", "debug")
    monkeypatch.setenv("MY_TOKEN", "secret")
    _measure("./mine.py")
    (row,) = open_run(Path("run")).rows()
    assert row.detail == "ValueError: inside debug None"


_COUNT = """
import sys
import csbdata
sys.argv[0] = "csbdata"
try:
    csbdata.main()
except SystemExit as end:
    assert not end.code, end.code
ours = {"evaluation", "curation"}
names = [name for name in sys.modules if name.split(".")[0] in ours]
print(len(names), *sorted(names), file=sys.stderr)
"""


@pytest.mark.slow
def test_a_run_of_given_texts_loads_few_modules() -> None:
    """No suite, server, model, generator of instances or other task is imported."""
    done = ended(sys.executable, "-c", _COUNT, *_words("none"), check=True)
    count, *names = done.stderr.splitlines()[-1].split()
    assert int(count) <= 90, " ".join(names)
    unwanted = (
        *("evaluation.suites", "evaluation.servers", "evaluation.models"),
        *("curation.fit", "curation.instances.dataset", "evaluation.tasks.probe"),
    )
    assert not [name for name in names if name.startswith(unwanted)]
