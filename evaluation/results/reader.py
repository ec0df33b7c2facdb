"""Read a run folder: header, rows, and what is missing.

The run may be killed or growing: a torn last line is ignored, a line that is no row is
listed as a problem, and of two rows of the same repetition of a case the later one
counts. Times of rows hold no waiting for a core, and cases that are undecided have no
row: no reader can count either by accident. `row.schema.json` publishes the types of
`Row`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec
import orjson

from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from curation.system.words import counted
from evaluation.core.cases import LONG_TEXT, InstanceResult, Result, Row
from evaluation.core.run_header import RunHeader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from curation.core.json_types import UntypedJson


class NotARow(ValueError):  # noqa: N818 # it says what the line is
    """A line that is no row, with the reason."""


def parse_row(line: bytes) -> Row:
    """Return the row of one line, its times without waiting for a core.

    Raises:
        NotARow: as `_decode` does.
    """
    return _without_waits(_decode(line))


def _decode(line: bytes) -> Row:
    """Return the row of one line; fields that it does not know are left alone.

    Raises:
        NotARow: the line is not JSON, or a field is missing or of another type.
    """
    # orjson refuses what no JSON of ours holds: NaN, half surrogates, endless nesting.
    try:
        return msgspec.convert(orjson.loads(line), Row)
    except orjson.JSONDecodeError as error:
        raise NotARow(f"not JSON ({error})") from None
    except msgspec.ValidationError as error:
        raise NotARow(str(error)) from None


#: A step that takes so many times the median may contain waiting for the core.
_WAIT_FACTOR: Final = 4


def _without_waits(row: Row) -> Row:
    """Return a row whose times are without those of waiting for the core.

    Applied twice it changes nothing more: what was taken out is no longer told.
    """
    walks = tuple(map(_walk_without_waits, row.walks))
    compile_ns, waited = row.compile_ns, row.compile_waited_ns or 0
    # A time that is all waiting says more than none.
    if compile_ns is not None and waited < compile_ns:
        compile_ns -= waited
    first_ns = row.first_mask_ns
    timed = ((a, b) for a, b in zip(row.walks, walks, strict=True) if a.mask_ns)
    # Of the text that was walked first.
    first = min(timed, key=lambda pair: pair[0].tokens > LONG_TEXT, default=None)
    if first_ns is not None and first is not None:
        first_ns = max(0, first_ns - first[0].mask_ns[0] + first[1].mask_ns[0])
    return replace(
        row,
        walks=walks,
        compile_ns=compile_ns,
        compile_waited_ns=None,
        first_mask_ns=first_ns,
    )


def _walk_without_waits(walked: InstanceResult) -> InstanceResult:
    """Take waiting out of the steps that are far above their median.

    Of each step a share of what is above; the process may have waited between steps.
    """
    if not walked.waited_ns:
        return walked
    steps = [*walked.mask_ns, *walked.commit_ns]
    masks = len(walked.mask_ns)
    excess = [*_far_above(walked.mask_ns), *_far_above(walked.commit_ns)]
    share = min(1.0, walked.waited_ns / (sum(excess) or 1.0))
    net = [int(ns - share * above) for ns, above in zip(steps, excess, strict=True)]
    return replace(
        walked, mask_ns=tuple(net[:masks]), commit_ns=tuple(net[masks:]), waited_ns=None
    )


def _far_above(times: Sequence[int]) -> list[float]:
    """Return of each time what is above the median, 0 unless it is far above."""
    middle = median(times) if times else 0
    return [ns - middle if ns > _WAIT_FACTOR * middle else 0.0 for ns in times]


#: Names in a run's folder.
HEADER = "run.json"
LINES = "rows-*.jsonl"


@dataclass(frozen=True, slots=True)
class _RowPlace:
    task: str
    path: Path
    offset: int
    length: int
    is_undecided: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run's folder, opened with `open_run`."""

    folder: Path
    #: What was asked of whom.
    header: RunHeader
    #: The whole content of `run.json`.
    raw_header: Mapping[str, UntypedJson]
    #: Lines that are no rows: `file:line: why`.
    problems: tuple[str, ...]
    #: Rows that a later row of the same measurement replaces.
    replaced: int
    #: Names of the tasks that have rows, in alphabetical order.
    tasks: tuple[str, ...]
    #: How many rows there are, by the label of the engine and the task.
    row_counts: Mapping[tuple[str, str], int]
    #: Engine, task, config and id of cases that the machine left undecided, which
    #: have no row.
    undecided: frozenset[tuple[str, str, str, str]]
    _places: tuple[_RowPlace, ...] = field(repr=False)
    _first_places: tuple[_RowPlace, ...] = field(repr=False)

    def __len__(self) -> int:
        """Count the rows, those of repetitions too."""
        return len(self._places)

    def rows(self, task: str = "") -> Iterator[Row]:
        """Yield each case's first row, by engine, task, config and id; one at a time.

        Of a case whose first repetition is undecided that is the next one.

        Args:
            task: The task whose rows are read; empty for all.

        Raises:
            NoInput: a file has gone since.
        """
        return self._read(self._first_places, task)

    def all_rows(self, task: str = "") -> Iterator[Row]:
        """Yield all rows, each case's repetitions one after the other.

        Args:
            task: The task whose rows are read; empty for all.

        Raises:
            NoInput: a file has gone since.
        """
        return self._read(self._places, task)

    def _read(self, places: Iterable[_RowPlace], task: str) -> Iterator[Row]:
        with ExitStack() as stack:
            files: dict[Path, BinaryIO] = {}
            for place in (it for it in places if task in {"", it.task}):
                try:
                    if place.path not in files:
                        files[place.path] = stack.enter_context(place.path.open("rb"))
                    files[place.path].seek(place.offset)
                    line = files[place.path].read(place.length)
                except OSError as error:
                    raise _gone(place.path, error) from error
                yield parse_row(line)

    def frame(self) -> pl.DataFrame:
        """Return one line for each case (`attempts.Attempt`), its first attempt.

        `run.frame().to_pandas()` is the same for pandas.
        """
        from evaluation.results.attempts import attempt_of, table  # noqa: PLC0415 - loads polars

        return table(attempt_of(row, self.header) for row in self.rows())

    def walks(self) -> pl.DataFrame:
        """Return one line for each walk (`frames.WALK_COLUMNS`), with all its times."""
        from evaluation.results.frames import walk_frame  # noqa: PLC0415 - loads polars

        return walk_frame(self.rows())


