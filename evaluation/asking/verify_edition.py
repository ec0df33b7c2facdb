"""Verify a published edition: ask engines again, and compare outcome and place."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import sha256
from itertools import starmap
from statistics import median
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadData, Unavailable
from evaluation.analysis.publish_edition import content_of, line_of
from evaluation.asking.request import RunRequest
from evaluation.asking.run import run
from evaluation.reporting.tables import Cell, Rate, Ratio, Table
from evaluation.results.edition import (
    EngineResults,
    Index,
    Line,
    read_engine,
    read_index,
    read_lines,
)
from evaluation.results.outcomes import Outcome
from evaluation.tasks.registry import task_named
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.system.progress import Progress

#: Lines of each outcome that are asked again at least, if there are so many.
_LEAST: Final = 20
#: The share of lines that must be equal.
REQUIRED: Final = 0.98
#: What of a line is an outcome or a place.
_COMPARED: Final = ("outcome", "phase", "valid_accepted", "invalid_blocked", "wrong")
_TIMES: Final = ("compile_ns", "between_ns")
_KEY: Final = ("engine", "task", "config", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionVerdict:
    """What came of asking lines of an edition again."""

    #: Lines that were asked again, with what came of each now.
    pairs: Sequence[tuple[Line, Line]]
    #: Lines that could not be asked, and why.
    not_asked: Sequence[str]

    @property
    def differing(self) -> Sequence[tuple[Line, Line]]:
        """The pairs that differ in outcome or place."""
        return [(then, now) for then, now in self.pairs if not _is_equal(then, now)]

    @property
    def holds(self) -> bool:
        """Whether enough lines are equal, and any was asked."""
        equal = len(self.pairs) - len(self.differing)
        return bool(self.pairs) and equal >= REQUIRED * len(self.pairs)

    def tables(self) -> list[Table]:
        """Return equal lines by outcome, then each line that differs."""
        by_outcome: dict[str, list[tuple[Line, Line]]] = defaultdict(list)
        for then, now in self.pairs:
            by_outcome[then["outcome"]].append((then, now))
        groups = {**dict(sorted(by_outcome.items())), "all": [*self.pairs]}
        summary = Table.of_records(
            "Published lines, asked again",
            (
                {
                    "outcome": outcome,
                    "equal": Rate(sum(starmap(_is_equal, own)), len(own)),
                    **{f"{name} now / then": _ratio(own, name) for name in _TIMES},
                }
                for outcome, own in groups.items()
            ),
            note="Equal: in outcome, phase, number of right texts, and the place of "
            "each wrong text; where a deadline ended both, of what both walked. Times: "
            "the median of the ratios of schemas.",
        )
        listed = Table.of_records(
            "Lines that differ",
            (
                {
                    "engine": then["engine"],
                    "task": then["task"],
                    "schema": f"{then['config']}/{then['id']}",
                    "then": _told(then),
                    "now": _told(now),
                }
                for then, now in self.differing
            ),
            note="",
        )
        return [summary, listed] if listed.rows else [summary]


def _is_equal(then: Line, now: Line) -> bool:
    if then["outcome"] == now["outcome"] == Outcome.TIMEOUT.value:
        # How many texts there was time for is a time.
        one, other = set(then["wrong"].split()), set(now["wrong"].split())
        return then["phase"] == now["phase"] and (one <= other or other <= one)
    return all(then[name] == now[name] for name in _COMPARED)


def _ratio(pairs: Sequence[tuple[Line, Line]], name: str) -> Cell:
    ratios = [now[name] / then[name] for then, now in pairs if now[name] and then[name]]
    return Ratio(median(ratios)) if ratios else None


def _told(line: Line) -> str:
    wrong = f" {line['wrong']}" if line["wrong"] else ""
    return f"{line['outcome']} {line['phase']}{wrong}".strip()


def draw_lines(lines: Sequence[Line], count: int, seed: int) -> list[Line]:
    """Return lines drawn by a seed: 20 of each outcome at least, if there are."""
    ranked = sorted(lines, key=lambda line: _rank(line, seed))
    seen: Counter[str] = Counter()
    first: list[Line] = []
    rest: list[Line] = []
    for line in ranked:
        seen[line["outcome"]] += 1
        (first if seen[line["outcome"]] <= _LEAST else rest).append(line)
    return [*first, *rest[: max(0, count - len(first))]]


def _rank(line: Line, seed: int) -> str:
    return sha256("/".join([str(seed), *(line[n] for n in _KEY)]).encode()).hexdigest()


def verify_edition(  # noqa: PLR0913 (what is asked, of what, and where)
    folder: Path,
    data: str | None,
    work: Path,
    *,
    count: int,
    seed: int,
    progress: Progress,
) -> EditionVerdict:
    """Ask engines again what an edition publishes of them.

    Args:
        folder: The edition.
        data: The dataset, as `--data` names it.
        work: Where the runs go.
        count: How many lines are asked at least.
        seed: Decides which.
        progress: Shows what takes long.

    Raises:
        BadData: the edition cannot be read, or the dataset is another one.
        NoInput: there is no edition, or no such dataset.
    """
    index = read_index(folder)
    parts: dict[tuple[str, str], dict[tuple[str, str], Line]] = defaultdict(dict)
    for line in draw_lines(read_lines(folder), count, seed):
        own = parts[line["engine"], line["task"]]
        own[line["config"], line["id"]] = line
    pairs: list[tuple[Line, Line]] = []
    not_asked: list[str] = []
    content = ""
    for place, (label, task) in enumerate(sorted(parts)):
        expected = parts[label, task]
        entry = next((e for e in index.engines if e.engine == label), None)
        if entry is None:
            raise BadData(f"rows of {label}, which no file describes", str(folder))
        engine = read_engine(folder / entry.file)
        ids = [f"{config}/{name}" for config, name in expected]
        request = _request(index, engine, task, data, ids, work / f"{place:03}")
        try:
            asked = run(request, progress).open()
        except Unavailable as error:
            not_asked += [f"{label} {task} {name}: {error}" for name in ids]
            continue
        if task_named(task).needs_data and not content:
            content, _ = content_of(asked)
            if content != (measured := index.dataset.content):
                what = f"content {content[:16]}, measured was {measured[:16]}"
                raise BadData(what, str(data), "say which --data was measured")
        now = {
            (row.config, row.id): line_of(row, asked.header.limits.compile_ns)
            for row in asked.rows()
            if row.engine == label
        }
        pairs += [(line, now[key]) for key, line in expected.items() if key in now]
        not_asked += [
            f"{label} {task} {name}: the run has no such row"
            for key, name in zip(expected, ids, strict=True)
            if key not in now
        ]
    return EditionVerdict(pairs=pairs, not_asked=not_asked)


def _request(  # noqa: PLR0913, PLR0917 (the parts of a request)
    index: Index,
    engine: EngineResults,
    task: str,
    data: str | None,
    ids: Sequence[str],
    work: Path,
) -> RunRequest:
    needs_data = task_named(task).needs_data
    # What an engine's name stands for is another version tomorrow.
    named = engine.spec.partition("@")[0] == engine.name and engine.version
    spec = f"{engine.name}=={engine.version}" if named else engine.spec
    return RunRequest(
        engines=[spec.partition("@")[0]],
        preset=engine.preset,
        options=[f"{name}={text}" for name, text in engine.assigned.items()],
        tasks=[task],
        data=data if needs_data else None,
        only=ids,
        tokenizer=str(index.tokenizer.get("name")),
        bounds=msgspec.convert(index.limits, Bounds),
        run_dir=work,
    )
