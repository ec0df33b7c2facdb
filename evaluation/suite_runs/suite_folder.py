"""The folder of a suite's run, here or at a URL: records, responses, scored rows."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from curation.credentials.redaction import redacted
from curation.stores.object_store import is_url
from curation.system.atomic_files import atomic_write_bytes
from evaluation.execution.appended_lines import AppendedLines, whole_lines
from evaluation.execution.results_folder import hold_run_folder, record_end
from evaluation.results.reader import LINES, open_run
from evaluation.stored_runs.stored_copy import join_responses
from evaluation.stored_runs.stored_run import open_stored_results
from evaluation.suite_runs.records import RECORDS, encode_records
from evaluation.suite_runs.response_files import (
    RESPONSES,
    encode_responses,
    parse_response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.execution.results_folder import RowFile
    from evaluation.stored_runs.stored_run import StoredResults

_Found = TypeVar("_Found")


class ResponseStore:
    """The responses of a run, those that are there and those that are added."""

    def __init__(self, lines: RowFile, earlier: Iterable[bytes]) -> None:
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
    """A folder on this machine; made by `open_suite_folder`."""

    def __init__(self, folder: Path, place: str) -> None:
        """Take a folder whose lock the caller holds, and what messages call it."""
        self.folder = folder
        self.place = place

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
        record_end(self.folder, open_run(self.folder).units)
        return found


class _StoredSuiteFolder(SuiteFolder):
    """A folder at a URL, and the copy of it here."""

    def __init__(self, results: StoredResults, place: str) -> None:
        super().__init__(results.folder, place)
        self._results = results

    def keep_records(self, records: Sequence[SuiteRecord]) -> None:
        self._results.keep(RECORDS, encode_records(records))

    def keep_responses(self, responses: Sequence[SuiteResponse]) -> None:
        content = encode_responses(responses)
        name = f"responses-{sha256(content).hexdigest()[:16]}.jsonl"
        self._results.keep(name, content)
        join_responses(self.folder)

    @contextmanager
    def responses(self) -> Iterator[ResponseStore]:
        join_responses(self.folder)
        lines = self._results.batches("responses")
        yield ResponseStore(lines, whole_lines(self.folder / RESPONSES))
        lines.flush()
        join_responses(self.folder)

    def keep_scores(self, score: Callable[[Path], _Found]) -> _Found:
        """Send the rows that are not there; of two of one answer the later counts."""
        known = {line for path in self.folder.glob(LINES) for line in whole_lines(path)}
        with tempfile.TemporaryDirectory() as temporary:
            found = score(Path(temporary))
            for path in Path(temporary).glob(LINES):
                for line in whole_lines(path):
                    if line not in known:
                        self._results.write_line(line.rstrip(b"\n"))
        self._results.flush()
        self._results.record_end(open_run(self.folder).units)
        return found


@contextmanager
def open_suite_folder(
    place: Path | str,
    header: Mapping[str, Json],
    cache: Path,
    say: Callable[[str], None] = lambda _message: None,
) -> Iterator[SuiteFolder]:
    """Hold the folder of a suite's run and open it, new or with what is there.

    Args:
        place: A folder on this machine, or the URL of one (fsspec).
        header: What is asked, as `run.json` is to hold it.
        cache: Where copies of runs at a URL are.
        say: Is told that another driver is looked for.

    Raises:
        TemporarilyUnavailable: another run is at work there (exit 75).
        BadConfiguration: the folder is of another run (exit 78).
        CsbdataError: it cannot be written, or the store is in trouble.
    """
    if isinstance(place, str) and is_url(place):
        with open_stored_results(place, header, cache, say) as results:
            yield _StoredSuiteFolder(results, redacted(place))
        return
    folder = Path(place)
    with hold_run_folder(folder, header):
        yield SuiteFolder(folder, str(folder))
