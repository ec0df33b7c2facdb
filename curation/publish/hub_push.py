"""Push a verified folder to the Hub in one commit.

Upload, commit on the head that was planned for, read back, tag. No state is kept here:
the same command finishes a push that was killed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from curation.download.huggingface import (
    HubTimeLimits,
    is_overtaken,
    may_pass,
    repeated,
)
from curation.publish.plan import (
    HUB_FILE,
    LocalFile,
    PushPlan,
    RemoteFile,
    describe_content,
    files_listed,
    files_to_send,
    plan_for,
    published_files,
)
from curation.publish.repository import DATASET, MAIN, HubRepository, RepositoryState
from curation.system.errors import (
    BadData,
    CannotCreate,
    NoInput,
    TemporarilyUnavailable,
)
from curation.system.escaping import shortened
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.publish.verify import VerifiedFolder
    from curation.system.progress import Progress

#: The tag of the edition published with the paper.
_PAPER = "v1"


_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRequest:
    """A dataset folder and the dataset on the Hub that it becomes.

    Raises:
        ValueError: `repo` is no name of a dataset.
    """

    folder: Path
    #: The dataset on the Hub, `owner/name`.
    repo: str
    #: Whether only its owner sees a dataset that has to be made first.
    private: bool = True
    #: Remove files that are there and belong to no edition.
    replace_foreign: bool = False
    #: Publish a partial build too.
    allow_partial: bool = False
    #: Worker processes of the verification.
    jobs: int = 2
    #: Let `huggingface_hub` draw its progress bars on stderr.
    transfer_bars: bool = False
    time_limits: HubTimeLimits = field(default_factory=HubTimeLimits)

    def __post_init__(self) -> None:
        """Refuse what is no name of a dataset."""
        if not _REPOSITORY.fullmatch(self.repo):
            raise ValueError(f"--repo {self.repo!r}: a dataset is OWNER/NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPreview:
    """The plan of a push, before anything is done."""

    request: PushRequest
    #: The folder's files, as they were verified.
    verified: VerifiedFolder
    #: Who sees the repository, or will: `private` or `public`.
    visibility: str
    #: The state of the repository that it was made for; None if there is none yet.
    state: RepositoryState | None
    plan: PushPlan
    #: The tag under which the edition there stays when ours takes its place on main.
    #: None: nothing is replaced, or it is an edition of csbdata.
    former_tag: str | None = None

    @property
    def headline(self) -> str:
        """One line: where the files go, and what is there now."""
        name = f"{self.request.repo} ({self.visibility})"
        if self.state is None:
            return f"{name}: not there yet, will be made"
        return f"{name}: {MAIN} at {self.state.head[:12]}"


def plan_push(request: PushRequest, verified: VerifiedFolder) -> PushPreview:
    """Return the plan of a push; nothing is changed.

    Raises:
        CannotCreate: the edition there has no tag, and its name is taken (exit 73).
        CsbdataError: no answer, or a refusal.
    """
    repository = HubRepository(name=request.repo, time_limits=request.time_limits)
    visibility = repository.visibility()
    if visibility is None:
        return PushPreview(
            request=request,
            verified=verified,
            visibility="private" if request.private else "public",
            state=None,
            plan=plan_for(verified.files, {}, ()),
        )
    state = repository.state()
    listed = files_listed(repository.manifest(state))
    edition = listed or published_files(state.files)
    plan = plan_for(verified.files, state.files, edition)
    return PushPreview(
        request=request,
        verified=verified,
        visibility=visibility,
        state=state,
        plan=plan,
        former_tag=None if listed else _former_tag(repository, request, state, plan),
    )


def _former_tag(
    repository: HubRepository,
    request: PushRequest,
    state: RepositoryState,
    plan: PushPlan,
) -> str | None:
    """Return the tag that keeps the head of main, which it may not have yet.

    Raises:
        CannotCreate: another commit has the tag.
    """
    if not plan.replaces:
        return None
    tags = repository.tags()
    for tag, commit in tags.items():
        if commit == state.head:
            return tag
    if _PAPER in tags:
        raise CannotCreate(
            f"{_PAPER} is the tag of another commit, and {MAIN} has none",
            request.repo,
            f"hf repos tag create {request.repo} TAG --revision {state.head}"
            " --repo-type dataset keeps what would be replaced",
        )
    return _PAPER


def _tag_of(repository: HubRepository, commit: str) -> str | None:
    """Return the tag of a commit, which gets that of today if it has none.

    None if today's tag leads to another commit already: a tag never moves.
    """
    tags = repository.tags()
    for tag, tagged in tags.items():
        if tagged == commit:
            return tag
    day = today()
    if day in tags:
        return None
    repository.tag(day, commit)
    return day


def today() -> str:
    """Return the day, in UTC, as a tag names it: `2026.11.28`."""
    return f"{datetime.now(UTC):%Y.%m.%d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPushed:
    """The result of a push."""

    commit: str
    #: Whether there was nothing to commit: all of it was there.
    unchanged: bool
    #: The tag that leads to the commit; None if the day's tag was given before.
    tag: str | None


def push_to_hub(preview: PushPreview, progress: Progress) -> HubPushed:
    """Carry out a plan, if the repository has not changed since.

    Raises:
        TemporarilyUnavailable: another commit came first, and is not touched
            (exit 75).
        BadData: a file is not what was verified, here or there (exit 65).
        CsbdataError: no answer, or a refusal.
    """
    request = preview.request
    repository = HubRepository(name=request.repo, time_limits=request.time_limits)
    if preview.state is None:
        repository.create(private=request.private)
        preview = replace(preview, state=repository.state())
    assert preview.state is not None  # noqa: S101 (made above, where it was missing)
    if preview.former_tag:
        repository.tag(preview.former_tag, preview.state.head)
    commit = preview.state.head
    if not preview.plan.nothing:
        commit = _commit(repository, preview, progress)
    files = preview.verified.files
    progress.say(f"reading back {counted(len(files), 'file')} of {commit[:12]}")
    _read_back(repository, files, commit)
    tag = _tag_of(repository, commit)
    return HubPushed(commit=commit, unchanged=preview.plan.nothing, tag=tag)


def _operations(
    preview: PushPreview,
) -> tuple[list[CommitOperationAdd], list[CommitOperationDelete]]:
    """Return the operations of the commit.

    The contents are read here, once, so that the verified bytes are sent even if the
    folder changes later.
    """
    additions = []
    for name in preview.plan.written:
        try:
            content = (preview.request.folder / name).read_bytes()
        except OSError as error:
            raise NoInput("cannot be read any more", name) from error
        if describe_content(content) != preview.verified.files[name]:
            raise BadData("changed since it was verified", name, "push it again")
        additions.append(CommitOperationAdd(name, content))
    return additions, [
        CommitOperationDelete(name, is_folder=False) for name in preview.plan.removed
    ]


def _commit(repository: HubRepository, preview: PushPreview, progress: Progress) -> str:
    """Upload and commit; return the commit."""
    request, state = preview.request, preview.state
    facts = preview.verified.facts
    assert state is not None  # noqa: S101 (the caller made it)
    additions, deletions = _operations(preview)
    progress.say(f"uploading {preview.plan.bytes:,} bytes to {request.repo}")

    def commit_once() -> str:
        try:
            done = repository.api.create_commit(
                request.repo,
                [*additions, *deletions],
                commit_message=f"{facts.name}, rules {facts.rules}",
                commit_description=f"The build {facts.name}, pushed by csbdata",
                repo_type=DATASET,
                revision=MAIN,
                parent_commit=state.head,
            )
        except Exception as error:
            landed = _landed_commit(repository, preview, error)
            if landed is None:
                raise
            return landed
        return str(done.oid)

    return repeated(commit_once, request.repo, request.time_limits)


def _landed_commit(
    repository: HubRepository, preview: PushPreview, error: Exception
) -> str | None:
    """Return our commit if it landed although the answer was lost.

    Raises:
        TemporarilyUnavailable: another commit landed instead.
    """
    if not (may_pass(error) or is_overtaken(error)):
        return None
    assert preview.state is not None  # noqa: S101 (the caller made it)
    since = repository.commits_since(preview.state.head)
    # The oldest first: what came on top of ours holds the same files.
    for commit in reversed(since):
        if not _is_another(preview, repository.files(commit)):
            return commit
    if since or is_overtaken(error):
        raise TemporarilyUnavailable(
            f"another commit came first on {MAIN}; nothing was written",
            preview.request.repo,
            "look at it, then push again: the plan will be a new one",
        ) from error
    return None


def _is_another(preview: PushPreview, files: Mapping[str, RemoteFile]) -> bool:
    """Return whether a commit differs from the planned one."""
    missing = files_to_send(preview.verified.files, files)
    return bool(missing) or any(name in files for name in preview.plan.removed)


def _read_back(
    repository: HubRepository, files: Mapping[str, LocalFile], commit: str
) -> None:
    """Read the files back, and compare.

    Raises:
        BadData: a file came back otherwise, or one is there that was not sent; the tag
            is withheld (exit 65).
    """
    there = repository.files(commit)
    wrong = files_to_send(files, there)
    wrong += tuple(sorted(there.keys() - files.keys() - {HUB_FILE}))
    wrong = wrong or repository.changed_files(commit, files)
    if wrong:
        named = f"{counted(len(wrong), 'file')} ({shortened(', '.join(wrong))})"
        raise BadData(
            f"not there as sent: {named}; no tag was set",
            f"{repository.name}@{commit}",
            "push again, and tell the Hub's operators if it stays",
        )
