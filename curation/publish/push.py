"""Publish a dataset folder on the Hub.

The folder is verified and the change is planned and shown. If the caller agrees, it is
committed, read back and compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.json_types import Json
from curation.download.huggingface import HubTimeLimits, hub_client
from curation.publish.hub_push import (
    HubPreview,
    HubPushed,
    HubPushRequest,
    plan_hub_push,
    push_to_hub,
)
from curation.publish.repository import MAIN
from curation.publish.verify import VerifiedFolder, verify_for_push
from curation.system.progress import Progress, Quiet

if TYPE_CHECKING:
    from curation.publish.plan import PushPlan

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

    #: The dataset's name.
    where: str
    #: One line: where the files go, and what is there now.
    headline: str
    #: Who sees the dataset, or will: `private` or `public`.
    visibility: str
    plan: PushPlan
    #: The tag that the commit there has, or gets, before its edition is replaced.
    former_tag: str | None = None


class PushOutcome(StrEnum):
    """The outcome of a push."""

    REFUSED = "refused"
    """Files are there that belong to no edition: nothing was changed."""
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
    #: The commit, its tag and its pull request; None if nothing was changed.
    hub: HubPushed | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the result as `csbdata push --format json` prints it."""
        preview, hub = self.preview, self.hub
        members: dict[str, Json] = {
            "visibility": preview.visibility,
            "where": preview.where,
            "plan": preview.plan.as_json(),
            "former_tag": preview.former_tag,
            "done": self.outcome.value,
        }
        if hub is not None:
            members["commit"], members["tag"] = hub.commit, hub.tag
            members["pull_request"] = hub.pull_request
        return members


def push(
    request: PushRequest,
    *,
    confirm: Callable[[PushPreview], bool] = lambda _preview: True,
    progress: Progress | None = None,
) -> PushResult:
    """Verify a dataset folder and publish it, whole or not at all.

    The same request resumes an interrupted push. The commit leaves the folder's files
    and no others: those of the edition before it go, and its commit on main keeps a
    tag. Where other files are there, nothing is sent without `replace_foreign`.

    Args:
        request: The folder and its dataset on the Hub.
        confirm: Takes the preview and returns whether to go on; also called if there
            is nothing to write and files are only read back. By default it agrees.
        progress: Shows progress on stderr.

    Returns:
        The preview and the outcome.

    Raises:
        NoInput: the folder is no build.
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
    verified = verify_for_push(
        request.folder,
        allow_partial=request.allow_partial,
        jobs=request.jobs,
        progress=progress,
    )
    with hub_client(request.time_limits, bars=request.transfer_bars):
        return _push_to_hub(request, verified, confirm, progress)


def _push_to_hub(
    request: PushRequest,
    verified: VerifiedFolder,
    confirm: Callable[[PushPreview], bool],
    progress: Progress,
) -> PushResult:
    hub = plan_hub_push(
        HubPushRequest(
            folder=request.folder,
            files=verified.files,
            facts=verified.facts,
            name=request.repo,
            revision=request.revision,
            create_pr=request.create_pr,
            private=request.private,
            time_limits=request.time_limits,
        )
    )
    preview = PushPreview(
        where=request.repo,
        headline=_headline(hub),
        visibility=hub.visibility,
        plan=hub.plan,
        former_tag=hub.former_tag,
    )
    if hub.plan.foreign and not request.replace_foreign:
        return PushResult(preview=preview, outcome=PushOutcome.REFUSED)
    if not confirm(preview):
        return PushResult(preview=preview, outcome=PushOutcome.NOTHING)
    pushed = push_to_hub(hub, progress)
    outcome = PushOutcome.CHECKED if pushed.unchanged else PushOutcome.PUSHED
    return PushResult(preview=preview, outcome=outcome, hub=pushed)


def _headline(hub: HubPreview) -> str:
    request = hub.request
    name = f"{request.name} ({hub.visibility})"
    if hub.state is None:
        return f"{name}: not there yet, will be made"
    if request.create_pr and not hub.revision.startswith("refs/pr/"):
        return f"{name}: a new pull request on {hub.state.head[:12]}"
    branch = ", a new branch" if hub.new_branch else ""
    return f"{name}: {hub.revision} at {hub.state.head[:12]}{branch}"
