"""What stands in for the outside world while a row runs: servers on loopback.

Each gives the variables that the row's command sees.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.evaluation.servers.contracts import CONTRACTS, Contract
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal
from tests.fake_hub import fake_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fake_hub import FakeHub

_TOKEN = "hf_" + "Qz7" * 11 + "Q"


@contextmanager
def hub(folder: Path) -> Iterator[dict[str, str]]:
    """Run a Hub without any repository, and write down the commits that came."""
    with fake_hub() as started:
        started.allow(_TOKEN, "write")
        yield _of_hub(started, folder)


def _of_hub(started: FakeHub, folder: Path) -> dict[str, str]:
    return {
        "HF_ENDPOINT": started.endpoint,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": _TOKEN,
        "HF_DATASETS_CACHE": str(folder / "datasets"),
        "HF_HUB_CACHE": str(folder / "hub"),
    }


@contextmanager
def model(_folder: Path) -> Iterator[dict[str, str]]:
    """Run a server whose answer turns on the title of the schema that it is sent."""

    def reply(body: dict[str, Any], _number: int) -> Said:
        asked = json.dumps(body)
        if "Refused" in asked:
            return refusal(400, {"error": {"message": "Invalid schema"}})
        if "Endless" in asked:
            return Said(pieces=[*answer('{"deck": ').pieces[:1], 30.0], ends=False)
        pieces = ('{"deck": ', "4" if "Right" in asked else '"no"', "}")
        said = list(answer(*pieces).pieces)
        return Said(pieces=[0.4, said[0], 0.1, said[1], 0.1, *said[2:]])

    with loopback(reply) as server:
        yield {"SERVER": server.base}


def _right(contract: Contract, body: dict[str, Any], _number: int) -> Said:
    return contract.reply(body, '{"deck": 3}')


@contextmanager
def providers(_folder: Path) -> Iterator[dict[str, str]]:
    """Run fakes that refuse what OpenAI, Anthropic and Gemini document to refuse."""
    with ExitStack() as stack:
        variables = {}
        for name in ("openai", "anthropic", "gemini"):
            reply = partial(_right, CONTRACTS[name])
            server = stack.enter_context(loopback(reply))
            variables[f"{name.upper()}_API_KEY"] = "a-key"
            variables[name.upper()] = server.base
        yield variables


@contextmanager
def published_hub(folder: Path) -> Iterator[dict[str, str]]:
    """Run a Hub with the repository as it is published: a file a split, and a card."""
    with fake_hub() as started:
        started.allow(_TOKEN, "write")
        splits = [
            f"data/{config}-{split}-00000-of-00001.parquet"
            for config in ("Github_easy", "Glaiveai2K")
            for split in ("train", "val", "test")
        ]
        files = dict.fromkeys([".gitattributes", "README.md", *splits], b"as published")
        old = started.store.put("epfl-dlab/JSONSchemaBench", files)
        yield _of_hub(started, folder)
        found = started.repository("epfl-dlab/JSONSchemaBench")
        now = started.store.view(found.name) or {}
        left = {
            "old": [name for name, body in now.items() if body == b"as published"],
            "v1": found.tags.get("v1") == old,
        }
        (folder / "left.json").write_text(json.dumps(left), "utf-8")


@contextmanager
def index(_folder: Path) -> Iterator[dict[str, str]]:
    """Use the package index of this machine, which has the official test suite."""
    yield {"HOME": str(Path.home())}
