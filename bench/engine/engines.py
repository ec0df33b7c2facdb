"""Measure what measuring costs: `csbdata eval` beside a bare loop over the same work.

- `masks`: llguidance, and XGrammar with its cache, over schemas drawn by digest, with
  the instances that the data holds (`given_only`). The bare loop is one process that
  loads the same tokenizer, encodes the same texts, compiles, and asks for mask and
  commit token by token until the first that is blocked; it isolates, judges and writes
  nothing. Tokenizers are loaded in both. One after the other, in turn, so that what
  else the machine does meets both alike. Medians are over the schemas that compile:
  over all times, and schema by schema (the median of the ratios), which a machine that
  is not quiet disturbs less.
- `test_suite`: the official test suite of 2020-12.

Wall seconds count everything from the start of Python on; processor seconds are those
of all processes together, and suffer less from a machine that is not quiet.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from bench.builds import clean_build
from curation.download.cache import FetchSettings
from evaluation.core.cases import Result
from evaluation.core.records import RecordSelection
from evaluation.data import open_data
from evaluation.results.reader import open_run
from evaluation.setup.engine_files import find_engine, install_line
from evaluation.setup.environments import find_interpreter

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

#: By schema: nanoseconds of its compile, of every mask, of every commit.
Times: TypeAlias = dict[str, list[list[int]]]

#: What each is told beyond its preset, as the loop has it: XGrammar's cache is on.
_OPTIONS: Final = {"llguidance": (), "xgrammar": ("--option", "cache=true")}
_ROOT = Path(__file__).resolve().parents[2]
_LOOP = Path(__file__).with_name("engines_loop.py")
#: Most that `csbdata eval` may take of the bare loop's processor time, and least and
#: most of its medians.
TARGETS = {"processor": 1.15, "medians": (0.9, 1.1), "declared_9000_seconds": 60.0}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--walked", type=int, default=600, help="schemas to walk")
    parser.add_argument(
        "--walked-data", help="what --data takes, to walk; by default the build"
    )
    parser.add_argument(
        "--walked-engines", nargs="*", default=["llguidance", "xgrammar"]
    )
    parser.add_argument(
        "--turns", type=int, default=1, help="times that both are run, in turn"
    )
    parser.add_argument(
        "--vocabulary", default="llama3.1", help="over which vocabulary"
    )
    parser.add_argument(
        "--engine-tasks",
        nargs="*",
        default=["masks", "test_suite"],
        help="masks, test_suite",
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures."""
    found: dict[str, Any] = {"targets": TARGETS, "tokenizer": options.vocabulary}
    with (
        clean_build(options.build, "--instances") as build,
        tempfile.TemporaryDirectory() as temporary,
    ):
        found["data"] = build.name
        folder = Path(temporary)
        for engine in options.walked_engines if "masks" in options.engine_tasks else ():
            data = _walked_data(options, folder) or str(build.folder)
            found[f"masks, {engine}"] = _masks(data, engine, folder, options)
    if "test_suite" in options.engine_tasks:
        with tempfile.TemporaryDirectory() as temporary:
            words = ["--task", "test-suite", "--tokenizer", options.vocabulary]
            found["test_suite"] = timed_eval(Path(temporary) / "run", words)
    return found


def _walked_data(options: argparse.Namespace, folder: Path) -> str:
    """Return what is walked: of a folder of files a copy of those that are drawn."""
    data: str = options.walked_data or ""
    files = drawn_files(Path(data), options.walked) if data else []
    if not files:
        return data
    copies = folder / "walked"
    copies.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, copies)
    return str(copies)


def drawn_files(folder: Path, count: int) -> list[Path]:
    """Return so many `*.json` of a folder, drawn by the digests of their names."""
    by_digest = sorted(
        folder.glob("*.json"),
        key=lambda file: hashlib.sha256(file.name.encode()).digest(),
    )
    return sorted(by_digest[:count])


def _masks(
    data: str, engine: str, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    work = folder / "work.json"
    choice = RecordSelection(limit=options.walked)
    settings = FetchSettings.from_environment()
    samples = open_data(
        data, settings=settings, selection=choice, instances=False
    ).records()
    listed = [
        [sample.key, sample.constraint, [i.text for i in sample.instances]]
        for sample in samples
    ]
    work.write_text(json.dumps(listed), "utf-8")
    turns = []
    for turn in range(options.turns):
        run = folder / f"run-{engine}-{turn}"
        words = [
            "--task",
            "masks",
            "--data",
            data,
            "--set",
            "given_only=true",
            *_OPTIONS[engine],
        ]
        words += ["--limit", str(options.walked), "--tokenizer", options.vocabulary]
        ours = timed_eval(run, words, engine)
        loop = _loop(work, options.vocabulary, engine)
        times = _times_of(run), loop.pop("times")
        turns.append(
            {"eval": ours, "loop": loop, "ratios": _ratios(ours, loop, *times)}
        )
    names = turns[0]["ratios"]
    return {
        "schemas": len(listed),
        "instances": sum(len(texts) for _, _, texts in listed),
        "turns": turns,
        "ratios": {
            name: median(turn["ratios"][name] for turn in turns) for name in names
        },
    }


def _ratios(
    ours: dict[str, Any], loop: dict[str, Any], our_times: Times, loop_times: Times
) -> dict[str, float]:
    """Return ours by the loop's: totals, medians, medians schema by schema."""
    found = {
        name: ours[name] / loop[name] for name in ("wall_seconds", "processor_seconds")
    }
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


def timed_eval(
    run: Path, words: Sequence[str], engine: str = "llguidance"
) -> dict[str, Any]:
    """Run `csbdata eval` with one engine; return what it took and came to."""
    command = [sys.executable, "-m", "curation", "eval", "--engine", engine]
    command += [*words, "--run-dir", str(run), "--format", "json"]
    found = timed(command)
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
    found = timed([sys.executable, *words])
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


def timed(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    silent: bool = False,
) -> dict[str, Any]:
    """Run a command; return its seconds and its memory, those of its children too.

    Args:
        command: Its words.
        folder: In which folder it runs; here by default.
        environment: Its variables; those of this process by default, and the folder of
            these packages in `PYTHONPATH`.
        silent: Whether what it says on stderr is dropped.

    Raises:
        SystemExit: it failed.
    """
    if environment is None:
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        # What is installed has its bytecode.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=answer,
            stderr=subprocess.DEVNULL if silent else None,
            cwd=folder,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return {
        "wall_seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "largest_mb": round(usage.ru_maxrss / 1024),
    }
