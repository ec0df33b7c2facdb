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

#: Stands in the description of each of our commits: how a pull request of an earlier
#: push is known again.
_MARK = "Pushed by csbdata from the build "
#: The tag of the edition published with the paper.
_PAPER = "v1"


_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRequest:
    """A dataset folder and the dataset on the Hub that it becomes.

    Raises:
        ValueError: the options contradict each other, or `repo` is no name of a
            dataset.
    """

    folder: Path
    #: The dataset on the Hub, `owner/name`.
    repo: str
    #: The branch of the dataset on the Hub.
    revision: str = MAIN
    #: Propose the change as a pull request instead of committing it.
    create_pr: bool = False
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
        """Refuse options that contradict each other."""
        if not _REPOSITORY.fullmatch(self.repo):
            raise ValueError(f"--repo {self.repo!r}: a dataset is OWNER/NAME")
        if self.create_pr and self.revision != MAIN:
            raise ValueError("a pull request is made for main")


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
    #: Where the commit goes: a branch, or an open pull request of ours.
    revision: str
    #: Whether the branch has to be made first.
    new_branch: bool
    plan: PushPlan
    #: The tag under which the edition there stays when ours takes its place on main.
    #: None: nothing is replaced, or it is an edition of csbdata.
    former_tag: str | None = None

    @property
    def mark(self) -> str:
        """The line that marks our commits of this dataset."""
        return f"{_MARK}{self.verified.facts.name}"

    @property
    def headline(self) -> str:
        """One line: where the files go, and what is there now."""
        name = f"{self.request.repo} ({self.visibility})"
        if self.state is None:
            return f"{name}: not there yet, will be made"
        if self.request.create_pr and not self.revision.startswith("refs/pr/"):
            return f"{name}: a new pull request on {self.state.head[:12]}"
        branch = ", a new branch" if self.new_branch else ""
        return f"{name}: {self.revision} at {self.state.head[:12]}{branch}"


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
            revision=request.revision,
            new_branch=request.revision != MAIN,
            plan=plan_for(verified.files, {}, ()),
        )
    revision = request.revision
    if request.create_pr:
        mark = f"{_MARK}{verified.facts.name}"
        revision = pull_request_of(repository, mark) or revision
    new_branch = False
    if not revision.startswith("refs/pr/") and revision != MAIN:
        new_branch = revision not in repository.branches()
    state = repository.state(MAIN if new_branch else revision)
    listed = files_listed(repository.manifest(state))
    edition = listed or published_files(state.files)
    plan = plan_for(verified.files, state.files, edition)
    return PushPreview(
        request=request,
        verified=verified,
        visibility=visibility,
        state=state,
        revision=revision,
        new_branch=new_branch,
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
    if not plan.replaces or request.create_pr or request.revision != MAIN:
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


def pull_request_of(repository: HubRepository, mark: str) -> str | None:
    """Return the open pull request whose description has a mark of ours.

    Raises:
        CsbdataError: no answer, or a refusal.
    """
    for number in repository.open_pull_requests():
        reference = f"refs/pr/{number}"
        if mark in repository.description(reference):
            return reference
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPushed:
    """The result of a push."""

    commit: str
    #: Whether there was nothing to commit: all of it was there.
    unchanged: bool
    #: The tag that leads to the commit; None if it is not on main yet, or if the day's
    #: tag was given before.
    tag: str | None
    #: The pull request that holds the commit, if it is not on a branch yet.
    pull_request: str | None


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
    preview = _with_branch(preview, repository)
    assert preview.state is not None  # noqa: S101 (made above, where it was missing)
    if preview.former_tag:
        repository.tag(preview.former_tag, preview.state.head)
    if preview.plan.nothing:
        commit, url = (
            preview.state.head,
            _pull_request_url(repository, preview.revision),
        )
        if request.create_pr and url is None:
            progress.say("there is nothing to propose: all of it is there")
    else:
        commit, url = _commit(repository, preview, progress)
    files = preview.verified.files
    progress.say(f"reading back {counted(len(files), 'file')} of {commit[:12]}")
    _read_back(repository, files, commit)
    is_on_main = url is None and preview.revision == MAIN
    tag = _tag_of(repository, commit) if is_on_main else None
    return HubPushed(
        commit=commit, unchanged=preview.plan.nothing, tag=tag, pull_request=url
    )


def _with_branch(preview: PushPreview, repository: HubRepository) -> PushPreview:
    """Create the repository and the branch if they are missing."""
    request = preview.request
    if preview.state is None:
        repository.create(private=request.private)
        preview = replace(preview, state=repository.state())
    if preview.new_branch and preview.state is not None:
        repository.create_branch(preview.revision, preview.state.head)
    return preview


def _pull_request_url(repository: HubRepository, revision: str) -> str | None:
    """Return the address of a pull request; None for a branch."""
    number = revision.removeprefix("refs/pr/")
    if number == revision:
        return None
    return f"{repository.api.endpoint}/datasets/{repository.name}/discussions/{number}"


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


def _commit(
    repository: HubRepository, preview: PushPreview, progress: Progress
) -> tuple[str, str | None]:
    """Upload and commit; return the commit, and its pull request's address."""
    request, state = preview.request, preview.state
    facts = preview.verified.facts
    assert state is not None  # noqa: S101 (the caller made it)
    additions, deletions = _operations(preview)
    opens = request.create_pr and not preview.revision.startswith("refs/pr/")
    progress.say(f"uploading {preview.plan.bytes:,} bytes to {request.repo}")

    def commit_once() -> tuple[str, str | None]:
        try:
            done = repository.api.create_commit(
                request.repo,
                [*additions, *deletions],
                commit_message=f"{facts.name}, rules {facts.rules}",
                commit_description=preview.mark,
                repo_type=DATASET,
                revision=preview.revision,
                parent_commit=state.head,
                create_pr=opens,
            )
        except Exception as error:
            landed = _landed_commit(repository, preview, error, opens=opens)
            if landed is None:
                raise
            return landed
        return done.oid, done.pr_url or _pull_request_url(repository, preview.revision)

    return repeated(commit_once, request.repo, request.time_limits)


def _landed_commit(
    repository: HubRepository, preview: PushPreview, error: Exception, *, opens: bool
) -> tuple[str, str | None] | None:
    """Return our commit if it landed although the answer was lost.

    Raises:
        TemporarilyUnavailable: another commit landed instead.
    """
    if not (may_pass(error) or is_overtaken(error)):
        return None
    request, state = preview.request, preview.state
    assert state is not None  # noqa: S101 (the caller made it)
    revision = preview.revision
    if opens:
        pull_request = pull_request_of(repository, preview.mark)
        if pull_request is None:
            if is_overtaken(error):
                raise _overtaken_error(request, revision) from error
            return None
        revision = pull_request
    since = repository.commits_since(state.head, revision)
    # The oldest first: what came on top of ours holds the same files.
    for commit in reversed(since):
        if not _is_another(preview, repository.files(commit)):
            return commit, _pull_request_url(repository, revision)
    if since or is_overtaken(error):
        raise _overtaken_error(request, revision) from error
    return None


def _is_another(preview: PushPreview, files: Mapping[str, RemoteFile]) -> bool:
    """Return whether a commit differs from the planned one."""
    missing = files_to_send(preview.verified.files, files)
    return bool(missing) or any(name in files for name in preview.plan.removed)


def _overtaken_error(request: PushRequest, revision: str) -> TemporarilyUnavailable:
    return TemporarilyUnavailable(
        f"another commit came first on {revision}; nothing was written",
        request.repo,
        "look at it, then push again: the plan will be a new one",
    )


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
