"""The records of a run: a suite's own, or those of a file that csbdata wrote."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.core.suite import RecordRequest, RecordSet
from evaluation.core.suite_records import SuiteRecord
from evaluation.data.sampling import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evaluation.suite_runs.request import ChosenSuite

#: Name of the records in a run's folder.
RECORDS: Final = "records.jsonl"
_JSON_LINES: Final = re.compile(r"\.jsonl\Z", re.IGNORECASE)


def records_of(chosen: ChosenSuite, request: RecordRequest) -> RecordSet:
    """Return the records that are wanted, those that `only` and `limit` leave.

    A file of JSON lines whose every line is a `SuiteRecord` is read as such for every
    suite; anything else is the suite's own business.

    Raises:
        NoInput: there are no such records.
        BadData: a line of the file is no record, or two have one key.
    """
    found = _own_file(request.data)
    if found is None:
        found = chosen.suite.records(request, chosen.settings)
    _check_keys(found)
    return RecordSet(
        name=found.name,
        origin=found.origin,
        records=_select(found.records, request),
    )


def encode_records(records: Iterable[SuiteRecord]) -> bytes:
    """Return records as JSON lines."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def layout_of(
    chosen: ChosenSuite, name: str | None
) -> Callable[[Sequence[SuiteRecord]], bytes]:
    """Return what writes a file of records: ours, or a layout of the suite.

    Raises:
        BadConfiguration: the suite has no layout of this name.
    """
    if name is None:
        return encode_records
    known = chosen.suite.layouts
    if name not in known:
        raise BadConfiguration(
            f"suite {chosen.suite.name} writes no {name!r}",
            then=f"--as {' or '.join(known)}" if known else "leave --as out",
        )
    return known[name]


def digest_of(records: Iterable[SuiteRecord]) -> str:
    """Return the sha256 of records, in their order."""
    return sha256(encode_records(records)).hexdigest()


def read_records(path: Path) -> list[SuiteRecord]:
    """Return the records of a file of JSON lines.

    Raises:
        NoInput: it cannot be read.
        BadData: a line is no record; the message names it.
    """
    found: list[SuiteRecord] = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    found.append(_record(line, path, number))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(
            why, str(path), "csbdata suite NAME generate writes one"
        ) from error
    return found


def _record(line: bytes, path: Path, number: int) -> SuiteRecord:
    try:
        return msgspec.json.decode(line, type=SuiteRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadData(f"no record: {error}", f"{path}:{number}") from error


def _own_file(data: str | None) -> RecordSet | None:
    """Return the records of a file that `generate` or a run has written."""
    if data is None or not _JSON_LINES.search(data) or not Path(data).is_file():
        return None
    try:
        listed = read_records(Path(data))
    except BadData:
        with Path(data).open("rb") as file:
            first = file.readline()
        try:
            msgspec.json.decode(first, type=SuiteRecord)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Not ours from the first line on: the suite may know the layout.
            return None
        raise
    return RecordSet(name=data, origin="file", records=listed)


def _check_keys(found: RecordSet) -> None:
    seen: set[str] = set()
    for record in found.records:
        if record.key in seen:
            raise BadData(f"two records are called {record.key!r}", found.name)
        seen.add(record.key)
    if not found.records:
        raise NoInput("no records", found.name)


def _select(
    records: Sequence[SuiteRecord], request: RecordRequest
) -> Sequence[SuiteRecord]:
    kept = [
        record
        for record in records
        if (not request.only or {record.id, record.key} & request.only)
        and (not request.configs or record.group in request.configs)
    ]
    if not kept:
        raise NoInput("none of the records is selected", then="look at --id, --config")
    if request.limit is None or request.limit >= len(kept):
        return kept
    if request.first:
        return kept[: request.limit]
    named = ((place, record.group, record.id) for place, record in enumerate(kept))
    return [kept[place] for place in draw(named, request.limit, request.seed)]
