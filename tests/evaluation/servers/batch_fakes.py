"""The batch interfaces of OpenAI and Anthropic on loopback, beside their texts.

Sources: openai 3.57.0 (PyPI), resources/batches.py and files.py, types/batch.py;
anthropic 2.14.0, resources/messages/batches.py, types/messages/message_batch.py.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import TYPE_CHECKING, Any

from tests.evaluation.servers.contracts import OUTPUT, PROMPT
from tests.evaluation.servers.loopback import Handler

if TYPE_CHECKING:
    from collections.abc import Callable


class Batches:
    """What was sent as batches, and when each is through."""

    def __init__(self, text_of: Callable[[dict[str, Any]], str | None]) -> None:
        """Take what writes the text of a request; None refuses it."""
        self.text_of = text_of
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.requests: dict[str, list[dict[str, Any]]] = {}
        #: Whether batches come to an end.
        self.through = True
        #: Called with each path that is asked, before it is answered.
        self.on_path: Callable[[str], None] = lambda _path: None
        #: What is said in place of an answer, by its number, and of single results.
        self.exchanges = 0
        self.instead: dict[int, bytes] = {}
        self.odd: list[dict[str, Any]] = []

    @property
    def names(self) -> list[str]:
        """Every name of a request that any batch has."""
        return [it["custom_id"] for lines in self.requests.values() for it in lines]

    def new(self, lines: list[dict[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """Make a batch."""
        names = [line["custom_id"] for line in lines]
        assert len(set(names)) == len(names), "custom_id must be unique"
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
        name = f"batch_{len(self.batches)}"
        self.requests[name] = lines
        self.batches[name] = {"id": name, **more}
        return self.state(name)

    def state(self, name: str) -> dict[str, Any]:
        """Return how far a batch is, in the words of both vendors."""
        ends = {"output_file_id": f"out-{name}"} if self.through else {}
        counts = {"processing": 0, "succeeded": len(self.requests[name])}
        return {
            **self.batches[name],
            **ends,
            "status": "completed" if self.through else "in_progress",
            "processing_status": "ended" if self.through else "in_progress",
            "request_counts": counts,
        }

    def results(self, name: str) -> bytes:
        """Return the answers of a batch, in another order."""
        lines = [self._result(line) for line in reversed(self.requests[name])]
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        name = {"custom_id": line["custom_id"]}
        if self.odd:
            return {**name, **self.odd.pop()}
        anthropic = "params" in line
        text = self.text_of(line["params"] if anthropic else line["body"])
        error = {"type": "invalid_request_error", "message": "no such thing"}
        if anthropic:
            if text is None:
                return {
                    **name,
                    "result": {"type": "errored", "error": {"error": error}},
                }
            usage = {"input_tokens": PROMPT, "output_tokens": OUTPUT}
            content = [{"type": "text", "text": text}]
            message = {"content": content, "stop_reason": "end_turn", "usage": usage}
            return {**name, "result": {"type": "succeeded", "message": message}}
        if text is None:
            body: dict[str, Any] = {"error": {**error, "param": "x"}}
            return {**name, "response": {"status_code": 400, "body": body}}
        if "input" in line["body"]:
            item = {"type": "message", "content": [{"text": text}]}
            usage = {"input_tokens": PROMPT, "output_tokens": OUTPUT}
            body = {"status": "completed", "output": [item], "usage": usage}
            return {**name, "response": {"status_code": 200, "body": body}}
        usage = {"prompt_tokens": PROMPT, "completion_tokens": OUTPUT}
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": usage}
        return {**name, "response": {"status_code": 200, "body": body}, "error": None}


class BatchHandler(Handler):
    """Answers what either vendor documents of batches, and texts as its base."""

    batches: Batches

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Answer how far batches are, and their results."""
        path = self.path.partition("?")[0].removeprefix("/v1")
        self.batches.on_path(path)
        own = self.batches
        match = re.fullmatch(r"(?:/messages)?/batches/(\w+?)(/results)?", path)
        if re.fullmatch(r"(?:/messages)?/batches", path):
            self._json({"data": [own.state(name) for name in own.batches]})
        elif match and match[2]:
            self._send(own.results(match[1]))
        elif match:
            self._json(own.state(match[1]))
        elif path.startswith("/files/out-"):
            name = path.removeprefix("/files/out-").removesuffix("/content")
            self._send(own.results(name))
        else:
            super().do_GET()

    def do_POST(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Take files and batches."""
        path = self.path.removeprefix("/v1")
        self.batches.on_path(path)
        own = self.batches
        if path not in {"/files", "/batches", "/messages/batches"}:
            super().do_POST()
            return
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if path == "/files":
            lines = [it for it in content.splitlines() if it.startswith(b"{")]
            name = f"file_{len(own.files)}"
            own.files[name] = b"\n".join(lines)
            assert b'name="purpose"' in content
            self._json({"id": name})
        elif path == "/batches":
            told = json.loads(content)
            lines = own.files[told["input_file_id"]].splitlines()
            parsed = [json.loads(line) for line in lines]
            assert {it["url"] for it in parsed} == {told["endpoint"]}
            assert all({"body", "custom_id", "method"} < it.keys() for it in parsed)
            self._json(own.new(parsed, metadata=told["metadata"]))
        else:
            now = datetime.datetime.now(datetime.UTC).isoformat()
            self._json(own.new(json.loads(content)["requests"], created_at=now))

    def _json(self, value: object) -> None:
        self._send(json.dumps(value).encode())

    def _send(self, content: bytes) -> None:
        content = self.batches.instead.get(self.batches.exchanges, content)
        self.batches.exchanges += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
