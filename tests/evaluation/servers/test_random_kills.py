"""A run of 200 answers that is killed 20 times at random asks for no answer again."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from evaluation.asking.request import ModelOptions, choose_suite
from evaluation.core.records import Record, encode_records
from evaluation.servers import batches as batches_module
from tests.evaluation.servers.batch_fakes import Batches, BatchHandler
from tests.evaluation.servers.contracts import CONTRACTS
from tests.evaluation.servers.loopback import loopback

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.asking.request import RunRequest

pytestmark = pytest.mark.nightly
_SEEDS = (1, 2)
_COUNT, _KILLS = 200, 20
_SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
_NAME = re.compile(r"boat(\d+)x")


@dataclass
class _Victim:
    """A process that is killed a little after one of the server's exchanges."""

    chance: random.Random
    pid: int = 0
    exchanges: int = 0
    kills: int = 0
    #: Names of records, as often as each was asked for.
    asked: Counter[str] = field(default_factory=Counter)

    def exchanged(self, *_: object) -> None:
        """Kill the process at the moment that was drawn."""
        self.exchanges -= 1
        if self.exchanges == 0 and self.pid:
            time.sleep(self.chance.random() / 50)
            self.kills += 1
            os.kill(self.pid, signal.SIGKILL)

    def run(self, request: RunRequest, exchanges: int) -> bool:
        """Run until it ends or is killed; return whether it has ended by itself."""
        self.exchanges = exchanges
        self.pid = os.fork()
        if not self.pid:
            try:
                csbdata.run(request)
            finally:
                os._exit(0)
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return not os.WIFSIGNALED(status)


def _recorded(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's whole lines, by record."""
    path = folder / "responses.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    answers = [json.loads(line) for line in lines]
    texts = {it["record"]: it["text"] for it in answers}
    assert len(texts) == len(answers), "a record was answered twice"
    return texts


def _request(folder: Path, provider: str, base: str) -> RunRequest:
    data = folder / "made.jsonl"
    if not data.exists():
        schemas = [json.dumps({"title": f"boat{n}x", **_SCHEMA}) for n in range(_COUNT)]
        records = [Record(id=f"r{n}", schema=text) for n, text in enumerate(schemas)]
        data.write_bytes(encode_records(records))
    model = ModelOptions(model=f"{provider}:{base}#small", batch=8, patience=0.1)
    return csbdata.RunRequest(
        suite=choose_suite("passrate"),
        data=data,
        engines=("strict",),
        models=(model,),
        jobs=1,
        run_dir=folder / "run",
    )


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_live_run(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded is not asked for again, and none is lost or replaced."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    victim = _Victim(random.Random(seed))
    answers = Counter[str]()

    def reply(body: dict[str, Any], number: int) -> Any:  # noqa: ANN401 (as the fake's)
        name = f"r{_NAME.search(json.dumps(body))[1]}"  # type: ignore[index]  # always there
        answers[name] += 1
        said = CONTRACTS["openai"].reply(body, json.dumps({"n": number}))
        victim.exchanged()
        return said

    with loopback(reply) as server:
        request = _request(tmp_path, "openai", server.base)
        while victim.kills < _KILLS:
            before = _recorded(tmp_path / "run")
            answers.clear()
            drawn = victim.chance.randint(1, 2 * (_COUNT - len(before)) // 25 + 2)
            assert not victim.run(request, drawn)
            assert not before.keys() & answers.keys()
            now = _recorded(tmp_path / "run")
            assert before.items() <= now.items()
        before = _recorded(tmp_path / "run")
        answers.clear()
        assert victim.run(request, 0)
    assert set(answers) == {f"r{n}" for n in range(_COUNT)} - before.keys()
    assert len(_recorded(tmp_path / "run")) == _COUNT


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_batch(
    tmp_path: Path, seed: int, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is in two batches, wherever sending or fetching was interrupted."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "a-key")
    monkeypatch.setattr(batches_module, "_MOST", 20)
    victim = _Victim(random.Random(seed))
    batches = Batches(lambda _body: '{"n": 1}')
    batches.on_path = victim.exchanged

    def reply(body: dict[str, Any], _number: int) -> Any:  # noqa: ANN401 (as the fake's)
        return CONTRACTS[provider].reply(body, '{"n": 1}')

    with loopback(reply, base=BatchHandler, batches=batches) as server:
        request = _request(tmp_path, provider, server.base)
        ends = 0
        while victim.kills < _KILLS or ends < 2:
            before = _recorded(tmp_path / "run")
            verb = victim.chance.choice(["submit", "collect"])
            batches.through = victim.chance.random() < 0.3 or ends > 0
            drawn = 0 if victim.kills >= _KILLS else victim.chance.randint(1, 6)
            if victim.kills >= _KILLS:
                verb = ("submit", "collect")[ends]
                ends += 1
            victim.run(replace(request, batches=verb), drawn)
            assert before.items() <= _recorded(tmp_path / "run").items()
    assert len(batches.names) == len(set(batches.names)) < _COUNT
    assert len(_recorded(tmp_path / "run")) == _COUNT
