"""A run's folder, read back: its header, its rows, and tables of them.

The folder may be a killed run's, or one that is still growing: a torn last line is
left out, a line that is no row is left out and listed, and of two rows of the same
measurement of a case the later one counts.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import orjson
import polars as pl

from curation.system.errors import BadData, NoInput
from evaluation.core.cases import WalkVerdict
from evaluation.core.run_header import RunHeader
from evaluation.results.outcomes import engine_is_right, is_judged_apart, outcome_of
from evaluation.results.row_parser import NotARow, parse_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson
    from evaluation.core.cases import InstanceResult, Row

#: Names in a run's folder.
HEADER = "run.json"
LINES = "units-*.jsonl"
# Cases of which walks are held in Python's own objects at a time.
_BATCH = 256

#: Columns of `Run.frame`, one line a case.
CASE_COLUMNS: dict[str, Any] = {
    "engine": pl.String,
    "task": pl.String,
    "config": pl.String,
    "id": pl.String,
    "result": pl.String,
    "standing": pl.String,
    "phase": pl.String,
    "detail": pl.String,
    "warnings": pl.List(pl.String),
    "compile_ns": pl.Int64,
    "first_mask_ns": pl.Int64,
    "apply_ns": pl.Int64,
    "rss_bytes": pl.Int64,
    "quiet": pl.Boolean,
    # All below without walks that are apart: those of valid and of invalid texts,
    # and how many of them the engine was right about.
    "valid": pl.Int64,
    "valid_accepted": pl.Int64,
    "invalid": pl.Int64,
    "invalid_blocked": pl.Int64,
    "lied": pl.Int64,
    "contradicted": pl.Int64,
    "engine_error": pl.Int64,
    "not_run": pl.Int64,
    # Tokens that were walked, and the times of their masks and commits.
    "tokens": pl.Int64,
    "mask_ns": pl.Int64,
    "commit_ns": pl.Int64,
    "max_mask_ns": pl.Int64,
    "label": pl.String,
    "fingerprint": pl.String,
}
#: Columns of `Run.walks`, one line a walk; `walk` counts from 0 within its case.
WALK_COLUMNS: dict[str, Any] = {
    "engine": pl.String,
    "task": pl.String,
    "config": pl.String,
    "id": pl.String,
    "walk": pl.Int64,
    "valid": pl.Boolean,
    "verdict": pl.String,
    "right": pl.Boolean,
    "apart": pl.Boolean,
    "tokens": pl.Int64,
    "at": pl.Int64,
    "mask_ns": pl.List(pl.Int64),
    "commit_ns": pl.List(pl.Int64),
    "forced": pl.Int64,
    "detail": pl.String,
    "label": pl.String,
}


@dataclass(frozen=True, slots=True)
class _RowPlace:
    """Where one row stands, and which measurement of its case it is."""

    path: Path
    offset: int
    length: int
    repetition: int = 0


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
    units: Mapping[tuple[str, str], int]
    _places: tuple[_RowPlace, ...] = field(repr=False)

    def __len__(self) -> int:
        """Count the rows, those of repetitions too."""
        return len(self._places)

    def rows(self) -> Iterator[Row]:
        """Yield each case's first row, by engine, task, config and id; one at a time.

        Raises:
            NoInput: a file has gone since.
        """
        return self._read(place for place in self._places if not place.repetition)

    def all_rows(self) -> Iterator[Row]:
        """Yield all rows, each case's repetitions one after the other.

        Raises:
            NoInput: a file has gone since.
        """
        return self._read(self._places)

    def _read(self, places: Iterable[_RowPlace]) -> Iterator[Row]:
        with ExitStack() as stack:
            files: dict[Path, BinaryIO] = {}
            for place in places:
                try:
                    if place.path not in files:
                        files[place.path] = stack.enter_context(place.path.open("rb"))
                    files[place.path].seek(place.offset)
                    line = files[place.path].read(place.length)
                except OSError as error:
                    raise _gone(place.path, error) from error
                yield parse_row(line)

    def frame(self) -> pl.DataFrame:
        """Return one line for each case (`CASE_COLUMNS`), without single times."""
        cases = [_case(row) for row in self.rows()]
        return pl.DataFrame(cases, schema=CASE_COLUMNS, orient="row")

    def walks(self) -> pl.DataFrame:
        """Return one line for each walk (`WALK_COLUMNS`), with all its times."""
        parts = [pl.DataFrame(schema=WALK_COLUMNS)]
        batch: list[tuple[Any, ...]] = []
        for count, row in enumerate(self.rows(), start=1):
            batch += [_walk(row, index, walk) for index, walk in enumerate(row.walks)]
            if count % _BATCH == 0:
                parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS, orient="row"))
                batch = []
        parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS, orient="row"))
        return pl.concat(parts)


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
        for found in _lines(path):
            if isinstance(found, str):
                problems.append(found)
                continue
            key, place = found
            rows += 1
            places[key] = place
    return RecordedRun(
        folder=folder,
        header=header,
        raw_header=raw_header,
        problems=tuple(problems),
        replaced=rows - len(places),
        tasks=tuple(sorted({task for _, task, *_ in places})),
        units=Counter((engine, task) for engine, task, *_ in places),
        _places=tuple(places[key] for key in sorted(places)),
    )


def _header(path: Path) -> tuple[RunHeader, Mapping[str, UntypedJson]]:
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise _gone(path, error) from error
    except orjson.JSONDecodeError as error:
        raise BadData(f"not JSON ({error})", str(path)) from error
    if not isinstance(content, dict):
        raise BadData("not a run's header", str(path))
    # A part that is null is one that is not there.
    there = {name: part for name, part in content.items() if part is not None}
    try:
        return msgspec.convert(there, RunHeader), content
    except msgspec.ValidationError as error:
        raise BadData(f"not a run's header ({error})", str(path)) from error


def _gone(path: Path, error: OSError) -> NoInput:
    why = error.strerror or type(error).__name__
    return NoInput(why, str(path), "name the folder of a run (csbdata eval makes one)")


def _lines(
    path: Path,
) -> Iterator[tuple[tuple[str, str, str, str, int], _RowPlace] | str]:
    """Yield each line's case and place, or what is wrong with it."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, start=1):
                start, offset = offset, offset + len(line)
                try:
                    row = parse_row(line)
                except NotARow as error:
                    # A torn last line is what a killed writer leaves behind.
                    if line.endswith(b"\n"):
                        yield f"{path.name}:{number}: {error}"
                    continue
                key = (row.engine, row.task, row.config, row.id, row.repetition)
                yield key, _RowPlace(path, start, len(line), row.repetition)
    except OSError as error:
        raise _gone(path, error) from error


