"""The records of a run, from data or a suite."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.system.errors import BadData, BadUsage, NoInput, NotPermitted, Unavailable
from curation.system.user_files import refuse_large
from evaluation.core.records import (
    GENERATED,
    Record,
    RecordRequest,
    RecordSelection,
    RecordSet,
    encode_records,
)
from evaluation.data import Dataset, open_data
from evaluation.masks.run_folder import RECORDS
from evaluation.results.reader import HEADER
from evaluation.tokenizers import tokens_at_most

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curation.system.progress import Progress
    from evaluation.runner.request import RunRequest, SuiteChoice


#: Source in a run's header of records passed in memory.
GIVEN = "given"
#: What `--data` calls the records that a suite generates, and how many these are.
OWN: Final = "own"
OWN_RECORDS: Final = 100


def open_records(
    request: RunRequest, progress: Progress, *, instances: bool
) -> Dataset:
    """Return the data of a request.

    Args:
        request: names the data and its records.
        progress: shows what takes long.
        instances: whether records without instances get some; those that were
            handed in stay as they are.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    choice = request.records()
    if request.data is None or isinstance(request.data, str | Path):
        return open_data(
            None if request.data is None else str(request.data),
            selection=choice,
            instances=instances,
            settings=request.fetch,
            progress=progress,
        )
    records = request.data
    selected = _drawn([record for record in records if choice.allows(record)], choice)
    return Dataset(
        name=GIVEN,
        origin=GIVEN,
        sha256=compute_digest(records),
        count=len(selected),
        instances=GIVEN if any(record.instances for record in selected) else "none",
        selection=choice,
        left_out=(),
        records=lambda: iter(selected),
    )


def _drawn(records: Sequence[Record], request: RecordSelection) -> Sequence[Record]:
    """Return as many records as a request wants."""
    limit = request.limit
    if limit is None:
        return records
    names = ((index, record.group, record.id) for index, record in enumerate(records))
    from evaluation.data.sampling import draw  # noqa: PLC0415 - where some are drawn

    return [records[index] for index in draw(names, limit, request.seed)]


_JSON_LINES: Final = re.compile(r"\.jsonl\Z", re.IGNORECASE)


def make_records(choice: SuiteChoice, request: RecordRequest) -> RecordSet:
    """Return the records of a request, as `only` and `limit` select them.

    A file of JSON lines whose every line is a `Record` is read as such for every
    suite; the suite itself reads any other data.

    Raises:
        NoInput: no such records.
        BadData: a line of the file is not a record of the suite, or two have one key.
    """
    if request.dataset is not None:
        # The run has selected them while it opened the data.
        return _of_suite(choice, request)
    own = _own_file(request.data)
    for record in own.records if own else ():
        choice.prompt(record)
    records = own or _of_suite(choice, request)
    keys: set[str] = set()
    for record in records.records:
        if record.key in keys:
            raise BadData(f"two records are called {record.key!r}", records.name)
        keys.add(record.key)
    if not keys:
        raise NoInput("no records", records.name)
    return replace(records, records=_select(records.records, request))


def _of_suite(choice: SuiteChoice, request: RecordRequest) -> RecordSet:
    """Return a suite's records; without `--data`, those of its published data.

    Where the Hub does not have them, the header names its own records.
    """
    suite, why = choice.suite, ""
    if suite.records is None:
        if request.data not in (None, OWN):
            message = f"suite {suite.name} reads no --data"
            raise BadUsage(message, hint="leave --data out")
        count = request.limit or OWN_RECORDS
        generate = suite.generate or (lambda *_: ())
        own = generate(count, request.seed, choice.settings)
        return RecordSet(
            name=suite.name, origin=GENERATED, records=[*own], generated=True
        )
    if suite.published and request.data is None:
        try:
            asked = replace(request, data=suite.published)
            return suite.records(asked, choice.settings)
        except (NoInput, NotPermitted, Unavailable) as error:
            why = f", as the published ones cannot be had ({error.message})"
    if request.data == OWN:
        request = replace(request, data=None)
    found = suite.records(request, choice.settings)
    return replace(found, origin=f"{found.origin}{why}")


def compute_digest(records: Iterable[Record]) -> str:
    """Return the sha256 of records, in their order."""
    return sha256(encode_records(records)).hexdigest()


def read_records(path: Path) -> list[Record]:
    """Return the records of a file of JSON lines.

    Raises:
        NoInput: it cannot be read.
        BadData: a line is not a record; the message names it.
    """
    records: list[Record] = []
    try:
        with refuse_large(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        content = line.removeprefix(b"\xef\xbb\xbf")
                        records.append(msgspec.json.decode(content, type=Record))
                    except (ValueError, RecursionError) as error:
                        message = f"no record: {error}"
                        raise BadData(message, f"{path}:{number}") from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = "csbdata suite generate NAME writes one"
        raise NoInput(why, str(path), hint) from error
    return records


def _own_file(data: str | None) -> RecordSet | None:
    """Return the records of a file that `generate` or a run has written."""
    if data is None or not _JSON_LINES.search(data) or not Path(data).is_file():
        return None
    try:
        records = read_records(Path(data))
    except BadData as error:
        if error.where == f"{Path(data)}:1":
            # Another layout from the first line on: the suite may read it.
            return None
        raise
    return RecordSet(name=data, origin="file", records=records)


def _select(records: Sequence[Record], request: RecordRequest) -> Sequence[Record]:
    splits = {record.split for record in records}
    if request.splits and splits.isdisjoint(request.splits):
        present = f"choose from {', '.join(sorted(splits))}" if any(splits) else ""
        raise NoInput(
            f"no record of --split {' or '.join(request.splits)}",
            hint=present or "leave --split out: these data have no splits",
        )
    selected = [record for record in records if request.allows(record)]
    if not selected:
        raise NoInput("none of the records is selected", hint="look at --id, --config")
    return selected[: request.limit] if request.first else _drawn(selected, request)


def refuse_overwriting(out: Path, data: str | None) -> None:
    """Refuse a file of prompts that would replace its data, or a run's records.

    Args:
        out: The file; `RECORDS` is written next to it.
        data: The source of the records.

    Raises:
        BadUsage: the data is one of these files, or the folder is a run's.
    """
    beside, file = realpath(out.parent / RECORDS), realpath(out)
    is_data = data is not None and realpath(data) in {file, beside}
    if is_data or file == beside or (out.parent / HEADER).exists():
        raise BadUsage(
            f"{RECORDS}, written beside it, would replace records",
            str(out),
            "name a file in another folder",
        )


def prompt_lines(
    choice: SuiteChoice, request: RunRequest, records: Sequence[Record]
) -> list[bytes]:
    """Return prompts as JSON lines, with the budgets of a run.

    Raises:
        BadUsage: the request asks for several texts a record.
    """
    options = request.models[0]
    if options.samples > 1 or request.repairs:
        hint = "leave out --set samples and repairs"
        raise BadUsage("prompts are one a record", hint=hint)
    lines = []
    for record in records:
        prompt = choice.prompt(record)
        line = {
            "record": record.key,
            "messages": [
                {"role": turn.role, "content": turn.content} for turn in prompt.messages
            ],
            "budget": options.budget or prompt.tokens(tokens_at_most),
            "schema": record.schema,
        }
        lines.append(orjson.dumps(line))
    return lines
