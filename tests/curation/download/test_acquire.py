"""Acquiring archives: the ways in their order, the cache, two at a time."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.download import packages
from curation.download.acquire import (
    Acquired,
    FetchSettings,
    UnavailableArchive,
    acquire,
    at_hand,
    load_pins,
)
from curation.download.archives import unpack
from curation.download.cache import Cache, FolderName
from curation.download.http import Unreachable
from curation.download.packages import download_package
from curation.download.packs import open_pack
from curation.download.pins import ArchiveKind
from curation.system.errors import (
    BadArchive,
    BadData,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)
from tests.archives_made import (
    FILES,
    OTHERS,
    github_pin,
    github_tarball,
    hub_pin,
    save,
    wheel,
    wheel_pin,
    zipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.pins import ArchivePin


PIN = github_pin()
STEM = PIN.file_names[0].removesuffix(".tar.gz")


@pytest.fixture
def settings(tmp_path: Path) -> FetchSettings:
    """Return settings with an empty mirror and cache, and no network."""
    (tmp_path / "mirror").mkdir()
    return FetchSettings(
        mirror=tmp_path / "mirror",
        cache=tmp_path / "cache",
        offline=True,
    )


def _acquired(pin: ArchivePin, settings: FetchSettings) -> Acquired:
    got = acquire(pin, settings)
    assert isinstance(got, Acquired), got
    return got


def _mirror(settings: FetchSettings) -> Path:
    assert settings.mirror is not None
    return settings.mirror


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{STEM}.tar.gz", github_tarball(FILES | OTHERS)),
        (f"{STEM}.tar.xz", github_tarball(FILES, "xz")),
        (f"{STEM}.zip", zipped(FILES | OTHERS)),
    ],
)
def test_a_mirror_may_hold_it_whole_or_cut_in_any_form(
    name: str, content: bytes, settings: FetchSettings
) -> None:
    """The digest is over the selected files; the origin stays upstream."""
    save(_mirror(settings), name, content)
    got = _acquired(PIN, settings)
    assert (got.origin, got.route) == (Origin.UPSTREAM, "mirror")
    assert (got.commit, got.licence) == (PIN.commit, "NOASSERTION")
    assert open_pack(got.pack).paths == tuple(FILES)


def test_a_mirrored_wheel_is_of_the_index(settings: FetchSettings) -> None:
    """By its own file name, in a folder below if need be."""
    pin = wheel_pin(wheel())
    save(_mirror(settings) / "wheels", pin.file, wheel())
    got = _acquired(pin, settings)
    assert (got.origin, got.route) == (Origin.INDEX, "mirror")
    assert open_pack(got.pack).paths == tuple(FILES)


def test_a_mirrored_file_of_the_hub_is_upstream(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file, whole, under its own name, unless it is too large to be read."""
    pin = hub_pin(b"[1, 2]")
    save(_mirror(settings) / "datasets", pin.file, b"[1, 2]")
    with monkeypatch.context() as patched:
        patched.setattr("curation.system.user_files.MOST_BYTES", 5)
        with pytest.raises(BadData, match="6 bytes"):
            acquire(pin, settings)
    got = _acquired(pin, settings)
    assert (got.origin, got.route) == (Origin.UPSTREAM, "mirror")
    assert open_pack(got.pack).read("rows.json") == b"[1, 2]"


def test_a_mirrored_archive_is_read_once(settings: FetchSettings) -> None:
    """The pack in the cache serves from then on."""
    save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    first = _acquired(PIN, settings)
    assert _acquired(PIN, settings) == replace(first, route="cache")


def test_a_mirror_without_the_archive_is_passed_over(settings: FetchSettings) -> None:
    """The cache comes next, and then, offline, nothing."""
    got = acquire(PIN, settings)
    assert isinstance(got, UnavailableArchive)
    assert got.exit_code == 69
    assert "the network is not asked" in got.why
    file = save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    assert at_hand(PIN, settings) == "mirror"
    pack = _acquired(PIN, settings).pack
    file.unlink()
    assert at_hand(PIN, settings) == "cache"
    assert _acquired(PIN, settings).route == "cache"
    pack.unlink()
    assert at_hand(PIN, settings) is None


