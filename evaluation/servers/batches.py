"""Batches: requests that a provider answers within a day, at half the price.

A run's folder has them in `batches.jsonl`: the fingerprint of a part before it is sent,
its id afterwards. A part without an id was interrupted, and is looked for among the
account's batches before it is sent again.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from curation.system.errors import BadUsage
from curation.system.escaping import shortened
from curation.workers.fingerprint import fingerprint
from evaluation.core.cases import Result
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.client import decoded
from evaluation.servers.pacing import SpendingLimit
from evaluation.servers.refusals import RefusalClass, read_refusal
from evaluation.servers.responses import BrokenStream, ErrorEvent, ServerAnswer
from evaluation.walking.run_folder import AppendedLines, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.generation.text_generation import Generation, GenerationRequest
    from evaluation.servers.provider import Provider
    from evaluation.servers.writer import ServerWriter

_FILE: Final = "batches.jsonl"
#: Requests of one part; either vendor takes more.
_MOST: Final = 1_000
#: Members that make sense for a stream alone.
_STREAMED: Final = ("stream", "stream_options")
_OPENAI, _ANTHROPIC = "openai", "anthropic"


class BatchPart(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One batch, as a line of the folder says it; a later line counts."""

    key: str
    #: Who writes.
    writer: str
    #: What its requests are called (`GenerationRequest.mark`).
    marks: tuple[str, ...]
    #: When it was about to be sent.
    begun: str
    #: The provider's name of it; empty until it is known.
    id: str = ""
    #: Whether nothing more comes of it.
    over: bool = False
    #: The parameters that its model refuses (`Parameters.changes`).
    changes: dict[str, str] = {}


def batch_line(provider: Provider, name: str, body: Mapping[str, Json]) -> bytes:
    """Return one request of a batch.

    Args:
        provider: Who answers it.
        name: Its `custom_id`.
        body: The request, as it is sent by itself.
    """
    body = {name: value for name, value in body.items() if name not in _STREAMED}
    line: dict[str, Json] = {"custom_id": name}
    if provider.batches == _ANTHROPIC:
        line["params"] = body
    else:
        line |= {"method": "POST", "url": f"/v1{provider.path}", "body": body}
    return msgspec.json.encode(line)


class _Response(msgspec.Struct):
    status_code: int = 200
    body: dict[str, Any] | None = None


class _Result(msgspec.Struct):
    type: str
    message: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class BatchLine(msgspec.Struct):
    """One answer of a batch; Anthropic's have a `result`."""

    custom_id: str
    response: _Response | None = None
    error: Any = None
    result: _Result | None = None

    def outcome(self) -> tuple[int, dict[str, Any], Any]:
        """Return the status, 0 if none is told, the body and the error or None."""
        if self.result is not None:
            if self.result.type == "succeeded":
                return 200, self.result.message or {}, None
            outer = self.result.error or {}
            error = outer.get("error") or self.result.type
            refused = isinstance(error, dict) and "invalid" in str(error.get("type"))
            return 400 if refused else 0, {}, error
        response = self.response or _Response(status_code=0)
        body, status = response.body or {}, response.status_code
        failed = self.error or status != 200  # noqa: PLR2004 (success)
        return status, body, (self.error or body.get("error") or {}) if failed else None


class _Batch(msgspec.Struct):
    """A batch as either vendor describes it, or a file."""

    id: str
    status: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: Any = None
    metadata: dict[str, Any] | None = None
    processing_status: str = ""
    request_counts: dict[str, int] | None = None
    created_at: str | int = ""


class _Batches(msgspec.Struct):
    data: tuple[_Batch, ...]


_Form = TypeVar("_Form")


