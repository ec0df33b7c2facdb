"""What the documents show is there, is run, and prints what they say."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.core import TyperGroup

import csbdata
from bench.__main__ import PARTS
from curation.cli import application
from evaluation.core.cases import Result, WalkVerdict
from evaluation.setup.engine_files import choose_options, find_engine
from tests.evaluation.measuring import measured, request_of, sample
from tests.programs import ended

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENDS = {"|", ";", "&&", ">", ">>"}
COMMAND_LINE = typer.main.get_command(application())


def _lines(document: Path) -> list[str]:
    """Return the command lines of a document, continued ones joined."""
    text = document.read_text(encoding="utf-8")
    shown = [
        body for kind, body in _BLOCK.findall(text) if kind in {"", "console", "sh"}
    ]
    # So is what is indented.
    shown += re.findall(r"^    (.*\n)", _BLOCK.sub("", text), re.MULTILINE)
    joined = "".join(shown).replace("\\\n", " ")
    return [line.strip().removeprefix("$ ") for line in joined.splitlines()]


def _calls(document: Path) -> list[tuple[str, ...]]:
    """Return what follows `csbdata` in each command of a document."""
    found = []
    for line in _lines(document):
        if not line.startswith("csbdata "):
            continue
        words = shlex.split(re.sub(r"\s#.*", "", line))
        end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
        found.append(tuple(words[1:end]))
    return found


CALLS = [(path.name, call) for path in DOCUMENTS for call in _calls(path)]


def test_the_documents_show_commands() -> None:
    """They are found, so that what follows is no empty promise."""
    assert len(CALLS) > 40


def parse(call: tuple[str, ...]) -> None:
    """Have the command line read a command's words, and fail where it cannot."""
    command = COMMAND_LINE
    rest, name = list(call), "csbdata"
    # A group that may stand alone, as `csbdata engines`, is parsed itself.
    while isinstance(command, TyperGroup) and rest[:1] != [] and rest[0][0] != "-":
        name, *rest = rest
        assert name in command.commands, f"no command {name}"
        command = command.commands[name]
    command.make_context(name, rest)


def test_every_command_shown_can_be_parsed(subtests: pytest.Subtests) -> None:
    """The command is there and takes these options, whatever they then come to."""
    for document, call in CALLS:
        with subtests.test(document=document, call=call):
            parse(call)


def _names(document: Path) -> set[str]:
    """Return the attributes of `csbdata` that the document's Python code names."""
    blocks = _BLOCK.findall(document.read_text(encoding="utf-8"))
    trees = [ast.parse(body) for kind, body in blocks if kind == "python"]
    return {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "csbdata"
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_example_is_python_and_names_what_is_there(document: Path) -> None:
    """What is read off the module is public there."""
    assert _names(document) <= {*csbdata.__all__, "__version__"}


def test_every_module_that_a_text_runs_exists() -> None:
    """`python -m MODULE`, in documents, card and Makefile; or a part of `bench`."""
    texts = [*DOCUMENTS, ROOT / "Makefile", *(ROOT / "cards").rglob("*.j2")]
    runs = re.compile(r"python -m ((?:bench|curation|evaluation)[\w.]*)(?: (\w+)\b)?")
    shown = [run for text in texts for run in runs.findall(text.read_text("utf-8"))]
    assert ("bench.edition.figures", "results") in shown
    for module, part in shown:
        if module == "bench":
            assert not part or part in PARTS, part
        else:
            assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file()


def test_nothing_is_installed_from_where_it_is_not_yet() -> None:
    """Before a release no document has pip ask the index for csbdata itself."""
    asked = [
        (path.name, line)
        for path in DOCUMENTS
        for line in _lines(path)
        if re.search(r"pip install\b.*\bcsbdata\b", line)
    ]
    assert asked == []


_README = ROOT / "README.md"
_ENGINES = ROOT / "docs" / "engines.md"
#: Pages whose commands are run.
_RUN = (_README, ROOT / "docs" / "tutorials.md", ROOT / "docs" / "tasks.md")
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What differs from run to run, and what is shown for it.
_DIFFERENT = ((re.compile(r"\b\d+\.\d+ s\b"), "2.5 s"),)


def _output(command: str, folder: Path) -> str:
    """Return the stdout of one command line, as on a screen of 100 columns."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    done = ended("bash", "-c", command, cwd=folder, env=environment)
    # 1 is how `check` says that it found something.
    assert done.returncode in {0, 1}, f"{command}: {done.stderr[-1000:]}"
    text = done.stdout
    for pattern, shown in _DIFFERENT:
        text = pattern.sub(shown, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _real(block: str, folder: Path) -> str:
    """Return a block with its commands as written and their outputs as they are."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {each}\n{_output(each, folder)}" for each in commands)


