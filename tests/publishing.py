"""A small folder to publish, and the real client turned towards a Hub of ours."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

from huggingface_hub import constants, file_download
from huggingface_hub.utils import _http

from curation.download.huggingface import HubTimeLimits, hub_client
from curation.packaging.manifest import read_facts
from curation.publish import push as push_module
from curation.publish.push import PushRequest, VerifiedFolder, plan_push, push_to_hub
from curation.publish.repository import inventory
from curation.system.checksums import compute_sums, names_in, write_sums
from curation.system.progress import Quiet
from tests.fake_hub import FakeHub, fake_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

    from curation.publish.push import PushPreview, PushResult

NAME = "tester/data"
#: The day on which a test pushes, and a later one.
DAY, LATER = "2026.11.28", "2026.12.01"
TOKEN = "hf_" + "Qz7" * 11 + "Q"
#: Limits that let a test end soon.
HASTY = HubTimeLimits(connect=2.0, silence=0.7, limited=30.0, attempts=3, pause=0.01)
#: huggingface_hub hands files to httpx2 in a way that httpx2 will drop one day.
UPLOAD_WARNING = "ignore:Use 'content=:DeprecationWarning"
_PATHS = "/{repo_id}/resolve/{revision}/{filename}"
FILES = {
    "README.md": b"---\npretty_name: x\n---\nText.\n",
    "LICENSES/MIT.txt": b"As it is.\n",
    "A/test-00000-of-00001.parquet": b"PAR1" + bytes(range(256)) * 20,
    "A/train-00000-of-00001.parquet": b"PAR1" + bytes(range(255, -1, -1)) * 30,
}


def write_folder(
    folder: Path,
    files: Mapping[str, bytes] = FILES,
    *,
    partial: tuple[str, ...] = (),
) -> Path:
    """Write files, a manifest, and the list of their digests; returns the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    manifest = {
        "name": "Small",
        "canary": "",
        "pins": [],
        "rules": "clean",
        "partial": list(partial),
        "versions": {},
        "rule_list": [],
        "extras": [],
        "options": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    write_sums(folder, compute_sums(folder, names_in(folder)))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its name."""
    return {name: (folder / name).read_bytes() for name in inventory(folder)}


def looked(folder: Path, **options: object) -> PushPreview:
    """Return what a push of a folder as it is now would do."""
    asked = PushRequest(folder=folder, repo=NAME, time_limits=HASTY)
    asked = replace(asked, **options)  # type: ignore[arg-type] # options vary
    verified = VerifiedFolder(files=inventory(folder), facts=read_facts(folder))
    with hub_client(asked.time_limits):
        return plan_push(asked, verified)


def pushed(folder: Path, **options: object) -> PushResult:
    """Push a folder."""
    preview = looked(folder, **options)
    with hub_client(preview.request.time_limits):
        return push_to_hub(preview, Quiet())


@dataclass
class Connection:
    """A Hub, and how long the library wanted to wait."""

    hub: FakeHub
    waits: list[float] = field(default_factory=list)
    #: The day of a push.
    day: str = DAY

    def seen(self, revision: str = "main") -> dict[str, bytes]:
        """Return what a reader sees, without the Hub's own file."""
        files = self.hub.store.view(NAME, revision) or {}
        return {name: each for name, each in files.items() if name[0] != "."}

    @property
    def commits(self) -> int:
        """How many commits there are, the Hub's own first one included."""
        return len(self.hub.repository(NAME).commits)


@contextmanager
def connected(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Connection]:
    """Turn huggingface_hub, in this process, to a Hub of ours; it never sleeps."""
    with fake_hub() as hub:
        hub.allow(TOKEN)
        connection = Connection(hub)
        for name, value in {
            "ENDPOINT": hub.endpoint,
            "HUGGINGFACE_CO_URL_TEMPLATE": hub.endpoint + _PATHS,
            "HF_HUB_DISABLE_XET": True,
            "HF_HOME": str(home),
            "HF_HUB_CACHE": str(home / "hub"),
            "HF_TOKEN_PATH": str(home / "token"),
        }.items():
            monkeypatch.setattr(constants, name, value)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        clock = SimpleNamespace(sleep=connection.waits.append)
        for module in (_http, file_download):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr("tenacity.nap.time", clock)
        monkeypatch.setattr(push_module, "today", lambda: connection.day)
        yield connection
