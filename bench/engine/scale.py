"""Measure what Ray costs: the same units by child processes and by one Ray node.

Both have as many workers, and take turns (`--scale-rounds`). `seconds` are by the clock
and turn on what else the machine does; `processor_seconds` are those of this process,
its children and the whole cluster, so that Ray's own processes are in them. What the
driver takes to join and leave the cluster is measured apart and is in neither.

- `declared`, `masks`: so many units of a build (`--build`), by llguidance; and a few,
  so that the ratio of a further unit is known without what the workers' start takes.
- `build`: the sample, or with `--scale-build clean` the whole benchmark.

Where Ray is not installed, or does not start here, that is said, and there are no
figures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Self

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

_OF = ("units", "seconds", "processor_seconds")
_CLUSTER = Path(__file__).with_name("scale_cluster.py")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--scale-units", type=int, default=2000)
    parser.add_argument(
        "--scale-few", type=int, default=100, help="units that show what a start costs"
    )
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
        _cluster(options.scale_jobs) as address,
    ):
        sides = {
            "local": ExecutorChoice(),
            "ray": ExecutorChoice(name="ray", address=address),
        }
        joining = _joining(sides["ray"], options.scale_jobs)
        found: dict[str, Any] = {"data": data.name, "joining": joining}
        for name in options.scale_work:
            sizes = {"": options.scale_units, "few ": options.scale_few}
            if name == "build":
                sizes.pop("few ")
            works = {
                size + side: partial(
                    _measured, _work(name, data.folder, options, units), choice
                )
                for side, choice in sides.items()
                for size, units in sizes.items()
            }
            rounds = [
                {turn: measured() for turn, measured in works.items()}
                for _ in range(options.scale_rounds)
            ]
            found[name] = _summed(rounds, joining)
        return found


def _work(
    name: str, data: Path, options: argparse.Namespace, units: int
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
            limit=units,
            jobs=jobs,
            executor=executor,
            run_dir=folder / "run",
        )
        return run(request).totals.ran

    return built if name == "build" else asked


def _measured(
    work: Callable[[ExecutorChoice, Path], int], choice: ExecutorChoice
) -> dict[str, float]:
    """Return what it took once."""
    with tempfile.TemporaryDirectory() as folder, _ProcessorTime() as used:
        start = time.perf_counter()
        units = work(choice, Path(folder))
        seconds = time.perf_counter() - start
    return {"units": units, "seconds": seconds, "processor_seconds": used.seconds}


class _ProcessorTime:
    """What this process and all below it use, the cluster too, in a block.

    Read ten times a second: what a process does after it was read last is lost, since
    not every parent here waits for its children.
    """

    def __init__(self) -> None:
        self._before = _times()
        self._last = dict(self._before)
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._reader.join()

    @property
    def seconds(self) -> float:
        """The sum over all processes."""
        return sum(
            seconds - self._before.get(process, 0.0)
            for process, seconds in self._last.items()
        )

    def _read(self) -> None:
        while not self._ended.wait(0.1):
            self._last.update(_times())
        self._last.update(_times())


def _times() -> dict[tuple[int, float], float]:
    """Return the processor seconds of this process and of all below it."""
    own = psutil.Process()
    found = {}
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process.pid, process.create_time()] = times.user + times.system
    return found


def _joining(choice: ExecutorChoice, jobs: int) -> dict[str, float]:
    """Return what joining and leaving the cluster takes, with no work."""

    def nothing(executor: ExecutorChoice, _folder: Path) -> int:
        with open_executor(executor, jobs):
            return 0

    _measured(nothing, choice)
    return _measured(nothing, choice)


def _summed(
    rounds: list[dict[str, dict[str, float]]], joining: dict[str, float]
) -> dict[str, Any]:
    """Return medians, and the ratios of Ray to local in each round."""
    found: dict[str, Any] = {
        side: {
            name: round(median(turn[side][name] for turn in rounds), 3) for name in _OF
        }
        for side in rounds[0]
    }
    for name in _OF[1:]:
        ratios = [
            (turn["ray"][name] - joining[name]) / turn["local"][name] for turn in rounds
        ]
        found[f"ray_over_local_{name}"] = [round(ratio, 3) for ratio in ratios]
        if "few ray" in rounds[0]:
            later = [
                (turn["ray"][name] - turn["few ray"][name])
                / (turn["local"][name] - turn["few local"][name])
                for turn in rounds
            ]
            found[f"a_further_unit_{name}"] = [round(ratio, 3) for ratio in later]
    return found


@contextmanager
def _cluster(cpus: int) -> Iterator[str]:
    """Give the address of a running cluster of one node.

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
            yield address
        finally:
            process.communicate()