def open_run(folder: Path) -> RecordedRun:
    """Open a run's folder; every line is looked at once.

    Raises:
        NoInput: there is no such folder, or it is no run's.
        BadData: the header cannot be read.
    """
    header, raw_header = _header(folder / HEADER)
    places: dict[tuple[str, str, str, str, int], _RowPlace] = {}
    problems: list[str] = []
    rows = 0
    for path in sorted(folder.glob(LINES)):
        for line in _lines(path):
            if isinstance(line, str):
                problems.append(line)
                continue
            key, place = line
            rows += not place.is_undecided
            places[key] = place
    undecided = [key for key, place in places.items() if place.is_undecided]
    for key in undecided:
        del places[key]
    ordered = sorted(places)
    # A case's smallest repetition is the last that is put there.
    firsts = {key[:4]: places[key] for key in reversed(ordered)}
    return RecordedRun(
        folder=folder,
        header=header,
        raw_header=raw_header,
        problems=tuple(problems),
        replaced=rows - len(places),
        tasks=tuple(sorted({task for _, task, *_ in places})),
        row_counts=Counter((engine, task) for engine, task, *_ in places),
        undecided=frozenset(key[:4] for key in undecided),
        _places=tuple(places[key] for key in ordered),
        _first_places=tuple(reversed(firsts.values())),
    )


def _header(path: Path) -> tuple[RunHeader, Mapping[str, UntypedJson]]:
    try:
        content = orjson.loads(refuse_large(path).read_bytes())
    except OSError as error:
        raise _gone(path, error) from error
    except orjson.JSONDecodeError as error:
        raise BadData(f"not JSON ({error})", str(path)) from error
    if not isinstance(content, dict):
        raise BadData("not a run's header", str(path))
    # A part that is null is one that is not there.
    present = {name: part for name, part in content.items() if part is not None}
    try:
        return msgspec.convert(present, RunHeader), content
    except msgspec.ValidationError as error:
        raise BadData(f"not a run's header ({error})", str(path)) from error


def _gone(path: Path, error: OSError) -> NoInput:
    why = error.strerror or type(error).__name__
    return NoInput(why, str(path), "name the folder of a run (csbdata eval makes one)")


def _lines(
    path: Path,
) -> Iterator[tuple[tuple[str, str, str, str, int], _RowPlace] | str]:
    try:
        with refuse_large(path).open("rb") as file:
            offset = 0
            for number, line in enumerate(file, start=1):
                start, offset = offset, offset + len(line)
                try:
                    row = _decode(line)
                except NotARow as error:
                    # A torn last line is what a killed writer leaves behind.
                    if line.endswith(b"\n"):
                        yield f"{path.name}:{number}: {error}"
                    continue
                key = (row.engine, row.task, row.config, row.id, row.repetition)
                undecided = row.result is Result.UNDECIDED
                size = len(line)
                yield key, _RowPlace(row.task, path, start, size, undecided)
    except OSError as error:
        raise _gone(path, error) from error


def gaps_of(run: RecordedRun) -> list[str]:
    """Return what a run lacks of what it was asked, a line each; empty if nothing.

    An engine that could not be run is no gap: the header says why it has no rows.
    """
    finished = run.header.finished
    if finished is None:
        there = counted(len(run), "row")
        of = "" if run.header.rows is None else f" of {run.header.rows:,}"
        return [f"not finished: {there}{of}"]
    return [
        f"{part.engine} has {count:,} of {part.rows:,} rows of task {part.task}"
        for part in finished.parts
        if (count := run.row_counts.get((part.engine, part.task), 0)) < part.rows
    ] + [
        f"{engine} has {counted(count, 'case')} of task {task} with an undecided "
        "measurement, in no figure: the machine was busy; the same command asks again"
        for (engine, task), count in sorted(
            Counter(u[:2] for u in run.undecided).items()
        )
    ]


def run_names(runs: Iterable[RecordedRun]) -> dict[Path, str]:
    """Return by its folder what each run is called beside the others.

    The folder's name; its path where another run's folder has the same name.
    """
    names = {run.folder: run.folder.resolve().name for run in runs}
    of = Counter(names.values())
    return {path: name if of[name] == 1 else str(path) for path, name in names.items()}
