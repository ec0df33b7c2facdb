"""The command line: parse, call one function, print. `csbdata --help` lists all.

Exit codes follow sysexits: 0 done, 1 done and a check failed, 2 wrong usage, 3 and 4
of `fit` alone, 65 bad data, 66 no such input, 69 unavailable, 70 a fault of ours,
73 cannot write, 75 try again later, 77 not permitted, 78 bad configuration,
130 stopped, 143 ended by SIGTERM.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final, NoReturn, cast

import typer

from curation.commands.options import CommandGroup, GroupedCommand
from curation.system.credentials import guard, redacted, redacted_traceback
from curation.system.errors import (
    BadUsage,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    Stopped,
    TemporarilyUnavailable,
    list_causes,
    missing_library,
)
from curation.system.progress import heartbeat
from curation.system.terminal import log, set_command_line, show, stderr
from curation.system.words import plain, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from typer._click import Context


class _Commands(CommandGroup):
    """The commands; an interruption is an error with a message and an exit code.

    typer itself ends without a message, and with 1 if the reader of a pipe is gone.
    """

    def invoke(self, context: Context) -> object:
        """Run a command.

        Raises:
            BadUsage: a word of the command line is empty.
            Stopped: the user has stopped it.
            NoInput: the working folder is gone.
            _ReaderGone: no process reads the output.
        """
        if "" in sys.argv[1:]:
            # A path that is empty would be the working folder.
            raise BadUsage(
                "an empty argument", hint="is a variable of the shell unset?"
            )
        try:
            Path.cwd()
        except FileNotFoundError as error:
            hint = "change to an existing folder"
            raise NoInput("the working folder was deleted", hint=hint) from error
        try:
            return super().invoke(context)
        except KeyboardInterrupt as error:
            raise Stopped("stopped", hint=_GOES_ON) from error
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


class _ReaderGoneError(Exception):
    """Who read our stdout through a pipe has enough."""


#: What is true of every command that works for long.
_GOES_ON = "what is finished is kept; the same command goes on from there"

#: The commands of this package in the order of `--help`, each the name of a module of
#: `curation.commands` and of what it offers.
_COMMANDS: Final = (
    *("build", "sources", "explain", "stats", "diff", "check", "fit", "instances"),
    *("card", "verify", "push"),
)


#: Commands of `evaluation`, after those: the module and its name there. Only here does
#: this package name the other, and it imports it to run the command line alone.
_EVALUATION: Final = {
    "demo": "demo:demo",
    "engines": "engines:app",
    "eval": "eval:evaluate",
    "export": "export:export",
    "probe": "probe:probe",
    "results": "results:app",
    "score": "score:score",
    "site": "site:site",
    "suite": "suite:app",
}


#: What runs engines for `csbdata fit`, in the same way.
_ENGINE_RUNNER: Final = "evaluation.analysis.engine_trials"

#: What `csbdata` alone prints.
_FIRST_SCREEN: Final = """\
JSONSchemaBench: curate real JSON Schemas, report which providers and engines
accept a schema, and measure constrained-decoding engines and models.

First commands:
  csbdata check schema.json                    its mistakes
  csbdata fit schema.json                      which providers accept it
  csbdata instances schema.json                valid values, and near misses
  csbdata build --sample                       a small build of the benchmark
  csbdata eval --engine llguidance --limit 20  keywords that an engine enforces

