"""Responses in layouts of other programs: OpenAI's batch output, logs of Inspect.

Sources: the API reference of the batch object, of chat completions and of responses
(platform.openai.com/docs/api-reference); the log reference at inspect.aisi.org.uk. The
`custom_id` of a batch and the sample's id of a log are the record's key, the epoch of
a sample is the repeat. An `.eval` log is an archive with one file a sample.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from curation.system.errors import BadData
from curation.system.user_files import refuse_large
from evaluation.core.records import Response

#: What finish reasons of either interface are called here.
_FINISH: Final = {"max_output_tokens": "length", "completed": "stop"}


class _Details(msgspec.Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    """Tokens, by the names of both interfaces."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    completion_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None

    @property
    def prompt(self) -> int | None:
        """Tokens of the prompt."""
        chat = self.prompt_tokens
        return self.input_tokens if chat is None else chat

    @property
    def output(self) -> int | None:
        """Tokens of the answer, those of reasoning among them."""
        chat = self.completion_tokens
        return self.output_tokens if chat is None else chat

    @property
    def reasoning(self) -> int | None:
        """Tokens of the reasoning."""
        details = self.completion_tokens_details or self.output_tokens_details
        return details.reasoning_tokens if details else None


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message = _Message()
    index: int = 0
    finish_reason: str | None = None


class _Part(msgspec.Struct, frozen=True):
    """A part of a message, or of a reasoning item, of the responses interface or a log.

    Parts without a type are texts in a log; of the interface types are not read.
    """

    type: str = "text"
    text: str = ""
    refusal: str = ""
    reasoning: str = ""


class _Item(msgspec.Struct, frozen=True):
    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None


class _Incomplete(msgspec.Struct, frozen=True):
    reason: str = ""


class _Body(msgspec.Struct, frozen=True):
    model: str = "model"
    choices: list[_Choice] = []
    output: list[_Item] = []
    status: str = ""
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    response: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


def batch_responses(value: Any) -> list[Response]:  # noqa: ANN401 - any JSON value
    """Return the responses of one line of a batch's output, one for each choice.

    Args:
        value: The line's JSON value, which has a `custom_id`.

    Raises:
        ValueError: it is no such line.
    """
    line = msgspec.convert(value, _Line)
    status = (line.response or {}).get("status_code", 200)
    body = (line.response or {}).get("body") or {}
    if line.error or status != 200 or line.response is None:  # noqa: PLR2004 (success)
        model = body.get("model") if isinstance(body, dict) else None
        return [
            Response(
                record=line.custom_id,
                model=str(model or "model"),
                error=_error(line.error or body.get("error") or {}, status),
            )
        ]
    answer = msgspec.convert(body, _Body)
    if answer.choices:
        return [_of_choice(line.custom_id, answer, choice) for choice in answer.choices]
    return [_of_items(line.custom_id, answer)]


def _error(error: Any, status: Any) -> str:  # noqa: ANN401 - any JSON value
    message = error.get("message") if isinstance(error, dict) else error
    return f"HTTP {status}: {message or 'no answer'}"


def _of_choice(record: str, answer: _Body, choice: _Choice) -> Response:
    """Return one choice as a response; the first one has the tokens of all."""
    message = choice.message
    usage = (answer.usage if choice.index == 0 else None) or _Usage()
    refused = message.refusal is not None and not message.content
    return Response(
        record=record,
        model=answer.model,
        repeat=choice.index,
        text=message.refusal if refused else message.content,
        reasoning=message.reasoning_content or message.reasoning or "",
        finish="refusal" if refused else choice.finish_reason or "",
        prompt_tokens=usage.prompt,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
    )


def _of_items(record: str, answer: _Body) -> Response:
    """Return the items of the responses interface as one response."""
    usage = answer.usage or _Usage()
    parts = [
        part
        for item in answer.output
        if item.type == "message"
        for part in item.content or ()
    ]
    thoughts = [
        part.text
        for item in answer.output
        if item.type == "reasoning"
        for part in (*(item.content or ()), *(item.summary or ()))
    ]
    refusal = "".join(part.refusal for part in parts)
    ended = answer.incomplete_details.reason if answer.incomplete_details else ""
    return Response(
        record=record,
        model=answer.model,
        text="".join(part.text for part in parts) or refusal or None,
        reasoning="\n".join(thoughts),
        finish="refusal" if refusal else _FINISH.get(ended or answer.status, ended),
        prompt_tokens=usage.prompt,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
    )


_SAMPLES: Final = "samples/"
_HEADER: Final = "header.json"
#: Most bytes of one file of an archive.
_MOST_BYTES: Final = 256 * 2**20
_STOP_REASONS: Final = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}


class _LogMessage(msgspec.Struct, frozen=True):
    content: str | list[_Part] = ""


class _LogChoice(msgspec.Struct, frozen=True):
    message: _LogMessage = _LogMessage()
    stop_reason: str = ""


class _LogUsage(msgspec.Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Output(msgspec.Struct, frozen=True):
    model: str = ""
    choices: list[_LogChoice] = []
    usage: _LogUsage | None = None
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


def inspect_responses(path: Path) -> Iterator[Response | str]:
    """Yield the responses of a log, and an explanation for every other sample.

    Raises:
        BadData: the file is no log, or is packed in a way that Python cannot read.
        OSError: it cannot be read.
    """
    if path.suffix == ".eval":
        yield from _of_archive(path)
        return
    try:
        log = msgspec.json.decode(refuse_large(path).read_bytes(), type=_Log)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadData(f"no log of Inspect: {error}", str(path)) from error
    for place, sample in enumerate(log.samples or ()):
        yield _read_sample(sample, log.eval.model, f"{path.name}, sample {place}")


def _of_archive(path: Path) -> Iterator[Response | str]:
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


def _read_sample(value: Any, model: str, where: str) -> Response | str:  # noqa: ANN401 - any JSON value
    try:
        sample = msgspec.convert(value, _Sample)
    except msgspec.ValidationError as error:
        return f"{where}: no response: {error}"
    output = sample.output
    choice = output.choices[0] if output.choices else _LogChoice()
    text, reasoning = _parts(choice.message.content)
    failed = sample.error.message if sample.error else output.error or ""
    usage = output.usage or _LogUsage()
    return Response(
        record=str(sample.id),
        model=output.model or model or "model",
        repeat=max(0, sample.epoch - 1),
        text=None if failed else text,
        reasoning=reasoning,
        finish=_STOP_REASONS.get(choice.stop_reason, ""),
        error=failed,
        prompt_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        seconds=output.time,
    )


def _parts(content: str | list[_Part]) -> tuple[str, str]:
    """Return the text of a message and what was thought before it."""
    if isinstance(content, str):
        return content, ""
    return (
        "".join(part.text for part in content if part.type == "text"),
        "\n".join(part.reasoning for part in content if part.type == "reasoning"),
    )
