"""Acquiring pinned archives: ways in their order, the cache, selections, packs."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
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
    UnavailableArchive,
    acquire,
    at_hand,
    fetch_together,
)
from curation.download.archives import unpack
from curation.download.cache import Cache, FetchSettings, FolderName
from curation.download.http import Unreachable
from curation.download.packages import download_package
from curation.download.packs import (
    FolderFiles,
    open_files,
    open_pack,
    write_pack,
)
from curation.download.pins import ArchiveKind, load_pins, pins_for, selects
from curation.sources.registry import sources
from curation.system.errors import (
    BadArchive,
    BadConfiguration,
    BadData,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)
from curation.system.user_files import raw_folder
from tests.curation.archives_made import (
    FILES,
    OTHERS,
    digest,
    github_pin,
    github_tarball,
    hub_pin,
    member,
    save,
    tarball,
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
        patched.setattr("curation.system.user_files.MAX_BYTES", 5)
        with pytest.raises(BadData, match="6 bytes"):
            acquire(pin, settings)
    got = _acquired(pin, settings)
    assert (got.origin, got.route) == (Origin.UPSTREAM, "mirror")
    assert open_pack(got.pack).read("rows.json") == b"[1, 2]"


def test_a_mirror_without_the_archive_is_passed_over(settings: FetchSettings) -> None:
    """The cache comes next, and then, offline, nothing."""
    got = acquire(PIN, settings)
    assert isinstance(got, UnavailableArchive)
    assert got.exit_code == 69
    assert "the network is not asked" in got.why
    file = save(_mirror(settings), f"{STEM}.tar.gz", github_tarball())
    assert at_hand(PIN, settings) == "mirror"
    first = _acquired(PIN, settings)
    assert _acquired(PIN, settings) == replace(first, route="cache")
    file.unlink()
    assert at_hand(PIN, settings) == "cache"
    assert _acquired(PIN, settings).route == "cache"
    first.pack.unlink()
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
    assert len(open_pack(_acquired(PIN, settings).pack).paths) == len(FILES)


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
    start = time.process_time()
    opened = open_pack(got.pack)
    assert time.process_time() - start < 1.0
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
            NAME, read=read, make=making("a", made), log=print
        )
        assert found == "a"
    assert made == ["a"]
    assert (tmp_path / "things" / "one-f1" / "content").is_file()


def test_a_damaged_folder_is_made_anew(tmp_path: Path) -> None:
    """What cannot be read is replaced as a whole."""
    made: list[str] = []
    cache = Cache(tmp_path)
    cache.folder_made_once(NAME, read=read, make=making("a", made), log=print)
    (tmp_path / "things" / "one-f1" / "content").write_text("")
    found = cache.folder_made_once(NAME, read=read, make=making("b", made), log=print)
    assert (found, made) == ("b", ["a", "b"])


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error while it is made is told, and the next one begins anew."""

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Cache(tmp_path).folder_made_once(NAME, read=read, make=fail, log=print)
    assert list((tmp_path / "things").iterdir()) == []