Next:
  csbdata --help                               all commands
  csbdata fit --help                           options, with examples
  README.md, docs/tutorials.md                 five tutorials, a minute each"""


def _print_version(enabled: bool) -> None:
    if enabled:
        from importlib.metadata import version  # noqa: PLC0415 - takes time

        show(version("csbdata"))
        raise typer.Exit


def _options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Print the first screen if no command is named."""
    if context.invoked_subcommand is None:
        show(_FIRST_SCREEN)


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line.

    If the command line begins with the name of a command, only that one is imported:
    `csbdata check` starts in a fraction of the time that all commands take.

    Args:
        arguments: The command line without the program's name.
    """
    app = typer.Typer(
        name="csbdata",
        cls=_Commands,
        help="Curate JSON Schemas into JSONSchemaBench; measure engines and models on "
        "it.",
        invoke_without_command=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    named = arguments[0] if arguments else ""
    if named == "--version":
        return app
    if named not in _EVALUATION:
        from curation.core.engine_trials import register_runner  # noqa: PLC0415 - what uses it

        register_runner(lambda: import_module(_ENGINE_RUNNER).EngineTrials())
    places = {name: f"curation.commands.{name}:{name}" for name in _COMMANDS}
    places |= {name: f"evaluation.commands.{at}" for name, at in _EVALUATION.items()}
    for name in (named,) if named in places else places:
        module, _, attribute = places[name].partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            for info in command.registered_commands:
                info.cls = GroupedCommand
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=GroupedCommand)(command)
    return app


def main() -> None:
    """Run the command line; every expected failure is one line and an exit code."""
    try:
        code = _run()
        sys.stdout.flush()
    except (_ReaderGoneError, BrokenPipeError):
        give_up_output()
        code = 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - whatever no one expected is our defect
        fault = _expected_failure(error)
        if fault is None or os.environ.get("CSBDATA_DEBUG"):
            sys.stderr.write(redacted_traceback(error))
        if fault is None:
            log("csbdata: a defect of csbdata; the lines above show where", style="red")
        else:
            # A screen gets the next step on a separate line.
            hint = fault.hint if stderr().folds else ""
            fact = type(fault)(fault.message, fault.where) if hint else fault
            log(f"csbdata: {redacted(str(fact))}", style="red")
            if hint:
                stderr().print(plain(f"  {redacted(hint)}"), soft_wrap=True)
        code = (fault or CsbdataError).exit_code
        end_output()
    sys.exit(code)


def _run() -> int | str | None:
    """Return the exit code of the command; typer ends every command by an exit."""

    def stop(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    prepare_streams()
    guard()
    # SIGTERM leaves every block as Ctrl-C does, and exits as a shell reports it.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
    try:
        with set_command_line(sys.argv[1:]), heartbeat():
            application(sys.argv[1:])()
    except SystemExit as ended:
        return ended.code
    return 0


def _expected_failure(error: BaseException) -> CsbdataError | None:
    """Return an expected failure; None for a defect of csbdata."""
    # While a module loads Ctrl-C can come out as another error.
    if any(isinstance(cause, KeyboardInterrupt) for cause in list_causes(error)):
        return Stopped("stopped", hint=_GOES_ON)
    if isinstance(error, CsbdataError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return missing_library(error)
    if not isinstance(error, OSError):
        return None
    # A word that is not a usable path.
    what, where = error.strerror or "", shortened(str(error.filename), 100)
    if error.errno == errno.ENAMETOOLONG:
        return NoInput(what, where, "a schema itself is read from a pipe, and named -")
    if error.errno in {errno.EACCES, errno.EPERM}:
        return NotPermitted(what, where)
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        hint = "ulimit -n 1024, then the same command"
        return TemporarilyUnavailable(what.lower(), hint=hint)
    return None


class _Stream(TextIOWrapper):
    """stdout or stderr, where the system may refuse to write."""

    #: Of stdout: its loss is a fault of the place with exit code 73.
    is_data = False

    def write(self, text: str) -> int:
        """Write a text.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        with self._losses():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over the withheld output.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        with self._losses():
            super().flush()

    @contextmanager
    def _losses(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if self.is_data:
                raise
        except OSError as error:
            if self.is_data:
                why = error.strerror or type(error).__name__
                what = f"cannot be written ({why})"
                raise CannotCreate(what, "standard output") from error


def prepare_streams() -> None:
    """Take over stdout and stderr; `csbdata` calls it once at its start.

    A terminal that cannot print a character shows its escape; a stream that the caller
    has closed leads nowhere.
    """
    sys.stdout, sys.stderr = _taken_over(sys.stdout), _taken_over(sys.stderr)
    if isinstance(sys.stdout, _Stream):
        sys.stdout.is_data = True


def _taken_over(stream: object) -> TextIOWrapper:
    if stream is None:
        return _Stream(cast("BinaryIO", open(os.devnull, "wb")))  # noqa: PTH123 - open to the end
    if not isinstance(stream, TextIOWrapper):
        return cast("TextIOWrapper", stream)
    encoding, eager = stream.encoding, stream.line_buffering
    return _Stream(
        cast("BinaryIO", stream.detach()),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=eager,
    )


def end_output() -> None:
    """Print what stdout still holds back, or give it up."""
    try:
        sys.stdout.flush()
    except (CannotCreate, OSError, ValueError):
        give_up_output()


def give_up_output() -> None:
    """Lead stdout nowhere: its reader is gone, or its disk is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
