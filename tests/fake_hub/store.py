"""What a Hub keeps: repositories of commits over content, all in memory.

A commit is a whole tree; branches and tags are names for commits. A
reader who names a revision sees exactly one commit's files.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the real Hub's `.gitattributes` for data sets puts into large file storage.
LARGE_SUFFIXES = (".parquet", ".png", ".jpg", ".gz", ".zip", ".arrow", ".bin")
LARGE_BYTES = 10 * 2**20
_MAIN = "main"


@dataclass(frozen=True, slots=True)
class Blob:
    """One file's content."""

    content: bytes
    #: Whether it is in large file storage.
    large: bool

    @property
    def sha256(self) -> str:
        """The name in large file storage."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def git_oid(self) -> str:
        """The name in git: of the content, or of the pointer to it."""
        held = self.pointer if self.large else self.content
        return hashlib.sha1(b"blob %d\0%b" % (len(held), held)).hexdigest()  # noqa: S324 (git's own name)

    @property
    def pointer(self) -> bytes:
        """What git holds of a large file."""
        text = (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{self.sha256}\nsize {len(self.content)}\n"
        )
        return text.encode()


@dataclass(frozen=True, slots=True)
class Commit:
    """One state of a repository."""

    oid: str
    parent: str | None
    files: Mapping[str, Blob]
    title: str
    message: str
    author: str


@dataclass(slots=True)
class Repository:
    """One dataset: its commits and the names for them."""

    name: str
    private: bool
    gated: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def resolve(self, revision: str) -> Commit | None:
        """Return the commit that a branch, tag or oid names."""
        for names in (self.branches, self.tags):
            short = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
            if short in names:
                return self.commits[names[short]]
        return self.commits.get(revision)

    def commit(
        self,
        files: Mapping[str, Blob],
        *,
        parent: Commit | None,
        title: str,
        message: str = "",
        author: str = "",
    ) -> Commit:
        """Add a commit that no name leads to yet."""
        number = next(self._numbers)
        digest = hashlib.sha1(f"{self.name} {number} {title}".encode()).hexdigest()  # noqa: S324 (shaped as git's)
        made = Commit(
            digest, parent.oid if parent else None, dict(files), title, message, author
        )
        self.commits[digest] = made
        return made

    def history(self, commit: Commit) -> list[Commit]:
        """Return a commit and all before it, newest first."""
        found = [commit]
        while (parent := found[-1].parent) is not None:
            found.append(self.commits[parent])
        return found

    def tamper(self, path: str, content: bytes, revision: str = _MAIN) -> None:
        """Put other content under a path without a commit, as no Hub ever should."""
        commit = self.resolve(revision)
        if commit is None:
            raise KeyError(revision)
        files = {**commit.files, path: replace(commit.files[path], content=content)}
        self.commits[commit.oid] = replace(commit, files=files)


class Store:
    """All repositories, and who may do what in them."""

    def __init__(self) -> None:
        """Know nobody and nothing."""
        self.lock = threading.RLock()
        self.repositories: dict[str, Repository] = {}
        #: Scope (`write`, `read`) by token.
        self.tokens: dict[str, str] = {}
        #: The chunks of each xorb, by its name.
        self.xorbs: dict[str, list[bytes]] = {}
        #: What the owner of every token is called.
        self.user = "tester"

    def create(self, name: str, *, private: bool = True) -> Repository:
        """Make a repository with the first commit that the Hub itself makes."""
        made = Repository(name, private)
        lines = [f"*{suffix} filter=lfs\n" for suffix in LARGE_SUFFIXES]
        first = Blob("".join(lines).encode(), large=False)
        commit = made.commit(
            {".gitattributes": first}, parent=None, title="initial commit"
        )
        made.branches[_MAIN] = commit.oid
        self.repositories[name] = made
        return made

    def put(
        self,
        name: str,
        files: Mapping[str, bytes],
        *,
        title: str = "By another hand",
        branch: str = _MAIN,
    ) -> str:
        """Commit files as somebody else would; returns the commit's oid."""
        with self.lock:
            repository = self.repositories.get(name) or self.create(name)
            parent = repository.resolve(branch)
            blobs = {
                path: Blob(body, is_large(path, len(body)))
                for path, body in files.items()
            }
            commit = repository.commit(
                {**(parent.files if parent else {}), **blobs},
                parent=parent,
                title=title,
                author="somebody",
            )
            repository.branches[branch] = commit.oid
            return commit.oid

    def view(self, name: str, revision: str = _MAIN) -> dict[str, bytes] | None:
        """Return what a reader sees at a revision; None where there is none."""
        with self.lock:
            repository = self.repositories.get(name)
            commit = repository.resolve(revision) if repository else None
            if commit is None:
                return None
            return {path: blob.content for path, blob in commit.files.items()}


def is_large(path: str, size: int) -> bool:
    """Whether the Hub wants a file in large file storage."""
    return path.endswith(LARGE_SUFFIXES) or size > LARGE_BYTES
