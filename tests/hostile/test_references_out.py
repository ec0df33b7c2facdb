"""F23: a reference that leads out of its source is named, and never followed."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason
from curation.schema.dialects import DIALECTS
from curation.validation import fastjsonschema_worker
from curation.validation.verdicts import python_verdict, rust_verdict
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from curation.workers.process import Program
from tests.hostile import schemas
from tests.hostile.judging import LIMITS, RULES, judged, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson


@dataclass
class Trap:
    """A server and a named pipe that nobody must touch."""

    port: int
    pipe: Path
    hits: list[str] = field(default_factory=list)

    def uris(self) -> list[str]:
        """Return references that lead to the trap, or would lead elsewhere."""
        place = f"127.0.0.1:{self.port}"
        return [
            f"http://{place}/a.json",
            f"http://{place}/a.json#/definitions/b",
            f"https://{place}/a.json",
            f"//{place}/a.json",
            f"http://user:word@{place}/draft-07/schema",
            f"HTTP://LOCALHOST:{self.port}/a.json",
            f"ftp://{place}/a.json",
            self.pipe.as_uri(),
            f"file:{self.pipe}",
            f"file://localhost{self.pipe}",
            str(self.pipe),
            f"../../../../../../../..{self.pipe}",
            "data:application/json,%7B%7D",
            "jar:file:/a.jar!/b",
            "\\\\127.0.0.1\\share",
        ]


@contextmanager
def _listening(pipe: Path) -> Iterator[Trap]:
    """Listen on loopback and at a named pipe, and note whoever comes."""
    os.mkfifo(pipe)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        trap = Trap(port=server.getsockname()[1], pipe=pipe)
        stop = threading.Event()

        def wait() -> None:
            while not stop.is_set():
                try:
                    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                except OSError:
                    pass
                else:
                    os.close(writer)
                    trap.hits.append("the pipe was read")
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    trap.hits.append(str(connection.recv(200)))

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            yield trap
        finally:
            stop.set()
            thread.join()


def _leading_to(uri: str) -> Iterator[UntypedJson]:
    """Yield schemas that name a URI wherever a validator might follow it."""
    base = {"type": "object", "properties": {"a": {"type": "string"}}}
    yield {**base, "$ref": uri}
    yield {**base, "$schema": uri}
    yield {**base, "$id": uri, "properties": {"a": {"$ref": "b.json"}}}
    yield {**base, "id": uri, "properties": {"a": {"$ref": "#/definitions/b"}}}
    yield {"type": "object", "properties": {"a": {"$ref": uri}}}
    for draft in DIALECTS:
        yield {
            "$schema": draft.uri,
            "type": "object",
            "properties": {"a": {"$ref": uri}, "b": {"$schema": uri}},
            "definitions": {"unused": {"$ref": uri}},
            "$defs": {"d": {"$dynamicRef": uri}, "r": {"$recursiveRef": uri}},
            "$vocabulary": {uri: True},
        }


def test_the_trap_notices_whoever_comes(tmp_path: Path) -> None:
    """A visit to the server or the pipe would be seen."""
    with _listening(tmp_path / "pipe") as trap:
        with socket.create_connection(("127.0.0.1", trap.port)) as connection:
            connection.sendall(b"GET /")
        (tmp_path / "pipe").read_bytes()
    assert {"the pipe was read", str(b"GET /")} <= {*trap.hits}


@pytest.mark.parametrize("rules", RULES)
def test_f23_no_rule_follows_a_reference_out(rules: str, tmp_path: Path) -> None:
    """No `$ref`, `$schema` or `$id` makes a build ask a host or read a file."""
    with _listening(tmp_path / "pipe") as trap:
        named = {
            f"{uri} {number}": schemas.text(schema)
            for uri in trap.uris()
            for number, schema in enumerate(_leading_to(uri))
        }
        outcomes = judged(rules, named)
    assert trap.hits == []
    assert {each.ending for each in outcomes.values()} == {Ending.OK}


def test_f23_no_validator_follows_a_reference_out(tmp_path: Path) -> None:
    """jsonschema, jsonschema-rs and fastjsonschema, as they are called here."""
    with _listening(tmp_path / "pipe") as trap:
        found = [each for uri in trap.uris() for each in _leading_to(uri)]
        for schema in found:
            for dialect in DIALECTS:
                python_verdict(schema, dialect, thorough=True)
                rust_verdict(schema, dialect)
        program = Program(file=Path(fastjsonschema_worker.__file__))
        limits = replace(LIMITS, seconds=20)
        with Pool(program, jobs=1, limits=limits, attempts=1) as pool:
            for result in pool.run_batches([[json.dumps(each)] for each in found]):
                assert trap.hits == []
                assert result.results[0].ending is Ending.OK
    assert trap.hits == []


def test_f23_a_reference_out_of_the_source_is_named() -> None:
    """It ends the record as `remote_reference`, whatever its scheme."""
    uris = ("http://127.0.0.1:9/a.json", "file:///etc/passwd", "data:,x", "../a.json")
    named = {
        uri: schemas.text({"type": "object", "properties": {"a": {"$ref": uri}}})
        for uri in uris
    }
    reasons = {reason_of(each) for each in judged("clean", named).values()}
    assert reasons == {Reason.REMOTE_REFERENCE}
