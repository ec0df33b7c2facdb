"""`csbdata fetch` and `csbdata sources`: get the raw archives, list what there is."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.progress import Quiet, Shown
from curation.system.terminal import (
    Format,
    FormatOption,
    print_json,
    say,
    show,
    stdout,
    table,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.download.acquire import Acquired, FetchSettings, UnavailableArchive
    from curation.pipeline.archives import Acquisition
    from curation.sources.schemastore_lock import LiveLock
    from curation.system.progress import Progress

MirrorOption = Annotated[
    Path | None,
    typer.Option(
        envvar="CSBDATA_MIRROR", help="Folder of source archives to look in first."
    ),
]
#: Failed addresses that are named on a terminal; all are in the lock file.
_SHOWN_FAILURES = 10


def fetch(  # noqa: PLR0913 (one parameter an option)
    *,
    source: Annotated[
        list[str] | None,
        typer.Argument(help="Names of sources or archives; else all of the ten."),
    ] = None,
    mirror: MirrorOption = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Never open a network connection.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Also ask every host that SchemaStore's catalogue lists."
        ),
    ] = False,
    lock: Annotated[
        Path | None,
        typer.Option(
            envvar="CSBDATA_LIVE_LOCK",
            help="Lock file of --live; schemastore.lock.json of the cache by default.",
        ),
    ] = None,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Get raw archives into the cache, each verified against its pin.

    Looks into the mirror, the cache, then asks the publisher or the package index.
    Exits with 65 if a content is not what is pinned, 69 if a source cannot be had,
    75 if it may be had later.

    With --live the schemas that SchemaStore only links to are fetched and locked:
    the lock file holds address, id, sha256 and length of each. The same command
    goes on where it stopped and never replaces what is locked.

    \b
    Examples:
      csbdata fetch
      csbdata fetch github snowplow --mirror ~/archives
      csbdata fetch corpus cloudformation --offline
      csbdata fetch schemastore --live
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.download.acquire import FetchSettings
    from curation.pipeline.archives import acquire_all

    settings = FetchSettings.from_environment(mirror=mirror, offline=offline)
    progress = Quiet() if format_ is Format.JSON else Shown()
    acquisition = acquire_all(source or [], settings, progress.say)
    locked = _live(settings, lock, progress) if live else None
    if format_ is Format.JSON:
        print_json(_report(acquisition, locked))
    else:
        _print(acquisition, locked)
    if acquisition.exit_code:
        raise typer.Exit(acquisition.exit_code)


def sources(
    *, mirror: MirrorOption = None, format_: FormatOption = Format.AUTO
) -> None:
    """List the sources: pins, licences, and which are at hand.

    \b
    Examples:
      csbdata sources
      csbdata sources --format json
    """  # noqa: D301 (as above)
    from curation.download.acquire import FetchSettings

    listed = _listed(FetchSettings.from_environment(mirror=mirror, offline=True))
    if format_ is Format.JSON:
        print_json(listed)
        return
    rows = [
        (
            each["source"],
            ", ".join(each["configs"]),
            archive["archive"],
            f"{archive['repository']} {archive['commit'][:12]}",
            archive["licence"],
            archive["file_licence"],
            archive["at_hand"] or "no",
        )
        for each in listed
        for archive in each["archives"]
    ]
    headers = ("source", "configs", "archive", "pin", "licence", "of files", "at hand")
    stdout().print(table(headers, rows))


def _live(settings: FetchSettings, lock: Path | None, progress: Progress) -> LiveLock:
    from curation.sources.schemastore_live import Hunt, fetch_live
    from curation.sources.schemastore_lock import default_lock

    hunt = Hunt(settings=settings, lock=lock or default_lock(settings))
    with progress.bar("Asking SchemaStore's other hosts") as advance:
        return fetch_live(hunt, progress.say, advance)


def _report(acquisition: Acquisition, locked: LiveLock | None) -> UntypedJson:
    """Return what `csbdata fetch --format json` prints."""
    archives = [_row(each) for each in acquisition.archives.values()]
    report: UntypedJson = {"archives": archives, "missing": list(acquisition.missing)}
    if locked is not None:
        report["live"] = {
            "digest": locked.digest,
            "schemas": len(locked.schemas),
            "failures": [
                {"url": each.url, "why": each.why} for each in locked.failures
            ],
        }
    return report


def _row(outcome: Acquired | UnavailableArchive) -> UntypedJson:
    from curation.download.acquire import UnavailableArchive
    from curation.download.packs import open_pack

    if isinstance(outcome, UnavailableArchive):
        return {"archive": outcome.archive, "available": False, "why": outcome.why}
    return {
        "archive": outcome.archive,
        "available": True,
        "origin": outcome.origin,
        "route": outcome.route,
        "commit": outcome.commit,
        "digest": outcome.digest,
        "files": len(open_pack(outcome.pack)),
        "bytes": outcome.pack.stat().st_size,
        "pack": str(outcome.pack),
    }


def _print(acquisition: Acquisition, locked: LiveLock | None) -> None:
    rows = [_row(each) for each in acquisition.archives.values()]
    headers = ("archive", "origin", "by way of", "commit", "files", "MB")
    had = [
        (
            each["archive"],
            each["origin"],
            each["route"],
            each["commit"][:12],
            each["files"],
            f"{each['bytes'] / 1e6:.1f}",
        )
        for each in rows
        if each["available"]
    ]
    if had:
        stdout().print(table(headers, had, numbers=(4, 5)))
    for each in rows:
        if not each["available"]:
            say(f"Not to be had: {each['why']}", style="yellow")
    if acquisition.missing:
        say(
            f"Missing: {', '.join(acquisition.missing)}. `csbdata build` takes the "
            "embedded sample in their place; --mirror DIR names a folder of archives."
        )
    if locked is not None:
        _print_lock(locked)


def _print_lock(locked: LiveLock) -> None:
    show(f"Locked {len(locked.schemas):,} schemas that are hosted elsewhere.")
    for each in locked.failures[:_SHOWN_FAILURES]:
        say(f"Not to be had: {each.url}: {each.why}", style="yellow")
    rest = len(locked.failures) - _SHOWN_FAILURES
    if rest > 0:
        say(f"And {rest:,} more, listed in the lock file.", style="yellow")


def _listed(settings: FetchSettings) -> list[UntypedJson]:
    from curation.download.acquire import at_hand, load_pins
    from curation.sources.registry import sources as registered

    pins = load_pins()
    return [
        {
            "source": source.name,
            "title": source.title,
            "configs": list(source.configs),
            "extra": source.extra,
            "archives": [
                {
                    **pins[name].described(),
                    "rules": [
                        rules for rules, chain in chains.items() if name in chain
                    ],
                    "at_hand": at_hand(pins[name], settings),
                }
                for name in dict.fromkeys(
                    itertools.chain.from_iterable(chains.values())
                )
            ],
        }
        for source in registered().values()
        for chains in (source.archives,)
    ]
