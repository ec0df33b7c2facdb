"""How every command ends: its exit code, and one line that says why."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import typer
from typer.core import TyperGroup

import curation.checking.schema_check
import curation.cli
from curation.cli import application, main
from curation.system.errors import NoInput
from curation.system.progress import heartbeat
from curation.system.terminal import command_line

if TYPE_CHECKING:
    from collections.abc import Callable

BUILD = "BUILD"
#: A call that ends at once and prints to stdout; of other commands it is `--help`.
CALLS = {
    "build": ("build", "--sample", "--instances", "--offline", "--out", BUILD),
    "check": ("check", "schema.json"),
    "diff": ("diff", BUILD, BUILD),
    "engines": ("engines",),
    "explain": ("explain", "template", "--in", BUILD),
    "fit": ("fit", "schema.json"),
    "instances": ("instances", "schema.json"),
    "sources": ("sources",),
    "stats": ("stats", BUILD),
    "--version": ("--version",),
}
_COMMAND = typer.main.get_command(application())
assert isinstance(_COMMAND, TyperGroup)
COMMANDS = tuple(_COMMAND.commands)


class Ended(NamedTuple):
    """How a command ended."""

    code: object
    said: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ended]:
    """Return a function that runs `csbdata` here, with a stdout to choose."""
    monkeypatch.setattr(curation.cli, "guard", lambda: None)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    (tmp_path / "folder" / "source").mkdir(parents=True)
    (tmp_path / "folder" / "source" / "package.json").write_text('{"name": "x"}')

    def run(*arguments: str, stdout: str = "/dev/null") -> Ended:
        said = tmp_path / "stderr"
        monkeypatch.setattr(sys, "argv", ["csbdata", *arguments])
        with Path(stdout).open("wb") as out, said.open("wb") as err:
            monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
            monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err))
            with pytest.raises(SystemExit) as ended:
                main()
            sys.stderr.flush()
        return Ended(ended.value.code, said.read_text("utf-8"))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, "--version"])
def test_a_full_disk_under_stdout_is_told_in_one_line(
    name: str, run: Callable[..., Ended], sample_build: Path
) -> None:
    """Exit code 73 and no traceback, whatever the command prints."""
    words = CALLS.get(name, (name, "--help"))
    call = [str(sample_build) if word == BUILD else word for word in words]
    ended = run(*call, stdout="/dev/full")
    assert ended.code == 73, ended.said
    assert "Traceback" not in ended.said
    last = ended.said.splitlines()[-1]
    assert last == (
        "csbdata: standard output: cannot be written (No space left on device)"
    )


def _raising(error: BaseException) -> Callable[..., None]:
    def command(*_: object, **__: object) -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "csbdata: stopped: what is finished is kept"),
        (BrokenPipeError(), 0, ""),
        (ValueError("unthought of"), 70, "a defect of csbdata"),
        (NoInput("not there", "x"), 66, "csbdata: x: not there"),
        (PermissionError(errno.EACCES, "not for you", "x"), 77, "csbdata: x: not for"),
        (PermissionError(errno.EPERM, "not for you", "x"), 77, "csbdata: x: not for"),
        (OSError(errno.EMFILE, "Too many"), 75, "csbdata: too many: ulimit -n 1024"),
        (OSError(errno.EIO, "the disk is broken", "x"), 70, "a defect of csbdata"),
    ],
)
def test_whatever_a_command_raises_has_its_code_and_its_words(
    error: BaseException,
    code: int,
    words: str,
    run: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C was heard, a defect is not the data's, the reader of a pipe may go."""
    monkeypatch.setattr(
        curation.checking.schema_check, "SchemaChecker", _raising(error)
    )
    ended = run("check", "schema.json")
    assert ended.code == code
    assert words in ended.said
    assert ("Traceback" in ended.said) == (code == 70)


def test_a_deleted_working_folder_is_told_in_one_line(
    run: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a command whose files are elsewhere: it looks for settings from here."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ended = run("check", str(tmp_path / "schema.json"))
    monkeypatch.chdir(tmp_path)
    what = "the working folder was deleted: change to an existing folder"
    assert ended == (66, f"csbdata: {what}\n")


@pytest.mark.parametrize("words", [["fit", ""], ["check", "a.json", "--dialect", ""]])
def test_an_empty_word_is_refused(run: Callable[..., Ended], words: list[str]) -> None:
    """`csbdata fit "$FILE"` without FILE would read the working folder."""
    what = "an empty argument: is a variable of the shell unset?"
    assert run(*words) == (2, f"csbdata: {what}\n")


def test_ctrl_c_that_comes_out_as_another_error_is_ctrl_c(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python makes it a `RuntimeError` while a class of a module is made."""

    class Interrupted:
        def __set_name__(self, *_: object) -> None:
            raise KeyboardInterrupt

    def load(_words: object) -> None:
        type("Model", (), {"field": Interrupted()})

    monkeypatch.setattr(curation.cli, "application", load)
    assert run("explain") == (130, f"csbdata: stopped: {curation.cli._GOES_ON}\n")


def test_ctrl_c_while_commands_load_has_its_words_too(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any command has begun."""
    monkeypatch.setattr(curation.cli, "application", _raising(KeyboardInterrupt()))
    assert run("explain") == (130, f"csbdata: stopped: {curation.cli._GOES_ON}\n")


def test_what_was_typed_is_known_while_its_command_runs(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's header takes it from there; before and afterwards nothing was typed."""
    seen: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        curation.cli, "application", lambda _words: lambda: seen.append(command_line())
    )
    run("eval", "--data", "my schemas")
    assert seen == [("csbdata", "eval", "--data", "my schemas")]
    assert command_line() == ()


def test_no_command_is_silent_for_long(
    run: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a step has no bar, its command still says now and then that it works."""
    monkeypatch.setattr(curation.cli, "heartbeat", partial(heartbeat, 0.02))
    app = partial(time.sleep, 0.3)
    monkeypatch.setattr(curation.cli, "application", lambda _words: app)
    assert "still at work, " in run("diff", "a", "b").said


def test_a_reader_that_has_enough_is_no_failure() -> None:
    """`csbdata explain | head -1` ends with 0, and without a word."""
    command = (
        f"{sys.executable} -m curation explain | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    ended = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 (bash as the user has it)
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "0"
    assert ended.stderr == ""


def test_a_closed_stdout_is_as_if_it_led_nowhere() -> None:
    """`csbdata explain >&-` is no traceback."""
    command = f"{sys.executable} -m curation explain >&-"
    ended = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 (as above)
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("word", ["x" * 300, f'{{"type": "{"x" * 300}"}}'])
@pytest.mark.parametrize(
    "name", ["check", "diff", "fit", "instances", "stats", "verify"]
)
def test_a_word_that_is_too_long_for_a_path_is_66(
    name: str, word: str, run: Callable[..., Ended]
) -> None:
    """Such as a schema itself in place of its file: one line, and how to give it."""
    words = [word, word] if name == "diff" else [word]
    ended = run(name, *words)
    assert ended.code == 66, ended.said
    (line,) = ended.said.splitlines()
    assert line.startswith("csbdata: ")
