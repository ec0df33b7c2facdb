"""The folder of a suite's run: records, responses, scored rows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from curation.system.atomic_files import atomic_write_bytes
from evaluation.results.reader import open_run
from evaluation.suite_runs.records import RECORDS, encode_records
from evaluation.suite_runs.response_files import (
    RESPONSES,
    encode_responses,
    parse_response,
)
from evaluation.walking.run_folder import (
    AppendedLines,
    hold_run_folder,
    record_end,
    whole_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse

_Found = TypeVar("_Found")


class ResponseStore:
    """The responses of a run, those that are there and those that are added."""

    def __init__(self, lines: AppendedLines, earlier: Iterable[bytes]) -> None:
        """Take where responses go, and the lines that earlier tries have left."""
        self._lines = lines
        #: By fingerprint.
        self.finished: dict[str, SuiteResponse] = {}
        for line in earlier:
            try:
                response = parse_response(line)
            except ValueError:
                continue
            if response.fingerprint:
                self.finished[response.fingerprint] = response

    def write(self, response: SuiteResponse) -> None:
        """Add a response.

        Raises:
            CsbdataError: there is no room, or no right.
        """
        self._lines.write(msgspec.json.encode(response))
        self.finished[response.fingerprint] = response


class SuiteFolder:
    """An open folder; made by `open_suite_folder`."""

    def __init__(self, folder: Path) -> None:
        """Take a folder whose lock the caller holds."""
        self.folder = folder

    def keep_records(self, records: Sequence[SuiteRecord]) -> None:
        """Write what the models are asked."""
        atomic_write_bytes(self.folder / RECORDS, encode_records(records))

    def keep_responses(self, responses: Sequence[SuiteResponse]) -> None:
        """Write responses that come from elsewhere; they are all that there are."""
        atomic_write_bytes(self.folder / RESPONSES, encode_responses(responses))

    @contextmanager
    def responses(self) -> Iterator[ResponseStore]:
        """Open the responses; when the block ends, all are in the folder's one file."""
        path = self.folder / RESPONSES
        lines = AppendedLines(path)
        try:
            yield ResponseStore(lines, whole_lines(path))
        finally:
            lines.close()

    def keep_scores(self, score: Callable[[Path], _Found]) -> _Found:
        """Keep the rows that scoring writes, and note that the run has ended.

        Args:
            score: Writes the rows into a folder that it is given.

        Returns:
            What it returns.
        """
        found = score(self.folder)
        record_end(self.folder, open_run(self.folder).row_counts)
        return found


@contextmanager
def open_suite_folder(
    folder: Path, header: Mapping[str, Json]
) -> Iterator[SuiteFolder]:
    """Lock the folder of a suite's run and open it, new or with what is there.

    Args:
        folder: The folder.
        header: The content of `run.json`.

    Raises:
        TemporarilyUnavailable: another run is at work there (exit 75).
        BadConfiguration: the folder is of another run (exit 78).
        CannotCreate: it cannot be written (exit 73).
    """
    with hold_run_folder(folder, header):
        yield SuiteFolder(folder)
