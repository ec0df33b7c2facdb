"""Files of responses: those of our own runs, and those that others have written.

Ours are JSON lines, one `SuiteResponse` each; only `record` and `text` are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.errors import BadData, NoInput
from evaluation.core.suite_records import SuiteResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

#: Name of the responses in a run's folder.
RESPONSES: Final = "responses.jsonl"
_MOST_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFile:
    """The responses of a file, and what in it is none."""

    path: Path
    responses: Sequence[SuiteResponse]
    #: One line for each line that is no response: `FILE:LINE: why`.
    problems: Sequence[str]

    @property
    def sha256(self) -> str:
        """The digest of the responses, in their order."""
        return sha256(encode_responses(self.responses)).hexdigest()


def encode_responses(responses: Iterable[SuiteResponse]) -> bytes:
    """Return responses as JSON lines."""
    return b"".join(msgspec.json.encode(response) + b"\n" for response in responses)


def read_responses(path: Path) -> ResponseFile:
    """Return the responses of a file, whatever of the known layouts it has.

    Args:
        path: A file of JSON lines.

    Raises:
        NoInput: it cannot be read.
        BadData: no line of it is a response.
    """
    found: list[SuiteResponse] = []
    problems: list[str] = []
    for number, line in _lines(path):
        try:
            found.append(parse_response(line))
        except ValueError as error:
            problems.append(f"{path.name}:{number}: no response: {error}")
    if problems and not found:
        raise BadData(
            f"no line is a response; the first: {problems[0]}",
            str(path),
            'a line is an object with at least "record" and "text"',
        )
    return ResponseFile(path=path, responses=found, problems=problems)


def parse_response(line: bytes) -> SuiteResponse:
    """Return the response of one line.

    Half of a surrogate pair in a text becomes its JSON escape: it means the same
    within a JSON string, and no process can be handed it as it is.

    Raises:
        ValueError: it is none; says why.
    """
    try:
        return msgspec.json.decode(line, type=SuiteResponse)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _with_escapes(line)
    return msgspec.convert(value, SuiteResponse)


def _with_escapes(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return a line read by Python's own parser, half surrogates as escapes.

    Raises:
        ValueError: it is not JSON.
    """
    import json  # noqa: PLC0415 (for rare lines only)

    return _escaped(json.loads(line.decode("utf-8", "backslashreplace")))


def _escaped(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, dict):
        return {_escaped(name): _escaped(member) for name, member in value.items()}
    return value


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank, with its number from 1.

    Raises:
        NoInput: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        why = error.strerror or type(error).__name__
        then = "name a run's folder, or a file of responses"
        raise NoInput(why, str(path), then) from error