def test_a_mirror_that_is_no_folder_is_a_fault(settings: FetchSettings) -> None:
    """A path mistyped is not a mirror without archives."""
    with pytest.raises(NoInput, match="no such folder of archives"):
        acquire(PIN, replace(settings, mirror=_mirror(settings) / "absent"))


def test_a_broken_mirror_is_refused(settings: FetchSettings) -> None:
    """Named by its path; the user's own file stays where it is."""
    content = github_tarball()
    file = save(_mirror(settings), f"{STEM}.tar.gz", content[: len(content) // 2])
    with pytest.raises(BadArchive, match=f"{file}.*broken"):
        acquire(PIN, settings)
    assert file.exists()
    assert not list(settings.cache.rglob("*.pack"))


def test_a_damaged_cache_is_replaced(settings: FetchSettings) -> None:
    """A pack that was cut is made anew."""
    save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    pack = _acquired(PIN, settings).pack
    pack.write_bytes(pack.read_bytes()[:-9])
    assert len(open_pack(_acquired(PIN, settings).pack)) == len(FILES)


def test_what_a_killed_process_left_goes(settings: FetchSettings) -> None:
    """Though the pack is there, and nothing has to be fetched."""
    save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    leftover = settings.cache / ".downloads" / PIN.name / "x"
    for _ in range(2):
        _acquired(PIN, settings)
        assert not leftover.exists()
        leftover.parent.mkdir(parents=True, exist_ok=True)
        leftover.touch()


def test_a_second_process_waits_for_the_first(settings: FetchSettings) -> None:
    """And finds the pack there."""
    mirrored = save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    cache, said = Cache(settings.cache), list[str]()
    got: list[Acquired | UnavailableArchive] = []

    def acquire_too() -> None:
        got.append(acquire(PIN, settings, said.append))

    with cache.lock(PIN.name, said.append):
        other = threading.Thread(target=acquire_too)
        other.start()
        while not said:
            time.sleep(0.01)
        assert got == []
        unpack(PIN, mirrored, cache.packs)
    other.join(timeout=30)
    assert len(said) == 1
    assert "waiting for another csbdata" in said[0]
    assert isinstance(got[0], Acquired)


def test_the_variables_name_mirror_and_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CSBDATA_MIRROR and CSBDATA_CACHE; else none, and the user's cache folder."""
    monkeypatch.setenv("CSBDATA_MIRROR", str(tmp_path / "m"))
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("CSBDATA_GITHUB_BASE", "https://github.test/")
    settings = FetchSettings.from_environment()
    assert (settings.mirror, settings.cache) == (tmp_path / "m", tmp_path / "c")
    assert settings.github == "https://github.test"
    monkeypatch.delenv("CSBDATA_MIRROR")
    monkeypatch.delenv("CSBDATA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert FetchSettings.from_environment().mirror is None
    assert "csbdata" in str(FetchSettings.from_environment().cache)


MIRROR = os.environ.get("CSBDATA_MIRROR")


@pytest.mark.slow
@pytest.mark.skipif(not MIRROR, reason="CSBDATA_MIRROR is not set")
@pytest.mark.parametrize("name", [n for n, p in load_pins().items() if not p.sha256])
def test_the_mirrors_archives_are_those_of_the_pins(
    name: str, settings: FetchSettings
) -> None:
    """Each has the pinned digest, and is then open in a moment."""
    got = _acquired(load_pins()[name], replace(settings, mirror=Path(str(MIRROR))))
    start = time.perf_counter()
    opened = open_pack(got.pack)
    assert time.perf_counter() - start < 1.0
    assert opened.digest == got.digest


NAME = FolderName(kind="thing", label="one", fingerprint="f1")


def read(folder: Path) -> str | None:
    """Return what is in the folder; None where it is missing or damaged."""
    try:
        return (folder / "content").read_text() or None
    except OSError:
        return None


def making(content: str, made: list[str]) -> Callable[[Path], None]:
    """Return a function that fills a folder, and notes that it did."""

    def make(folder: Path) -> None:
        made.append(content)
        (folder / "content").write_text(content)

    return make


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    """It is found again, and stands under a name that a person can read."""
    made: list[str] = []
    for _ in range(2):
        found = Cache(tmp_path).folder_made_once(
            NAME, read=read, make=making("a", made), say=print
        )
        assert found == "a"
    assert made == ["a"]
    assert (tmp_path / "things" / "one-f1" / "content").is_file()


def test_a_damaged_folder_is_made_anew(tmp_path: Path) -> None:
    """What cannot be read is replaced as a whole."""
    made: list[str] = []
    cache = Cache(tmp_path)
    cache.folder_made_once(NAME, read=read, make=making("a", made), say=print)
    (tmp_path / "things" / "one-f1" / "content").write_text("")
    found = cache.folder_made_once(NAME, read=read, make=making("b", made), say=print)
    assert (found, made) == ("b", ["a", "b"])


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error while it is made is told, and the next one begins anew."""

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Cache(tmp_path).folder_made_once(NAME, read=read, make=fail, say=print)
    assert list((tmp_path / "things").iterdir()) == []


def test_a_folder_that_cannot_be_read_back_is_told(tmp_path: Path) -> None:
    """What was just made and cannot be read is a fault, and names its folder."""
    with pytest.raises(NoInput, match="thing just made"):
        Cache(tmp_path).folder_made_once(
            NAME, read=read, make=making("", []), say=print
        )


CONTENT = b"a tarball"
NPM_PIN = replace(
    github_pin(),
    kind=ArchiveKind.NPM,
    repository="@someone/things",
    commit="1.2.3",
    file="someone-things-1.2.3.tgz",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
GIVES = f"printf '%s' '{CONTENT.decode()}' > {NPM_PIN.file}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder for what is downloaded."""
    made = tmp_path / "downloads"
    made.mkdir()
    return made


def _npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called npm, and no other, on the path."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")


def test_npm_is_told_the_exact_version_and_runs_no_script(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has its own settings, and of ours only what others may know."""
    heard = tmp_path / "heard"
    script = f'echo "$@" "$npm_config_registry" "[$HF_TOKEN]" > {heard}\n{GIVES}'
    _npm(tmp_path, monkeypatch, script)
    monkeypatch.setenv("npm_config_registry", "registry.of.the.user")
    monkeypatch.setenv("HF_TOKEN", "not for others")
    assert download_package(NPM_PIN, folder).read_bytes() == CONTENT
    told = (
        f"pack {NPM_PIN.repository}@{NPM_PIN.commit} --ignore-scripts --loglevel=error"
    )
    assert heard.read_text() == f"{told} registry.of.the.user []\n"


def test_another_tarball_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both digests in the message."""
    _npm(tmp_path, monkeypatch, f"echo other > {NPM_PIN.file}")
    with pytest.raises(WrongDigest, match=NPM_PIN.sha256):
        download_package(NPM_PIN, folder)


@pytest.mark.parametrize(
    "script", ["echo 'npm error code ECONNREFUSED' >&2; exit 1", "exit 0"]
)
def test_what_npm_cannot_get_is_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Whether it fails or only gives nothing, the registry does not answer."""
    _npm(tmp_path, monkeypatch, script)
    with pytest.raises(Unreachable, match=r"npm cannot get @someone/things@1\.2\.3"):
        download_package(NPM_PIN, folder)


def test_a_package_that_is_not_there_says_nothing_of_others(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry has answered."""
    _npm(tmp_path, monkeypatch, "echo 'npm error code E404' >&2; exit 1")
    with pytest.raises(Unavailable, match=r"1\.2\.3 \(npm error code E404\)") as caught:
        download_package(NPM_PIN, folder)
    assert not isinstance(caught.value, Unreachable)


def test_without_npm_a_mirror_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file that it must hold."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=f"put {NPM_PIN.file} into a mirror"):
        download_package(NPM_PIN, folder)


def test_an_npm_that_hangs_is_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its deadline; the same command may succeed later."""
    _npm(tmp_path, monkeypatch, "sleep 60")
    monkeypatch.setattr(packages, "DEADLINE", 0.2)
    with pytest.raises(TemporarilyUnavailable, match="did not end within"):
        download_package(NPM_PIN, folder)
