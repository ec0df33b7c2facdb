"""Responses in layouts of other programs: output of batches, logs of Inspect.

Sources: the API references of batches (platform.openai.com, platform.claude.com); the
log reference at inspect.aisi.org.uk. The `custom_id` of a batch is that of
`csbdata suite prompts` or the record's key, the sample's id of a log the key, the epoch
of a sample the repeat. An `.eval` log is an archive with one file a sample.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from curation.system.errors import BadData
from curation.system.user_files import refuse_large
from evaluation.core.records import FREE, Response
from evaluation.generation.text_generation import FINISHES
from evaluation.servers.batches import BatchLine
from evaluation.servers.provider import providers
from evaluation.servers.responses import BrokenStream, ServerAnswer
from evaluation.servers.writer import answer_tokens, text_ending


class _Part(msgspec.Struct, frozen=True):
    """A part of a message of a log."""

    type: str = "text"
    text: str = ""
    reasoning: str = ""


def batch_responses(value: Any) -> list[Response]:  # noqa: ANN401 - any JSON value
    """Return the responses of one line of a batch's output, one for each choice.

    A request that failed may name no model; its response has an empty name then.

    Args:
        value: The line's JSON value, which has a `custom_id`.

    Raises:
        ValueError: it is no such line.
    """
    line = msgspec.convert(value, BatchLine)
    record, condition = names_of(line.custom_id)
    status, body, error = line.outcome()
    if error is not None:
        named = body.get("model")
        message = error.get("message") if isinstance(error, dict) else error
        response = Response(
            record=record,
            condition=condition,
            model=str(named or ""),
            error=f"HTTP {status}: {message or 'no answer'}".removeprefix("HTTP 0: "),
        )
        return [response]
    try:
        return [
            # The first one has the tokens of all.
            _of_body(record, condition, repeat, {**body, **members})
            for repeat, members in enumerate(_choices(body))
        ]
    except (BrokenStream, TypeError, AttributeError) as broken:
        raise ValueError(str(broken)) from None


def _choices(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members by which the bodies of single choices differ."""
    first, *others = body.get("choices") or [None]
    later = [{"choices": [it], "usage": None} for it in others]
    return [{} if first is None else {"choices": [first]}, *later]


def _of_body(
    record: str, condition: str, repeat: int, body: dict[str, Any]
) -> Response:
    """Return the response of a whole body, by the provider whose form it has."""
    members = {"output": "openai_responses", "content": "anthropic"}
    name = next((members[it] for it in members if it in body), "openai")
    answer = ServerAnswer()
    providers()[name].read(msgspec.json.encode(body), answer)
    ending = text_ending(answer)
    return Response(
        record=record,
        condition=condition,
        model=str(body.get("model") or "model"),
        repeat=repeat,
        text=answer.text or answer.refusal or None,
        reasoning=answer.reasoning,
        finish=FINISHES.get(ending, ending.value) or answer.finish,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer_tokens(answer, apart=not answer.reasoning),
        reasoning_tokens=answer.reasoning_tokens,
    )


#: What stands behind the condition in a `custom_id` of ours.
_DIGEST: Final = re.compile(r"(?P<condition>[a-z-]+)-(?P<record>[0-9a-f]{40})")


def custom_id(record: str, condition: str) -> str:
    """Return what a batch calls a record that is asked under a condition.

    Vendors take 64 letters, digits and dashes.
    """
    digest = sha256(record.encode()).hexdigest()[:40]
    return f"{condition.replace('@', '-')}-{digest}"


def names_of(custom: str) -> tuple[str, str]:
    """Return the record and the condition of a `custom_id`; of others the first."""
    match = _DIGEST.fullmatch(custom)
    if match is None:
        return custom, FREE
    return match["record"], match["condition"].replace("-", "@")


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
        zlib.error,
        EOFError,
        KeyError,  # no such file in the archive
        RuntimeError,  # encrypted, too deep, or packed in a way it cannot unpack
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
    written, thought = usage.output_tokens, usage.reasoning_tokens
    return Response(
        record=str(sample.id),
        model=output.model or model or "model",
        repeat=max(0, sample.epoch - 1),
        text=None if failed else text,
        reasoning=reasoning,
        finish=_STOP_REASONS.get(choice.stop_reason, ""),
        error=failed,
        prompt_tokens=usage.input_tokens,
        output_tokens=None if written is None else max(0, written - (thought or 0)),
        reasoning_tokens=thought,
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
