"""Read and change a dataset repository on the Hub."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from huggingface_hub import HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from curation.download.huggingface import HubTimeLimits, repeated
from curation.packaging.manifest import FILE as MANIFEST
from curation.publish.plan import LocalFile, RemoteFile, describe_content
from curation.system.errors import BadData, CsbdataError

_T = TypeVar("_T")
#: The branch that readers of a dataset get if they name none.
MAIN = "main"
#: The Hub's kind of repository.
DATASET = "dataset"
#: How far back a commit of ours is looked for when the Hub's answer got lost.
_RECENT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryState:
    """One revision of a repository, as it was at one moment."""

    #: The commit's oid.
    head: str
    files: Mapping[str, RemoteFile]


def _client() -> HfApi:
    """Return a client whose requests name csbdata and its version."""
    return HfApi(library_name="csbdata", library_version=version("csbdata"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRepository:
    """A dataset on the Hub, with time limits.

    Raises:
        CsbdataError: from every method: no answer, or a refusal.
    """

    #: `owner/name`.
    name: str
    time_limits: HubTimeLimits = field(default_factory=HubTimeLimits)
    api: HfApi = field(default_factory=_client)

    def _ask(self, ask: Callable[[], _T]) -> _T:
        return repeated(ask, self.name, self.time_limits)

    def state(self, revision: str = MAIN) -> RepositoryState:
        """Return the files of a revision.

        Raises:
            NoInput: there is no such repository or revision.
            CsbdataError: no answer, or a refusal.
        """
        head = self._ask(
            lambda: self.api.dataset_info(self.name, revision=revision).sha
        )
        if head is None:
            raise CsbdataError("the Hub names no commit", f"{self.name}@{revision}")
        return RepositoryState(head=head, files=self.files(head))

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Return the files of a commit, as the Hub describes them."""
        entries = self._ask(
            lambda: list(
                self.api.list_repo_tree(
                    self.name, repo_type=DATASET, revision=commit, recursive=True
                )
            )
        )
        return {
            entry.path: RemoteFile(
                sha256=entry.lfs.sha256 if entry.lfs else None,
                git_oid=None if entry.lfs else entry.blob_id,
            )
            for entry in entries
            if isinstance(entry, RepoFile)
        }

    def visibility(self) -> str | None:
        """Return `private` or `public`; None if we see no such dataset.

        Raises:
            CsbdataError: no answer, or a refusal that says nothing of that.
        """

        def ask() -> str | None:
            try:
                info = self.api.dataset_info(self.name)
            except RepositoryNotFoundError:
                return None
            return "private" if info.private else "public"

        return self._ask(ask)

    def tags(self) -> Mapping[str, str]:
        """Return the commit of each tag, by its name."""
        refs = self._ask(lambda: self.api.list_repo_refs(self.name, repo_type=DATASET))
        return {ref.name: ref.target_commit for ref in refs.tags}

    def manifest(self, state: RepositoryState) -> bytes:
        """Return the content of the manifest in a state; empty if there is none."""
        if MANIFEST not in state.files:
            return b""
        with tempfile.TemporaryDirectory() as folder:
            self.fetch(state.head, [MANIFEST], Path(folder))
            try:
                return Path(folder, MANIFEST).read_bytes()
            except OSError:
                return b""

    def fetch(self, commit: str, names: Iterable[str], folder: Path) -> None:
        """Download files of a commit anew, past every cache."""
        patterns = [escape(name) for name in names]
        self._ask(
            lambda: self.api.snapshot_download(
                self.name,
                repo_type=DATASET,
                revision=commit,
                local_dir=folder,
                cache_dir=folder / ".cache" / "hub",
                allow_patterns=patterns,
            )
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
                or describe_content(path.read_bytes()) != file
            )

    def create(self, *, private: bool) -> None:
        """Make the repository if there is none.

        Raises:
            NotPermitted: the token may not.
            CsbdataError: no answer, or another refusal.
        """
        self._ask(
            lambda: self.api.create_repo(
                self.name, repo_type=DATASET, private=private, exist_ok=True
            )
        )

    def commits_since(self, parent: str) -> list[str]:
        """Return the commits of main that came after one, newest first."""
        history = self._ask(
            lambda: self.api.list_repo_commits(
                self.name, repo_type=DATASET, revision=MAIN
            )
        )
        commits = [commit.commit_id for commit in history[:_RECENT]]
        return commits[: commits.index(parent)] if parent in commits else commits

    def tag(self, tag: str, commit: str) -> None:
        """Tag a commit, unless the tag leads there already.

        Raises:
            BadData: the tag is taken by another commit (exit 65).
            CsbdataError: no answer, or another refusal.
        """
        self._ask(
            lambda: self.api.create_tag(
                self.name, tag=tag, revision=commit, repo_type=DATASET, exist_ok=True
            )
        )
        if self.tags().get(tag) != commit:
            raise BadData(f"the tag {tag} leads to another commit", self.name)
