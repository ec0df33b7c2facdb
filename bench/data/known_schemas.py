"""What becomes of the best-known schemas on npm, and what each costs.

Packages are pinned in `known_schemas.toml` and downloaded with `npm pack`. Of each
schema `csbdata check` and `csbdata instances` are run, as a user runs them: processor
seconds and resident memory are those of the command with all its processes.

A table in Markdown goes to standard error.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from bench.data.reached import Apart
from curation.core.documents import Rejected
from curation.download.publishers import npm_environment
from curation.instances.constraints.interpretations import read_schema
from curation.sources.neighbours import base_uri_of, neighbour_library, neighbours_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_PINS = Path(__file__).with_suffix(".toml")
#: Seconds between two looks at the memory of a command.
_SAMPLE = 0.03


class KnownSchema(msgspec.Struct, frozen=True, kw_only=True):
    """One schema in a package."""

    name: str
    package: str
    version: str
    #: Inside the package.
    path: str
    #: Of the file.
    sha256: str


def pinned() -> list[KnownSchema]:
    """Return the schemas, the largest first."""
    return msgspec.convert(
        tomllib.loads(_PINS.read_text(encoding="utf-8"))["schema"], list[KnownSchema]
    )


def download(schema: KnownSchema, folder: Path) -> Path:
    """Return the schema's file in its unpacked package.

    Raises:
        SystemExit: npm cannot get it, or it is another file.
    """
    request = f"{schema.package}@{schema.version}"
    command = ["npm", "pack", request, "--ignore-scripts", "--silent"]
    printed = subprocess.run(
        command,
        cwd=folder,
        env=npm_environment(),
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    if printed.returncode:
        raise SystemExit(f"npm cannot get {request}")
    with tarfile.open(folder / printed.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    file = folder / "package" / schema.path
    if hashlib.sha256(file.read_bytes()).hexdigest() != schema.sha256:
        raise SystemExit(f"{request}: {schema.path} is not the file that is pinned")
    return file


def run(command: str, file: Path) -> tuple[Any, dict[str, float]]:
    """Run a command of csbdata on a file; return its answer, and what it cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as answer:
        program = [sys.executable, "-m", "curation", command, str(file)]
        child = subprocess.Popen([*program, "--format", "json"], stdout=answer)
        peak = 0
        while child.poll() is None:
            peak = max(peak, _resident_bytes(psutil.Process(child.pid)))
            time.sleep(_SAMPLE)
        answer.seek(0)
        content = json.load(answer)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return content, {"seconds": round(seconds, 1), "megabytes": round(peak / 1e6)}


def _resident_bytes(root: psutil.Process) -> int:
    total = 0
    try:
        for process in (root, *root.children(recursive=True)):
            total += process.memory_info().rss
    except psutil.Error:
        pass  # It has ended meanwhile.
    return total


def outcome(file: Path) -> dict[str, Any]:
    """Return what becomes of one schema."""
    checked, check_cost = run("check", file)
    (report,) = checked["files"]
    made, instances_cost = run("instances", file)
    kinds = Counter(row["kind"] == "near_miss" for row in made["instances"])
    problems = report["problems"]
    reasons = [each["code"] for each in problems if each["level"] != "warning"]
    return {
        "bytes": file.stat().st_size,
        "dialect": report["dialect"],
        "dialect_found": report["dialect_found"],
        "rejected": reasons[0] if reasons else "",
        "problems": dict(Counter(each["code"] for each in problems)),
        "witnesses": kinds[False],
        "near_misses": kinds[True],
        "without": ": ".join(filter(None, (made["reason"], made["detail"]))),
        **_reach(file, made),
        "check": check_cost,
        "instances": instances_cost,
    }


def _reach(file: Path, made: dict[str, Any]) -> dict[str, str]:
    """Return the sites and branches that the witnesses reach, of those there are."""
    neighbours = neighbours_of(file.parent, {file.name: file.read_bytes()})
    library = neighbour_library(neighbours)
    schema = read_schema(file.read_text(), "", base_uri_of(file.name), library)
    texts = [row["text"] for row in made["instances"] if row["kind"] != "near_miss"]
    if isinstance(schema, Rejected) or not texts:
        return {}
    apart = Apart()
    tally = apart.counted(json.dumps(schema.value), schema.dialect.name, texts)
    apart.close()
    if tally is None:
        return {}
    counts = tally.counts
    return {
        "sites": f"{counts['sites_reached']:,} of {counts['sites']:,}",
        "branches": f"{counts['branches_taken']:,} of {counts['branches']:,}",
    }


_HEADERS = (
    *("schema", "kB", "draft", "outcome", "problems", "witnesses", "near misses"),
    *("sites reached", "branches taken", "check", "instances"),
)


def table(figures: dict[str, dict[str, Any]]) -> str:
    """Return the outcomes as a table in Markdown."""
    rows: list[Sequence[str]] = [_HEADERS, ["---", "--:", *["---"] * 3, *["--:"] * 6]]
    for name, each in figures.items():
        problems = (f"{count} {code}" for code, count in each["problems"].items())
        costs = (each["check"], each["instances"])
        rows.append(
            [
                name,
                f"{each['bytes'] / 1000:,.0f}",
                f"{each['dialect']} ({each['dialect_found']})",
                each["rejected"] or "kept",
                ", ".join(problems) or "none",
                str(each["witnesses"]),
                str(each["near_misses"]),
                each.get("sites", "-"),
                each.get("branches", "-"),
                *(f"{cost['seconds']} s, {cost['megabytes']} MB" for cost in costs),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--only", action="append", help="this schema only, by its name")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return what becomes of each schema.

    Raises:
        SystemExit: one cannot be had.
    """
    figures: dict[str, Any] = {}
    for schema in pinned():
        if options.only and schema.name not in options.only:
            continue
        print(f"known_schemas: {schema.name}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            file = download(schema, Path(folder))
            package = f"{schema.package}@{schema.version}/{schema.path}"
            figures[schema.name] = {"package": package, **outcome(file)}
    print(table(figures), file=sys.stderr)
    return figures
