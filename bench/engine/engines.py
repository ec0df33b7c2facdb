"""Measure what measuring costs: `csbdata eval` beside a bare loop over the same work.

llguidance and XGrammar walk the instances of schemas drawn by digest. The bare loop is
one process that loads the same tokenizer, encodes the same texts, compiles, and asks
for mask and commit token by token until the first that is blocked; it isolates, judges
and writes nothing. Medians are over the schemas that compile: over all times, and
schema by schema (the median of the ratios), which a machine that is not quiet disturbs
less.

Wall seconds count everything from the start of Python on; processor seconds are those
of all processes together, and suffer less from a machine that is not quiet.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.builds import clean_build
from bench.commands import timed
from curation.download.cache import FetchSettings
from evaluation.core.cases import Result
from evaluation.core.records import RecordSelection
from evaluation.data import open_data
from evaluation.results.reader import open_run
from evaluation.setup.engine_files import find_engine, install_line
from evaluation.setup.environments import find_interpreter

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

#: By schema: nanoseconds of its compile, of every mask, of every commit.
Times: TypeAlias = dict[str, list[list[int]]]

_LOOP = Path(__file__).with_name("engines_loop.py")
#: Most that `csbdata eval` may take of the bare loop's processor time, and least and
#: most of its medians.
TARGETS = {"processor": 1.15, "medians": (0.9, 1.1)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--walked", type=int, default=600, help="schemas to walk")
    parser.add_argument(
        "--walked-engines", nargs="*", default=["llguidance", "xgrammar"]
    )
    parser.add_argument(
        "--vocabulary", default="llama3.1", help="over which vocabulary"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures."""
    found: dict[str, Any] = {"targets": TARGETS, "tokenizer": options.vocabulary}
    with (
        clean_build(options.build, "--instances") as build,
        tempfile.TemporaryDirectory() as temporary,
    ):
        found["data"] = build.name
        for engine in options.walked_engines:
            found[engine] = _masks(build.folder, engine, Path(temporary), options)
    return found


def _masks(
    data: Path, engine: str, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    work = folder / "work.json"
    choice = RecordSelection(limit=options.walked)
    settings = FetchSettings.from_environment()
    records = open_data(
        str(data), settings=settings, selection=choice, instances=False
    ).records()
    listed = [
        [record.key, record.constraint, [it.text for it in record.instances]]
        for record in records
    ]
    work.write_text(json.dumps(listed), "utf-8")
    run = folder / f"run-{engine}"
    words = ["--task", "masks", "--data", str(data), "--limit", str(options.walked)]
    words += ["--tokenizer", options.vocabulary, "--set", "given_only=true"]
    ours = timed_eval(run, words, engine)
    loop = _loop(work, options.vocabulary, engine)
    times = _times_of(run), loop.pop("times")
    return {
        "schemas": len(listed),
        "instances": sum(len(texts) for _, _, texts in listed),
        "eval": ours,
        "loop": loop,
        "ratios": _ratios(ours, loop, *times),
    }


def _ratios(
    ours: dict[str, Any], loop: dict[str, Any], our_times: Times, loop_times: Times
) -> dict[str, float]:
    """Return ours by the loop's: totals, medians, medians schema by schema."""
    found = {name: ours[name] / loop[name] for name in ("wall_seconds", "cpu_seconds")}
    both = [name for name in our_times if name in loop_times]
    for index, what in enumerate(("compile", "mask", "commit")):
        pairs = [(our_times[name][index], loop_times[name][index]) for name in both]
        pairs = [(own, other) for own, other in pairs if own and other]
        all_own, all_other = zip(*pairs, strict=True)
        found[f"{what}_median"] = median(chain(*all_own)) / median(chain(*all_other))
        found[f"{what}_by_schema"] = median(
            median(own) / median(other) for own, other in pairs
        )
    return {name: round(value, 3) for name, value in found.items()}


def timed_eval(run: Path, words: Sequence[str], engine: str) -> dict[str, Any]:
    """Run `csbdata eval` with one engine; return what it took and came to."""
    command = [sys.executable, "-m", "curation", "eval", "--engine", engine]
    command += [*words, "--run-dir", str(run), "--format", "json"]
    found = timed(command).figures
    rows = list(open_run(run).rows())
    return {
        **found,
        "units": len(rows),
        "compiled": sum(row.result is Result.OK for row in rows),
        "disturbed": sum(row.quiet is False for row in rows),
        "engine_mb": round(max(row.rss_bytes or 0 for row in rows) / 2**20),
    }


def _times_of(run: Path) -> Times:
    rows = [row for row in open_run(run).rows() if row.result is Result.OK]
    return {
        f"{row.config}/{row.id}": [
            [row.compile_ns or 0],
            [ns for walk in row.walks for ns in walk.mask_ns],
            [ns for walk in row.walks for ns in walk.commit_ns],
        ]
        for row in rows
    }


def _loop(work: Path, tokenizer: str, engine: str) -> dict[str, Any]:
    out = work.with_name("loop.json")
    words = [str(_LOOP), str(work), tokenizer, str(out), engine, libraries(engine)]
    found = timed([sys.executable, *words]).figures
    times: Times = json.loads(out.read_bytes())
    masks = [ns for steps in times.values() for ns in steps[1]]
    return {
        **found,
        "compiled": len(times),
        "tokens": len(masks),
        "mask_seconds": round(sum(masks) / 1e9, 2),
        "times": times,
    }


def libraries(engine: str) -> str:
    """Return the folder of an engine's libraries, in an environment of its own or here.

    Raises:
        SystemExit: it is not installed.
    """
    cache = FetchSettings.from_environment().cache
    python = find_interpreter(cache, find_engine(engine))
    if isinstance(python, str):
        raise SystemExit(f"{python}: {install_line(find_engine(engine))}")
    asked = "import sysconfig; print(sysconfig.get_path('platlib'))"
    done = subprocess.run(
        [str(python), "-c", asked], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
