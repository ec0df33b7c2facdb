"""The records of a run, from data or a suite, and the prompts made of them."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.system.errors import BadConfiguration, BadData, NoInput
from curation.system.user_files import refuse_large
from evaluation.core.records import Prompt, Record, encode_records
from evaluation.core.suite import RecordRequest, RecordSet
from evaluation.data import Dataset, RecordSelection, open_data
from evaluation.data.sampling import draw, is_in_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curation.core.json_types import Json
    from curation.system.progress import Progress
    from evaluation.asking.request import RunRequest, SuiteChoice


#: What a run's header calls records that were handed in.
GIVEN = "given"


def open_records(
    request: RunRequest, progress: Progress, *, instances: bool
) -> Dataset:
    """Return the data of a request.

    Args:
        request: says which data, and which of its records.
        progress: shows what takes long.
        instances: whether records without instances get some; those that were
            handed in stay as they are.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    choice = RecordSelection(
        configs=tuple(request.configs),
        splits=tuple(request.splits),
        ids=frozenset(request.only),
        limit=request.limit,
        seed=request.settings.seed,
        shard=request.shard,
        vacuous=request.vacuous,
    )
    if request.data is None or isinstance(request.data, str | Path):
        return open_data(
            None if request.data is None else str(request.data),
            selection=choice,
            instances=instances,
            settings=request.fetch,
            progress=progress,
        )
    return _given(request.data, choice)


def _given(records: Sequence[Record], choice: RecordSelection) -> Dataset:
    selected = [record for record in records if choice.allows(record)]
    if choice.limit is not None and choice.limit < len(selected):
        selected = _drawn(selected, choice.limit, choice.seed)
    own = [
        record
        for record in selected
        if is_in_shard(record.group, record.id, choice.shard)
    ]
    return Dataset(
        name=GIVEN,
        origin=GIVEN,
        sha256=digest_of(records),
        count=len(own),
        count_of_all_shards=len(selected),
        instances=GIVEN if any(record.instances for record in selected) else "none",
        selection=choice,
        left_out=(),
        read=lambda: iter(own),
    )


def _drawn(records: Sequence[Record], count: int, seed: int) -> list[Record]:
    names = ((place, record.group, record.id) for place, record in enumerate(records))
    return [records[place] for place in draw(names, count, seed)]


_JSON_LINES: Final = re.compile(r"\.jsonl\Z", re.IGNORECASE)


def records_of(choice: SuiteChoice, request: RecordRequest) -> RecordSet:
    """Return the records of a request, as `only`, `limit` and `shard` select them.

    A file of JSON lines whose every line is a `Record` is read as such for every
    suite; the suite itself reads any other data.

    Raises:
        NoInput: there are no such records.
        BadData: a line of the file is no record, or two have one key.
    """
    if request.dataset is not None:
        # The run has selected them while it opened the data.
        return choice.suite.records(request, choice.settings)
    records = _own_file(request.data)
    if records is None:
        records = choice.suite.records(request, choice.settings)
    _check_keys(records)
    selected = _select(records.records, request)
    return RecordSet(
        name=records.name,
        origin=records.origin,
        records=[
            record
            for record in selected
            if is_in_shard(record.group, record.id, request.shard)
        ],
        sha256=digest_of(selected),
        count_of_all_shards=len(selected),
    )


def layout_of(
    choice: SuiteChoice, name: str | None
) -> Callable[[Sequence[Record]], bytes]:
    """Return what writes a file of records: ours, or a layout of the suite.

    Raises:
        BadConfiguration: the suite has no layout of this name.
    """
    if name is None:
        return encode_records
    layouts = choice.suite.layouts
    if name not in layouts:
        raise BadConfiguration(
            f"suite {choice.suite.name} writes no {name!r}",
            then=f"--format {' or '.join(layouts)}"
            if layouts
            else "leave --format out",
        )
    return layouts[name]


def digest_of(records: Iterable[Record]) -> str:
    """Return the sha256 of records, in their order."""
    return sha256(encode_records(records)).hexdigest()


def read_records(path: Path) -> list[Record]:
    """Return the records of a file of JSON lines.

    Raises:
        NoInput: it cannot be read.
        BadData: a line is no record; the message names it.
    """
    records: list[Record] = []
    try:
        with refuse_large(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    records.append(_record(line, path, number))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(
            why, str(path), "csbdata suite generate NAME writes one"
        ) from error
    return records


def _record(line: bytes, path: Path, number: int) -> Record:
    try:
        return msgspec.json.decode(line, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadData(f"no record: {error}", f"{path}:{number}") from error


def _own_file(data: str | None) -> RecordSet | None:
    """Return the records of a file that `generate` or a run has written."""
    if data is None or not _JSON_LINES.search(data) or not Path(data).is_file():
        return None
    try:
        records = read_records(Path(data))
    except BadData:
        with Path(data).open("rb") as file:
            first = file.readline()
        try:
            msgspec.json.decode(first, type=Record)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # Another layout from the first line on: the suite may read it.
            return None
        raise
    return RecordSet(name=data, origin="file", records=records)


def _check_keys(records: RecordSet) -> None:
    keys: set[str] = set()
    for record in records.records:
        if record.key in keys:
            raise BadData(f"two records are called {record.key!r}", records.name)
        keys.add(record.key)
    if not records.records:
        raise NoInput("no records", records.name)


def _select(records: Sequence[Record], request: RecordRequest) -> Sequence[Record]:
    selected = [
        record
        for record in records
        if (not request.only or {record.id, record.key} & request.only)
        and (not request.configs or record.group in request.configs)
    ]
    if not selected:
        raise NoInput("none of the records is selected", then="look at --id, --config")
    if request.limit is not None and request.limit < len(selected):
        if request.first:
            selected = selected[: request.limit]
        else:
            selected = _drawn(selected, request.limit, request.seed)
    return selected


def prompt_line(choice: SuiteChoice, record: Record) -> bytes:
    """Return one record's prompt as a JSON line."""
    prompt = choice.suite.prompt(record, choice.settings)
    return orjson.dumps(
        {
            "record": record.key,
            "messages": _messages(prompt),
            "budget": prompt.budget,
            "schema": record.schema,
        }
    )


def batch_line(choice: SuiteChoice, record: Record, model: str) -> bytes:
    """Return one record's prompt as a request of OpenAI's batch interface."""
    prompt = choice.suite.prompt(record, choice.settings)
    return orjson.dumps(
        {
            "custom_id": record.key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": model,
                "messages": _messages(prompt),
                "max_completion_tokens": prompt.budget,
            },
        }
    )


def _messages(prompt: Prompt) -> list[Json]:
    return [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
