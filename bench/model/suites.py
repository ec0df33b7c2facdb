"""Measure how fast every suite scores: reference and mutated answers to its own set.

Every suite that is found takes part; none is named here. Its records are those of the
clean build (the local one, `--build`, or one of the embedded sample) where it takes
them from `--data`, else those that it generates; its answers are those of its
self-test, each of which has one right verdict. They are scored as `csbdata suite`
scores: in a child process, one response at a time, with a deadline for each. What is
divided by is processor time, that of the child and of the parent together. Records
whose answers are short (a median below 300 bytes) are left out: they would flatter.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.builds import clean_build
from curation.download.acquire import FetchSettings
from evaluation.asking.records import records_of
from evaluation.asking.request import choose_suite
from evaluation.asking.scoring import score_all
from evaluation.asking.self_test import TestedAnswer, known_pairs
from evaluation.core.suite import RecordRequest
from evaluation.suites.registry import suites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.asking.request import SuiteChoice
    from evaluation.core.records import Record, Response
    from evaluation.core.suite import KnownAnswer

#: Records that are drawn at once until there are answers enough.
_RECORDS = 160
#: Records whose answers have a smaller median are left out.
_MEDIAN_BYTES = 300


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Declare the options of this part."""
    parser.add_argument("--suite", action="append", help="only these; repeatable")
    parser.add_argument("--answers", type=int, default=5_000)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every suite."""
    figures: dict[str, Any] = {}
    with ExitStack() as stack:
        build = None
        for name in options.suite or list(suites()):
            chosen = choose_suite(name)
            if chosen.suite.generate is None and build is None:
                build = stack.enter_context(clean_build(options.build)).folder
            figures[name] = _measure(chosen, build, options.answers)
    return figures


def _measure(chosen: SuiteChoice, build: Path | None, wanted: int) -> dict[str, Any]:
    known = _known(chosen, build, wanted)
    # A first response has the worker load the suite; what follows is timed.
    pairs = [(record, response) for record, _, response in known]
    loading, _ = _timed(chosen, pairs[:1])
    seconds, verdicts = _timed(chosen, pairs)
    tested = [
        TestedAnswer(record=record, answer=answer, verdict=verdict)
        for (record, answer, _), verdict in zip(known, verdicts, strict=True)
    ]
    return {
        "answers": len(known),
        "records": len({record.key for record, _, _ in known}),
        "kinds": len({answer.kind for _, answer, _ in known}),
        "median_bytes": median(len((one.text or "").encode()) for _, one, _ in known),
        "as_intended": sum(answer.as_expected for answer in tested) / len(tested),
        "classes": Counter(
            answer.verdict.failure_class or "passed" for answer in tested
        ),
        "processor_seconds": round(seconds, 3),
        "start_seconds": round(loading, 3),
        "responses_per_second_and_core": round(len(known) / (seconds - loading)),
    }


def _known(
    chosen: SuiteChoice, build: Path | None, wanted: int
) -> Sequence[tuple[Record, KnownAnswer, Response]]:
    """Return known answers to records of the suite's own set, about as many."""
    data = str(build) if chosen.suite.generate is None else None
    limit = _RECORDS
    while True:
        request = RecordRequest(
            data=data,
            fetch=FetchSettings.from_environment(),
            splits=() if data is None else ("test",),
            limit=limit,
        )
        records = records_of(chosen, request).records
        found = [
            known
            for record in records
            if _is_long(own := known_pairs(chosen, [record]))
            for known in own
        ]
        if len(found) >= wanted or len(records) < limit:
            return found[:wanted]
        limit *= 2


def _is_long(known: Sequence[tuple[Record, KnownAnswer, Response]]) -> bool:
    """Return whether the answers to a record are as long as those people wait for."""
    lengths = [len((answer.text or "").encode()) for _, answer, _ in known]
    return bool(lengths) and median(lengths) >= _MEDIAN_BYTES


def _timed(
    chosen: SuiteChoice, pairs: Sequence[tuple[Record, Response]]
) -> tuple[float, list[Any]]:
    """Return the processor time of scoring, with that of the child, and verdicts."""
    before = _processor_seconds()
    verdicts = score_all(chosen, pairs, jobs=1)
    return _processor_seconds() - before, verdicts


def _processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
