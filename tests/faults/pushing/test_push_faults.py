"""F41 to F44 and F60 for pushing: whatever happens, a reader sees old or new."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.publish.push import today
from curation.system.errors import (
    BadData,
    CsbdataError,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)
from tests.fake_hub import FakeHub, fake_hub
from tests.fake_hub.published import published
from tests.fake_hub.troubles import cut, rate_limited, status
from tests.loopback import body
from tests.publishing import (
    DAY,
    FILES,
    HASTY,
    LATER,
    NAME,
    TOKEN,
    UPLOAD_WARNING,
    Connection,
    contents,
    looked,
    pushed,
    write_folder,
)
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from http.server import BaseHTTPRequestHandler

    Answer = Callable[[BaseHTTPRequestHandler], None]

pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)

#: Every request of a push to a repository that is there and has a manifest.
STEPS = {
    "the dataset": ("GET", rf"/api/datasets/{NAME}$"),
    "the references": ("GET", r"/refs"),
    "the files": ("GET", r"/tree/"),
    "what is large": ("POST", r"/preupload/"),
    "where to put it": ("POST", r"/objects/batch"),
    "the upload": ("PUT", r"X-Amz-Signature"),
    "the upload's end": ("POST", r"/verify/"),
    "the card's check": ("POST", r"/validate-yaml"),
    "the commit": ("POST", r"/commit/"),
    "what a file is": ("HEAD", r"/resolve/"),
    "reading back": ("GET", r"/resolve/"),
    "reading a large one back": ("GET", r"X-Amz-Signature"),
    "the tag": ("POST", r"/tag/"),
}


@pytest.fixture
def old(there: Connection, tmp_path: Path) -> dict[str, bytes]:
    """What the Hub has before."""
    folder = write_folder(tmp_path / "old", {"old.txt": b"1"})
    pushed(folder)
    there.waits.clear()
    there.day = LATER
    return contents(folder)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "kind", first_fast(1, ["cut", "cut after", "503", "503 after"])
)
def test_a_fault_that_passes_is_survived_at_every_step(
    kind: str, step: str, there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """One broken answer, before or after the work was done, changes nothing."""
    answer = cut if kind.startswith("cut") else status(503, "Come again")
    after = kind.endswith("after")
    trouble = there.hub.troubles.add(*STEPS[step], answer, after=after)
    folder = write_folder(tmp_path / "new")
    done = pushed(folder)
    assert trouble.met == 1
    assert there.seen() == there.seen(LATER) == contents(folder)
    assert there.seen(DAY) == old
    assert there.commits == 3
    assert done.commit == there.hub.repository(NAME).branches["main"]


# Where only the end of an upload is troubled, the next try finds the object there.
@pytest.mark.slow
@pytest.mark.parametrize("step", sorted(STEPS.keys() - {"the upload's end"}))
@pytest.mark.parametrize("kind", [cut, status(500, "Broken")], ids=["cut", "500"])
def test_a_fault_that_stays_ends_with_69_and_the_same_command_finishes(
    kind: Answer, step: str, there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """A reader has the old state or the new one; later all is well."""
    trouble = there.hub.troubles.add(*STEPS[step], kind, times=10**6)
    folder = write_folder(tmp_path / "new")
    with pytest.raises(Unavailable) as caught:
        pushed(folder)
    assert NAME in str(caught.value)
    assert there.seen() in (old, contents(folder))
    assert there.seen(LATER) == {}
    trouble.times = 0
    assert pushed(folder).tag == LATER
    assert there.seen() == contents(folder)
    assert there.commits == 3


def test_f41_a_commit_that_landed_without_a_word_is_recognised(
    there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """The answer is lost, and meanwhile somebody else commits on top of it."""
    folder = write_folder(tmp_path / "new")
    theirs = partial(there.hub.store.put, NAME, {"theirs.txt": b"1"})
    there.hub.troubles.add("POST", "/commit/", cut, after=True, happens=theirs)
    done = pushed(folder)
    assert there.seen(LATER) == there.seen(done.commit) == contents(folder)
    assert there.seen() == {**contents(folder), "theirs.txt": b"1"}
    assert old


def test_f42_a_lost_race_is_told_and_never_overwritten(
    there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """Somebody commits between plan and commit: exit code 75, theirs stands."""
    theirs = partial(there.hub.store.put, NAME, {"theirs.txt": b"1"})
    there.hub.troubles.add("POST", "/commit/", happens=theirs)
    folder = write_folder(tmp_path / "new")
    with pytest.raises(TemporarilyUnavailable, match="another commit came first"):
        pushed(folder)
    assert there.seen() == {**old, "theirs.txt": b"1"}
    pushed(folder)
    assert there.seen() == contents(folder)


@pytest.mark.parametrize("is_ours", [True, False])
def test_f42_a_commit_that_keeps_what_goes_is_not_ours(
    *, is_ours: bool, there: Connection, tmp_path: Path
) -> None:
    """All our files make no commit ours where a file that was to go still stands."""
    pushed(write_folder(tmp_path / "old"))
    folder = write_folder(tmp_path / "new", dict(list(FILES.items())[:3]))
    assert looked(folder).plan.deleted
    if is_ours:
        there.hub.troubles.add("POST", "/commit/", cut, after=True)
        assert there.seen(pushed(folder).commit) == contents(folder)
        return
    theirs = partial(there.hub.store.put, NAME, contents(folder))
    there.hub.troubles.add("POST", "/commit/", happens=theirs)
    with pytest.raises(TemporarilyUnavailable, match="another commit came first"):
        pushed(folder)


@pytest.mark.parametrize("path", ["README.md", "A/test-00000-of-00001.parquet"])
@pytest.mark.parametrize("length", ["same", "other"])
def test_f44_a_tag_is_withheld_from_what_came_back_otherwise(
    path: str, length: str, there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """The Hub has other content after the commit: exit code 65, no tag."""
    held = FILES[path]
    other = held[:-1] + b"?" if length == "same" else held + b"?"
    spoil = partial(there.hub.repository(NAME).tamper, path, other)
    there.hub.troubles.add("POST", "/commit/", after=True, happens=spoil)
    with pytest.raises(BadData, match="no tag was set"):
        pushed(write_folder(tmp_path / "new"))
    assert list(there.hub.repository(NAME).tags) == [DAY]
    assert old


def test_f44_content_that_only_the_download_shows_is_noticed(
    there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """The Hub describes a file rightly and gives another one."""
    held = FILES["A/test-00000-of-00001.parquet"]
    lie = body(b"x" * len(held))
    there.hub.troubles.add("GET", hashlib.sha256(held).hexdigest(), lie)
    with pytest.raises(BadData, match="no tag was set"):
        pushed(write_folder(tmp_path / "new"))
    assert list(there.hub.repository(NAME).tags) == [DAY]
    assert old


# What a file is, the library asks once more at once, whatever the answer was.
@pytest.mark.parametrize(
    "step", first_fast(4, sorted(STEPS.keys() - {"what a file is"}))
)
def test_a_rate_limit_is_waited_for(
    step: str, there: Connection, old: dict[str, bytes], tmp_path: Path
) -> None:
    """As long as `RateLimit: t=` says, and one second for rounding."""
    there.hub.troubles.add(*STEPS[step], rate_limited(7))
    folder = write_folder(tmp_path / "new")
    pushed(folder)
    assert [each for each in there.waits if each >= 1] == [8.0]
    assert there.seen(LATER) == contents(folder)
    assert old


@pytest.mark.parametrize("step", first_fast(4, STEPS))
@pytest.mark.parametrize(("seconds", "times"), first_fast(1, [(290, 1), (12, 10**6)]))
def test_a_rate_limit_beyond_our_patience_ends_with_75(  # noqa: PLR0913, PLR0917 (a row of the table)
    seconds: int,
    times: int,
    step: str,
    there: Connection,
    old: dict[str, bytes],
    tmp_path: Path,
) -> None:
    """At once where the wait is too long, and in sum where they add up."""
    limited = rate_limited(seconds)
    trouble = there.hub.troubles.add(*STEPS[step], limited, times=times)
    folder = write_folder(tmp_path / "new")
    with pytest.raises(TemporarilyUnavailable, match="limits our rate") as caught:
        pushed(folder)
    assert "X-Amz" not in str(caught.value)
    assert sum(there.waits) <= HASTY.limited
    assert there.seen() in (old, contents(folder))
    trouble.times = 0
    pushed(folder)
    assert there.seen(LATER) == contents(folder)


_LOGIN = b"<html>Please log in to the network</html>"
_PORTAL = body(_LOGIN, Content_Type="text/html")
_UPLOAD, _COMMIT = "where to put it", "the commit"
#: The step that is refused, the answer, what the push ends with and what it says.
_REFUSALS: list[tuple[str, Answer, type[CsbdataError], str]] = [
    (_UPLOAD, status(401, "Invalid credentials"), NotPermitted, "hf auth login"),
    (_COMMIT, status(401, "Invalid credentials"), NotPermitted, "hf auth login"),
    (_UPLOAD, status(402, "Payment required"), NotPermitted, "raise the plan"),
    (_COMMIT, status(403, "You don't have the rights"), NotPermitted, "may write"),
    (_COMMIT, status(403, "Restricted", "GatedRepo"), NotPermitted, "ask for access"),
    (_COMMIT, status(403, "Private storage limit"), NotPermitted, "free space"),
    (_UPLOAD, status(413, "Payload too large"), NotPermitted, "free space"),
    (_COMMIT, status(507, "Quota"), NotPermitted, "free space"),
    (_COMMIT, status(409, "Conflict"), TemporarilyUnavailable, "commit"),
    (_COMMIT, status(412, "Conflict"), TemporarilyUnavailable, "commit"),
    ("the card's check", status(400, "x"), BadData, r"README\.md"),
    ("the dataset", _PORTAL, Unavailable, "no Hub"),
    ("the files", _PORTAL, Unavailable, "no Hub"),
    ("what is large", _PORTAL, Unavailable, "no Hub"),
]


@pytest.mark.parametrize(("step", "answer", "error", "said"), _REFUSALS)
def test_a_refusal_says_what_to_do_and_changes_nothing(  # noqa: PLR0913, PLR0917 (a row of the table)
    step: str,
    answer: Answer,
    error: type[CsbdataError],
    said: str,
    there: Connection,
    old: dict[str, bytes],
    tmp_path: Path,
) -> None:
    """Missing rights are 77, a lost race 75, bad metadata 65, what is no Hub 69."""
    there.hub.troubles.add(*STEPS[step], answer, times=10**6)
    with pytest.raises(error, match=said) as caught:
        pushed(write_folder(tmp_path / "new"))
    assert TOKEN not in str(caught.value)
    assert there.seen() == old


def test_without_a_token_or_offline_nothing_is_made(
    there: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """How to get a token is said; HF_HUB_OFFLINE is the library's own word."""
    folder = write_folder(tmp_path / "new")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(NotPermitted, match="hf auth login"):
        pushed(folder)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(Unavailable, match="HF_HUB_OFFLINE"):
        pushed(folder)
    assert there.hub.store.repositories == {}


ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("push_once.py")
SEED = 20261122
#: How many requests the push here makes; a test below counts them.
REQUESTS = 36
#: And over Xet, at least.
REQUESTS_OVER_XET = 30