class BatchWriter:
    """Has a server write in batches: sends what is missing, fetches what is there."""

    def __init__(self, writer: ServerWriter, folder: Path, *, submits: bool) -> None:
        """Prepare; nothing is sent yet.

        Args:
            writer: Asks the same server one by one.
            folder: The run's folder, whose lock the caller holds.
            submits: Whether anything is sent, and not only fetched.
        """
        self._writer, self._client = writer, writer.client
        self._provider = writer.server.connection.provider
        self._submits = submits
        self._is_anthropic = self._provider.batches == _ANTHROPIC
        self._path = "/messages/batches" if self._is_anthropic else "/batches"
        self._url = writer.server.connection.base + self._path
        self.label, self.identity, self.owe = writer.label, writer.identity, writer.owe
        self.parameters = writer.parameters
        self._parts: dict[str, BatchPart] = {}
        path = folder / _FILE
        for part in read_lines(path, BatchPart):
            self._parts[part.key] = part
            if part.writer == self.label:
                self.parameters.changes |= part.changes
        self._lines = AppendedLines(path)
        if self._provider.batches not in {_OPENAI, _ANTHROPIC}:
            raise BadUsage(f"{self._provider.name or 'this server'} has no batches")
        prices = writer.account.prices
        self._account = replace(writer.account, prices=prices and prices.of_batches())

    @property
    def discovered(self) -> Mapping[str, str]:
        """The parameters that the server refuses, with the names that it takes."""
        return self.parameters.changes

    def close(self) -> None:
        """Let every part reach the disk, and close the connection."""
        self._lines.close()
        self._writer.close()

    def write(
        self,
        requests: Sequence[GenerationRequest],
        on_end: Callable[[int, Generation], None] = lambda _place, _generation: None,
    ) -> list[Generation]:
        """Fetch what is there, and send what is missing.

        The first request of a run is asked by itself: which parameters a model refuses
        must be known before thousands are sent.

        Raises:
            SpendingLimit: the run may not ask for more.
            CsbdataError: see `ServerWriter.write`.
        """
        places = {request.mark: place for place, request in enumerate(requests)}
        for part in self._waiting():
            self._fetch(part, requests, places, on_end)
        waiting = {mark for part in self._waiting() for mark in part.marks}
        missing = []
        for request in requests:
            if request.mark in waiting:
                self._writer.owe(request, self._account)
            elif request.mark in places:
                missing.append(request)
        if not self._submits or not missing:
            return []
        if not any(part.writer == self.label for part in self._parts.values()):
            missing.sort(
                key=lambda it: bool(self._writer.prepared(it)[0].schema.refusal)
            )
            first, *missing = missing
            place = places[first.mark]
            self._writer.write([first], lambda _, made: on_end(place, made))
        for start in range(0, len(missing), _MOST):
            self._submit(missing[start : start + _MOST], places, on_end)
        return []

    def _waiting(self) -> list[BatchPart]:
        own = (part for part in self._parts.values() if part.writer == self.label)
        return [part for part in own if not part.over]

    def _submit(
        self,
        requests: Sequence[GenerationRequest],
        places: Mapping[str, int],
        on_end: Callable[[int, Generation], None],
    ) -> None:
        """Send requests as one part, as many as the run may ask for."""
        limit: SpendingLimit | None = None
        lines: dict[str, bytes] = {}
        for request in requests:
            text, body = self._writer.prepared(request)
            if text.schema.refusal:
                on_end(places[request.mark], text.undeclared())
                continue
            try:
                self._writer.account.spending.send()
            except SpendingLimit as reached:
                limit = reached
                break
            line = batch_line(self._provider, request.mark, body)
            self._writer.owe(request, self._account)
            lines[request.mark] = line
        if lines:
            begun = datetime.datetime.now(datetime.UTC).isoformat()
            key = fingerprint(marks=[*lines], begun=begun)
            part = BatchPart(
                key=key, writer=self.label, marks=tuple(lines), begun=begun
            )
            self._note(part)
            self._note(msgspec.structs.replace(part, id=self._send(part, lines)))
        if limit is not None:
            raise limit

    def _note(self, part: BatchPart) -> None:
        part = msgspec.structs.replace(part, changes=self.parameters.changes)
        self._lines.write(msgspec.json.encode(part))
        self._parts[part.key] = part

    def _send(self, part: BatchPart, lines: Mapping[str, bytes]) -> str:
        """Send a part; return what the provider calls it."""
        if self._is_anthropic:
            body = b'{"requests": [' + b",".join(lines.values()) + b"]}"
            kind = {"Content-Type": "application/json"}
            return self._call(_Batch, "POST", self._path, data=body, headers=kind).id
        content = b"\n".join(lines.values()) + b"\n"
        file = self._call(
            _Batch,
            "POST",
            "/files",
            data={"purpose": "batch"},
            files={"file": ("batch.jsonl", content)},
        )
        batch = self._call(
            _Batch,
            "POST",
            self._path,
            json={
                "input_file_id": file.id,
                "endpoint": f"/v1{self._provider.path}",
                "completion_window": "24h",
                "metadata": {"csbdata": part.key},
            },
        )
        return batch.id

    def _call(self, form: type[_Form], how: str, path: str, **content: Any) -> _Form:  # noqa: ANN401 (as requests takes it)
        return decoded(self._client.call(how, path, **content), form, self._url)

    def _fetch(
        self,
        part: BatchPart,
        requests: Sequence[GenerationRequest],
        places: dict[str, int],
        on_end: Callable[[int, Generation], None],
    ) -> None:
        """Fetch a part if it has ended; one that was never sent is over."""
        part = part if part.id else self._identified(part)
        if not part.id:
            self._note(msgspec.structs.replace(part, over=True))
            return
        files = self._files(part)
        if files is None:
            return
        content = b"\n".join(self._client.call("GET", path) for path in files)
        lines = {_name(line): line for line in content.strip().splitlines()}
        if lines.keys() == {""}:
            # A page in place of the results: raises `Unavailable`.
            decoded(content, BatchLine, self._url)
        for name, line in lines.items():
            place = places.pop(name, None)
            if place is not None:
                on_end(place, self._generation(requests[place], line))
        self._note(msgspec.structs.replace(part, over=True))

    def _identified(self, part: BatchPart) -> BatchPart:
        """Return an interrupted part with its id, if the provider has it after all."""
        ids = {other.id for other in self._parts.values()}
        for batch in self._call(_Batches, "GET", f"{self._path}?limit=100").data:
            mine = (batch.metadata or {}).get("csbdata") == part.key
            if self._is_anthropic:
                # It has no place for a key of ours: one as large and not older.
                count = sum((batch.request_counts or {}).values())
                later = _moment(batch.created_at) >= _moment(part.begun) - 60
                mine = later and count == len(part.marks)
            if mine and batch.id not in ids:
                part = msgspec.structs.replace(part, id=batch.id)
                self._note(part)
                break
        return part

    def _files(self, part: BatchPart) -> list[str] | None:
        """Return where the answers of a part are; None while it is at work."""
        batch = self._call(_Batch, "GET", f"{self._path}/{part.id}")
        if self._is_anthropic:
            ended = batch.processing_status == "ended"
            return [f"{self._path}/{part.id}/results"] if ended else None
        if batch.status not in {"completed", "failed", "expired", "cancelled"}:
            return None
        if batch.errors:
            self._writer.say(f"{self.label}: {shortened(str(batch.errors), 200)}")
        names = (batch.output_file_id, batch.error_file_id)
        return [f"/files/{name}/content" for name in names if name]

    def _generation(self, request: GenerationRequest, line: bytes) -> Generation:
        text, sent = self._writer.prepared(request)
        text = replace(text, prices=self._account.prices)
        answer = ServerAnswer()
        try:
            status, body, error = msgspec.json.decode(line, type=BatchLine).outcome()
            if error is not None:
                refusal = read_refusal(status, json.dumps({"error": error}))
                why = f"HTTP {status}: {refusal}".removeprefix("HTTP 0: ")
                if status in {400, 413, 422}:
                    meaning = self._provider.refusal_class(refusal)
                    if meaning in (RefusalClass.PARAMETER, RefusalClass.UNKNOWN):
                        self.parameters.learn(sent, refusal)
                    constrains = self._writer.server.constrains
                    return text.refused(meaning, refusal, why, constrains=constrains)
                return text.failed(Result.ERROR, TextEnding.MODEL, why)
            self._provider.wire.read(msgspec.json.encode(body), answer)
        except (msgspec.DecodeError, RecursionError, BrokenStream, ErrorEvent) as odd:
            return text.failed(Result.ERROR, TextEnding.MODEL, f"no answer: {odd}")
        if "tools" in sent:
            answer.take_call()
        # The moments at which a file was read are no times of the model.
        answer.pieces.clear()
        made = text.written(answer, 0)
        told = answer.prompt_tokens, answer.output_tokens
        size = len(json.dumps(sent))
        self._account.pay(*told, sent=size, budget=request.budget)
        return made


def _name(line: bytes) -> str:
    """Return the name of an answer's request; empty if the line has none.

    `json` reads half a surrogate pair, which msgspec refuses.
    """
    try:
        return str(json.loads(line)["custom_id"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""


def _moment(text: object) -> float:
    try:
        return datetime.datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
