"""`csbdata sources`: list the sources, fetch their archives."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.commands.options import MirrorOption, OfflineOption
from curation.system.progress import progress_for
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    stdout,
    table,
)

if TYPE_CHECKING:
    from curation.download.acquire import Acquired, UnavailableArchive
    from curation.download.cache import FetchSettings


def sources(
    *,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="Names of sources or archives; by default all, and with --fetch the "
            "ten's.",
        ),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Get the archives into the cache, verified.")
    ] = False,
    mirror: MirrorOption = None,
    offline: OfflineOption = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """List the sources with pins and licences; fetch them, each verified.

    With --fetch an archive comes from the cache, the mirror, its publisher or the
    package index, in this order. Exits with 65 if a digest differs from its pin, 69 if
    a source is unavailable, 75 if it may be available later.

    \b
    Examples:
      csbdata sources
      csbdata sources --fetch
      csbdata sources --fetch github snowplow --mirror ~/archives
      csbdata sources --fetch corpus --offline
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.download.cache import FetchSettings

    settings = FetchSettings.from_environment(
        mirror=mirror, offline=offline or not fetch
    )
    if not fetch:
        _list(names or [], settings, format_)
        return
    from curation.pipeline.inputs import acquire_all

    acquisition = acquire_all(names or [], settings, progress_for(format_).log)
    described = [_described(archive) for archive in acquisition.archives.values()]
    missing = list(acquisition.missing)
    if format_ is Format.JSON:
        print_json({"archives": described, "missing": missing})
    else:
        _print(described, missing)
    if code := max(acquisition.missing.values(), default=0):
        raise typer.Exit(code)


def _list(names: list[str], settings: FetchSettings, format_: Format) -> None:
    from curation.download.acquire import at_hand
    from curation.download.pins import pins_for
    from curation.pipeline.inputs import chains_by_source
    from curation.sources.registry import sources as registered

    # An unknown name is an error.
    chains_by_source(names)
    entries: list[dict[str, Any]] = []
    for source in registered().values():
        pins = pins_for(source.name, chain.from_iterable(source.archives.values()))
        archives = [
            {
                **pin.described(),
                "rules": [
                    rules for rules, used in source.archives.items() if name in used
                ],
                "at_hand": at_hand(pin, settings),
            }
            for name, pin in pins.items()
            if not names or source.name in names or name in names
        ]
        if archives or not names:
            entries.append(
                {
                    "source": source.name,
                    "title": source.title,
                    "configs": list(source.configs),
                    "extra": source.extra,
                    "archives": archives,
                }
            )
    if format_ is Format.JSON:
        print_json(entries)
        return
    rows = [
        (
            source["source"],
            ", ".join(source["configs"]),
            archive["archive"],
            f"{archive['repository']} {archive['commit'][:12]}",
            archive["licence"],
            archive["file_licence"],
            archive["at_hand"] or "no",
        )
        for source in entries
        for archive in source["archives"]
    ]
    headers = ("source", "configs", "archive", "pin", "licence", "of files", "here")
    stdout().print(table(headers, rows))


def _described(archive: Acquired | UnavailableArchive) -> dict[str, Any]:
    from curation.download.acquire import UnavailableArchive
    from curation.download.packs import open_pack

    if isinstance(archive, UnavailableArchive):
        return {"archive": archive.archive, "available": False, "why": archive.why}
    return {
        "archive": archive.archive,
        "available": True,
        "origin": archive.origin,
        "route": archive.route,
        "commit": archive.commit,
        "digest": archive.digest,
        "files": len(open_pack(archive.pack).paths),
        "bytes": archive.pack.stat().st_size,
        "pack": str(archive.pack),
    }


def _print(described: list[dict[str, Any]], missing: list[str]) -> None:
    headers = ("archive", "origin", "by way of", "commit", "files", "bytes")
    names = ("archive", "origin", "route", "commit", "files", "bytes")
    rows = []
    for archive in described:
        if archive["available"]:
            commit = archive["commit"][:12]
            rows.append([(archive | {"commit": commit})[name] for name in names])
        else:
            log(f"Unavailable: {archive['why']}", style="yellow")
    if rows:
        stdout().print(table(headers, rows, numbers=(4, 5)))
    if missing:
        log(
            f"Missing: {', '.join(missing)}. `csbdata build` takes the "
            "embedded sample in their place; --mirror DIR names a folder of archives."
        )
