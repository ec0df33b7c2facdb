"""Read and change a dataset repository on the Hub."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import DatasetInfo, HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from curation.download.huggingface import HubTimeLimits, repeated
from curation.packaging.manifest import FILE as MANIFEST
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import names_in, read_sums
from curation.system.errors import BadData, CsbdataError

_T = TypeVar("_T")
#: The branch that readers of a dataset get if they name none.
MAIN = "main"
#: The Hub's kind of repository.
DATASET = "dataset"
#: How far back a commit of ours is looked for when the Hub's answer got lost.
_RECENT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """One file of the folder, as it was when it was read."""

    path: Path
    size: int
    sha256: str
    #: The name that git gives to the content.
    git_oid: str

    def is_content(self, content: bytes) -> bool:
        """Return whether a content is the file's."""
        return hashlib.sha256(content).hexdigest() == self.sha256


def describe_file(path: Path) -> LocalFile:
    """Read a file; return it with its size, sha256 and git's name of its content.

    Raises:
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    return LocalFile(
        path=path,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        git_oid=git_hash(content),
    )


def inventory(folder: Path) -> dict[str, LocalFile]:
    """Return every file of a folder, sorted by name.

    Raises:
        BadData: a name leads out of the folder, through a link.
        OSError: a file cannot be read.
    """
    root = folder.resolve()
    files = {}
    for name in sorted(names_in(folder)):
        path = folder / name
        if not path.resolve().is_relative_to(root):
            raise BadData("a link that leads out of the folder", str(path))
        files[name] = describe_file(path)
    return files


def files_to_send(
    local: Mapping[str, LocalFile], remote: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the local files that a repository lacks, or has with another content.

    Args:
        local: The files of a folder.
        remote: The files of a repository (`HubRepository.files`).
    """
    return tuple(
        name
        for name, file in local.items()
        if remote.get(name) not in {file.sha256, file.git_oid}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRepository:
    """A dataset on the Hub, with time limits.

    Raises:
        CsbdataError: from every method: no answer, or a refusal.
    """

    #: `owner/name`.
    name: str
    time_limits: HubTimeLimits = field(default_factory=HubTimeLimits)
    #: Its requests name csbdata and its version.
    api: HfApi = field(
        default_factory=lambda: HfApi(
            library_name="csbdata", library_version=version("csbdata")
        )
    )

    def _ask(self, method: Callable[..., _T], **options: Any) -> _T:  # noqa: ANN401 (as of the client's methods)
        """Call a method of the client on the repository, again if it may pass."""
        return repeated(
            lambda: method(self.name, repo_type=DATASET, **options),
            self.name,
            self.time_limits,
        )

    def head(self, revision: str = MAIN) -> str:
        """Return the commit of a revision.

        Raises:
            NoInput: no such repository or revision.
            CsbdataError: no answer, or a refusal.
        """
        head = self._ask(self.api.repo_info, revision=revision).sha
        if head is None:
            raise CsbdataError("the Hub names no commit", f"{self.name}@{revision}")
        return head

    def files(self, commit: str) -> dict[str, str]:
        """Return the files of a commit, with the digest that the Hub states.

        It is the sha256 of large files, which the Hub keeps outside git; of the others
        git's name of the content.
        """
        entries = self._ask(
            lambda name, **options: [*self.api.list_repo_tree(name, **options)],
            revision=commit,
            recursive=True,
        )
        return {
            entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
            for entry in entries
            if isinstance(entry, RepoFile)
        }

    def info(self) -> DatasetInfo | None:
        """Return the Hub's facts about the dataset; None if it is not visible."""

        def ask(name: str, **_: str) -> DatasetInfo | None:
            try:
                return self.api.dataset_info(name)
            except RepositoryNotFoundError:
                return None

        return self._ask(ask)

    def tags(self) -> Mapping[str, str]:
        """Return the commit of each tag, by its name."""
        refs = self._ask(self.api.list_repo_refs)
        return {ref.name: ref.target_commit for ref in refs.tags}

    def listed_files(self, commit: str) -> frozenset[str]:
        """Return the files in the digests of an edition, and that list itself.

        A commit that is not an edition of csbdata has none.
        """
        with tempfile.TemporaryDirectory() as folder:
            self.fetch(commit, [SUMS], Path(folder))
            try:
                sums = read_sums(Path(folder))
            except (BadData, OSError):
                return frozenset()
        return frozenset({SUMS, *sums}) if MANIFEST in sums else frozenset()

    def fetch(self, commit: str, names: Iterable[str], folder: Path) -> None:
        """Download files of a commit without a cache."""
        self._ask(
            self.api.snapshot_download,
            revision=commit,
            local_dir=folder,
            cache_dir=folder / ".cache" / "hub",
            allow_patterns=[escape(name) for name in names],
        )

    def changed_files(
        self, commit: str, local: Mapping[str, LocalFile]
    ) -> tuple[str, ...]:
        """Download the files of a commit; return those that differ."""
        with tempfile.TemporaryDirectory() as folder:
            self.fetch(commit, local, Path(folder))
            return tuple(
                name
                for name, file in local.items()
                if not (path := Path(folder, name)).is_file()
                or not file.is_content(path.read_bytes())
            )

    def create(self, *, private: bool) -> None:
        """Make the repository if it is missing.

        Raises:
            NotPermitted: the token may not.
            CsbdataError: no answer, or another refusal.
        """
        self._ask(self.api.create_repo, private=private, exist_ok=True)

    def commits_since(self, parent: str) -> list[str]:
        """Return the commits of main that came after one, newest first."""
        history = self._ask(self.api.list_repo_commits, revision=MAIN)
        commits = [commit.commit_id for commit in history[:_RECENT]]
        return commits[: commits.index(parent)] if parent in commits else commits

    def tag(self, tag: str, commit: str) -> None:
        """Tag a commit, unless the tag leads there already.

        Raises:
            BadData: the tag is taken by another commit (exit 65).
            CsbdataError: no answer, or another refusal.
        """
        self._ask(self.api.create_tag, tag=tag, revision=commit, exist_ok=True)
        if self.tags().get(tag) != commit:
            raise BadData(f"the tag {tag} leads to another commit", self.name)
