"""Read a run folder: header, attempts, and gaps.

The run may be killed or growing: a torn last line is ignored, any other invalid line is
listed as a problem, and of two attempts at the same repetition of a case the later
one counts. Undecided cases have no attempt: no reader can count either by
accident. `attempt.schema.json` publishes the types of a line.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import orjson

from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from curation.system.words import counted
from evaluation.core.cases import Row, StoredTexts
from evaluation.core.run_header import SUITE, RunHeader
from evaluation.results.attempts import ATTEMPTS, Attempt
from evaluation.results.outcomes import engine_is_right, is_judged_apart, number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from curation.core.json_types import UntypedJson

_T = TypeVar("_T")
#: Name of the header in a run's folder.
HEADER: Final = "run.json"
#: Lines that are Python's own objects at a time.
_BATCH: Final = 4096
#: The key of a measurement.
_KEY: Final = ("engine", "task", "config", "id", "repetition")
#: A line's number in its file, and where it begins and ends.
_LINE: Final = ("number", "begin", "end")


class NotAnAttempt(ValueError):  # noqa: N818 # it names the fault of the line
    """A line that is not an attempt, with the reason."""


def parse_line(line: bytes, kind: type[_T]) -> _T:
    """Return a line as an `Attempt`, or as a `Row` with its texts and all times.

    Fields that this version does not know are left alone.

    Raises:
        NotAnAttempt: the line is not JSON, or a field is missing or of another type.
    """
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotAnAttempt(str(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run's folder, opened with `open_run`."""

    folder: Path
    #: What was asked of whom.
    header: RunHeader = field(repr=False)
    #: The whole content of `run.json`.
    raw_header: Mapping[str, UntypedJson] = field(repr=False)
    #: Lines that are not attempts: `file:line: why`.
    problems: tuple[str, ...] = field(repr=False)
    #: How many attempts there are, by the label of the engine and the task.
    row_counts: Mapping[tuple[str, str], int]
    #: Engine, task, config and id of cases that the machine left undecided, which
    #: have no attempt.
    undecided: frozenset[tuple[str, str, str, str]] = field(repr=False)
    #: The attempts that count, in the order of their keys, with `_LINE`.
    _attempts: pl.DataFrame = field(repr=False)

    def __len__(self) -> int:
        """Count the attempts, repetitions included."""
        return self._attempts.height

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that have attempts, in alphabetical order."""
        return tuple(sorted({task for _, task in self.row_counts}))

    @property
    def suite(self) -> Mapping[str, UntypedJson]:
        """The header's facts on the suite; empty for runs of tasks."""
        facts = self.raw_header.get(SUITE)
        return facts if isinstance(facts, dict) else {}

    def attempts(self, task: str) -> pl.DataFrame:
        """Return the attempts of a task, each case's repetitions one after the other.

        The columns are the fields of `evaluation.results.attempts.Attempt`.
        """
        return self._attempts.filter(task=task).drop(_LINE)

    def rows(self, task: str = "") -> Iterator[Row]:
        """Yield each case's first row, by engine, task, config and id; one at a time.

        Of a case whose first repetition is undecided that is the next one.

        Args:
            task: The task whose rows are read; empty for all.

        Raises:
            NoInput: the file has gone since.
            BadData: a line's texts are damaged.
        """
        return self._lines(task, Row)

    def _lines(self, task: str, kind: type[_T]) -> Iterator[_T]:
        lines = _firsts(self._attempts)
        selected = lines.filter(task=task) if task else lines
        path = self.folder / ATTEMPTS
        if not selected.height:
            return
        try:
            with path.open("rb") as file:
                for number, begin, end in selected.select(_LINE).iter_rows():
                    file.seek(begin)
                    try:
                        yield parse_line(file.read(end - begin), kind)
                    except NotAnAttempt as error:
                        raise BadData(str(error), f"{path}:{number}") from error
        except OSError as error:
            raise _gone(path, error) from error

    def frame(self) -> pl.DataFrame:
        """Return the first attempt at each case, a line each.

        `run.frame().to_pandas()` is the same for pandas.
        """
        return _firsts(self._attempts).drop(_LINE)

    def walks(self, task: str = "") -> pl.DataFrame:
        """Return one line for each walk (`walk_frame`).

        Args:
            task: The task whose texts are read; empty for all.
        """
        return walk_frame(self._lines(task, StoredTexts))


