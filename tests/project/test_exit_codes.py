"""One exit code for one mistake, whichever command is called with it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.cli import application
from curation.fit.schema_fit import EXIT_CODES, FIXABLE
from curation.system import errors
from curation.system.errors import CsbdataError
from tests.evaluation.made_runs import HEAD, many, write_run
from tests.project.test_help import PATHS

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.pipeline.build import BuildResult

_ROOT = Path(__file__).parents[2]
#: BUILD is a build, RUN a run; no file or folder, no name of anything is `nosuch`; what
#: begins with `bad` is cut off; `file` is a file, and `taken` a folder of somebody.
_MISTAKES = {
    ("a name or a value that csbdata does not know", 2): """
        nosuch
        fit good.json --for nosuch
        instances good.json --format nosuch
        probe http://localhost:1/v1#m --format nosuch
        diff good.json good.json --fail-on nosuch
        build --rules nosuch
        build --with nosuch
        build --with default=.
        build --with data=.
        check good.json --format nosuch
        build --executor nosuch
        sources nosuch
        sources --fetch nosuch
        explain --nosuch
        stats BUILD --table nosuch
        export maskbench o --split nosuch --data BUILD
        eval --engine nosuch --data good.json --task masks
        eval --engine llguidance@nosuch --data good.json --task masks
        eval --engine llguidance --option nosuch=1 --data good.json --task masks
        eval --engine llguidance --option lenient=nosuch --data good.json --task masks
        eval --engine none --data good.json --task nosuch
        eval --engine none --data good.json --task masks --set nosuch=1
        eval --engine none --data good.json --task masks --set seed=nosuch
        eval --engine none --task test-suite --set drafts=nosuch
        eval --engine none --task probe --set drafts=nosuch
        eval --engine none --compat nosuch --data good.json
        export lm-eval nosuch o
        score --schema good.json --gold bad.jsonl --answers bad.jsonl --preset nosuch
        suite run nosuch
        suite run passrate --set nosuch=1
        suite run passrate --set mode=nosuch
        suite run passrate --engine nosuch --limit 1
        suite run ifstruct --set mix=nosuch
        suite run ifstruct --set split=nosuch
        suite run quality --config nosuch
        suite run concodeeval --set representations=nosuch
        suite score nosuch bad.jsonl
        suite prompts nosuch
        suite generate nosuch --out o
        results show RUN --table nosuch
        results compare RUN --table nosuch
        results paper-table 99 RUN
        results export RUN --format nosuch --out o
        engines add nosuch -y
        engines add nosuch==1
        """,
    ("a file that is not JSON, where problems are what is asked for", 1): """
        check bad.json
        check good.json bad.json
        """,
    ("a file that is not JSON", 65): """
        fit bad.json
                fit good.json --for openai-strict --decode bad.json
        instances bad.json
        diff bad.json good.json
        diff good.json bad.json
        card badbuild
        verify badbuild
        push badbuild --repo a/b --dry-run
        build --sample --out o --with bad.json#x
        eval --data bad.json --engine none --task masks
        eval --engine none --task masks --data good.json --tokenizer ./bad.json
        suite run passrate --data bad.json
        suite score passrate bad.jsonl --data BUILD
        results show badrun
        results compare badrun
        results compare RUN badrun
        results compare RUN bad.json
        results export badrun --format outcomes --out o
        results publish badrun --out o
        results verify badedition
        results paper-table 4 badrun
        results shrink badrun a/b
        site badedition --out o
        """,
    ("a file or folder that is not there", 66): """
        check nosuch.json
        fit nosuch.json
        fit nosuch.json#tool
        fit good.json --for nosuch.toml
        fit good.json --for openai-strict --decode nosuch.json
        instances nosuch.json
        diff nosuch.json good.json
        diff nosuch nosuch2
        explain x --in nosuch
        stats nosuch
        card nosuch
        verify nosuch
        push nosuch --repo a/b --dry-run
        export maskbench o --data nosuch
        build --sample --out o --with ./nosuch.json
        build --mirror nosuch
        build --with Own=nosuch
        card
        explain x
        instances x
        stats
        verify
        sources --mirror nosuch
        sources --fetch --offline --mirror nosuch
        eval --data nosuch.json --engine none --task masks
        eval --engine ./nosuch.py --data good.json --task masks
        eval --engine none --task masks --data good.json --tokenizer ./nosuch.json
        suite run passrate --data nosuch.json
        suite run ./nosuch
        suite score passrate nosuch.jsonl
        suite prompts passrate --data nosuch.json
        results show nosuch
        results compare nosuch
        results compare RUN nosuch
        results export nosuch --format outcomes --out o
        results publish nosuch --out o
        results verify nosuch
        results paper-table 4 nosuch
        results shrink nosuch a/b
        site nosuch --out o
        """,
    ("a folder that holds none of what is looked for", 66): """
        card taken
        explain x --in taken
        export maskbench o --data taken
        push taken --repo a/b --dry-run
        results show taken
        stats taken
        verify taken
        """,
    ("a config, an id, a task or an engine that the data or the run has not", 66): """
        explain nosuch --in BUILD
        instances nosuch --in BUILD
        export maskbench o --data BUILD --config nosuch
        eval --engine none --task masks --data BUILD --config nosuch
        eval --engine none --task masks --data BUILD --id nosuch
        suite run passrate --data BUILD --config nosuch --limit 1
        suite run passrate --data BUILD --id nosuch --limit 1
        results show RUN --task nosuch
        results show RUN --failures --engine nosuch
        results shrink RUN nosuch/x
        """,
    ("a place that cannot be written", 73): """
        build --sample --out file/x
        export maskbench file/x --data BUILD
        fit good.json --for openai-strict --write file/x
        fit good.json --for openai-strict --rest file/x
        eval --engine none --task masks --data good.json --run-dir file/x
        suite prompts ifstruct --limit 1 --out file/x
        suite generate ifstruct --rows 2 --out file/x
        results export RUN --format maskbench --out file/x
        results publish RUN --out file/x
        results export RUN --format outcomes --out file/x
        site EDITION --out file/x
        demo --run-dir file/x
        """,
    ("a place where something else stands", 73): """
        build --sample --out taken
        export maskbench taken --data BUILD
        eval --engine none --task masks --data good.json --run-dir RUN
        eval --engine none --task masks --data good.json --run-dir taken
        suite run passrate --engine none --data good.json --run-dir taken
        suite score passrate answers.jsonl --data good.json --run-dir taken
        demo --run-dir taken
        results export RUN --format maskbench --out taken
        results publish RUN --out taken
        site EDITION --out taken
        """,
}
_MISTAKES["a URL where a command writes to this machine", 2] = _MISTAKES[
    "a place that cannot be written", 73
].replace("file/x", "s3://bucket/x")
#: By command line, the exit code.
_CODES = {
    line.strip(): code
    for (_, code), lines in _MISTAKES.items()
    for line in lines.strip().splitlines()
}
_COMMANDS = sorted({line.split()[0] for line in _CODES})
_MESSAGES = _ROOT / "tests" / "golden" / "messages"
#: Commands without heavy imports.
_FAST = {"check", "diff", "nosuch"}
#: The command itself, and `engines`, which has nothing to be wrong in.
_WITHOUT = {"", "engines"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, sample_result: BuildResult) -> Path:
    """Return a folder with the files of the mistakes."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "good.json").write_text('{"minimum": 3}')
    (folder / "file").touch()
    (folder / "answers.jsonl").write_text('{"record": "good", "text": "3"}\n')
    for name in ("bad.json", "bad.jsonl", "badbuild/manifest.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text('{"type": \n')
    for name in ("badrun/run.json", "badedition/index.json", "taken/mine.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{")
    shutil.copytree(sample_result.request.out, folder / "BUILD")
    limits = {"compile_seconds": 40.0, "run_seconds": 40.0, "memory_mb": 4096}
    head = {**HEAD, "tokenizer": {"name": "bytes"}, "limits": limits}
    write_run(folder / "RUN", many("alpha 1.0", 3) + many("beta 2.0", 3), head)
    (folder / "EDITION").symlink_to(_ROOT / "results" / "2026.11")
    return folder


def _ending(line: str) -> tuple[int | str | None, str]:
    """Return the exit code of a command line, and what is said of its fault."""
    words = shlex.split(line)
    try:
        application(words)(words, prog_name="csbdata")
    except SystemExit as ended:
        return ended.code, ""
    except CsbdataError as fault:
        return fault.exit_code, str(fault)
    raise AssertionError("a command ends by an exit")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in _FAST))
        for name in _COMMANDS
    ],
)
def test_a_mistake_has_one_exit_code_and_one_message(
    command: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    compare_golden: Callable[[Path, str], None],
) -> None:
    """The code is the same in every command; tests/golden/messages has the wording."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("CSBDATA_CACHE", str(place / "cache"))
    told, wrong = "", []
    for line, code in _CODES.items():
        if line.split()[0] != command:
            continue
        found, said = _ending(line)
        printed = capsys.readouterr()
        if found != code or "\n" in said:
            wrong.append(f"{line}: {found}: {said}")
        said = said or (printed.out + printed.err).strip()
        said = re.sub("nonce [0-9a-f]+", "nonce N", said)
        said = re.sub(r"\(processor .* python [0-9.]+, not none\)", "(MACHINE)", said)
        said = re.sub(" +$", "", said, flags=re.MULTILINE).replace(str(place), "HERE")
        told += f"$ csbdata {line}\n{said}\n[{found}]\n\n"
    assert not wrong, "\n".join(wrong)
    assert [path.name for path in (place / "taken").iterdir()] == ["mine.txt"]
    compare_golden(_MESSAGES / f"{command}.txt", told)


def test_every_command_is_tried() -> None:
    """A new command gets a line above."""
    groups = {" ".join(path[:-1]) for path in PATHS}
    for name in {" ".join(path) for path in PATHS} - groups - _WITHOUT:
        assert any(f"{it} ".startswith(f"{name} ") for it in _CODES), name


def test_every_command_that_writes_a_folder_is_tried_on_that_of_others() -> None:
    """Each with --out or --run-dir that is no file is asked to write into `taken`."""
    writing = {
        " ".join(path)
        for path, command in PATHS.items()
        for option in command.params
        if {"--out", "--run-dir"} & {*option.opts} and option.metavar != "FILE"
    }
    tried = [line for line in _CODES if "taken" in line.split()]
    for name in writing:
        assert any(line.startswith(f"{name} ") for line in tried), name


def test_the_table_of_exit_codes_is_that_of_the_code() -> None:
    """docs/architecture.md has it, with those of `fit` and of SIGTERM."""
    page = (_ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page.partition("| exit code |")[2]
    cells = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    listed = {int(code) for cell in cells for code in cell.split(", ")}
    raised = {
        each.exit_code
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, CsbdataError)
    }
    assert listed == raised | {*EXIT_CODES.values(), FIXABLE, 143}
