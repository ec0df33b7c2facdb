"""Measure how often csbdata calls an engine different from itself, and what it misses.

Runs come in twos, over the same schemas, one right after the other. In each an engine
and a copy in which everything takes `SLOWED` times as long take turns, each in several
processes (`repeats=N`). Two processes of the engine in one run are a pair in turn; one
of the first run and one of the second are a pair as a regression gate has it: `results
compare NEW --baseline OLD --fail-slower 1.2`. What is counted is what the tables and
the gate say of a pair. Pairs share processes: of four there are six pairs, on each part
of the schemas of a run.

The runs are kept in `--noise-folder` where one is given, and are measured only once.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections import Counter
from dataclasses import replace
from itertools import combinations, product, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import csbdata
from bench.builds import clean_build
from curation.download.acquire import FetchSettings
from evaluation.analysis.compare_runs import slowdowns
from evaluation.analysis.paired_times import machine_speed, paired_times
from evaluation.analysis.regression_gate import compared_engines, pair_engines
from evaluation.data import open_data
from evaluation.setup.engine_files import engine_paths
from evaluation.tasks.masks import NAME
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from evaluation.analysis.regression_gate import ComparedEngine, PairedEngines
    from evaluation.core.records import Record
    from evaluation.reporting.tables import Ratio
    from evaluation.results.reader import RecordedRun

#: How many times as long everything takes in the slowed copy, and the gate's limit.
SLOWED: Final = 1.3
LIMIT: Final = 1.2
#: Of 200 pairs at most so many may be called different, and so many close the gate;
#: of the slowed ones at least this share has to be caught.
TARGETS: Final = {"different": 17, "closed": 2, "caught": 0.9}
_APPENDED = Path(__file__).with_name("slowed_engine.py")


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Declare the options of this part."""
    parser.add_argument("--noise-pairs", type=int, default=5, help="pairs of runs")
    parser.add_argument("--noise-schemas", type=int, default=25, help="in a comparison")
    parser.add_argument(
        "--noise-parts", type=int, default=4, help="of a run, each alone"
    )
    parser.add_argument("--noise-engine", default="llguidance")
    parser.add_argument("--noise-repeats", type=int, default=4, help="processes each")
    parser.add_argument("--noise-data", help="what --data takes; the build by default")
    parser.add_argument("--noise-folder", type=Path, help="where runs are kept")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return how many pairs were called different, and how many were caught."""
    with contextlib.ExitStack() as stack:
        data = options.noise_data
        if data is None:
            build = stack.enter_context(clean_build(options.build, "--instances"))
            data = str(build.folder)
        folder = options.noise_folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory())
        )
        runs = list(_runs(data, folder, options))
        return {
            "targets": TARGETS,
            "engine": options.noise_engine,
            "schemas": options.noise_schemas,
            "repeats": options.noise_repeats,
            "load": os.getloadavg(),
            **judged(runs, options.noise_parts),
        }


def _runs(
    data: str, folder: Path, options: argparse.Namespace
) -> Iterator[tuple[RecordedRun, RecordedRun]]:
    """Yield pairs of runs over the same schemas, one made right after the other."""
    engines = [*map(str, _engine_files(folder, options.noise_engine))]
    every = _samples(data)
    for number in range(options.noise_pairs):
        draw = random.Random(number)  # noqa: S311 - drawn again alike, not secret
        count = options.noise_schemas * options.noise_parts
        samples = draw.sample(every, min(count, len(every)))
        made = [
            csbdata.run(
                csbdata.RunRequest(
                    engines=engines,
                    tasks=[NAME],
                    data=samples,
                    bounds=Bounds(compile_seconds=10.0, run_seconds=10.0),
                    repeats=options.noise_repeats,
                    run_dir=folder / f"{number:03}-{time}",
                )
            ).open()
            for time in ("first", "second")
        ]
        yield made[0], made[1]


def _engine_files(folder: Path, engine: str) -> Iterator[Path]:
    """Yield the files of the engine and of its slowed copy."""
    text = engine_paths()[engine].read_text("utf-8")
    slow = f"{text}\n\nSLOWED_BY = {SLOWED}\n{_APPENDED.read_text('utf-8')}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("same", text), ("slowed", slow)):
        path = folder / f"{name}.py"
        path.write_text(content, "utf-8")
        yield path


def _samples(data: str) -> Sequence[Record]:
    settings = FetchSettings.from_environment()
    found = open_data(data, instances=False, settings=settings).records()
    return [sample for sample in found if sample.instances]


def judged(
    runs: Sequence[tuple[RecordedRun, RecordedRun]], parts: int
) -> dict[str, Any]:
    """Return what is said of each kind of pair, and of how many.

    Args:
        runs: Two runs each over the same schemas.
        parts: Into how many parts the schemas are cut; each is compared alone.
    """
    found: dict[str, list[PairedEngines]] = {
        "same engine, in turn": [],
        "same engine, two runs": [],
        "slowed, in turn": [],
        "slowed, two runs": [],
    }
    for first, second in runs:
        same, slowed = _processes(first, "same"), _processes(first, "slowed")
        later, slowed_later = _processes(second, "same"), _processes(second, "slowed")
        pairs = {
            "same engine, in turn": [*combinations(same, 2), *combinations(later, 2)],
            "same engine, two runs": [*product(same, later)],
            "slowed, in turn": [*product(same, slowed)],
            "slowed, two runs": [*product(same, slowed_later)],
        }
        for kind, listed in pairs.items():
            for pair in starmap(pair_engines, listed):
                found[kind] += [
                    replace(pair, cases=pair.cases[part::parts])
                    for part in range(parts)
                ]
    return {kind: _verdicts(pairs) for kind, pairs in found.items()}


def _processes(run: RecordedRun, name: str) -> list[ComparedEngine]:
    """Return an engine of a run as each of its processes alone saw it."""
    (engine,) = (
        engine
        for engine in compared_engines([run], NAME)
        if engine.label.startswith(name)
    )
    times = max(len(case.repetitions) for case in engine.cases)
    return [
        replace(
            engine,
            cases=[
                replace(case, repetitions=case.repetitions[at : at + 1])
                for case in engine.cases
            ],
        )
        for at in range(times)
    ]


def _verdicts(pairs: Sequence[PairedEngines]) -> dict[str, Any]:
    """Return how many pairs are called different, by each kind of time, and closed."""
    different: Counter[str] = Counter()
    uncorrected: Counter[str] = Counter()
    slower: Counter[str] = Counter()
    values: dict[str, list[float]] = {}
    for pair in pairs:
        machine = machine_speed(pair)
        if machine is not None:
            values.setdefault("machine", []).append(machine.value)
        for name, time in paired_times(pair).items():
            if time is None or time.judged.interval is None:
                continue
            values.setdefault(name, []).append(time.judged.value)
            if time.corrected is not None:
                measured = f"{name}, as measured"
                values.setdefault(measured, []).append(time.measured.value)
                uncorrected[name] += _is_different(time.measured)
            different[name] += _is_different(time.judged)
            slower[name] += time.judged.interval.low > 1
    return {
        "pairs": len(pairs),
        "different": dict(different),
        "different as measured": dict(uncorrected),
        "slower": dict(slower),
        "gate closed": sum(bool(slowdowns(pair, LIMIT)) for pair in pairs),
        "ratios": {
            name: [round(sorted(found)[int(at * (len(found) - 1))], 3) for at in _AT]
            for name, found in values.items()
        },
    }


#: Of the ratios the smallest, the quartiles and the largest are told.
_AT: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def _is_different(ratio: Ratio) -> bool:
    between = ratio.interval
    return between is not None and not between.low <= 1 <= between.high
