"""Read a run folder: header, rows, and what is missing.

The run may be killed or growing: a torn last line is ignored, a line that is no row is
listed as a problem, and of two rows of the same repetition of a case the later one
counts. `row.schema.json` publishes the types of `Row`.
"""

from __future__ import annotations

import shlex
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import orjson

from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from evaluation.core.cases import Row
from evaluation.core.run_header import RunHeader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from curation.core.json_types import UntypedJson


class NotARow(ValueError):  # noqa: N818 # it says what the line is
    """A line that is no row, with the reason."""


def parse_row(line: bytes) -> Row:
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


#: Names in a run's folder.
HEADER = "run.json"
LINES = "rows-*.jsonl"


@dataclass(frozen=True, slots=True)
class _RowPlace:
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
    row_counts: Mapping[tuple[str, str], int]
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
        """Return one line for each case (`frames.CASE_COLUMNS`), without times."""
        from evaluation.results.frames import case_frame  # noqa: PLC0415 - loads polars

        return case_frame(self.rows())

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
            rows += 1
            places[key] = place
    return RecordedRun(
        folder=folder,
        header=header,
        raw_header=raw_header,
        problems=tuple(problems),
        replaced=rows - len(places),
        tasks=tuple(sorted({task for _, task, *_ in places})),
        row_counts=Counter((engine, task) for engine, task, *_ in places),
        _places=tuple(places[key] for key in sorted(places)),
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


#: The shard of a run that was not divided.
WHOLE = "1/1"
#: More parts than this no run is divided into.
_MOST = 100_000


def gaps_of(run: RecordedRun) -> list[str]:
    """Return what a run lacks of what it was asked, a line each; empty if nothing.

    An engine that could not be run is no gap: the header says why it has no rows.
    """
    finished = run.header.finished
    if finished is None:
        of = "" if run.header.rows is None else f" of {run.header.rows:,}"
        return [f"not finished: {len(run):,}{of} rows are there"]
    return [
        f"{part.engine} has {count:,} of {part.rows:,} rows of task {part.task}"
        for part in finished.parts
        if (count := run.row_counts.get((part.engine, part.task), 0)) < part.rows
    ]


def to_finish(run: RecordedRun) -> str:
    """Return the command that goes on with a run; empty where it had none."""
    words = list(run.header.command)
    if words and not any(word.startswith("--run-dir") for word in words):
        words += ["--run-dir", str(run.folder)]
    return shlex.join(words)


def missing_shards(runs: Sequence[RecordedRun]) -> list[str]:
    """Return the shards that engines lack, a line each, where runs are joined.

    Each engine must have all parts of its run for each task: those of one division,
    or a run that was not divided.
    """
    shards: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for part in run.header.finished.parts if run.header.finished else ():
            own = shards.setdefault((part.engine, part.task), set())
            own.add(run.header.shard)
    return [
        f"{engine} has no shard {', '.join(missing)} of task {task}"
        for (engine, task), parts in shards.items()
        if (missing := _missing(parts))
    ]


def _missing(present: set[str]) -> list[str]:
    """Return what is missing of the division that lacks least."""
    divisions = {
        int(parts)
        for shard in present
        if (parts := shard.partition("/")[2]).isdecimal() and 0 < int(parts) <= _MOST
    }
    if not divisions:
        return [f"that makes sense (it says {', '.join(sorted(present))})"]
    return min(
        (
            [
                shard
                for part in range(1, parts + 1)
                if (shard := f"{part}/{parts}") not in present
            ]
            for parts in sorted(divisions)
        ),
        key=len,
    )
