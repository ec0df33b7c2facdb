"""The founder's command as it is typed, and a push with the real checks."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from curation.publish.push import PushOutcome, PushRequest, push
from curation.system.errors import BadData
from tests.fake_hub import FakeHub, fake_hub
from tests.fake_hub.published import CONFIGS, NAME, SPLITS, published
from tests.publishing import HASTY, TOKEN, UPLOAD_WARNING, Connection, contents
from tests.publishing import NAME as REPO

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = pytest.mark.slow

_COMMAND = ("csbdata", "push", "--repo", NAME, "--allow-partial", "-y")
#: Prints the rows of each split of each config, and of `v1`; then streams an instance.
_LOADING = f"""
import json, sys
from datasets import get_dataset_config_names, load_dataset

def rows(*config, **revision):
    loaded = load_dataset("{NAME}", *config, **revision)
    return {{split: len(table) for split, table in loaded.items()}}

configs = get_dataset_config_names("{NAME}")
print(json.dumps([{{name: rows(name) for name in configs}}, rows(revision="v1")]))
stream = load_dataset("{NAME}", "instances", split="test", streaming=True)
print(next(iter(stream))["text"], file=sys.stderr)
"""
#: The oldest version that loads every config, with what it was released for.
_OLDEST = (
    *("datasets==2.18.0", "huggingface_hub==0.23.4", "pyarrow==15.0.2"),
    *("numpy==1.26.4", "pandas==2.2.3", "fsspec==2024.2.0", "requests"),
)
#: The files that name the repository, or list the digest of one that does.
_NAMING = {"README.md", "manifest.json", "SHA256SUMS"}


class _Shell:
    """A folder with a build in it, whose commands are turned to a Hub of ours."""

    def __init__(self, hub: FakeHub, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "HF_ENDPOINT": hub.endpoint,
            "HF_HUB_DISABLE_XET": "1",
            "HF_TOKEN": TOKEN,
        }

    def run(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done


@contextmanager
def _published(folder: Path, build: Path) -> Iterator[tuple[FakeHub, _Shell]]:
    """Give a Hub with the published repository, and a shell beside a build."""
    copytree(build, folder / "build" / "JSONSchemaBench")
    with fake_hub() as hub:
        hub.allow(TOKEN)
        hub.store.create(NAME, private=False)
        hub.store.put(NAME, published())
        yield hub, _Shell(hub, folder)


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with the oldest `datasets`; skip where pip gets none."""
    folder = tmp_path_factory.mktemp("oldest")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
    ]
    done = subprocess.run(
        [*command, *_OLDEST], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"pip cannot install {_OLDEST[0]}: {done.stderr[-200:]}")
    return python


def _view(hub: FakeHub, revision: str = "main") -> dict[str, bytes]:
    """Return the files of a revision, without the Hub's own."""
    files = hub.store.view(NAME, revision) or {}
    return {name: each for name, each in files.items() if name != ".gitattributes"}


def test_the_published_repository_becomes_the_build(
    sample_build: Path, tmp_path: Path, oldest: Path
) -> None:
    """Its files are at v1; each config loads, in old `datasets` too; it verifies."""
    with _published(tmp_path, sample_build) as (hub, shell):
        done = shell.run(*_COMMAND)
        assert "The edition there is tagged v1" in done.stderr
        assert "The edition before it is v1." in done.stdout
        assert _view(hub, "v1") == published()
        sent, built = _view(hub), contents(sample_build)
        assert {name for name in built if sent[name] != built[name]} == _NAMING
        assert sent.keys() == built.keys()
        assert len(hub.repository(NAME).commits) == 3
        for python in (sys.executable, str(oldest)):
            # The oldest cannot read what the newest has cached.
            shell.environment["HF_HOME"] = f"{tmp_path}/cache{python.replace('/', '-')}"
            done = shell.run(python, "-c", _LOADING)
            assert done.stderr
            loaded, paper = json.loads(done.stdout)
            assert paper == dict.fromkeys(SPLITS, 1)
            for together, prefix in (("default", ""), ("instances", "instances-")):
                parts = [loaded[prefix + config] for config in CONFIGS]
                for split, rows in loaded[together].items():
                    assert rows == sum(part.get(split, 0) for part in parts)
            assert sum(loaded["default"].values()) == 307
            assert {"ledger", "ledger-changes"} < loaded.keys()
            card = sent["README.md"].decode()
            assert f'load_dataset("{NAME}", "Glaiveai2K", revision="v1")' in card
            example = card.partition("```python\n")[2].partition("```")[0]
            assert "Glaiveai2K" in example
            assert shell.run(python, "-c", example).stdout
        shell.run("csbdata", "verify", NAME)
        assert "There already" in shell.run(*_COMMAND).stdout


def test_a_strangers_file_stays_until_it_is_to_go(
    sample_build: Path, tmp_path: Path
) -> None:
    """Exit code 73, the plan and the command to type; typed, it is done."""
    with _published(tmp_path, sample_build) as (hub, shell):
        head = hub.store.put(NAME, {"data/notes.txt": b"mine"})
        for words in ((*_COMMAND, "--dry-run"), _COMMAND):
            refused = shell.run(*words, code=73)
            assert "1 of no edition\n  ! data/notes.txt\n" in refused.stdout
            assert hub.repository(NAME).tags == {}
            assert hub.repository(NAME).branches == {"main": head}
        plan = json.loads(shell.run(*_COMMAND, "--format", "json", code=73).stdout)
        assert plan["plan"]["foreign"] == ["data/notes.txt"]
        line = refused.stderr.partition("nothing was sent: ")[2]
        typed = line.rpartition(" removes what the plan lists")[0]
        shell.run(*shlex.split(typed), "-y")
        assert _view(hub).keys() == contents(sample_build).keys()
        assert _view(hub, "v1") == {**published(), "data/notes.txt": b"mine"}
        shell.run("csbdata", "verify", NAME)


def _request(folder: Path) -> PushRequest:
    return PushRequest(folder=folder, repo=REPO, allow_partial=True, time_limits=HASTY)


@pytest.mark.filterwarnings(UPLOAD_WARNING)
def test_a_build_is_verified_and_pushed(
    there: Connection, sample_build: Path, tmp_path: Path
) -> None:
    """It appears whole; with one origin of its manifest changed, nothing is sent."""
    done = push(_request(sample_build))
    assert done.outcome is PushOutcome.PUSHED
    sent, built = there.seen(), contents(sample_build)
    assert {name for name in built if sent[name] != built[name]} == _NAMING
    spoilt = copytree(sample_build, tmp_path / "spoilt")
    manifest = spoilt / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"sample"', '"upstream"', 1))
    commits = there.commits
    with pytest.raises(BadData, match="does not verify"):
        push(_request(spoilt))
    assert there.commits == commits
