"""What a push would do: the request, the repository as it is, and the plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.core.benchmark import is_table
from curation.huggingface.session import HubTimeLimits
from curation.publish.file_inventory import files_to_send
from curation.publish.plan import PushPlan, files_listed, plan_for
from curation.publish.repository import MAIN, HubRepository, RepositoryState
from curation.publish.versions import Version
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.packaging.manifest import BuildFacts
    from curation.publish.file_inventory import LocalFile

#: Stands in the description of each of our commits: how a pull request of an earlier
#: push is known again.
_MARK = "Pushed by csbdata from the build "


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPushRequest:
    """What to push, and where to."""

    folder: Path
    #: The folder's files, as they were verified.
    files: Mapping[str, LocalFile]
    facts: BuildFacts
    #: `owner/name`.
    name: str
    revision: str = MAIN
    create_pr: bool = False
    private: bool = True
    message: str = ""
    time_limits: HubTimeLimits = field(default_factory=HubTimeLimits)

    @property
    def tag(self) -> str | None:
        """The tag of the data's version; None for data that was not released."""
        version = Version.parse(self.facts.data_version)
        return f"v{version}" if version else None

    @property
    def mark(self) -> str:
        """What our commits of this dataset say of themselves."""
        return f"{_MARK}{self.facts.name}"

    @property
    def title(self) -> str:
        """The commit's message."""
        return self.message or f"{self.facts.name} {self.facts.data_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPreview:
    """A plan, and the state of the repository that it was made for."""

    request: HubPushRequest
    #: Who sees the repository, or will: `private` or `public`.
    visibility: str
    #: None: there is no repository yet.
    state: RepositoryState | None
    #: Where the commit goes: a branch, or an open pull request of ours.
    revision: str
    #: Whether the branch has to be made first.
    new_branch: bool
    plan: PushPlan

    def fetch_tables(self, folder: Path) -> None:
        """Download the tables that are there now into a folder, to be compared.

        Raises:
            CsbdataError: no answer, or a refusal.
        """
        if self.state is not None:
            request = self.request
            repository = HubRepository(
                name=request.name, time_limits=request.time_limits
            )
            tables = [name for name in self.state.files if is_table(name)]
            repository.fetch(self.state.head, tables, folder)


def plan_hub_push(request: HubPushRequest) -> HubPreview:
    """Return what a push would do now; changes nothing.

    Raises:
        BadData: the version's tag stands for other content, or main would go back
            to an earlier version or to data that was not released (exit 65).
        CsbdataError: no answer, or a refusal.
    """
    repository = HubRepository(name=request.name, time_limits=request.time_limits)
    visibility = repository.visibility()
    if visibility is None:
        plan = plan_for(request.files, {}, ())
        return HubPreview(
            request=request,
            visibility="private" if request.private else "public",
            state=None,
            revision=request.revision,
            new_branch=request.revision != MAIN,
            plan=plan,
        )
    _refuse_taken_tag(repository, request)
    revision = pull_request_of(repository, request) or request.revision
    new_branch = False
    if not revision.startswith("refs/pr/") and revision != MAIN:
        new_branch = revision not in repository.branches()
    state = repository.state(MAIN if new_branch else revision)
    ours = files_listed(repository.manifest(state))
    plan = plan_for(request.files, state.files, ours)
    if not plan.nothing:
        _refuse_to_go_back(repository, request)
    return HubPreview(
        request=request,
        visibility=visibility,
        state=state,
        revision=revision,
        new_branch=new_branch,
        plan=plan,
    )


def _refuse_taken_tag(repository: HubRepository, request: HubPushRequest) -> None:
    commit = repository.tags().get(request.tag) if request.tag else None
    if commit and files_to_send(request.files, repository.files(commit)):
        raise BadData(
            f"{request.tag} is there already and stands for other content",
            request.name,
            "csbdata release computes the next version",
        )


def _refuse_to_go_back(repository: HubRepository, request: HubPushRequest) -> None:
    """Refuse to put less than the newest release in its place on main.

    Other branches may hold what they like: a line of patches, or a preview.

    Raises:
        BadData: a tag on the Hub is of a higher version (exit 65).
    """
    if request.revision != MAIN:
        return
    released = [version for tag in repository.tags() if (version := Version.parse(tag))]
    own = Version.parse(request.facts.data_version)
    if released and (own is None or own < max(released)):
        said = request.facts.data_version
        raise BadData(
            f"{said} would replace {max(released)} on main"
            + ("" if own else f": {said} was never released"),
            request.name,
            "csbdata release, or --revision BRANCH for a branch of its own",
        )


def pull_request_of(repository: HubRepository, request: HubPushRequest) -> str | None:
    """Return the open pull request of an earlier push of this dataset.

    Raises:
        CsbdataError: no answer, or a refusal.
    """
    if not request.create_pr:
        return None
    for number in repository.open_pull_requests():
        reference = f"refs/pr/{number}"
        if request.mark in repository.description(reference):
            return reference
    return None
