"""The folder of a run: a header, and one line an attempt, only ever appended.

Killed at any moment, the same command continues: a torn last line is cut off, and a
case counts as finished only if a whole line has its fingerprint.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeVar

import msgspec
import orjson

from curation.core.json_types import Json, UntypedJson
from curation.system.atomic_files import atomic_file, locked, refuse_foreign, writing
from curation.system.errors import BadData, CannotCreate, TemporarilyUnavailable
from evaluation.core.cases import Row
from evaluation.core.run_header import FinishedHeader, FinishedPart
from evaluation.results.attempts import ATTEMPTS, Criterion, make_line
from evaluation.results.reader import HEADER, NotAnAttempt, parse_line, read_header

_Struct = TypeVar("_Struct")


class AppendedLines:
    """One such file, open for appending; its folder's lock is the caller's."""

    def __init__(self, path: Path) -> None:
        """Open the file, new or with an earlier try's lines."""
        self.path = path
        end = sum(map(len, whole_lines(path)))
        if path.exists() and end != path.stat().st_size:
            os.truncate(path, end)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, line: bytes) -> None:
        """Append one line, given without its end.

        Raises:
            CannotCreate: no space or permission (exit 73).
        """
        unwritten = memoryview(line + b"\n")
        with writing(self.path):
            while unwritten:
                unwritten = unwritten[os.write(self._file, unwritten) :]

    def close(self) -> None:
        """Let everything reach the disk."""
        os.fsync(self._file)
        os.close(self._file)


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; without a torn last one.

    Raises:
        OSError: the file is there and cannot be read.
    """
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line
    except FileNotFoundError:
        return


def read_lines(path: Path, kind: type[_Struct]) -> Iterator[_Struct]:
    """Yield the whole lines of a file of a run, each decoded.

    Raises:
        BadData: a line is damaged; the message names it.
    """
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadData(f"a damaged line: {error}", f"{path}:{number}") from error


_LOCK = "lock"
#: The records of a run in which models write, as they were asked.
RECORDS = "records.jsonl"


class AttemptMark(msgspec.Struct, frozen=True):
    """The fields of a line that decide whether its case is finished."""

    task: str
    fingerprint: str = ""


class ResultsFolder:
    """An open run folder."""

    def __init__(self, folder: Path, passes: Mapping[str, Criterion | None]) -> None:
        """Open the table of a folder whose lock the caller holds.

        Args:
            folder: The folder, with its header.
            passes: For each measured task, whether a row is as it should be.
        """
        self.folder = folder
        self._passes = passes
        self._header, _ = read_header(folder / HEADER)
        self._lines = AppendedLines(folder / ATTEMPTS)
        #: Fingerprints of finished cases.
        self.finished: set[str] = set()
        for line in whole_lines(folder / ATTEMPTS):
            with suppress(NotAnAttempt):
                mark = parse_line(line, AttemptMark)
                if mark.task in passes and mark.fingerprint:
                    self.finished.add(mark.fingerprint)

    def write(self, row: Row) -> None:
        """Append a row; one without a fingerprint is not finished.

        Raises:
            CannotCreate: no space or permission (exit 73).
        """
        self._lines.write(make_line(row, self._header, self._passes.get(row.task)))
        if row.fingerprint:
            self.finished.add(row.fingerprint)

    def record_unavailable(self, reasons: Mapping[str, str]) -> None:
        """Write into the header which engines could not be run, by label, and why.

        Raises:
            CannotCreate: no space or permission (exit 73).
        """
        engines = orjson.loads((self.folder / HEADER).read_bytes()).get("engines")
        updated: list[Json] = [
            {**engine, "unavailable": reasons.get(str(engine.get("engine")))}
            for engine in (engines if isinstance(engines, list) else ())
            if isinstance(engine, dict)
        ]
        _update_header(self.folder, engines=updated)

    def close(self) -> None:
        """Let everything reach the disk."""
        self._lines.close()


def record_end(folder: Path, row_counts: Mapping[tuple[str, str], int]) -> None:
    """Write into the header of a run that it has come to its end.

    Args:
        folder: The run's folder, whose lock the caller holds.
        row_counts: Number of rows by participant and task.

    Raises:
        CannotCreate: no space or permission (exit 73).
    """
    parts = tuple(
        FinishedPart(engine=engine, task=task, rows=count)
        for (engine, task), count in row_counts.items()
    )
    _update_header(folder, finished=msgspec.to_builtins(FinishedHeader(parts=parts)))


def record_parameters(
    folder: Path, discovered: Mapping[str, Mapping[str, str]]
) -> None:
    """Write into the header which parameters servers refuse, by participant.

    Args:
        folder: The run's folder, whose lock the caller holds.
        discovered: Each refused parameter to the accepted name; empty if dropped.
    """
    new = {label: dict(changes) for label, changes in discovered.items() if changes}
    if new:
        parameters = orjson.loads((folder / HEADER).read_bytes()).get("parameters", {})
        _update_header(folder, parameters=parameters | new)


def _update_header(folder: Path, **members: Json) -> None:
    path = folder / HEADER
    header = orjson.loads(path.read_bytes())
    if {**header, **members} != header:
        _write_header(path, {**header, **members})


def refuse_taken(folder: Path | None) -> None:
    """Refuse a folder that no run can be written to, before long work.

    Raises:
        CannotCreate: it holds something else, or cannot be written (exit 73).
    """
    if folder is not None:
        refuse_foreign(folder, HEADER, left=(_LOCK,))
        with writing(folder):
            places = (folder.resolve(), *folder.resolve().parents)
            TemporaryFile(dir=next(it for it in places if it.exists())).close()


@contextmanager
def hold_run_folder(folder: Path, header: Mapping[str, Json]) -> Iterator[None]:
    """Lock the folder of a run, new or one with the same header.

    Raises:
        TemporarilyUnavailable: another run is at work here (exit 75).
        CannotCreate: the folder is of another run, or of none (exit 73).
        CannotCreate: it cannot be written (exit 73).
    """
    refuse_taken(folder)
    busy = TemporarilyUnavailable(
        "another run is at work here",
        str(folder),
        "wait for its end or choose another --run-dir",
    )
    with locked(folder / _LOCK, busy), writing(folder):
        _write_or_check_header(folder, header)
        yield


def _write_or_check_header(folder: Path, header: Mapping[str, Json]) -> None:
    """Write the header, or see that the one there is of the same run.

    Raises:
        CannotCreate: it belongs to another run; with the difference (exit 73).
    """
    path = folder / HEADER
    if not path.exists():
        _write_header(path, header)
        return
    try:
        existing = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        existing = {}
    from evaluation.results.conditions import differences  # noqa: PLC0415 - for a resumed run

    existing = existing if isinstance(existing, dict) else {}
    new: Mapping[str, UntypedJson] = orjson.loads(orjson.dumps(header))
    different = [str(difference) for difference in differences(existing, new)]
    different += [
        f"{name} {new.get(name)}, not {existing.get(name)}"
        for name in ("tasks", "repeats")
        if existing.get(name) != new.get(name)
    ]
    if existing.get("plan") != new.get("plan") and not different:
        different.append("other engines, or engines otherwise")
    if different:
        raise CannotCreate(
            f"this folder is of another run: {', '.join(different)}",
            str(folder),
            "choose another --run-dir, or leave it out",
        )


def _write_header(path: Path, header: Mapping[str, Json]) -> None:
    with atomic_file(path) as temporary:
        temporary.write_bytes(orjson.dumps(header, option=orjson.OPT_INDENT_2))
