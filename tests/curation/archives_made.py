"""Archives made for tests: honest ones, and such as no honest hand makes."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

from curation.download.packs import compute_digest
from curation.download.pins import ArchiveKind, ArchivePin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

COMMIT = "c" * 40
PREFIX = f"things-{COMMIT}/"
FILES = {
    "schemas/a.json": b'{"type": "object"}',
    "schemas/b.json": b'{"type": "string"}',
}
#: What else upstream holds, and a mirror's archive may leave out.
OTHERS = {"README.md": b"things", "schemas/deep/c.json": b"{}"}
SELECTED = ("schemas/*.json",)


def digest(files: Mapping[str, bytes]) -> str:
    """Return the digest over files."""
    sums = {path: hashlib.sha256(each).hexdigest() for path, each in files.items()}
    return compute_digest(sums.items())


def github_pin(files: Mapping[str, bytes] = FILES) -> ArchivePin:
    """Return the pin of a repository that holds these files."""
    return _pin(ArchiveKind.GITHUB, digest(files), "")


def hub_pin(content: bytes) -> ArchivePin:
    """Return the pin of a file on the Hub."""
    return _pin(ArchiveKind.HUB, digest({"rows.json": content}), "rows.json")


def wheel_pin(content: bytes, files: Mapping[str, bytes] = FILES) -> ArchivePin:
    """Return the pin of a wheel with these bytes, which holds these files."""
    return _pin(
        ArchiveKind.WHEEL,
        digest(files),
        "things-1.0-py3-none-any.whl",
        hashlib.sha256(content).hexdigest(),
    )


def sdist_pin(content: bytes, files: Mapping[str, bytes] = FILES) -> ArchivePin:
    """Return the pin of a source archive with these bytes, which holds these files."""
    return _pin(
        ArchiveKind.SDIST,
        digest(files),
        "things-1.0.tar.gz",
        hashlib.sha256(content).hexdigest(),
    )


def _pin(kind: ArchiveKind, digest: str, file: str, sha256: str = "") -> ArchivePin:
    return ArchivePin(
        name="things",
        kind=kind,
        repository="things" if kind.is_package else "someone/things",
        commit="1.0" if kind.is_package else COMMIT,
        file=file,
        paths=SELECTED,
        digest=digest,
        sha256=sha256,
        licence="MIT",
        file_licence="NOASSERTION",
        attribution="",
        citation="",
        homepage="",
    )


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, **fields: object
) -> tuple[tarfile.TarInfo, bytes]:
    """Return one member of a tar archive, as odd as one likes."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def tarball(
    members: Iterable[tuple[tarfile.TarInfo, bytes]], form: str = "gz"
) -> bytes:
    """Return a compressed tar archive of these members."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{form}") as tar:  # type: ignore[call-overload] # one of its modes
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def github_tarball(
    files: Mapping[str, bytes] = FILES | OTHERS, form: str = "gz"
) -> bytes:
    """Return a repository's archive as GitHub makes it."""
    return tarball((member(PREFIX + path, each) for path, each in files.items()), form)


def zipped(files: Mapping[str, bytes], prefix: str = PREFIX) -> bytes:
    """Return a zip archive of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(prefix + path, content)
    return packed.getvalue()


def wheel(files: Mapping[str, bytes] = FILES) -> bytes:
    """Return a wheel that pip takes for one."""
    about = {
        "things-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: things\n"
        b"Version: 1.0\n",
        "things-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n",
        "things-1.0.dist-info/RECORD": b"",
    }
    return zipped({**files, **about}, prefix="")


#: A build backend that needs nothing and builds nothing but metadata.
_BACKEND = b"""
import os
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    os.mkdir(os.path.join(folder, "things-1.0.dist-info"))
    with open(os.path.join(folder, "things-1.0.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: things\\nVersion: 1.0\\n")
    return "things-1.0.dist-info"
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise SystemExit("nobody asked for a wheel")
"""


def sdist(files: Mapping[str, bytes] = FILES, backend: bytes = _BACKEND) -> bytes:
    """Return a source archive that pip takes for one, and can ask offline."""
    project = (
        b'[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        b'backend-path = ["."]\n[project]\nname = "things"\nversion = "1.0"\n'
    )
    about = {
        "PKG-INFO": b"Metadata-Version: 2.1\nName: things\nVersion: 1.0\n",
        "pyproject.toml": project,
        "backend.py": backend,
    }
    members = {**files, **about}
    return tarball(member(f"things-1.0/{path}", each) for path, each in members.items())


def save(folder: Path, name: str, content: bytes) -> Path:
    """Write a file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name