def test_a_folder_that_cannot_be_read_back_is_told(tmp_path: Path) -> None:
    """What was just made and cannot be read is a fault, and names its folder."""
    with pytest.raises(NoInput, match="thing just made"):
        Cache(tmp_path).folder_made_once(
            NAME, read=read, make=making("", []), log=print
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


def test_many_packages_are_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes as pinned is in the cache; what does not is left, and no error."""
    pins = []
    (tmp_path / "published").mkdir()
    for name in ("one", "two", "three"):
        files = {"server.js": name.encode()}
        packed = tarball([member("package/server.js", files["server.js"])])
        pin = replace(
            NPM_PIN,
            name=name,
            repository=name,
            file=f"{name}.tgz",
            paths=("*",),
            digest=digest(files),
            sha256=hashlib.sha256(packed).hexdigest(),
        )
        (tmp_path / "published" / pin.file).write_bytes(packed)
        pins.append(pin)
    (tmp_path / "published" / "two.tgz").write_bytes(b"other")
    heard = tmp_path / "heard"
    _npm(
        tmp_path,
        monkeypatch,
        f"echo $@ >> {heard}; cp {tmp_path}/published/* .; exit 1",
    )
    settings = FetchSettings(cache=tmp_path / "cache")
    told: list[str] = []
    fetch_together([*pins, github_pin()], settings, told.append)
    assert [at_hand(pin, settings) for pin in pins] == ["cache", None, "cache"]
    asked = "pack one@1.2.3 two@1.2.3 three@1.2.3 --ignore-scripts --loglevel=error"
    assert heard.read_text() == f"{asked}\n"
    assert told == ["one and 2 more: fetching"]
    for quiet in (replace(settings, offline=True), settings):
        fetch_together([pins[1]], quiet, told.append)
    assert heard.read_text() == f"{asked}\n"


@pytest.mark.parametrize(
    ("script", "fault", "said"),
    [
        (f"echo other > {NPM_PIN.file}", WrongDigest, NPM_PIN.sha256),
        # Whether it fails or only gives nothing, the registry does not answer.
        *(
            (script, Unreachable, r"npm cannot get @someone/things@1\.2\.3")
            for script in (
                "echo 'npm error code ECONNREFUSED' >&2; exit 1",
                "exit 0",
            )
        ),
        # The registry has answered, which says nothing of other packages.
        (
            "echo 'npm error code E404' >&2; exit 1",
            Unavailable,
            r"1\.2\.3 \(npm error code E404\)",
        ),
        ("sleep 60", TemporarilyUnavailable, "did not end within"),
    ],
)
def test_what_npm_cannot_get_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    fault: type[Exception],
    said: str,
) -> None:
    """A wrong digest, no answer, no such package, or no end: each its own fault."""
    _npm(tmp_path, monkeypatch, script)
    if script.startswith("sleep"):
        monkeypatch.setattr(packages, "DEADLINE", 0.2)
    (tmp_path / "downloads").mkdir()
    with pytest.raises(fault, match=said) as caught:
        download_package(NPM_PIN, tmp_path / "downloads")
    assert type(caught.value) is fault


def test_without_npm_a_mirror_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file that it must hold."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=f"put {NPM_PIN.file} into a mirror"):
        download_package(NPM_PIN, folder)


TABLE = """
[archive.x]
kind = "github"
repository = "a/b"
commit = "c"
paths = ["*.json"]
digest = "{digest}"
licence = "MIT"
file_licence = "MIT"
attribution = ""
citation = ""
homepage = ""
"""
GOOD = TABLE.format(digest="0" * 64)


def test_every_pin_is_exact() -> None:
    """A full commit or a version, digests, licences, and where it is from."""
    suite = load_pins(raw_folder() / "test_suite.toml")
    for pin in (*load_pins().values(), *suite.values()):
        assert re.fullmatch(r"[0-9a-f]{40}|[0-9][0-9.b]*", pin.commit), pin.name
        assert re.fullmatch(r"[0-9a-f]{64}", pin.digest)
        assert bool(pin.sha256) == (pin.kind is not ArchiveKind.GITHUB)
        assert pin.licence
        assert pin.file_licence
        assert pin.attribution
        assert pin.homepage.startswith("https://")


def test_every_archive_that_a_source_names_is_pinned() -> None:
    """And every pin is some source's."""
    named = {
        archive
        for source in sources().values()
        for chain in source.archives.values()
        for archive in chain
    }
    assert named == set(load_pins())


def test_the_names_in_a_mirror_are_those_of_the_publisher() -> None:
    """`<repo>-<commit>` in three forms, or the published file's own name."""
    pins = load_pins()
    corpus = pins["json-schema-corpus"]
    assert corpus.file_names == tuple(
        f"json-schema-corpus-{corpus.commit}{form}"
        for form in (".tar.gz", ".tar.xz", ".zip")
    )
    assert pins["kubernetes-validate"].file_names == (
        f"kubernetes_validate-{pins['kubernetes-validate'].commit}-py3-none-any.whl",
    )
    suite = load_pins(raw_folder() / "test_suite.toml")
    packaged = suite["json-schema-test-suite-of-jsonschema"]
    assert packaged.file_names == ("jsonschema-4.26.0.tar.gz",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[archive", "not TOML"),
        (GOOD + "colour = 1\n", "colour"),
        (GOOD.replace('commit = "c"\n', ""), "commit"),
        (TABLE.format(digest="12"), "digest"),
        (GOOD.replace('kind = "github"', 'kind = "zip"'), "kind"),
        (GOOD.replace('commit = "c"', "commit = 1"), "commit"),
    ],
)
def test_a_wrong_file_of_pins_is_named(text: str, why: str, tmp_path: Path) -> None:
    """With the table and the keys: exit code 78."""
    path = tmp_path / "sources.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match=why):
        load_pins(path)


def test_a_file_of_pins_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 66; and a good one is read."""
    with pytest.raises(NoInput):
        load_pins(tmp_path / "absent.toml")
    (tmp_path / "sources.toml").write_text(GOOD)
    assert list(load_pins(tmp_path / "sources.toml")) == ["x"]


def test_a_source_without_its_pin_says_what_to_add() -> None:
    """One line with the file and the table, and exit code 78."""
    with pytest.raises(BadConfiguration, match=r"'mine'.*'nothing'.*no pin") as caught:
        pins_for("mine", ["glaive", "nothing"])
    assert "[archive.nothing]" in str(caught.value)
    assert list(pins_for("glaive", ["glaive"])) == ["glaive"]


@pytest.mark.parametrize(
    ("pattern", "path", "selected"),
    [
        ("a/*.json", "a/x.json", True),
        ("a/*.json", "a/.json", True),
        ("a/*.json", "a/b/x.json", False),
        ("a/*.json", "a/x.json.txt", False),
        ("a/*.json", "b/a/x.json", False),
        ("a/**", "a/b/c", True),
        ("a/**", "ab", False),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("**/x", "ax", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("a[b]", "a[b]", True),
        ("*", "a\nb", True),
    ],
)
def test_a_pattern_means_what_a_shell_means(
    pattern: str, path: str, *, selected: bool
) -> None:
    """`*` and `?` stop at a slash, `**` does not, all else is itself."""
    assert selects((pattern,), path) is selected


def test_any_pattern_is_enough_and_none_selects_nothing() -> None:
    """A selection is a union."""
    assert [selects(("a", "b"), path) for path in "abc"] == [True, True, False]
    assert not selects((), "")


PACKED = {"b/2.json": b"two", "a.json": b"one", "b-1.json": b"", "\u00e9": b"\0\xff"}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Return a pack of four files."""
    return write_pack(tmp_path / "packs", "four", PACKED.items())


def test_a_pack_gives_back_what_it_was_made_of(pack: Path) -> None:
    """Paths sorted by code point, bytes as they were."""
    opened = open_pack(pack)
    assert opened.paths == tuple(sorted(PACKED))
    assert {path: opened.read(path) for path in opened.paths} == PACKED
    assert len(opened.paths) == 4


@pytest.mark.parametrize("path", ["", "a", "b/2.jso", "zzz"])
def test_a_path_that_is_not_there_is_a_key_error(path: str, pack: Path) -> None:
    """As a mapping would have it."""
    with pytest.raises(KeyError):
        open_pack(pack).read(path)


def test_a_pack_is_named_after_its_digest(pack: Path) -> None:
    """The order in which files come does not matter."""
    turned = dict(reversed(PACKED.items()))
    assert write_pack(pack.parent, "x", turned.items()) == pack
    assert pack.name == f"{open_pack(pack).digest}.pack"
    assert [each.name for each in pack.parent.iterdir()] == [pack.name]


def test_the_digest_is_what_sha256sum_says(tmp_path: Path) -> None:
    """Anyone can compute it with two common tools."""
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"two")
    said = subprocess.run(
        ["/bin/sh", "-c", "sha256sum a b | sha256sum"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    files = FolderFiles(tmp_path)
    assert said.stdout.split()[0] == files.digest


def test_a_content_that_changed_is_noticed(pack: Path) -> None:
    """The pack is named, and what to do."""
    pack.write_bytes(pack.read_bytes().replace(b"two", b"twO"))
    with pytest.raises(BadData, match="delete it and run again"):
        open_pack(pack).read("b/2.json")


def test_what_is_no_pack_is_refused(pack: Path, tmp_path: Path) -> None:
    """A cut file, another file, no file."""
    cut = tmp_path / "cut.pack"
    cut.write_bytes(pack.read_bytes()[:-9])
    other = tmp_path / "other.pack"
    other.write_bytes(b"")
    for path in (cut, other):
        with pytest.raises(BadData, match="damaged"):
            open_pack(path)
    with pytest.raises(NoInput):
        open_pack(tmp_path / "absent.pack")


def test_a_pack_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut would leave one whose contents are lost under their digests."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_ino))
    assert write_pack(tmp_path, "x", PACKED.items()).stat().st_ino == flushed[0]


def test_two_files_of_one_name_make_no_pack(tmp_path: Path) -> None:
    """And leave nothing behind."""
    with pytest.raises(BadArchive, match="this name"):
        write_pack(tmp_path, "x", [("a", b"1"), ("a", b"2")])
    assert list(tmp_path.iterdir()) == []


def test_an_empty_pack_is_a_pack(tmp_path: Path) -> None:
    """An archive of which nothing is selected."""
    assert open_pack(write_pack(tmp_path, "x", ())).paths == ()


def test_a_folder_is_read_like_a_pack(tmp_path: Path) -> None:
    """The same paths, bytes and digest."""
    for path, content in PACKED.items():
        (tmp_path / "x" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / path).write_bytes(content)
    files = open_files(tmp_path / "x")
    assert files.paths == tuple(sorted(PACKED))
    assert {path: files.read(path) for path in files.paths} == PACKED
    assert files.digest == open_pack(write_pack(tmp_path, "y", PACKED.items())).digest
    with pytest.raises(KeyError):
        files.read("../x/a.json")


def test_a_users_file_is_no_damaged_pack(tmp_path: Path) -> None:
    """It is read as an archive that holds only it; a pack is known by its suffix."""
    (tmp_path / "a.json").write_bytes(b"{}")
    files = open_files(tmp_path / "a.json")
    assert (files.paths, files.read("a.json")) == (("a.json",), b"{}")
    (tmp_path / "a.pack").write_bytes(b"{}")
    with pytest.raises(BadData, match="damaged"):
        open_files(tmp_path / "a.pack")


def test_a_folder_is_not_left_through_a_link(tmp_path: Path) -> None:
    """Links to the outside are left out, links inside are files."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "a").write_text("a")
    (inside / "b").symlink_to(inside / "a")
    (inside / "c").symlink_to(tmp_path / "secret")
    (inside / "d").symlink_to(tmp_path)
    (inside / "e").symlink_to(inside / "nowhere")
    assert FolderFiles(inside).paths == ("a", "b")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 66."""
    with pytest.raises(NoInput, match="no such folder"):
        FolderFiles(tmp_path / "absent")