def _firsts(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the first attempt at each case of attempts that are in order."""
    return lines.filter(_differs_from(_KEY[:4], 1))


def _differs_from(names: Sequence[str], step: int) -> pl.Expr:
    """Return whether a line of a sorted frame differs from the one `step` before.

    Of a large frame `unique` takes as much memory as the frame.
    """
    import polars as pl  # noqa: PLC0415 - loads polars

    columns = [pl.col(name) for name in names]
    return pl.any_horizontal(
        column.ne_missing(column.shift(step)) for column in columns
    )


def open_run(folder: str | Path) -> RecordedRun:
    """Open a run's folder; every line is looked at once.

    Raises:
        NoInput: missing folder, or not a run's.
        BadData: the header cannot be read.

    Example:
        >>> csbdata.open_run("runs/mine").frame()  # doctest: +SKIP
    """
    import polars as pl  # noqa: PLC0415 - loads polars

    folder = Path(folder)
    header, raw_header = read_header(folder / HEADER)
    problems: list[str] = []
    read_attempts = _read_attempts(folder / ATTEMPTS, problems)
    # Keys only: a large run fits in memory just once.
    keys = read_attempts.select(*_KEY, is_decided=pl.col("outcome").is_not_null())
    in_order = keys.with_row_index().sort(*_KEY, "index")
    latest = in_order.filter(_differs_from(_KEY, -1))
    undecided = latest.filter(~pl.col("is_decided")).select(_KEY[:4]).rows()
    order = latest.filter("is_decided")["index"]
    columns = [
        read_attempts.drop_in_place(name).gather(order)
        for name in read_attempts.columns
    ]
    attempts = pl.DataFrame(columns)
    counts = attempts.group_by("engine", "task").len().sort("engine", "task")
    return RecordedRun(
        folder=folder,
        header=header,
        raw_header=raw_header,
        problems=tuple(problems),
        row_counts={(engine, task): count for engine, task, count in counts.rows()},
        undecided=frozenset(undecided),
        _attempts=attempts,
    )


def _read_attempts(path: Path, problems: list[str]) -> pl.DataFrame:
    """Return every line of a table that is an attempt, in the file's order.

    Args:
        path: The file; no attempts if it is missing.
        problems: Where `file:line: why` is added for each other line.

    Raises:
        NoInput: the file cannot be read.
    """
    import polars as pl  # noqa: PLC0415 - loads polars

    # By the first word of a field's type: an optional one has it first.
    kinds: dict[str, Any] = {"Whole": pl.Int64, "float": pl.Float64}
    kinds |= {"Weight": pl.Float64, "bool": pl.Boolean}
    kinds["tuple[str,"] = pl.List(pl.String)
    schema = {
        name: kinds.get(kind.split()[0], pl.String)
        for name, kind in Attempt.__annotations__.items()
    }
    # Long texts that are the same for many attempts are held once.
    schema |= {"label": pl.Categorical, **dict.fromkeys(_LINE, pl.Int64)}
    frames = [pl.DataFrame(schema=schema)]
    lines = _attempt_lines(path, problems)
    while batch := [*islice(lines, _BATCH)]:
        columns: dict[str, Any] = {
            name: [getattr(attempt, name) for attempt, _ in batch]
            for name in Attempt.__struct_fields__
        }
        columns["label"] = [
            bytes(attempt.label).decode("utf-8", "replace") for attempt, _ in batch
        ]
        columns |= {name: [place[name] for _, place in batch] for name in _LINE}
        frames.append(pl.DataFrame(columns, schema=schema))
    compile_ns = pl.when("compiled").then("compile_ns")
    return pl.concat(frames).with_columns(compile_ns=compile_ns)


def _attempt_lines(
    path: Path, problems: list[str]
) -> Iterator[tuple[Attempt, dict[str, int]]]:
    """Yield each attempt with the `_LINE` of it."""
    end = 0
    try:
        with refuse_large(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                begin, end = end, end + len(line)
                try:
                    place = {"number": number, "begin": begin, "end": end}
                    yield _parse_attempt(line), place
                except NotAnAttempt as error:
                    # A killed writer leaves a torn last line.
                    if line.endswith(b"\n"):
                        problems.append(f"{path.name}:{number}: {error}")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _gone(path, error) from error


def _parse_attempt(line: bytes) -> Attempt:
    """Return an attempt; its texts, which are nearly all of a line, are not looked at.

    Raises:
        NotAnAttempt: as `parse_line` does.
    """
    head, texts, _ = line.partition(b',"walks":[')
    if texts and line.endswith(b"\n"):
        with suppress(NotAnAttempt):
            return parse_line(head + b"}", Attempt)
    return parse_line(line, Attempt)


def read_header(path: Path) -> tuple[RunHeader, Mapping[str, UntypedJson]]:
    """Read the header of a run; also return its whole content.

    Raises:
        NoInput: the file is missing.
        BadData: not a header.
    """
    try:
        content = orjson.loads(refuse_large(path).read_bytes())
    except OSError as error:
        raise _gone(path, error) from error
    except orjson.JSONDecodeError as error:
        raise BadData(f"not JSON ({error})", str(path)) from error
    if not isinstance(content, dict):
        raise BadData("not a run's header", str(path))
    # A null part counts as missing.
    present = {name: part for name, part in content.items() if part is not None}
    try:
        return msgspec.convert(present, RunHeader), content
    except msgspec.ValidationError as error:
        raise BadData(f"not a run's header ({error})", str(path)) from error


def _gone(path: Path, error: OSError) -> NoInput:
    hint = "name the folder of a run (csbdata eval makes one)"
    return NoInput(str(error.strerror), str(path), hint)


def list_gaps(run: RecordedRun) -> list[str]:
    """Return the gaps of a run, a line each; empty if complete.

    An engine that could not run is not a gap: the header gives the reason.
    """
    finished = run.header.finished
    if finished is None:
        present = counted(len(run), "row")
        of = "" if run.header.rows is None else f" of {run.header.rows:,}"
        return [f"not finished: {present}{of}"]
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
    """Return a short, unique name of each run, by its folder.

    The folder's name; its path where another run's folder has the same name.
    """
    names = {run.folder: run.folder.resolve().name for run in runs}
    of = Counter(names.values())
    return {path: name if of[name] == 1 else str(path) for path, name in names.items()}


#: The columns of the table, one line a text; `walk` counts from 0 within its case.
TEXT_COLUMNS: Final[dict[str, type]] = {
    "engine": str,
    "task": str,
    "config": str,
    "id": str,
    "walk": int,
    "valid": bool,
    "verdict": str,
    "right": bool,
    "apart": bool,
    "tokens": int,
    "masks": int,
    "at": int,
    "forced": int,
    # The keyword that alone refuses an invalid text.
    "keyword": str,
    # `evaluation.core.cases.Why` of a wrong text; and its schema's characters.
    "stands": str,
    "governor": str,
    "setting": str,
    "context": str,
    "size": int,
}


def walk_frame(cases: Iterable[StoredTexts]) -> pl.DataFrame:
    """Return one line for each text of cases: `TEXT_COLUMNS`."""
    import polars as pl  # noqa: PLC0415 - takes time

    parts = [pl.DataFrame(schema=TEXT_COLUMNS)]
    lines = chain.from_iterable(map(_lines, cases))
    while batch := [*islice(lines, _BATCH)]:
        parts.append(pl.DataFrame(batch, schema=TEXT_COLUMNS))
    return pl.concat(parts)


def _lines(case: StoredTexts) -> Iterator[dict[str, Any]]:
    for index, walk in enumerate(case.walks):
        times = bytes(walk.mask_ns)
        yield {
            "engine": case.engine,
            "task": case.task,
            "config": case.config,
            "id": case.id,
            "walk": index,
            "valid": walk.valid,
            "verdict": walk.verdict.value,
            "right": engine_is_right(walk),
            "apart": is_judged_apart(walk),
            "tokens": walk.tokens,
            # Integers in a JSON array.
            "masks": times.count(b",") + (times != b"[]"),
            "at": walk.at,
            "forced": walk.forced,
            "keyword": str(walk.label.get("keyword") or ""),
            "stands": walk.why.stands if walk.why else None,
            "governor": walk.why.keyword if walk.why else None,
            "setting": walk.why.setting if walk.why else None,
            "context": walk.why.context if walk.why else None,
            "size": number_in(case, "size", 0),
        }
