"""Print the summary of a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import SPLITS
from curation.system.tables import table
from curation.system.terminal import say, say_command, show, stdout

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.download.acquire import UnavailableArchive
    from curation.packaging.manifest import ConfigFigures
    from curation.pipeline.build import BuildResult

#: Reject reasons named in the summary's table before the rest is added up.
_FEW = 4


def report(built: BuildResult) -> dict[str, Json]:
    """Return what `csbdata build --format json` prints."""
    from curation.packaging.manifest import origins_of

    manifest, origins = built.manifest, origins_of(built.manifest)
    return {
        "name": manifest.name,
        "rules": manifest.rules,
        "out": str(built.request.out),
        "seconds": round(sum(built.phases.values()), 3),
        "phases": dict(built.phases),
        "peak_rss_mb": built.peak_rss_mb,
        "unchanged": built.unchanged,
        "partial": list(manifest.partial),
        "real": dict(origins.real),
        "sample": list(origins.sample),
        "not_had": [absent.why for absent in built.not_had],
        "configs": msgspec.to_builtins(manifest.configs),
    }


def print_summary(built: BuildResult, shown_out: Path) -> None:
    """Print what was built, and the commands to type next."""
    figures = built.manifest
    rows = [_row(name, config) for name, config in figures.configs.items()]
    headers = ("config", "origin", "raw", "kept", "train", "val", "test", "rejected")
    stdout().print(table(headers, rows, numbers=(2, 3, 4, 5, 6)))
    records = sum(config.kept for config in figures.configs.values())
    raw = sum(config.raw for config in figures.configs.values())
    state = "was there already" if built.unchanged else "written"
    show(
        f"{figures.name} ({figures.rules} rules): {records:,} records of {raw:,} "
        f"raw documents, {state} in {sum(built.phases.values()):.1f} s"
    )
    say_command(
        "Why a document is not in it",
        f"csbdata explain REASON --in {shown_out}",
    )
    if built.request.instances:
        say_command(
            "Witnesses and near misses", f"csbdata instances --report {shown_out}"
        )
    say_command("Next", f"csbdata stats {shown_out}")
    for line in partiality(built):
        say(line, style="yellow")


def partiality(built: BuildResult) -> Iterator[str]:
    """Say which configs of a build are not real, why, and what to do; or nothing."""
    from curation.packaging.manifest import origins_of
    from curation.sources.base import SAMPLE_REASON

    origins = origins_of(built.manifest)
    if not origins.partial:
        return
    yield f"This is not the whole benchmark: {origins.sentence}."
    # What the sample stands for has just been said.
    reasons = (why for why in origins.reasons if SAMPLE_REASON not in why)
    yield from (f"  {why}" for why in reasons)
    if built.request.sample:
        yield "Why: --sample was asked. Without it the real sources are read."
        return
    refused: dict[str, list[UnavailableArchive]] = {}
    for absent in built.not_had:
        refused.setdefault(absent.publisher, []).append(absent)
    for publisher, archives in refused.items():
        names = ", ".join(absent.archive for absent in archives)
        why = archives[0].why.removeprefix(f"{archives[0].archive}: ")
        yield f"Why: {publisher} did not give {names} ({why})."
    if refused:
        yield (
            "What to do: the same command with --replace where they answer, or with "
            "--replace --mirror DIR, a folder of their archives (`csbdata sources`)."
        )


def _row(name: str, config: ConfigFigures) -> tuple[str, ...]:
    reasons = sorted(config.rejected.items(), key=lambda item: (-item[1], item[0]))
    few = reasons if len(reasons) <= _FEW + 1 else reasons[:_FEW]
    parts = [f"{reason} {count:,}" for reason, count in few]
    if len(reasons) > len(few):
        uncounted = sum(count for _, count in reasons[len(few) :])
        parts.append(f"and {uncounted:,} for {len(reasons) - len(few)} more")
    return (
        name,
        config.origin,
        f"{config.raw:,}",
        f"{config.kept:,}",
        *(f"{config.splits[split]:,}" for split in SPLITS),
        ", ".join(parts),
    )
