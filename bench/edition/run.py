"""Run everything that an edition of results is made of; killed at will, it continues.

Each step is a call of `csbdata eval`, or of a suite with the embedded model, with a
folder of its own. Their order gives a usable table early: the first 100 records of the
sample for every engine, then what is quick, then the rest.

Usage: python -m bench.edition.run SAMPLE --data BUILD --out build/results [--until H:M]
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from evaluation.results.reader import open_run

#: Records of a step.
PART = 100
#: Engines by what 100 records cost them: seconds, then minutes.
QUICK = ("llguidance", "none", "guidance")
SLOW = ("xgrammar", "llama_cpp", "outlines_core", "formatron", "lm_format_enforcer")
OLDER = ("llguidance==0.5.1", "llguidance==0.5.0", "xgrammar==0.1.8", "xgrammar==0.1.6")
#: Suites that the embedded model is asked: how many records, minutes each, and the
#: most tokens of a text where the suite's own 2,048 would be half an hour of babble.
SUITES = {
    "quality": ("20",),
    "passrate": ("20", "--set", "budget=1024"),
    "ifstruct": ("10", "--set", "budget=1024"),
    "sob": ("10", "--set", "budget=1024"),
    "concodeeval": ("40",),
    # Hours; the first records of the sample, under two engines.
    "coverage": ("200", "--set", "budget=512", "--set", "batch=8"),
}
#: Same for all, in processor time; four times as long by the wall clock.
LIMITS = ("compile_seconds=10", "run_seconds=10")


@dataclass(frozen=True)
class Step:
    """One call of `csbdata eval`, or of `csbdata suite run`."""

    #: The engine, or the model that answers a suite.
    engine: str
    task: str
    #: The first of its records in the sample; None for a task with its own cases, and
    #: for `masks` on all records.
    start: int | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        part = "" if self.start is None else f"-{self.start:04}"
        return f"{self.engine.replace('==', '-')}-{self.task}{part}"

    def command(self, ids: list[str], data: Path, out: Path) -> list[str]:
        """Return the call."""
        words = [sys.executable, "-c", "import csbdata; csbdata.main()"]
        if self.task in SUITES:
            words += ["suite", "run", self.task, "--model", self.engine]
            words += ["--engine", "none", "--engine", QUICK[0]]
            limit, *more = SUITES[self.task]
            if self.task == "coverage":
                words += ["--engine", SLOW[0]]
                words += [word for it in ids[: int(limit)] for word in ("--id", it)]
            else:
                words += ["--limit", limit]
            own = self.task not in {"coverage", "passrate"}
            words += ["--data", "own" if own else str(data)]
            words += [*more, "--set", "run_seconds=600"]
            words += ["--format", "json"]
            return [*words, "--run-dir", str(out / self.name)]
        words += ["eval", "--engine", self.engine, "--task", self.task]
        words += ["--run-dir", str(out / self.name), "--format", "json"]
        words += [word for limit in LIMITS for word in ("--set", limit)]
        if self.task == "masks" or self.start is not None:
            words += ["--data", str(data)]
        if self.start is None:
            return words
        part = ids[self.start : self.start + PART]
        return [*words, *(word for it in part for word in ("--id", it))]


def steps(count: int) -> list[Step]:
    """Return all steps in their order."""
    first, second = range(0, PART, PART), range(PART, min(3 * PART, count), PART)
    rest = range(3 * PART, count, PART)

    def on(engines: tuple[str, ...], task: str, starts: range) -> list[Step]:
        return [Step(engine, task, start) for start in starts for engine in engines]

    def own(engines: tuple[str, ...], task: str) -> list[Step]:
        return [Step(engine, task) for engine in engines]

    return [
        *on(QUICK, "masks", first),
        *own(QUICK, "probe"),
        *on(("xgrammar",), "masks", first),
        *on(QUICK, "masks", range(PART, count, PART)),
        *on((*OLDER[:2], *SLOW[1:]), "masks", first),
        *own(("xgrammar",), "probe"),
        *(Step("smollm2", suite) for suite in SUITES if suite != "coverage"),
        *own(QUICK, "test-suite"),
        *own(("llguidance",), "masks"),
        *on(("xgrammar",), "masks", second),
        *own((*OLDER[:2], *SLOW[1:]), "probe"),
        *on(OLDER[2:], "masks", first),
        *on((*OLDER[:2], *SLOW[1:]), "masks", second),
        *on(("xgrammar",), "masks", rest),
        *own(SLOW, "test-suite"),
        *on(SLOW[1:], "masks", rest),
        *own(OLDER[2:], "probe"),
        *on(OLDER[2:], "masks", second),
        *own(OLDER, "test-suite"),
        Step("smollm2", "coverage"),
        *own(("xgrammar",), "masks"),
    ]


def is_done(folder: Path) -> bool:
    """Return whether a step has come to its end, with no case undecided."""
    if not (folder / "run.json").exists():
        return False
    run = open_run(folder)
    return run.header.finished is not None and not run.undecided


def remaining(todo: list[Step], took: dict[tuple[str, str], list[float]]) -> str:
    """Return how long the steps take, by those of the same engine and task so far."""
    known = [step for step in todo if took[step.engine, step.task]]
    hours = sum(
        sum(times) / len(times)
        for step in known
        if (times := took[step.engine, step.task])
    )
    unknown = len(todo) - len(known)
    return (
        f"{len(todo)} steps to do; {len(known)} of them take {hours / 3600:.1f} h by "
        f"those done so far" + (f", {unknown} unknown" if unknown else "")
    )


def main() -> int:
    """Run the steps that are not done; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sample", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("build/results"))
    parser.add_argument("--until", help="start no step after this time of day, UTC")
    options = parser.parse_args()
    ids = options.sample.read_text().split()
    every = steps(len(ids))
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    for step in every:
        file = options.out / step.name / "seconds"
        if file.exists():
            took[step.engine, step.task].append(float(file.read_text()))
    todo = [step for step in every if not is_done(options.out / step.name)]
    failed = 0
    for place, step in enumerate(todo):
        print(remaining(todo[place:], took), file=sys.stderr)
        now = datetime.datetime.now(datetime.UTC).strftime("%H:%M")
        if options.until and now >= options.until.zfill(5):
            return 1
        print(f"{now} {step.name}", file=sys.stderr, flush=True)
        begun, before = time.monotonic(), os.times()
        ended = subprocess.run(
            step.command(ids, options.data, options.out),
            stdout=subprocess.DEVNULL,
            check=False,
        )
        failed += ended.returncode != 0
        if ended.returncode == 0:
            seconds = time.monotonic() - begun
            after = os.times()
            cpu = after.children_user + after.children_system
            cpu -= before.children_user + before.children_system
            print(f"  {seconds:.0f} s, {cpu:.0f} s of processor", file=sys.stderr)
            (options.out / step.name / "seconds").write_text(f"{seconds:.1f}\n")
            took[step.engine, step.task].append(seconds)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
