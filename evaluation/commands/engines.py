"""`csbdata engines`: which engines can be run here, and how the others come here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.commands.options import CommandGroup
from curation.system.errors import BadConfiguration
from curation.system.progress import no_heartbeat
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    show,
    stdout,
    table,
    with_more,
)

if TYPE_CHECKING:
    from evaluation.setup.environments import KnownVersion


app = typer.Typer(
    cls=CommandGroup,
    help="List engines; add isolated environments of their versions.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def engines(context: typer.Context, format_: FormatOption = Format.AUTO) -> None:
    """List the engines: the usable ones, and the commands that install the rest.

    \b
    Examples:
      csbdata engines
      csbdata engines add xgrammar==0.1.8
      csbdata eval --engine xgrammar --engine xgrammar==0.1.8 --task masks
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    if context.invoked_subcommand is not None:
        return
    statuses = _statuses()
    if format_ is Format.JSON:
        print_json({"engines": statuses})
        return
    rows = [
        (
            status["name"],
            _versions(status),
            status["licence"],
            status["summary"],
            "" if status["usable"] else status["install"],
        )
        for status in statuses
    ]
    headers = ("engine", "usable versions", "licence", "what it is", "to install it")
    stdout().print(table(headers, rows))
    log("Another version, next to the installed one: csbdata engines add NAME==VERSION")
    from evaluation.setup.environments import known_versions

    tried = [f"{engine.engine}=={engine.version}" for engine in known_versions()]
    log(f"Versions that were tried: {', '.join(tried)}")


@app.command()
def add(
    spec: Annotated[
        str, typer.Argument(metavar="ENGINE[==VERSION]", help="What --engine takes.")
    ],
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before downloading.")
    ] = False,
) -> None:
    """Make an isolated environment of an engine's version, in the cache.

    The size of the download is printed first if known. pip does the rest, as you
    have configured it; then the engine is tried. An interrupted addition leaves nothing
    that counts, and the same command finishes it. Exits with 69 if pip cannot get it or
    it does not run, 75 if another csbdata is at work on it.

    \b
    Examples:
      csbdata engines add xgrammar==0.1.8
      csbdata engines add llama_cpp -y
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.download.cache import FetchSettings
    from evaluation.setup.engine_files import find_engine
    from evaluation.setup.environments import (
        make_environment,
        ready_environment,
        version_to_install,
    )

    file = find_engine(spec)
    cache = FetchSettings.from_environment().cache
    ready = ready_environment(cache, file)
    if ready is None:
        if not _ask_for_leave(version_to_install(file), yes=yes):
            log("nothing was installed")
            raise typer.Exit(1)
        ready = make_environment(cache, file, log)
    else:
        log(f"{ready.engine} {ready.version} was there already")
    show(f"csbdata eval --engine {ready.engine}=={ready.version}")


def _ask_for_leave(row: KnownVersion, *, yes: bool) -> bool:
    """Print what would be done, and return whether the user agrees.

    Raises:
        BadConfiguration: standard input is not a terminal, so nobody can confirm.
    """
    size = f", a download of some {row.megabytes:,} MB" if row.megabytes else ""
    log(f"{row.engine} {row.version}{size}, into an environment in the cache")
    if row.note:
        log(f"{row.engine} {row.version}: {row.note}")
    if row.compiles:
        log(f"It is compiled here, which takes {row.compiles}.")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise BadConfiguration(
            "nothing was downloaded: no terminal to confirm at",
            hint=with_more("-y", here=("engines", "add", row.engine)),
        )
    with no_heartbeat():
        return typer.confirm("Download and install?", err=True)


def _statuses() -> list[dict[str, Any]]:
    """Return every engine with whether it can be run here, as `--format json` has it.

    `reason`: why it cannot be run; `installed`: the version in this Python, if it
    loads; `install`: the line that installs it.
    """
    from curation.download.cache import FetchSettings
    from evaluation.setup.engine_files import engine_paths, find_engine, install_line
    from evaluation.setup.environments import (
        existing_environments,
        find_interpreter,
        installed_version,
    )

    cache = FetchSettings.from_environment().cache
    statuses = []
    for file in map(find_engine, engine_paths()):
        interpreter = find_interpreter(cache, file)
        reason = interpreter if isinstance(interpreter, str) else None
        installed = installed_version(file.distribution)
        statuses.append(
            {
                "name": file.name,
                "summary": file.about.summary,
                "licence": file.about.licence,
                "distribution": file.distribution,
                "usable": reason is None,
                "reason": reason,
                "installed": installed
                if installed and interpreter == Path(sys.executable)
                else None,
                "environments": [
                    {
                        "engine": environment.engine,
                        "version": environment.version,
                        "folder": str(environment.folder),
                        "interpreter": str(environment.interpreter),
                        "packages": dict(environment.packages),
                    }
                    for environment in existing_environments(cache, file.name)
                ],
                "install": install_line(file),
                "options": dict(file.options),
                "presets": {
                    name: dict(preset) for name, preset in file.presets.items()
                },
            }
        )
    return statuses


def _versions(status: dict[str, Any]) -> str:
    """Return the versions of an engine that can be run, for a table."""
    if not status["distribution"]:
        return "any"
    versions = [f"{status['installed']} (here)"] if status["installed"] else []
    apart = [environment["version"] for environment in status["environments"]]
    return ", ".join([*versions, *apart]) or "none"
