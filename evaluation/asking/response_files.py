"""Read files of responses, of our own runs and of other programs.

Ours are JSON lines, one `Response` each; only `record` and `text` are needed. The
output of batches is recognised by its content; sources: the API references of batches
(platform.openai.com, platform.claude.com). The `custom_id` there is that of `csbdata
suite prompts`, or the record's key.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace as replaced

from curation.core.json_types import Json
from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from evaluation.core.records import FREE, Record, Response
from evaluation.generation.text_generation import FINISHES, TextEnding
from evaluation.servers.adaptation import AdaptedSchema, SchemaAdapter, read_fits
from evaluation.servers.batches import BatchLine
from evaluation.servers.client import ServerConnection
from evaluation.servers.model_server import ModelServer
from evaluation.servers.provider import providers
from evaluation.servers.responses import BrokenStream, ServerAnswer
from evaluation.servers.writer import answer_tokens, text_ending

#: Returns the response of a line of a benchmark's authors; None of another layout.
PublishedResponse: TypeAlias = "Callable[[Mapping[str, Json]], Response | None]"
#: Name of the responses in a run's folder.
RESPONSES: Final = "responses.jsonl"
_SHOWN: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFile:
    """The responses of a file, and the lines that are none."""

    path: Path
    responses: Sequence[Response]
    #: One line for each line that is no response: `FILE:LINE: why`.
    problems: Sequence[str]

    @property
    def sha256(self) -> str:
        """The digest of the responses, in their order."""
        return sha256(encode_responses(self.responses)).hexdigest()


def encode_responses(responses: Iterable[Response]) -> bytes:
    """Return responses as JSON lines."""
    return b"".join(msgspec.json.encode(response) + b"\n" for response in responses)


def read_responses(
    path: Path, published: PublishedResponse | None = None
) -> ResponseFile:
    """Return the responses of a file, in any of these layouts.

    Args:
        path: JSON lines of ours, or of a batch's output.
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
        then = "name a run's folder, or a file of responses"
        raise NoInput(why, str(path), then) from error
    if not responses:
        first = f"; the first line: {problems[0]}" if problems else ""
        raise BadData(
            f"no responses in it{first}",
            str(path),
            'a line is an object with at least "record" and "text"',
        )
    models = {it.model for it in responses if it.model}
    # What failed in a batch was asked of the model that answered the rest.
    only = models.pop() if len(models) == 1 else "model"
    named = [it if it.model else replaced(it, model=only) for it in responses]
    return ResponseFile(path=path, responses=named, problems=problems)


def decoded(file: ResponseFile, records: Sequence[Record]) -> ResponseFile:
    """Return answers as values of the records' own schemas, undeclared ones with them.

    `csbdata suite prompts` has kept beside them which schemas are sent instead, and
    which are not sent at all.
    """
    fits = read_fits(file.path.parent)
    by_name = names_of_records(records)

    @cache
    def adapters(way: str) -> Sequence[SchemaAdapter]:
        homes = [it for it in providers().values() if it.batches and way in it.ways]
        connections = [ServerConnection(base="", model="", provider=it) for it in homes]
        return [ModelServer(way=way, connection=it).adapter for it in connections]

    def fit_of(record: Record | None, condition: str) -> AdaptedSchema:
        if record is not None:
            for adapter in adapters(condition.partition("@")[0]):
                if fit := fits.get(adapter.key(record)):
                    return fit
        return AdaptedSchema()

    responses = []
    for response in file.responses:
        fit = fit_of(by_name.get(response.record), response.condition)
        text = None if response.text is None else fit.decoded(response.text)
        responses.append(replaced(response, text=text))
    for model, condition in dict.fromkeys((it.model, it.condition) for it in responses):
        responses += [
            Response(
                record=record.key,
                model=model,
                condition=condition,
                finish=FINISHES[TextEnding.ENGINE],
                error=refusal,
            )
            for record in records
            if (refusal := fit_of(record, condition).refusal)
        ]
    return replace(file, responses=responses)


def parse_response(line: bytes) -> Response:
    """Return the response of one line of ours.

    Half of a surrogate pair becomes its JSON escape, which any process can be sent.

    Raises:
        ValueError: it is none; says why.
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
                elif isinstance(value, dict) and "custom_id" in value:
                    yield from batch_responses(value)
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
        # Python's own parser takes what is left: half surrogates, and bytes that are
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
    name = "anthropic" if "content" in body else "openai"
    answer = ServerAnswer()
    provider = providers()[name]
    provider.wire.read(msgspec.json.encode(body), answer)
    answer.take_call()
    ending = text_ending(answer, provider)
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


def names_of_records(records: Sequence[Record]) -> dict[str, Record]:
    """Return records by key, and by id where only one has it."""
    by_id: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_id[record.id].append(record)
    names = {name: same[0] for name, same in by_id.items() if len(same) == 1}
    names |= {names_of(custom_id(it.key, FREE))[0]: it for it in records}
    return {**names, **{record.key: record for record in records}}