def _text(value: Mapping[str, Json]) -> str:
    return orjson.dumps(value).decode()


def _case(row: Row) -> tuple[Any, ...]:
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    masks = [time for walked in walks for time in walked.mask_ns]
    commits = [sum(walked.commit_ns) for walked in walks if walked.commit_ns]
    return (
        row.engine,
        row.task,
        row.config,
        row.id,
        row.result.value,
        outcome_of(row).value,
        row.phase,
        row.detail,
        list(row.warnings),
        row.compile_ns,
        row.first_mask_ns,
        row.apply_ns,
        row.rss_bytes,
        row.quiet,
        *_judged(walks),
        len(masks),
        sum(masks) if masks else None,
        sum(commits) if commits else None,
        max(masks, default=None),
        _text(row.label),
        row.fingerprint,
    )


def _judged(walks: Iterable[InstanceResult]) -> tuple[int, ...]:
    known = [(walk.valid, engine_is_right(walk), walk.verdict) for walk in walks]
    return (
        sum(valid for valid, _, _ in known),
        sum(valid and good is True for valid, good, _ in known),
        sum(not valid for valid, _, _ in known),
        sum(not valid and good is True for valid, good, _ in known),
        *(sum(verdict is wanted for _, _, verdict in known) for wanted in _COUNTED),
    )


#: Verdicts that have a column of their own.
_COUNTED = (
    WalkVerdict.LIED,
    WalkVerdict.CONTRADICTED,
    WalkVerdict.ENGINE_ERROR,
    WalkVerdict.NOT_RUN,
)


def _walk(row: Row, index: int, walked: InstanceResult) -> tuple[Any, ...]:
    return (
        row.engine,
        row.task,
        row.config,
        row.id,
        index,
        walked.valid,
        walked.verdict.value,
        engine_is_right(walked),
        is_judged_apart(walked),
        walked.tokens,
        walked.at,
        list(walked.mask_ns),
        list(walked.commit_ns),
        walked.forced,
        walked.detail,
        _text(walked.label),
    )
