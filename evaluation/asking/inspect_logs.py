"""Logs of the Inspect evaluation framework as responses: `.json` and `.eval`.

Source: the log reference at inspect.aisi.org.uk. A sample's id is the record's key,
its epoch the repeat. An `.eval` log is an archive with one file a sample.
"""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.errors import BadData
from evaluation.core.suite_records import SuiteResponse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SAMPLES: Final = "samples/"
_HEADER: Final = "header.json"
#: Most bytes of one file of an archive.
_MOST_BYTES: Final = 256 * 2**20
_FINISH: Final = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}


class _Content(msgspec.Struct, frozen=True):
    """A part of a message."""

    type: str = "text"
    text: str = ""
    reasoning: str = ""


class _Message(msgspec.Struct, frozen=True):
    content: str | list[_Content] = ""


class _Choice(msgspec.Struct, frozen=True):
    message: _Message = _Message()
    stop_reason: str = ""


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Output(msgspec.Struct, frozen=True):
    model: str = ""
    choices: list[_Choice] = []
    usage: _Usage | None = None
    #: Seconds.
    time: float | None = None
    error: str | None = None


class _Error(msgspec.Struct, frozen=True):
    message: str = ""


class _Sample(msgspec.Struct, frozen=True):
    id: str | int
    epoch: int = 1
    output: _Output = _Output()
    error: _Error | None = None


class _Spec(msgspec.Struct, frozen=True):
    model: str = ""


class _Log(msgspec.Struct, frozen=True):
    """A log, or the header of an archive."""

    eval: _Spec
    samples: list[Any] | None = None


def is_inspect_log(path: Path) -> bool:
    """Return whether a file is a log of Inspect, by its name or its beginning."""
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        return b'"eval"' in file.read(4096)


def inspect_responses(path: Path) -> Iterator[SuiteResponse | str]:
    """Yield the responses of a log, and an explanation for every other sample.

    Raises:
        BadData: the file is no log, or is packed in a way that Python cannot read.
        OSError: it cannot be read.
    """
    if path.suffix == ".eval":
        yield from _of_archive(path)
        return
    try:
        log = msgspec.json.decode(path.read_bytes(), type=_Log)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadData(f"no log of Inspect: {error}", str(path)) from error
    for place, sample in enumerate(log.samples or ()):
        yield _read_sample(sample, log.eval.model, f"{path.name}, sample {place}")


def _of_archive(path: Path) -> Iterator[SuiteResponse | str]:
    try:
        with zipfile.ZipFile(path) as archive:
            header = msgspec.json.decode(_content(archive, _HEADER), type=_Log)
            for name in archive.namelist():
                if name.startswith(_SAMPLES) and name.endswith(".json"):
                    value = msgspec.json.decode(_content(archive, name))
                    yield _read_sample(value, header.eval.model, name)
    except (
        zipfile.BadZipFile,
        KeyError,  # no such file in the archive
        NotImplementedError,  # zipfile: packed in a way it cannot unpack (Zstandard)
        msgspec.DecodeError,
        UnicodeDecodeError,
    ) as error:
        then = "write it as JSON: inspect log convert --to json"
        raise BadData(f"no log that can be read: {error}", str(path), then) from error


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one file of an archive.

    Raises:
        zipfile.BadZipFile: it is larger than any log's.
    """
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise zipfile.BadZipFile(f"{name} has over {_MOST_BYTES:,} bytes")
    return archive.read(name)


def _read_sample(value: Any, model: str, where: str) -> SuiteResponse | str:  # noqa: ANN401 - any JSON value
    try:
        sample = msgspec.convert(value, _Sample)
    except msgspec.ValidationError as error:
        return f"{where}: no response: {error}"
    output = sample.output
    choice = output.choices[0] if output.choices else _Choice()
    text, reasoning = _parts(choice.message.content)
    failed = sample.error.message if sample.error else output.error or ""
    usage = output.usage or _Usage()
    return SuiteResponse(
        record=str(sample.id),
        model=output.model or model or "model",
        repeat=max(0, sample.epoch - 1),
        text=None if failed else text,
        reasoning=reasoning,
        finish=_FINISH.get(choice.stop_reason, ""),
        error=failed,
        prompt_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        seconds=output.time,
    )


def _parts(content: str | list[_Content]) -> tuple[str, str]:
    """Return the text of a message and what was thought before it."""
    if isinstance(content, str):
        return content, ""
    return (
        "".join(part.text for part in content if part.type == "text"),
        "\n".join(part.reasoning for part in content if part.type == "reasoning"),
    )