@pytest.mark.slow
@pytest.mark.parametrize("page", _RUN, ids=lambda page: page.stem)
def test_every_example_is_real_output(
    page: Path, tmp_path: Path, compare_golden: Callable[[Path, str], None]
) -> None:
    """Run in order in one folder, with the engine of docs/engines.md, as they say."""
    (tmp_path / "my_engine.py").write_text(_engine_blocks()[0], "utf-8")
    shown = page.read_text("utf-8")
    real = _CONSOLE.sub(
        lambda found: f"```console\n{_real(found[1], tmp_path)}```", shown
    )
    assert real.count("passed") >= 2 or page == _README
    compare_golden(page, real)


def test_console_blocks_are_run_by_a_test() -> None:
    """A page whose commands no test runs shows them without a prompt and output."""
    shown = {page for page in DOCUMENTS if _CONSOLE.search(page.read_text("utf-8"))}
    assert shown == {*_RUN}


_LINK = re.compile(r"\]\(([^)\s#:]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and mkdocs write them."""
    headings = _HEADING.findall(_BLOCK.sub("", page.read_text("utf-8")))
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {each.strip().replace(" ", "-") for each in words}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """The file of each link exists, and the heading that its anchor names."""
    links = _LINK.findall(page.read_text("utf-8"))
    assert [name for name, _ in links if not (page.parent / name).exists()] == []
    lost = [
        (name, anchor)
        for name, anchor in links
        if anchor and anchor not in _anchors(page.parent / name if name else page)
    ]
    assert lost == []


def _engine_blocks() -> list[str]:
    return [
        body
        for kind, body in _BLOCK.findall(_ENGINES.read_text("utf-8"))
        if kind == "python"
    ]


def test_the_engine_of_twenty_lines_runs(tmp_path: Path) -> None:
    """The very lines, put in a file and given by its path, are measured."""
    text = _engine_blocks()[0]
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    path = tmp_path / "my_engine.py"
    path.write_text(text, "utf-8")
    request = request_of(tmp_path, [sample("any", '{"a": 1}')], padding=5)
    _, run = measured(tmp_path, [str(path)], request)
    (row,) = run.rows()
    assert row.result is Result.OK
    assert [each.verdict for each in row.walks] == [WalkVerdict.ACCEPTED]


def test_what_more_an_engine_can_say_is_read(tmp_path: Path) -> None:
    """`ABOUT`, `OPTIONS` and `PRESETS` of the page are those of an engine."""
    path = tmp_path / "my_engine.py"
    path.write_text(_engine_blocks()[0] + "\n" + _engine_blocks()[1], "utf-8")
    file = find_engine(str(path))
    assert file.distribution == "my-engine"
    assert not file.about.checks_commit
    assert file.about.homepage
    assert file.about.refusals[1].keywords == ("anyOf",)
    assert choose_options(file, "paper", {"limit": "null"}) == {
        "whitespace": False,
        "limit": None,
    }
    assert choose_options(file, "faithful", {"whitespace": "false", "limit": "7"}) == {
        "whitespace": False,
        "limit": 7,
    }


def test_every_result_is_explained() -> None:
    """The page's table of results has all that there are."""
    named = re.findall(r"^\| `(\w+)` \|", _ENGINES.read_text("utf-8"), re.MULTILINE)
    assert {each.value for each in Result} <= set(named)
