"""A server program as `--serve` starts them: a small, real HTTP server of ours.

Called with a file for notes, words that say how it is to behave, and the arguments of
the program that it stands for. `crash` ends at once, `silent` never listens, `deaf`
ignores SIGTERM, `own-session` starts its child in a session of its own; `dies-once`
is gone in the middle of its third answer, but not when it is started again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Handler(BaseHTTPRequestHandler):
    """Speaks as much of the interface as a measurement needs."""

    protocol_version = "HTTP/1.1"
    #: Answers until the process is gone, and the file that says that it was.
    left = -1
    gone: Path

    def do_GET(self) -> None:
        told = {"/health": {}, "/v1/models": {"data": [{"id": "small"}]}}
        self._say(json.dumps(told.get(self.path, {})).encode(), "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        schema = body.get("structured_outputs", {}).get("json", {})
        text = json.dumps(dict.fromkeys(schema.get("required", ()), 1))
        events = [
            {"choices": [{"delta": {"content": text}}]},
            {
                "choices": [{"delta": {}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2},
            },
        ]
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        content = "".join([*lines, "data: [DONE]\n\n"]).encode()
        type(self).left -= 1
        if not self.left:
            self.gone.touch()
            self._head(len(content), "text/event-stream")
            self.wfile.write(content[:40])
            self.wfile.flush()
            os._exit(9)
        self._say(content, "text/event-stream")

    def _say(self, content: bytes, kind: str) -> None:
        self._head(len(content), kind)
        self.wfile.write(content)

    def _head(self, length: int, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _main(notes: Path, how: list[str], arguments: list[str]) -> None:
    print("loading the model", flush=True)  # noqa: T201 - a server's log
    if "crash" in how:
        print("no CUDA device is there", flush=True)  # noqa: T201 - the same
        sys.exit(3)
    if "deaf" in how:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        start_new_session="own-session" in how,
    )
    told = {"pid": child.pid, "child": child.pid, "arguments": arguments}
    told["pid"] = os.getpid()
    written = notes.with_suffix(".new")
    written.write_text(json.dumps(told))
    written.rename(notes)
    _Handler.gone = notes.with_suffix(".gone")
    if "dies-once" in how and not _Handler.gone.exists():
        _Handler.left = 3
    if "silent" in how:
        time.sleep(600)
    port = int(arguments[arguments.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), _Handler).serve_forever()


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3:])
