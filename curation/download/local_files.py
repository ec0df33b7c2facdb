"""A folder read as an archive: the embedded sample's, or a user's own."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from curation.download.packs import Pack, digest_of, open_pack
from curation.system.errors import NoInput

#: Folders that tools make.
_OF_TOOLS = frozenset({"node_modules", "__pycache__"})


class FolderFiles:
    """The regular files below a folder, by their paths relative to it.

    Hidden files and folders, and those of tools (`node_modules`), are left out, and
    so are links that lead out of the folder: an archive unpacked by someone else
    cannot make csbdata read its way through the machine.
    """

    __slots__ = ("_known", "path", "paths")

    def __init__(self, root: Path) -> None:
        """List the files once; `NoInput` where there is no such folder."""
        if not root.is_dir():
            raise NoInput("there is no such folder", str(root))
        #: The folder itself.
        self.path = root
        #: Paths with `/` relative to the folder, sorted by code point.
        self.paths: tuple[str, ...] = tuple(sorted(_listed(root.resolve())))
        self._known = frozenset(self.paths)

    def read(self, path: str) -> bytes:
        """Return one file's bytes; KeyError where the folder had none at first."""
        if path not in self._known:
            raise KeyError(path)
        file = self.path / path
        try:
            return file.read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoInput(f"cannot be read ({why})", str(file)) from error

    def sha256(self, path: str) -> str:
        """Return one file's sha256 in hexadecimal; KeyError where there is none."""
        return hashlib.sha256(self.read(path)).hexdigest()

    @property
    def digest(self) -> str:
        """The digest over all files (`curation.download.packs.digest_of`)."""
        return digest_of((path, self.sha256(path)) for path in self.paths)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)

    def __reduce__(self) -> tuple[type[FolderFiles], tuple[Path]]:
        """Travel to another process as the path of the folder."""
        return FolderFiles, (self.path,)


class MadeFile:
    """One file that was made here, read as an archive that holds only it."""

    __slots__ = ("_content", "paths")

    def __init__(self, name: str, content: bytes) -> None:
        """Keep the content under a name."""
        self._content = content
        #: The file's name alone.
        self.paths: tuple[str, ...] = (name,)

    def read(self, path: str) -> bytes:
        """Return the bytes; KeyError for any other path."""
        if path not in self.paths:
            raise KeyError(path)
        return self._content

    @property
    def digest(self) -> str:
        """The digest over the one file (`curation.download.packs.digest_of`)."""
        checksum = hashlib.sha256(self._content).hexdigest()
        return digest_of([(self.paths[0], checksum)])


class SingleFile(MadeFile):
    """One file of the user's read as an archive that holds only it."""

    __slots__ = ()

    def __init__(self, file: Path) -> None:
        """Read the file; `NoInput` where that cannot be done."""
        try:
            content = file.read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoInput(f"cannot be read ({why})", str(file)) from error
        super().__init__(file.name, content)


def open_files(path: Path) -> Pack | FolderFiles:
    """Open a pack or a folder, whichever the path is: what workers call."""
    return FolderFiles(path) if path.is_dir() else open_pack(path)


def _listed(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if _is_read(name)]
        for name in filter(_is_read, names):
            file = Path(folder, name)
            if file.exists() and not file.is_file():
                raise NoInput("neither a file nor a folder", str(file))
            if file.is_file() and file.resolve().is_relative_to(root):
                found.append(file.relative_to(root).as_posix())
    return found


def _is_read(name: str) -> bool:
    return name[0] != "." and name not in _OF_TOOLS
