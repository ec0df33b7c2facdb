"""Batches: requests that a provider answers within a day, at half the price.

A run's folder has them in `batches.jsonl`: the fingerprint of a part before it is sent,
its id afterwards. A part without an id was interrupted, and is looked for among the
account's batches before it is sent again.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.errors import BadUsage
from curation.workers.fingerprint import fingerprint
from evaluation.core.cases import Result
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.pacing import SpendingLimit
from evaluation.servers.responses import BrokenStream, ServerAnswer, read_refusal
from evaluation.walking.run_folder import AppendedLines, whole_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.generation.text_generation import Generation, GenerationRequest
    from evaluation.servers.parameters import Parameters
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


def batch_line(provider: Provider, name: str, body: Mapping[str, Json]) -> bytes:
    """Return one request of a batch.

    Args:
        provider: Who answers it.
        name: Its `custom_id`.
        body: The request, as it is sent by itself.

    Raises:
        BadUsage: the provider has no batches.
    """
    body = {name: value for name, value in body.items() if name not in _STREAMED}
    line: dict[str, Json] = {"custom_id": name}
    if provider.batches == _ANTHROPIC:
        line["params"] = body
    elif provider.batches == _OPENAI:
        line |= {"method": "POST", "url": f"/v1{provider.path}", "body": body}
    else:
        raise BadUsage(f"{provider.name or 'this server'} has no batches")
    return msgspec.json.encode(line)


def outcome_of(line: Mapping[str, Any]) -> tuple[int, Any, Any]:
    """Return the status, the body and the error of one answer; None for no error.

    Args:
        line: A line of a batch's output, of either vendor.
    """
    result = line.get("result")
    if isinstance(result, dict):
        if result.get("type") == "succeeded":
            return 200, result.get("message"), None
        error = result.get("error") or {}
        inner = error.get("error") if isinstance(error, dict) else error
        refused = isinstance(inner, dict) and "invalid" in str(inner.get("type"))
        return 400 if refused else 503, {}, inner or result.get("type")
    response = line.get("response") or {}
    status, body = response.get("status_code", 200), response.get("body") or {}
    if line.get("error") or status != 200 or not response:  # noqa: PLR2004 (success)
        inner = body.get("error") if isinstance(body, dict) else None
        return status, body, line.get("error") or inner or {}
    return status, body, None


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
        self.label, self.identity = writer.label, writer.identity
        self._parts: dict[str, BatchPart] = {}
        path = folder / _FILE
        for line in whole_lines(path):
            part = msgspec.json.decode(line, type=BatchPart)
            self._parts[part.key] = part
        self._lines = AppendedLines(path)
        if self._provider.batches not in {_OPENAI, _ANTHROPIC}:
            raise BadUsage(f"{self._provider.name or 'this server'} has no batches")
        self._prices = writer.account.prices
        if self._prices is not None:
            self._prices = self._prices.of_batches()

    @property
    def parameters(self) -> Parameters:
        """What the server takes."""
        return self._writer.parameters

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
        for part in [*self._parts.values()]:
            if part.writer == self.label and not part.over:
                self._fetch(part, requests, places, on_end)
        waiting = {
            mark
            for part in self._parts.values()
            if part.writer == self.label and not part.over
            for mark in part.marks
        }
        missing = [
            it for it in requests if it.mark in places and it.mark not in waiting
        ]
        if not self._submits or not missing:
            return []
        if not any(part.writer == self.label for part in self._parts.values()):
            first, *missing = missing
            place = places[first.mark]
            self._writer.write([first], lambda _, made: on_end(place, made))
        for start in range(0, len(missing), _MOST):
            self._submit(missing[start : start + _MOST], places, on_end)
        return []

    def _submit(
        self,
        requests: Sequence[GenerationRequest],
        places: Mapping[str, int],
        on_end: Callable[[int, Generation], None],
    ) -> None:
        """Send requests as one part, as many as the run may ask for."""
        account = self._writer.account
        limit: SpendingLimit | None = None
        lines: dict[str, bytes] = {}
        for request in requests:
            text, body = self._writer.prepared(request)
            if text.schema.refusal:
                on_end(places[request.mark], text.undeclared())
                continue
            try:
                account.spending.send()
            except SpendingLimit as reached:
                limit = reached
                break
            line = batch_line(self._provider, request.mark, body)
            account.pay(None, None, len(line), request.budget)
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
        self._lines.write(msgspec.json.encode(part))
        self._parts[part.key] = part

    def _send(self, part: BatchPart, lines: Mapping[str, bytes]) -> str:
        """Send a part; return what the provider calls it."""
        if self._is_anthropic:
            body = b'{"requests": [' + b",".join(lines.values()) + b"]}"
            kind = {"Content-Type": "application/json"}
            return str(self._call("POST", self._path, data=body, headers=kind)["id"])
        content = b"\n".join(lines.values()) + b"\n"
        file = self._call(
            "POST",
            "/files",
            data={"purpose": "batch"},
            files={"file": ("batch.jsonl", content)},
        )
        batch = self._call(
            "POST",
            self._path,
            json={
                "input_file_id": file["id"],
                "endpoint": f"/v1{self._provider.path}",
                "completion_window": "24h",
                "metadata": {"csbdata": part.key},
            },
        )
        return str(batch["id"])

    def _call(self, method: str, path: str, **content: Any) -> dict[str, Any]:  # noqa: ANN401 (as requests takes it)
        answer = json.loads(self._client.call(method, path, **content))
        return answer if isinstance(answer, dict) else {}

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
        for path in files:
            for line in self._client.call("GET", path).splitlines():
                answer = json.loads(line)
                place = places.pop(str(answer.get("custom_id")), None)
                if place is not None:
                    on_end(place, self._generation(requests[place], answer))
        self._note(msgspec.structs.replace(part, over=True))

    def _identified(self, part: BatchPart) -> BatchPart:
        """Return an interrupted part with its id, if the provider has it after all."""
        listed = self._call("GET", f"{self._path}?limit=100").get("data") or []
        ids = {other.id for other in self._parts.values()}
        for batch in listed:
            mine = (batch.get("metadata") or {}).get("csbdata") == part.key
            if self._is_anthropic:
                # It has no place for a key of ours: one as large and not older.
                count = sum((batch.get("request_counts") or {}).values())
                later = _moment(batch.get("created_at")) >= _moment(part.begun) - 60
                mine = later and count == len(part.marks)
            if mine and batch.get("id") not in ids:
                part = msgspec.structs.replace(part, id=str(batch["id"]))
                self._note(part)
                break
        return part

    def _files(self, part: BatchPart) -> list[str] | None:
        """Return where the answers of a part are; None while it is at work."""
        batch = self._call("GET", f"{self._path}/{part.id}")
        if self._is_anthropic:
            ended = batch.get("processing_status") == "ended"
            return [f"{self._path}/{part.id}/results"] if ended else None
        status = batch.get("status")
        if status not in {"completed", "failed", "expired", "cancelled"}:
            return None
        for error in (batch.get("errors") or {}).get("data") or []:
            self._writer.say(f"{self.label}: {error.get('message')}")
        names = (batch.get("output_file_id"), batch.get("error_file_id"))
        return [f"/files/{name}/content" for name in names if name]

    def _generation(
        self, request: GenerationRequest, line: Mapping[str, Any]
    ) -> Generation:
        text, _ = self._writer.prepared(request)
        text = replace(text, prices=self._prices)
        status, body, error = outcome_of(line)
        if error is not None:
            words = read_refusal(json.dumps({"error": error}))
            why = f"HTTP {status}: {words}"
            if status in {400, 413, 422}:
                constrains = self._writer.server.constrains
                return text.refused(words.cause, why, constrains=constrains)
            return text.failed(Result.ERROR, TextEnding.MODEL, why)
        answer = ServerAnswer()
        try:
            self._provider.read(msgspec.json.encode(body), answer)
        except BrokenStream as broken:
            return text.failed(Result.ERROR, TextEnding.MODEL, str(broken))
        # The moments at which a file was read are no times of the model.
        answer.pieces.clear()
        made = text.written(answer, 0)
        self._writer.account.spending.pay(made.cost)
        return made


def _moment(text: object) -> float:
    try:
        return datetime.datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
