"""`csbdata build`: fetch archives, decide, write the dataset folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from curation.commands.options import (
    ExecutorOption,
    MirrorOption,
    OfflineOption,
    path_option,
    with_option_groups,
)
from curation.core.benchmark import SPLITS
from curation.core.documents import Origin
from curation.dataset.editions import BUILDS, DEFAULT_BUILD, SAMPLE_BUILD
from curation.system.errors import CsbdataError
from curation.system.terminal import (
    Format,
    FormatOption,
    print_json,
    show,
    show_whole,
    stdout,
    table,
)
from curation.system.words import command, counted
from curation.workers.ray_pool import LOCAL

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.pipeline.build import BuildResult


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceOptions:
    """Sources."""

    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="[CONFIG=]SOURCE",
            help="Add a source: corpus, or your own schemas: a file or folder of "
            "schemas, OpenAPI or tools, mcp:COMMAND, MODULE:MODEL, a build or a Hub "
            "dataset; CONFIG names their config. May be repeated.",
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="[CONFIG=]SOURCE",
            help="Read this source, any of `csbdata sources` or of --with, in place of "
            "all others. May be repeated.",
        ),
    ] = None
    sample: Annotated[
        bool,
        typer.Option(
            "--sample", help="Use the embedded sample for every source that it has."
        ),
    ] = False
    skip_missing: Annotated[
        bool,
        typer.Option(
            "--skip-missing",
            hidden=True,
            help="Skip configs whose source is unavailable, where rules paper fail.",
        ),
    ] = False
    mirror: MirrorOption = None
    offline: OfflineOption = False


@with_option_groups
def build(  # noqa: PLR0913 (one parameter an option)
    *,
    rules: Annotated[
        str, typer.Option(help="clean or paper: see csbdata explain.")
    ] = "clean",
    sources: _SourceOptions,
    out: Annotated[
        Path | None,
        path_option(
            "DIR",
            f"The dataset folder to write [default: {DEFAULT_BUILD}; "
            f"with --sample {SAMPLE_BUILD}; with --only {BUILDS}/SOURCE].",
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace a build made from other inputs, rules or options.",
        ),
    ] = False,
    fastjsonschema: Annotated[
        bool,
        typer.Option(
            "--fastjsonschema",
            hidden=True,
            help="Also try fastjsonschema on every record (slow).",
        ),
    ] = False,
    instances: Annotated[
        bool,
        typer.Option(
            "--instances",
            help="Also make witnesses and near misses of every record (minutes).",
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            hidden=True,
            help="Workers of this machine [default: all cores].",
        ),
    ] = None,
    executor: ExecutorOption = LOCAL,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Build the benchmark: fetch archives, apply the rules, write the folder.

    The folder appears whole or not at all; the same command, run again after any
    end, continues from there. Exits with 65 if a digest differs from its pin, 69
    if a source is unavailable, 73 if the folder cannot be written or holds a build
    made from other inputs, rules or options (--replace), 75 if another build is at
    work in it or a rule does not come to an end with a document, which is named,
    and with 70 if a rule raised an exception: the folder is written, and the
    documents are listed by `csbdata explain crashed`.

    \b
    Examples:
      csbdata build
      csbdata build --instances
      csbdata build --sample
      csbdata build --executor ray:10.0.0.1:6379
      csbdata build --with corpus --with Acme=schemas/ --with shop.models
      csbdata build --only tool-schemas
      csbdata build --sample --with api.yaml --with Mine=tools.json
      csbdata build --sample --with "mcp:npx -y some-mcp-server"
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.download.cache import FetchSettings
    from curation.pipeline.build import BuildRequest
    from curation.pipeline.build import build as build_folder
    from curation.pipeline.inputs import ExtraSource
    from curation.sources.readers import plain_id
    from curation.system.progress import progress_for

    only = tuple(map(ExtraSource.parse, sources.only or ()))
    folder = SAMPLE_BUILD if sources.sample else DEFAULT_BUILD
    if only:
        names = (source.config or plain_id(source.source) for source in only)
        folder = BUILDS / "-".join(names)
    folder = out or folder
    request = BuildRequest(
        out=folder.absolute(),
        rules=rules,
        extras=tuple(map(ExtraSource.parse, sources.with_ or ())),
        only=only,
        sample=sources.sample,
        skip_missing=sources.skip_missing,
        fastjsonschema=fastjsonschema,
        instances=instances,
        replace=replace,
        jobs=jobs,
        executor=executor,
        fetch=FetchSettings.from_environment(
            mirror=sources.mirror, offline=sources.offline
        ),
    )
    built = build_folder(request, progress_for(format_))
    if format_ is Format.JSON:
        print_json(report(built))
    else:
        print_summary(built, folder)
    if built.rule_faults:
        raise CsbdataError(
            "; ".join(built.rule_faults),
            str(folder),
            command("explain", "crashed", "--in", folder),
        )


#: Reject reasons named in the summary's table before the rest is added up.
_FEW = 4


def report(built: BuildResult) -> dict[str, Json]:
    """Return what `csbdata build --format json` prints."""
    from curation.packaging.counts import missing_near_misses
    from curation.packaging.manifest import list_origins

    manifest, origins = built.manifest, list_origins(built.manifest)
    return {
        "name": manifest.name,
        "rules": manifest.rules,
        "out": str(built.request.out),
        "seconds": round(sum(built.phases.values()), 3),
        "phases": dict(built.phases),
        "processor": dict(built.processor),
        "peak_rss_mb": built.peak_rss_mb,
        "unchanged": built.unchanged,
        "partial": list(manifest.partial),
        "lacking": list(manifest.lacking),
        "real": dict(origins.real),
        "sample": list(origins.sample),
        "not_had": [absent.why for absent in built.not_had],
        "configs": msgspec.to_builtins(manifest.configs),
        "missing_near_misses": missing_near_misses(built.request.out),
    }


def print_summary(built: BuildResult, shown_out: Path) -> None:
    """Print a summary of the build, and the commands to type next."""
    from curation.packaging.counts import missing_near_misses

    figures = built.manifest
    rows = []
    for name, config in figures.configs.items():
        by_count = sorted(config.rejected.items(), key=lambda item: (-item[1], item[0]))
        few = by_count if len(by_count) <= _FEW + 1 else by_count[:_FEW]
        parts = [f"{reason} {count:,}" for reason, count in few]
        if len(by_count) > len(few):
            uncounted = sum(count for _, count in by_count[len(few) :])
            parts.append(f"and {uncounted:,} for {len(by_count) - len(few)} more")
        counts = [config.raw, config.kept, *(config.splits[split] for split in SPLITS)]
        rows.append([name, config.origin, *counts, ", ".join(parts)])
    headers = ("config", "origin", "raw", "kept", "train", "val", "test", "rejected")
    stdout().print(table(headers, rows, numbers=(2, 3, 4, 5, 6)))
    records = sum(config.kept for config in figures.configs.values())
    raw = sum(config.raw for config in figures.configs.values())
    state = "was there already" if built.unchanged else "written"
    show(
        f"{figures.name} ({figures.rules} rules): {counted(records, 'record')} of "
        f"{counted(raw, 'raw document')}, {state} in {sum(built.phases.values()):.1f} s"
    )
    if missing := missing_near_misses(built.request.out):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in missing.items())
        show(
            "Without a near miss that it alone refuses: "
            f"{counted(sum(missing.values()), 'keyword')} ({reasons})"
        )
    for line in partiality(built):
        show(line, style="yellow")
    rejected = Counter[str]()
    for config in figures.configs.values():
        rejected.update(config.rejected)
    partial = ("--allow-partial",) if figures.partial else ()
    options = ("--repo", "OWNER/NAME", *partial, "--dry-run")
    show("What to type next:")
    show_whole(f"  {command('verify', shown_out)}")
    for reason, _ in rejected.most_common(1):
        show_whole(f"  {command('explain', reason, '--in', shown_out)}")
    show_whole(f"  {command('push', shown_out, *options)}")


def partiality(built: BuildResult) -> Iterator[str]:
    """Say which configs of a build are not real, why, and what to do; or nothing."""
    from curation.packaging.manifest import list_origins
    from curation.pipeline.build import LEFT_OUT
    from curation.sources.readers import SAMPLE_REASON
    from curation.sources.registry import source_named

    yield from built.manifest.lacking
    if not built.manifest.partial:
        return
    yield f"This is not the whole benchmark: {list_origins(built.manifest).sentence}."
    for pin in built.manifest.pins:
        if pin.origin is Origin.INDEX and not source_named(pin.source).in_parts:
            yield f"  {pin.source} is read from the package index: {pin.archive}."
    for why in built.manifest.partial:
        # The first sentence names skipped and sampled configs.
        if SAMPLE_REASON not in why and LEFT_OUT not in why:
            yield f"  {why}"
    if built.request.only and not built.not_had:
        yield "Why: --only was asked. Without it the ten configs are read."
        return
    if built.request.sample:
        yield "Why: --sample was asked. Without it the real sources are read."
        return
    yield from (f"Unavailable: {archive.why}" for archive in built.not_had)
    if built.not_had:
        yield (
            "What to do: the same command with --replace where they answer, or with "
            "--replace --mirror DIR, a folder of their archives (`csbdata sources`)."
        )
