"""Read files of responses, of csbdata's runs and of other programs.

Each line is a `Response` as JSON, with at least `record` and `text`, or
has the layout of a benchmark's authors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from curation.core.json_types import Json
from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from evaluation.core.records import Record, Response

#: Returns the response of a line of a benchmark's authors; None of another layout.
PublishedResponse: TypeAlias = "Callable[[Mapping[str, Json]], Response | None]"
#: Name of the responses in a run's folder.
RESPONSES: Final = "responses.jsonl"
_SHOWN: Final = 160


class ResponseFile(NamedTuple):
    """The responses of a file, and the invalid lines."""

    responses: Sequence[Response]
    #: One message for each invalid line: `FILE:LINE: why`.
    problems: Sequence[str]


def encode_responses(responses: Iterable[Response]) -> bytes:
    """Return responses as JSON lines."""
    return b"".join(msgspec.json.encode(response) + b"\n" for response in responses)


def read_responses(
    path: Path, published: PublishedResponse | None = None
) -> ResponseFile:
    """Return the responses of a file, in any of these layouts.

    Args:
        path: JSON lines.
        published: Reads a line in the layout of a benchmark's authors
            (`Suite.published_response`).

    Raises:
        NoInput: it cannot be read.
        BadData: nothing in it is a response.
    """
    responses: list[Response] = []
    problems: list[str] = []
    try:
        for item in _lines(path, published):
            if isinstance(item, str):
                problems.append(item)
            else:
                responses.append(item)
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = "name a run's folder, or a file of responses"
        raise NoInput(why, str(path), hint) from error
    if not responses:
        first = f"; the first line: {problems[0]}" if problems else ""
        raise BadData(
            f"no responses in it{first}",
            str(path),
            'a line is an object with at least "record" and "text"',
        )
    return ResponseFile(responses, problems)


def parse_response(line: bytes) -> Response:
    """Return the response of one line of ours.

    Half of a surrogate pair becomes its JSON escape, which any process can be sent.

    Raises:
        ValueError: it is invalid; with the reason.
    """
    return msgspec.convert(_value(line), Response)


def _lines(path: Path, published: PublishedResponse | None) -> Iterator[Response | str]:
    """Yield the responses of JSON lines, and an explanation for every other line."""
    with refuse_large(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = _value(line.removeprefix(b"\xef\xbb\xbf"))
                response = (
                    published(value) if published and isinstance(value, dict) else None
                )
                if response is not None:
                    yield response
                else:
                    yield msgspec.convert(value, Response)
            except (ValueError, RecursionError) as error:
                yield f"{path.name}:{number}: no response: {str(error)[:_SHOWN]}"


def _value(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a line.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Python's own parser takes the rest: half surrogates, and bytes that are
        # not UTF-8, which become such halves.
        return _escaped(json.loads(line.decode("utf-8", "surrogateescape")))


def _escaped(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, dict):
        return {_escaped(name): _escaped(member) for name, member in value.items()}
    return value


def names_of_records(records: Sequence[Record]) -> dict[str, Record]:
    """Return records by key, and by id where only one has it."""
    by_id: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_id[record.id].append(record)
    names = {name: same[0] for name, same in by_id.items() if len(same) == 1}
    return {**names, **{record.key: record for record in records}}
