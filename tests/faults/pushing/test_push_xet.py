"""The upload over Xet, which the Hub's client takes where `hf_xet` is installed.

The real client and its compiled part talk to a storage on loopback that speaks the
protocol and puts every file together again from its chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants
from huggingface_hub.utils._xet import abort_xet_session

from curation.download.huggingface import HubTimeLimits
from curation.system.errors import CsbdataError
from tests.fake_hub.troubles import cut, status
from tests.publishing import DAY, NAME, TOKEN, connected, contents, pushed, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from tests.publishing import Connection

pytestmark = pytest.mark.slow
_PATIENCE = {
    "HF_XET_CLIENT_RETRY_MAX_ATTEMPTS": "2",
    "HF_XET_CLIENT_RETRY_MAX_DURATION": "30s",
    "HF_XET_CLIENT_RETRY_BASE_DELAY": "10ms",
}
#: For a push that must succeed, on a machine of which other tests take the most.
_PATIENT = HubTimeLimits(
    connect=10.0, silence=10.0, limited=30.0, attempts=5, pause=0.5
)


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Connection]:
    """Return a Hub to which the client uploads over Xet."""
    abort_xet_session()  # type: ignore[no-untyped-call]  # the library's own lack
    for name, value in _PATIENCE.items():
        monkeypatch.setenv(name, value)
    # What it remembers of a storage by its address, which a later Hub may have again.
    monkeypatch.setenv("HF_XET_CACHE", str(tmp_path / "xet"))
    with connected(monkeypatch, tmp_path / "home") as connection:
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
        yield connection
    abort_xet_session()  # type: ignore[no-untyped-call]  # the library's own lack


def test_files_arrive_over_xet(there: Connection, tmp_path: Path) -> None:
    """Chunks and shards come together to what was sent; nothing goes another way."""
    folder = write_folder(
        tmp_path / "build",
        {
            "README.md": b"---\npretty_name: x\n---\n",
            "A/test-00000-of-00001.parquet": b"PAR1" + bytes(range(256)) * 4_000,
            "A/train-00000-of-00001.parquet": b"PAR1" + b"abcd" * 90_000,
        },
    )
    assert pushed(folder).tag == DAY
    assert there.seen() == there.seen(DAY) == contents(folder)
    assert there.hub.count("POST", "/shards") == 1
    assert there.hub.count("POST", "/info/lfs") == there.hub.count("PUT", "") == 0


def test_the_storage_never_sees_the_hubs_token(
    there: Connection, tmp_path: Path
) -> None:
    """It has a token of its own, that the Hub gives."""
    pushed(write_folder(tmp_path / "build"))
    storage = [asked for asked in there.hub.asked if asked.door == "storage"]
    assert any(asked.authorized for asked in storage)
    assert TOKEN not in there.hub.seen_tokens["storage"]


_TOKEN, _CHUNKS, _FILES = "xet-write-token", "/xorbs/", "/shards"


@pytest.mark.parametrize(
    ("method", "route", "answer", "code"),
    [
        ("GET", _TOKEN, status(404), 66),
        ("GET", _TOKEN, status(403), 77),
        ("GET", _TOKEN, status(401), 77),
        ("GET", _TOKEN, status(500), 69),
        ("GET", _TOKEN, status(429), 75),
        ("GET", _TOKEN, cut, 69),
        ("POST", _CHUNKS, status(500), 69),
        ("POST", _CHUNKS, status(507), 77),
        ("POST", _CHUNKS, status(400), 65),
        ("POST", _CHUNKS, cut, 69),
        ("POST", _FILES, status(401), 77),
        ("POST", _FILES, status(503), 69),
        ("POST", _FILES, cut, 69),
    ],
)
def test_a_fault_ends_in_its_code(  # noqa: PLR0913, PLR0917 (a row of the table)
    there: Connection,
    tmp_path: Path,
    method: str,
    route: str,
    answer: Callable[[BaseHTTPRequestHandler], None],
    code: int,
) -> None:
    """Readers see nothing of the push, and the same command finishes it."""
    folder = write_folder(tmp_path / "build")
    trouble = there.hub.troubles.add(method, route, answer, times=99)
    with pytest.raises(CsbdataError) as caught:
        pushed(folder)
    assert caught.value.exit_code == code, str(caught.value)
    assert TOKEN not in str(caught.value)
    assert there.seen() == {}
    trouble.times = trouble.met
    abort_xet_session()  # type: ignore[no-untyped-call]  # a process of its own again
    assert pushed(folder, time_limits=_PATIENT).tag == DAY
    assert there.hub.store.view(NAME, DAY)
    assert there.seen() == contents(folder)