def _start(hub: FakeHub, folder: Path, **more: str) -> subprocess.Popen[bytes]:
    home = folder.with_name("home")
    home.mkdir(exist_ok=True)
    environment = {
        **dict.fromkeys(("HOME", "TMPDIR"), str(home)),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HF_ENDPOINT": hub.endpoint,
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": TOKEN,
        **more,
    }
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), "push", str(folder), "--repo", NAME, "-y"],
        env=environment,
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


def _kill_once(
    folder: Path, request: int, rng: random.Random, way: Mapping[str, str]
) -> None:
    """Kill a push at a request, and run it again."""
    with _prepared(folder) as (hub, old, new):
        process: list[int] = []
        pause, at_once = rng.random() * 0.02, rng.random() < 0.7

        def kill() -> None:
            os.kill(process[0], signal.SIGKILL)

        def happens() -> None:
            time.sleep(pause)
            if at_once:
                kill()
            else:
                threading.Timer(pause, kill).start()

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


#: What is else than by default, and the number of requests of a push: over plain HTTP,
#: and over Xet, which is the client's default.
_WAYS = [({}, REQUESTS), ({"HF_HUB_DISABLE_XET": "0"}, REQUESTS_OVER_XET)]


@pytest.mark.slow
@pytest.mark.parametrize(("way", "requests"), _WAYS, ids=["http", "xet"])
def test_f41_killed_at_three_instants_the_same_command_finishes(
    way: Mapping[str, str], requests: int, tmp_path: Path
) -> None:
    """The repository shows the old state or the new one, and then the new one."""
    rng = random.Random(SEED)
    for name in "abc":
        _kill_once(tmp_path / name, rng.randrange(requests), rng, way)


def _echo(handler: BaseHTTPRequestHandler) -> None:
    """Refuse in words that repeat the request's credentials."""
    said = f"Bad: {handler.headers.get('Authorization')} at {handler.path}"
    status(418, said, Link=f"<{handler.path}>")(handler)


def _everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        yield str(path), os.fsencode(path.name)
        if path.is_file():
            yield str(path), path.read_bytes()


_ECHOING = (("GET", "/tree/"), ("PUT", "X-Amz"), ("POST", "/commit/"), ("GET", "X-Amz"))


@pytest.mark.parametrize(
    ("step", "code"), first_fast(1, [*((it, 65) for it in _ECHOING), (None, 0)])
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
