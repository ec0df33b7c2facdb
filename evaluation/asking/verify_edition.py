"""Verify a published edition: ask engines again, and compare outcome and place."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import sha256
from itertools import starmap
from statistics import median
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.system.errors import BadData, Unavailable
from evaluation.analysis.publish_edition import content_of, line_of
from evaluation.asking.request import RunRequest
from evaluation.asking.run import run
from evaluation.reporting.tables import Cell, Rate, Ratio, Table
from evaluation.results.edition import Line, read_index, read_rows
from evaluation.results.outcomes import Outcome
from evaluation.tasks.registry import task_named
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
#: A config and an id.
_Case: TypeAlias = tuple[str, str]


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
    asker = _Asker(folder, data, work, progress)
    lines = read_rows(folder).to_dicts()
    parts: dict[tuple[str, str], dict[_Case, Line]] = defaultdict(dict)
    for line in draw_lines(lines, count, seed):
        own = parts[line["engine"], line["task"]]
        own[line["config"], line["id"]] = line
    pairs: list[tuple[Line, Line]] = []
    not_asked: list[str] = []
    for label, task in sorted(parts):
        expected = parts[label, task]
        try:
            now = asker.ask(label, task, expected)
        except Unavailable as error:
            not_asked += [f"{label} {task} {'/'.join(it)}: {error}" for it in expected]
            continue
        pairs += [(line, now[key]) for key, line in expected.items() if key in now]
        not_asked += [
            f"{label} {task} {'/'.join(key)}: the run has no such row"
            for key in expected
            if key not in now
        ]
    return EditionVerdict(pairs=pairs, not_asked=not_asked)


class _Asker:
    """Asks an edition's engines again, one of them and one task at a time."""

    def __init__(
        self, folder: Path, data: str | None, work: Path, progress: Progress
    ) -> None:
        self._folder, self._data, self._work = folder, data, work
        self._progress = progress
        self.index = read_index(folder)
        self._runs = 0
        self._content = ""

    def ask(self, label: str, task: str, cases: Iterable[_Case]) -> dict[_Case, Line]:
        """Return what comes of cases now.

        Args:
            label: The engine.
            task: The task.
            cases: Configs and ids.

        Raises:
            BadData: rows are of an engine that the edition does not describe, or the
                dataset is another one.
            Unavailable: the engine is not here.
        """
        index = self.index
        engine = next((e for e in index.engines if e.engine == label), None)
        if engine is None:
            what = f"rows of {label}, which the index does not describe"
            raise BadData(what, str(self._folder))
        # What an engine's name stands for is another version tomorrow.
        named = engine.spec.partition("@")[0] == engine.name and engine.version
        spec = f"{engine.name}=={engine.version}" if named else engine.spec
        needs_data = task_named(task).needs_data
        self._runs += 1
        request = RunRequest(
            engines=[spec.partition("@")[0]],
            preset=engine.preset,
            options=[f"{name}={text}" for name, text in engine.assigned.items()],
            tasks=[task],
            data=self._data if needs_data else None,
            only=["/".join(case) for case in cases],
            tokenizer=str(index.tokenizer.get("name")),
            bounds=msgspec.convert(index.limits, Bounds),
            run_dir=self._work / f"{self._runs:03}",
        )
        asked = run(request, self._progress).open()
        if needs_data and not self._content:
            self._content, _ = content_of(asked)
            if self._content != (measured := index.dataset.content):
                what = f"content {self._content[:16]}, measured was {measured[:16]}"
                raise BadData(what, str(self._data), "say which --data was measured")
        return {
            (attempt["config"], attempt["id"]): line_of(attempt, asked.header)
            for attempt in asked.frame().filter(engine=label).iter_rows(named=True)
        }
