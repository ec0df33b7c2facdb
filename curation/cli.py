"""The command line: parse, call one function, print. `csbdata --help` lists all.

Exit codes follow sysexits: 0 done, 1 done and a check failed, 2 wrong usage,
65 bad data, 66 no such input, 69 unavailable, 70 a fault of ours, 73 cannot
write, 75 try again later, 77 not permitted, 78 bad configuration, 130 stopped,
143 ended by SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer.core import TyperGroup

from curation.commands.build import build
from curation.commands.card import card
from curation.commands.check import check
from curation.commands.diff import diff
from curation.commands.explain import explain
from curation.commands.export import export
from curation.commands.instances import instances
from curation.commands.options import GroupedCommand
from curation.commands.push import push
from curation.commands.release import release
from curation.commands.sources import sources
from curation.commands.stats import stats
from curation.commands.verify import verify
from curation.system.credentials import guard, redacted, redacted_traceback
from curation.system.errors import CsbdataError, Stopped
from curation.system.progress import heartbeat
from curation.system.registry import entry_points_of
from curation.system.streams import end_output, give_up_output, prepare_streams
from curation.system.tables import plain
from curation.system.terminal import command_line_of, say, show, stderr

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from typer._click import Context


class _Commands(TyperGroup):
    """The commands; an interruption is an error with a message and an exit code.

    typer itself ends without a message, and with 1 if the reader of a pipe is gone.
    """

    def invoke(self, context: Context) -> object:
        """Run a command.

        Raises:
            Stopped: the user has stopped it.
            _ReaderGone: no one reads what it prints.
        """
        try:
            return super().invoke(context)
        except KeyboardInterrupt as error:
            raise Stopped("stopped", then=_GOES_ON) from error
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


class _ReaderGoneError(Exception):
    """Who read our stdout through a pipe has enough."""


#: What is true of every command that works for long.
_GOES_ON = "what is finished is kept; the same command goes on from there"

app = typer.Typer(
    name="csbdata",
    cls=_Commands,
    help="Curate JSON Schemas into JSONSchemaBench; measure engines and models on it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_COMMANDS = (
    build,
    sources,
    explain,
    stats,
    diff,
    check,
    instances,
    card,
    verify,
    push,
    release,
)
for _command in _COMMANDS:
    app.command(cls=GroupedCommand)(_command)
app.add_typer(export)


def _print_version(enabled: bool) -> None:
    if enabled:
        show(version("csbdata"))
        raise typer.Exit


@app.callback()
def _options(
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
    """Attach the options of `csbdata` itself."""


def _attach_plugins() -> None:
    """Add the commands of other packages (entry point group `csbdata.commands`).

    An entry point names a `typer.Typer`, or the function of one command. If the command
    line begins with one of their names, only that one is loaded, which is faster.
    """
    points = entry_points_of("csbdata.commands")
    named = [point for point in points if point.name in sys.argv[1:2]]
    for point in named or points:
        command = point.load()
        if isinstance(command, typer.Typer):
            for info in command.registered_commands:
                info.cls = GroupedCommand
            app.add_typer(command, name=point.name)
        else:
            app.command(point.name, cls=GroupedCommand)(command)


def main() -> None:
    """Run the command line; every expected failure is one line and an exit code."""
    prepare_streams()
    guard()
    _clean_up_when_terminated()
    try:
        code = _code_of(_run)
        sys.stdout.flush()
    except CsbdataError as fault:
        if os.environ.get("CSBDATA_DEBUG"):
            sys.stderr.write(redacted_traceback(fault))
        _say_fault(fault)
        code = fault.exit_code
        end_output()
    except (_ReaderGoneError, BrokenPipeError):
        give_up_output()
        code = 0
    except Exception as error:  # noqa: BLE001 - whatever no one expected is our defect
        sys.stderr.write(redacted_traceback(error))
        say("csbdata: a defect of csbdata; the lines above say where", style="red")
        code = CsbdataError.exit_code
        end_output()
    sys.exit(code)


def _clean_up_when_terminated() -> None:
    """Have SIGTERM leave every block as Ctrl-C does, and exit as a shell reports it."""

    def stop(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def _say_fault(fault: CsbdataError) -> None:
    """Print a fault: one line, of which a screen gets the next step on its own."""
    if not stderr().folds or not fault.then:
        say(f"csbdata: {redacted(str(fault))}", style="red")
        return
    fact = type(fault)(fault.what, fault.where)
    say(f"csbdata: {redacted(str(fact))}", style="red")
    stderr().print(plain(f"  {redacted(fault.then)}"), soft_wrap=True)


def _run() -> None:
    try:
        _attach_plugins()
        with command_line_of(sys.argv[1:]), heartbeat():
            app()
    except KeyboardInterrupt as error:
        raise Stopped("stopped", then=_GOES_ON) from error


def _code_of(run: Callable[[], None]) -> int | str | None:
    """Return what a function exits with; typer ends every command by an exit."""
    try:
        run()
    except SystemExit as ended:
        return ended.code
    return 0
