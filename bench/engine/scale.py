"""Measure what Ray costs: the same units by child processes and by one Ray node.

Both have as many workers, and take turns (`--scale-rounds`). `seconds` are by the clock
and turn on what else the machine does; `processor_seconds` are those of this process,
its children and the whole cluster, so that Ray's own processes are in them. What the
driver takes to join and leave the cluster is measured apart and is in neither.

- `declared`, `masks`: so many units of a build (`--build`), by llguidance.
- `build`: the sample, or with `--scale-build clean` the whole benchmark.

Where Ray is not installed, or does not start here, that is said, and there are no
figures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil

from bench.builds import clean_build
from curation.cluster.executor import ExecutorChoice, open_executor
from curation.pipeline.build import BuildRequest, build
from curation.system.progress import Quiet
from evaluation.measurement.request import RunRequest
from evaluation.measurement.run import run

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_CLUSTER = Path(__file__).with_name("scale_cluster.py")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--scale-units", type=int, default=2000)
    parser.add_argument("--scale-jobs", type=int, default=2)
    parser.add_argument("--scale-rounds", type=int, default=3)
    parser.add_argument("--scale-build", choices=["sample", "clean"], default="sample")
    parser.add_argument(
        "--scale-work", nargs="*", default=["declared", "masks", "build"]
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every kind of work, and the ratios of Ray to local.

    Raises:
        SystemExit: Ray is not installed, or does not start here.
    """
    with (
        clean_build(options.build, "--instances") as data,
        _cluster(options.scale_jobs) as (address, cluster),
    ):
        sides = {
            "local": ExecutorChoice(),
            "ray": ExecutorChoice(name="ray", address=address),
        }
        joining = _joining(sides["ray"], options.scale_jobs, cluster)
        works = {name: _work(name, data.folder, options) for name in options.scale_work}
        found: dict[str, Any] = {"data": data.name, "joining": joining}
        for name, work in works.items():
            rounds = [
                {
                    side: _measured(work, choice, cluster)
                    for side, choice in sides.items()
                }
                for _ in range(options.scale_rounds)
            ]
            found[name] = _summed(rounds, joining)
        return found


def _work(
    name: str, data: Path, options: argparse.Namespace
) -> Callable[[ExecutorChoice, Path], int]:
    """Return what does one kind of work, and returns how many units it was."""
    jobs = options.scale_jobs

    def built(executor: ExecutorChoice, folder: Path) -> int:
        sample = options.scale_build == "sample"
        request = BuildRequest(
            out=folder / "out", jobs=jobs, executor=executor, sample=sample
        )
        configs = build(request, Quiet()).manifest.configs
        return sum(config.raw for config in configs.values())

    def asked(executor: ExecutorChoice, folder: Path) -> int:
        request = RunRequest(
            tasks=[name],
            data=data,
            limit=options.scale_units,
            jobs=jobs,
            executor=executor,
            run_dir=folder / "run",
        )
        return run(request).totals.ran

    return built if name == "build" else asked


def _measured(
    work: Callable[[ExecutorChoice, Path], int],
    choice: ExecutorChoice,
    cluster: psutil.Process,
) -> dict[str, float]:
    """Return what it took once."""
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), _processor_seconds(cluster)
        units = work(choice, Path(folder))
        return {
            "units": units,
            "seconds": time.perf_counter() - start,
            "processor_seconds": _processor_seconds(cluster) - before,
        }


def _joining(
    choice: ExecutorChoice, jobs: int, cluster: psutil.Process
) -> dict[str, float]:
    """Return what joining and leaving the cluster takes, with no work."""

    def nothing(executor: ExecutorChoice, _folder: Path) -> int:
        with open_executor(executor, jobs):
            return 0

    _measured(nothing, choice, cluster)
    return _measured(nothing, choice, cluster)


def _processor_seconds(cluster: psutil.Process) -> float:
    """Return what this process, its ended children and the cluster have used."""
    total = 0.0
    for process in (psutil.Process(), cluster, *cluster.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        total += times.children_user + times.children_system
    return total


def _summed(
    rounds: list[dict[str, dict[str, float]]], joining: dict[str, float]
) -> dict[str, Any]:
    """Return medians, and the ratios of each round."""
    found: dict[str, Any] = {
        side: {
            name: round(median(turn[side][name] for turn in rounds), 3)
            for name in ("units", "seconds", "processor_seconds")
        }
        for side in ("local", "ray")
    }
    for name in ("seconds", "processor_seconds"):
        ratios = [
            (turn["ray"][name] - joining[name]) / turn["local"][name] for turn in rounds
        ]
        found[f"ray_over_local_{name}"] = round(median(ratios), 3)
        found[f"ray_over_local_{name}_all"] = [round(ratio, 3) for ratio in ratios]
    return found


@contextmanager
def _cluster(cpus: int) -> Iterator[tuple[str, psutil.Process]]:
    """Give the address of a running cluster of one node, and its process.

    Raises:
        SystemExit: there is none here; says why.
    """
    command = [sys.executable, str(_CLUSTER), str(cpus)]
    with (
        tempfile.TemporaryFile("w+") as words,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
        ) as process,
    ):
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            process.wait()
            words.seek(0)
            last = (words.read().splitlines() or ["it said nothing"])[-1]
            raise SystemExit(f"Ray did not start here: {last}")
        try:
            yield address, psutil.Process(process.pid)
        finally:
            process.communicate()
