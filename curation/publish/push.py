"""Publish a dataset folder on the Hub.

The folder is verified and the change is planned and shown. If the caller agrees, it is
committed, read back and compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from curation.core.json_types import Json
from curation.download.huggingface import hub_client
from curation.publish.hub_push import (
    HubPushed,
    PushPreview,
    PushRequest,
    plan_push,
    push_to_hub,
)
from curation.publish.verify import verify_for_push
from curation.system.progress import Progress, Quiet

__all__ = ["PushOutcome", "PushPreview", "PushRequest", "PushResult", "push"]


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
    #: The commit and its tag; None if nothing was changed.
    hub: HubPushed | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the result as `csbdata push --format json` prints it."""
        preview, hub = self.preview, self.hub
        members: dict[str, Json] = {
            "visibility": preview.visibility,
            "where": preview.request.repo,
            "plan": preview.plan.as_json(),
            "former_tag": preview.former_tag,
            "done": self.outcome.value,
        }
        if hub is not None:
            members["commit"], members["tag"] = hub.commit, hub.tag
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
        preview = plan_push(request, verified)
        if preview.plan.foreign and not request.replace_foreign:
            return PushResult(preview=preview, outcome=PushOutcome.REFUSED)
        if not confirm(preview):
            return PushResult(preview=preview, outcome=PushOutcome.NOTHING)
        pushed = push_to_hub(preview, progress)
    outcome = PushOutcome.CHECKED if pushed.unchanged else PushOutcome.PUSHED
    return PushResult(preview=preview, outcome=outcome, hub=pushed)
