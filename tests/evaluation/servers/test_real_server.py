"""A real OpenAI-compatible server with a real, small model answers what we ask."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from evaluation.core.cases import Result
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import (
    GenerationRequest,
    TextEnding,
    TokenPrices,
)
from evaluation.servers.client import RequestLimits, ServerClient, ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.pacing import Account, Spending
from evaluation.servers.writer import ServerWriter
from tests.evaluation.servers.flaky_proxy import flaky_proxy
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("fastapi") is None or find_spec("uvicorn") is None,
        reason="transformers serve needs fastapi and uvicorn, which are not installed",
    ),
]
_BUDGET = 12
_LIMITS = RequestLimits(seconds=60.0)


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Start `transformers serve`; return its address and the model's name."""
    folder = small_model(tmp_path_factory.mktemp("model"))
    port = _free_port()
    script = Path(sys.executable).with_name("transformers")
    log = tmp_path_factory.mktemp("log") / "serve.log"
    command = [str(script), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with (
        log.open("wb") as told,
        subprocess.Popen(
            [*command, "--device", "cpu", "--dtype", "float32"],
            stdout=told,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
        ) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}", str(folder)
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the server has ended"
        try:
            if requests.get(url, timeout=1).ok:
                return
        except requests.RequestException:
            time.sleep(0.2)
    pytest.fail("the server does not answer")


def _asked(name: str) -> GenerationRequest:
    subject = Record(
        id=name, group="made", schema='{"type": "null"}', dialect="2020-12"
    )
    message = Message(role="user", content=f"write {name}")
    return GenerationRequest(record=subject, messages=(message,), budget=_BUDGET)


def test_what_the_server_writes_is_read(served: tuple[str, str]) -> None:
    """The text ends as the server says, its tokens are counted, and it has a price."""
    base, model = served
    connection = ServerConnection(base=f"{base}/v1", model=model, limits=_LIMITS)
    (participant,) = server_participants(connection, ["none"])
    writer = ServerWriter(
        participant, Account(Spending(), TokenPrices(prompt=1.0, output=2.0))
    )
    made = writer.write([_asked("one"), _asked("two"), _asked("three")])
    writer.close()
    assert [each.id for each in made] == ["one", "two", "three"]
    for each in made:
        assert each.result is Result.OK
        assert each.ending in {TextEnding.END, TextEnding.TRUNCATED}
        assert each.length is not None
        assert 0 < each.length <= _BUDGET
        assert each.prompt_tokens
        assert each.cost == (each.prompt_tokens + 2 * each.length) / 1e6


def test_trouble_on_the_way_changes_no_text(served: tuple[str, str]) -> None:
    """429, 500 and a stream cut in half are tried again: the same text in the end."""
    base, model = served
    spoils = ["429", "500", "cut"]
    texts = []
    for address in (base, None):
        with flaky_proxy(base, spoils if address is None else []) as proxy:
            connection = ServerConnection(
                base=f"{address or proxy}/v1", model=model, limits=_LIMITS
            )
            (participant,) = server_participants(connection, ["none"])
            writer = ServerWriter(participant, client=ServerClient(connection))
            texts.append(writer.write([_asked("the same")])[0])
            writer.close()
    assert spoils == []
    assert texts[0].text == texts[1].text
    assert texts[1].result is Result.OK
