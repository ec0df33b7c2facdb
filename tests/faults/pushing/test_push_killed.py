"""F41 and F60: a push killed at any moment, and a token that must not be anywhere."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.publish.hub_push import today
from tests.fake_hub import FakeHub, fake_hub
from tests.fake_hub.published import published
from tests.fake_hub.troubles import status
from tests.publishing import NAME, TOKEN, contents, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from http.server import BaseHTTPRequestHandler

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("push_once.py")
SEED = 20261122
#: How many requests the push here makes; a test below counts them.
REQUESTS = 35
#: And over Xet, at least.
REQUESTS_OVER_XET = 30


def _environment(hub: FakeHub, home: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "TMPDIR": str(home),
        "HF_ENDPOINT": hub.endpoint,
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": TOKEN,
        **more,
    }


def _start(
    hub: FakeHub, folder: Path, *arguments: str, **more: str
) -> subprocess.Popen[bytes]:
    home = folder.with_name("home")
    home.mkdir(exist_ok=True)
    asked = ["push", str(folder), "--repo", NAME, "-y", *arguments]
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *asked],
        env=_environment(hub, home, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def _prepared(folder: Path) -> Iterator[tuple[FakeHub, dict[str, bytes], Path]]:
    """Give a Hub with the published edition, its files, and the folder of the new."""
    tables = [
        f"{name}/train-00000-of-00001.parquet" for name in ("Github_easy", "data")
    ]
    old = {name: published()[name] for name in ("README.md", *tables)}
    with fake_hub() as hub:
        hub.allow(TOKEN)
        # Several pages: more instants at which a process can die.
        hub.page = 3
        hub.store.put(NAME, old)
        yield hub, old, write_folder(folder / "new")


def _seen(hub: FakeHub, revision: str = "main") -> dict[str, bytes]:
    files = hub.store.view(NAME, revision) or {}
    return {name: each for name, each in files.items() if name[0] != "."}


def _killing(process: list[int], pause: float, *, at_once: bool) -> Callable[[], None]:
    def kill() -> None:
        os.kill(process[0], signal.SIGKILL)

    def happens() -> None:
        time.sleep(pause)
        if at_once:
            kill()
        else:
            threading.Timer(pause, kill).start()

    return happens


def _killed_once(
    folder: Path, request: int, rng: random.Random, way: Mapping[str, str]
) -> bool:
    """Kill a push at a request, run it again; return whether it had landed."""
    with _prepared(folder) as (hub, old, new):
        process: list[int] = []
        happens = _killing(process, rng.random() * 0.02, at_once=rng.random() < 0.7)
        after = rng.random() < 0.5
        hub.troubles.add("*", "", skip=request, after=after, happens=happens)
        first = _start(hub, new, **way)
        process.append(first.pid)
        _, errors = first.communicate(timeout=60)
        assert first.returncode in {0, -signal.SIGKILL}, errors.decode()
        landed = _seen(hub)
        assert landed in (old, contents(new))
        assert _seen(hub, "v1") == old or landed == old
        second = _start(hub, new, **way)
        _, errors = second.communicate(timeout=60)
        assert second.returncode == 0, errors.decode()
        assert _seen(hub, "v1") == old
        assert _seen(hub) == _seen(hub, today()) == contents(new)
        assert len(hub.repository(NAME).commits) == 3
        return landed != old


def _killed(
    folder: Path, count: int, requests: int, way: Mapping[str, str]
) -> list[bool]:
    rng = random.Random(SEED)
    return [
        _killed_once(folder / str(number), rng.randrange(requests), rng, way)
        for number in range(count)
    ]


#: What is else than by default, and the number of requests of a push: over plain HTTP,
#: and over Xet, which is the client's default.
_WAYS = [({}, REQUESTS), ({"HF_HUB_DISABLE_XET": "0"}, REQUESTS_OVER_XET)]


@pytest.mark.slow
@pytest.mark.parametrize(("way", "requests"), _WAYS, ids=["http", "xet"])
def test_f41_killed_at_three_instants_the_same_command_finishes(
    way: Mapping[str, str], requests: int, tmp_path: Path
) -> None:
    """The repository shows the old state or the new one, and then the new one."""
    assert len(_killed(tmp_path, 3, requests, way)) == 3


def _echo(handler: BaseHTTPRequestHandler) -> None:
    """Refuse in words that repeat the request's credentials."""
    said = f"Bad: {handler.headers.get('Authorization')} at {handler.path}"
    status(418, said, Link=f"<{handler.path}>")(handler)


def _everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        yield str(path), os.fsencode(path.name)
        if path.is_file():
            yield str(path), path.read_bytes()


@pytest.mark.parametrize(
    ("step", "code"),
    [
        pytest.param(None, 0, marks=pytest.mark.slow),
        (("GET", "/tree/"), 65),
        pytest.param(("PUT", "X-Amz"), 65, marks=pytest.mark.slow),
        pytest.param(("POST", "/commit/"), 65, marks=pytest.mark.slow),
        pytest.param(("GET", "X-Amz"), 65, marks=pytest.mark.slow),
    ],
)
def test_f60_a_planted_token_is_nowhere(
    step: tuple[str, str] | None, code: int, tmp_path: Path
) -> None:
    """Not in what is printed while debugging, not in any file, nor is a signature."""
    with _prepared(tmp_path) as (hub, _, new):
        if step:
            hub.troubles.add(*step, _echo, times=10**6)
        process = _start(hub, new, CSBDATA_DEBUG="1", HF_DEBUG="1")
        printed, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors.decode()
        assert step or len(hub.asked) == REQUESTS
        assert b"Traceback" in errors or not step
        assert b"curl" in errors
        found = [("stdout", printed), ("stderr", errors), *_everything(tmp_path)]
        for secret in (TOKEN, hub.signature, "AKIAFAKE"):
            assert [name for name, held in found if secret.encode() in held] == []
        assert any(each.authorized for each in hub.asked)
