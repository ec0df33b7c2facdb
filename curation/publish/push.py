"""Publish a dataset folder on the Hub, in one commit.

The folder is verified, its card names the repository, and the change is planned and
shown. If the caller agrees, it is committed on the head of the plan, read back,
compared and tagged. No state is kept here: the same command finishes a killed push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

import msgspec
from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from curation.core.benchmark import CONFIGS, LEDGER, SPLITS, UNDIVIDED, UNNAMED
from curation.core.json_types import Json
from curation.download.huggingface import (
    HubTimeLimits,
    hub_client,
    is_overtaken,
    may_pass,
    repeated,
)
from curation.packaging.derived_files import write_derived
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import BuildFacts, read_facts
from curation.publish.repository import (
    DATASET,
    MAIN,
    HubRepository,
    LocalFile,
    files_to_send,
    inventory,
)
from curation.system.errors import (
    BadData,
    CannotCreate,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.progress import Progress, Quiet
from curation.system.words import command, counted, shortened
from curation.verification import verify_folder

#: The tag of the edition published with the paper.
_PAPER = "v1"
#: The file that the Hub itself keeps in a repository.
_HUB_FILE = ".gitattributes"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_PART = r"\d{5}-of-\d{5}\.parquet"
_UNNAMED_TABLES = (*CONFIGS, UNDIVIDED, "Handwritten", "Synthesized", *SPLITS)
#: The card and the tables of the edition published with the paper.
_PUBLISHED = re.compile(
    rf"README\.md|{UNNAMED}/(?:{'|'.join(_UNNAMED_TABLES)})"
    rf"(?:-(?:{'|'.join(SPLITS)}))?-{_PART}"
    rf"|(?:{'|'.join(CONFIGS)})/(?:{'|'.join(SPLITS)})-{_PART}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRequest:
    """A dataset folder and the dataset on the Hub that it becomes.

    Raises:
        ValueError: `repo` is not the name of a dataset.
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
        """Refuse invalid names of datasets."""
        if not _REPOSITORY.fullmatch(self.repo):
            raise ValueError(f"--repo {self.repo!r}: a dataset is OWNER/NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPlan:
    """The difference between a folder and a repository, file by file.

    Carried out, it leaves the folder's files and the Hub's own, and nothing else.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    #: Files of the edition there which the folder does not have.
    deleted: tuple[str, ...]
    #: Files there that belong to no edition: removed only with the user's permission.
    foreign: tuple[str, ...]
    #: Size of added and changed files.
    bytes: int

    @property
    def written(self) -> tuple[str, ...]:
        """The files to send, sorted."""
        return tuple(sorted(self.added + self.changed))

    @property
    def removed(self) -> tuple[str, ...]:
        """The files to remove, sorted."""
        return tuple(sorted(self.deleted + self.foreign))

    @property
    def nothing(self) -> bool:
        """Whether the repository holds all of it already."""
        return not (self.written or self.removed)

    @property
    def replaces(self) -> bool:
        """Whether an existing file is deleted or changed."""
        return bool(self.changed or self.removed)


def plan_for(
    local: Mapping[str, LocalFile],
    remote: Mapping[str, str],
    edition: Iterable[str],
) -> PushPlan:
    """Compare a folder with a repository.

    Args:
        local: The folder's files.
        remote: The repository's files, with their digests.
        edition: The files of the present edition.
    """
    send = set(files_to_send(local, remote))
    others = remote.keys() - local.keys() - {_HUB_FILE}
    gone = others.intersection(edition)
    return PushPlan(
        added=tuple(sorted(send - remote.keys())),
        changed=tuple(sorted(send & remote.keys())),
        unchanged=tuple(sorted(local.keys() - send)),
        deleted=tuple(sorted(gone)),
        foreign=tuple(sorted(others - gone)),
        bytes=sum(local[name].size for name in send),
    )


def published_files(names: Iterable[str]) -> frozenset[str]:
    """Return those names that the edition published with the paper has on the Hub."""
    return frozenset(filter(_PUBLISHED.fullmatch, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedFolder:
    """A verified folder: only these contents may be published."""

    #: By their names in the dataset; the card's may be outside the folder.
    files: Mapping[str, LocalFile]
    facts: BuildFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPreview:
    """The plan of a push, before anything is done."""

    request: PushRequest
    #: The folder's files, as they were verified.
    verified: VerifiedFolder
    #: Who sees the repository, or will: `private` or `public`.
    visibility: str
    #: The commit of main of the plan; None without a repository.
    head: str | None
    plan: PushPlan
    #: The tag under which the edition there stays when ours takes its place on main.
    #: None: nothing is replaced, or it is an edition of csbdata.
    former_tag: str | None = None

    @property
    def headline(self) -> str:
        """One line: where the files go, and the present content."""
        name = f"{self.request.repo} ({self.visibility})"
        if self.head is None:
            return f"{name}: not there yet, will be made"
        return f"{name}: {MAIN} at {self.head[:12]}"


class PushOutcome(StrEnum):
    """The outcome of a push."""

    REFUSED = "refused"
    """Foreign files exist: nothing was changed."""
    NOTHING = "nothing"
    """The caller did not agree: nothing was changed."""
    CHECKED = "checked"
    """Everything was there already; it was read back and compared."""
    PUSHED = "pushed"
    """A commit was made on the Hub, read back and compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushResult:
    """The plan of a push, and its outcome."""

    preview: PushPreview
    outcome: PushOutcome
    #: The commit that holds the folder; empty if nothing was changed or read back.
    commit: str = ""
    #: The tag that leads to the commit; None if the day's tag was given before.
    tag: str | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the result as `csbdata push --format json` prints it."""
        members: dict[str, Json] = {
            "visibility": self.preview.visibility,
            "where": self.preview.request.repo,
            "plan": msgspec.to_builtins(self.preview.plan),
            "former_tag": self.preview.former_tag,
            "done": self.outcome.value,
        }
        if self.commit:
            members |= {"commit": self.commit, "tag": self.tag}
        return members


def push(
    request: PushRequest,
    *,
    confirm: Callable[[PushPreview], bool] = lambda _preview: True,
    progress: Progress | None = None,
) -> PushResult:
    """Verify a dataset folder and publish it, whole or not at all.

    The same request resumes an interrupted push. The commit leaves the folder's files
    and no others: the previous edition's are deleted, and its commit on main keeps a
    tag. If other files exist, nothing is sent without `replace_foreign`.

    Args:
        request: The folder and its dataset on the Hub.
        confirm: Takes the preview and returns whether to continue; also called if there
            is nothing to write and files are only read back. By default it agrees.
        progress: Shows progress on stderr.

    Returns:
        The preview and the outcome.

    Raises:
        NoInput: the folder is not a build.
        BadData: it does not verify, is partial without permission, or came back
            with other bytes.
        CannotCreate: the edition there has no tag, and its name is taken.
        TemporarilyUnavailable: another commit came first, or the
            Hub limits the rate.
        NotPermitted: the token does not allow it.
        CsbdataError: the Hub cannot be reached.

    Examples:
        Only the plan::

            request = PushRequest(folder=Path("build/JSONSchemaBench"), repo="me/bench")
            print(push(request, confirm=lambda preview: False).preview.plan.added)

        Publishing, unless files would be deleted::

            result = push(request, confirm=lambda preview: not preview.plan.deleted)
            print(result.outcome)
    """
    progress = progress or Quiet()
    with (
        TemporaryDirectory(prefix="csbdata-push-") as temporary,
        hub_client(request.time_limits, bars=request.transfer_bars),
    ):
        verified = name_repository(
            request, verify_for_push(request, progress), Path(temporary)
        )
        preview = plan_push(request, verified)
        if preview.plan.foreign and not request.replace_foreign:
            return PushResult(preview=preview, outcome=PushOutcome.REFUSED)
        if not confirm(preview):
            return PushResult(preview=preview, outcome=PushOutcome.NOTHING)
        return push_to_hub(preview, progress)


def verify_for_push(request: PushRequest, progress: Progress) -> VerifiedFolder:
    """Verify a folder before a push; of its instances a sample is judged.

    Digests are taken first, so that a later change of a file is noticed.

    Raises:
        NoInput: the folder is not a build.
        BadData: it does not verify, or is partial and that was not allowed.
        Unavailable: a program that a check needs is not installed.
    """
    folder = request.folder
    facts = read_facts(folder)
    if facts.partial and not request.allow_partial:
        raise BadData(
            f"the build is partial: {' '.join(facts.partial).removesuffix('.')}",
            str(folder),
            "build all of it, or say --allow-partial",
        )
    files = inventory(folder)
    nonce = token_hex(8)
    progress.log(
        f"Instances are judged by a sample (nonce {nonce}); by verify --all, all"
    )
    verification = verify_folder(
        folder, jobs=request.jobs, progress=progress, nonce=nonce
    )
    for finding in verification.findings:
        if finding.not_run:
            raise Unavailable(finding.detail, f"check {finding.check}")
    failures = verification.failures
    if failures:
        for failure in failures[1:]:
            progress.log(str(failure))
        raise BadData(
            f"does not verify, {counted(len(failures), 'finding')}; "
            f"the first: {failures[0]}",
            str(folder),
            f"{command('verify', folder)} lists them",
        )
    return VerifiedFolder(files=files, facts=facts)


def name_repository(
    request: PushRequest, verified: VerifiedFolder, into: Path
) -> VerifiedFolder:
    """Return a verified folder whose card names the repository; it is not changed.

    Args:
        request: The folder and its dataset on the Hub.
        verified: The folder.
        into: An empty folder for the card and the other files that follow from it.

    Raises:
        OSError: a file cannot be read or written.
    """
    is_named = verified.facts.repository == request.repo
    # The card follows from the ledger.
    if is_named or not (request.folder / LEDGER).is_dir():
        return verified
    facts = msgspec.structs.replace(verified.facts, repository=request.repo)
    write_derived(request.folder, into, facts, drawn=True)
    files = {**verified.files, **inventory(into)}
    return VerifiedFolder(files=files, facts=facts)


def plan_push(request: PushRequest, verified: VerifiedFolder) -> PushPreview:
    """Return the plan of a push; nothing is changed.

    Raises:
        CannotCreate: the edition there has no tag, and its name is taken (exit 73).
        CsbdataError: no answer, or a refusal.
    """
    repository = HubRepository(name=request.repo, time_limits=request.time_limits)
    info = repository.info()
    head = info.sha if info else None
    files, listed = dict[str, str](), frozenset[str]()
    if head is not None:
        files = repository.files(head)
        listed = repository.listed_files(head) if MANIFEST in files else listed
    plan = plan_for(verified.files, files, listed or published_files(files))
    former_tag = None
    if head is not None and plan.replaces and not listed:
        tags = repository.tags()
        of_head = (tag for tag, commit in tags.items() if commit == head)
        former_tag = next(of_head, _PAPER)
        if tags.get(former_tag, head) != head:
            raise CannotCreate(
                f"{_PAPER} is the tag of another commit, and {MAIN} has none",
                repository.name,
                f"hf repos tag create {repository.name} TAG --revision {head}"
                " --repo-type dataset keeps what would be replaced",
            )
    return PushPreview(
        request=request,
        verified=verified,
        visibility="private" if (info or request).private else "public",
        head=head,
        plan=plan,
        former_tag=former_tag,
    )


def push_to_hub(preview: PushPreview, progress: Progress) -> PushResult:
    """Carry out a plan, if the repository has not changed since.

    Raises:
        TemporarilyUnavailable: another commit came first, and is not touched
            (exit 75).
        BadData: a file differs from the verified one, here or there (exit 65).
        CsbdataError: no answer, or a refusal.
    """
    request, plan = preview.request, preview.plan
    repository = HubRepository(name=request.repo, time_limits=request.time_limits)
    head = preview.head
    if head is None:
        repository.create(private=request.private)
        head = repository.head()
    if preview.former_tag:
        repository.tag(preview.former_tag, head)
    commit = head if plan.nothing else _commit(repository, preview, head, progress)
    files = preview.verified.files
    progress.log(f"reading back {counted(len(files), 'file')} of {commit[:12]}")
    there = repository.files(commit)
    wrong = files_to_send(files, there)
    wrong += tuple(sorted(there.keys() - files.keys() - {_HUB_FILE}))
    wrong = wrong or repository.changed_files(commit, files)
    if wrong:
        named = f"{counted(len(wrong), 'file')} ({shortened(', '.join(wrong))})"
        raise BadData(
            f"not there as sent: {named}; no tag was set",
            f"{repository.name}@{commit}",
            "push again, and tell the Hub's operators if it stays",
        )
    tags = repository.tags()
    tag = next((tag for tag, tagged in tags.items() if tagged == commit), None)
    day = today()
    # A tag never moves: today's may be on another commit.
    if tag is None and day not in tags:
        repository.tag(day, commit)
        tag = day
    return PushResult(
        preview=replace(preview, head=head),
        outcome=PushOutcome.CHECKED if plan.nothing else PushOutcome.PUSHED,
        commit=commit,
        tag=tag,
    )


def _commit(
    repository: HubRepository, preview: PushPreview, head: str, progress: Progress
) -> str:
    """Upload and commit; return the commit.

    The contents are read here, once, so that the verified bytes are sent even if the
    folder changes later.
    """
    request, plan, facts = preview.request, preview.plan, preview.verified.facts
    operations: list[CommitOperationAdd | CommitOperationDelete] = []
    for name in plan.written:
        file = preview.verified.files[name]
        try:
            content = file.path.read_bytes()
        except OSError as error:
            raise NoInput("cannot be read any more", name) from error
        if not file.is_content(content):
            raise BadData("changed since it was verified", name, "push it again")
        operations.append(CommitOperationAdd(name, content))
    operations += [
        CommitOperationDelete(name, is_folder=False) for name in plan.removed
    ]
    progress.log(f"uploading {plan.bytes:,} bytes to {request.repo}")

    def commit_once() -> str:
        try:
            done = repository.api.create_commit(
                request.repo,
                operations,
                commit_message=f"{facts.name}, rules {facts.rules}",
                commit_description=f"The build {facts.name}, pushed by csbdata",
                repo_type=DATASET,
                revision=MAIN,
                parent_commit=head,
            )
        except Exception as error:
            landed = _landed_commit(repository, preview, head, error)
            if landed is None:
                raise
            return landed
        return str(done.oid)

    return repeated(commit_once, request.repo, request.time_limits)


def _landed_commit(
    repository: HubRepository, preview: PushPreview, head: str, error: Exception
) -> str | None:
    """Return our commit if it landed although the answer was lost.

    Raises:
        TemporarilyUnavailable: another commit landed instead.
    """
    if not (may_pass(error) or is_overtaken(error)):
        return None
    since = repository.commits_since(head)
    # The oldest first: later commits hold the same files.
    for commit in reversed(since):
        files = repository.files(commit)
        missing = files_to_send(preview.verified.files, files)
        if not missing and files.keys().isdisjoint(preview.plan.removed):
            return commit
    if since or is_overtaken(error):
        raise TemporarilyUnavailable(
            f"another commit came first on {MAIN}; nothing was written",
            repository.name,
            "look at it, then push again: the plan will be a new one",
        ) from error
    return None


def today() -> str:
    """Return the day, in UTC, as a tag names it: `2026.11.28`."""
    return f"{datetime.now(UTC):%Y.%m.%d}"
