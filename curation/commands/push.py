"""`csbdata push`: verify a dataset folder and publish it, whole or not at all."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.terminal import Format, FormatOption, print_json, say, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson
    from curation.publish.plan import PushPlan
    from curation.publish.preview import HubPush, PushPreview
    from curation.publish.push import Pushed
    from curation.publish.record_changes import RecordChanges
    from curation.publish.verified_folder import VerifiedFolder
    from curation.system.progress import Progress

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_MAIN = "main"
#: Files named of each kind before the rest is counted.
_FEW = 20


def push(  # noqa: PLR0913 (one parameter an option)
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The dataset folder.")
    ] = Path("build/JSONSchemaBench"),
    repo: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="The dataset on the Hub.")
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            metavar="DIR|URL",
            help="Write it there instead: a folder, or what fsspec knows (s3://...).",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
    public: Annotated[
        bool,
        typer.Option("--public", help="Let everyone see a repository made here."),
    ] = False,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Push a partial build too.")
    ] = False,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Propose it as a pull request.")
    ] = False,
    revision: Annotated[
        str, typer.Option(metavar="BRANCH", help="The branch to push to.")
    ] = _MAIN,
    message: Annotated[
        str, typer.Option(help="The commit's message [default: name and version].")
    ] = "",
    jobs: Annotated[
        int, typer.Option(min=1, help="Worker processes of the verification.")
    ] = 2,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Publish a dataset folder: verified, in one commit, read back, then tagged.

    What readers see is the old state or the new one. Killed at whatever moment, the
    same command goes on. Only files that csbdata has put there are ever deleted. A
    repository that is made is private without --public. The token is the one of
    `hf auth login`, of HF_TOKEN, or of a trusted publisher.

    Exits with 65 if the folder does not verify or came back otherwise (no tag is set
    then), 69 if the Hub cannot be reached, 75 if somebody else committed in the
    meantime or the Hub limits the rate, 77 if the token may not.

    \b
    Examples:
      csbdata push --repo OWNER/JSONSchemaBench --dry-run
      csbdata push --repo OWNER/JSONSchemaBench --public -y
      csbdata push --repo OWNER/JSONSchemaBench --create-pr
      csbdata push --to /srv/data/JSONSchemaBench
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.publish.verified_folder import verify_for_push
    from curation.system.progress import Quiet, Shown

    _check_usage(repo, to, revision, create_pr=create_pr)
    way = _Way(folder=folder, dry_run=dry_run, yes=yes, as_json=format_ is Format.JSON)
    way.check()
    progress = Quiet() if way.as_json else Shown()
    ready = verify_for_push(
        folder, allow_partial=allow_partial, jobs=jobs, progress=progress
    )
    if to:
        _write_elsewhere(way, ready, to)
        return
    from curation.publish.preview import HubPush

    request = HubPush(
        folder=folder,
        files=ready.files,
        manifest=ready.manifest,
        name=repo,
        revision=revision,
        create_pr=create_pr,
        private=not public,
        message=message,
    )
    _push_to_hub(way, request, progress)


def _check_usage(repo: str, to: str, revision: str, *, create_pr: bool) -> None:
    """Refuse what makes no sense.

    Raises:
        BadParameter: it makes none (exit 2).
    """
    if bool(repo) == bool(to):
        raise typer.BadParameter("either --repo OWNER/NAME or --to DIR|URL")
    if repo and not _NAME.fullmatch(repo):
        raise typer.BadParameter(f"--repo {repo!r}: a dataset is OWNER/NAME")
    if to.startswith("hf://"):
        raise typer.BadParameter("--to writes file by file; the Hub is --repo")
    if create_pr and (to or revision != _MAIN):
        raise typer.BadParameter("a pull request is made for main, on the Hub")


def _interactive() -> bool:
    return sys.stdin.isatty()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How the user wants it."""

    folder: Path
    dry_run: bool
    yes: bool
    as_json: bool

    def check(self) -> None:
        """Refuse to begin where nobody could be asked in the end.

        Raises:
            BadParameter: nobody could (exit 2).
        """
        asks = not (self.dry_run or self.yes)
        if asks and (self.as_json or not _interactive()):
            raise typer.BadParameter(
                "nobody can be asked here: -y pushes, --dry-run shows the plan"
            )

    def agreed(self, question: str) -> bool:
        """Ask, unless the answer is known."""
        return self.yes or typer.confirm(question, err=True)


def _push_to_hub(way: _Way, request: HubPush, progress: Progress) -> None:
    from curation.huggingface.session import patient_client
    from curation.publish.preview import plan_push
    from curation.publish.push import push
    from curation.publish.record_changes import SUFFIX
    from curation.publish.repository import HubRepository

    with patient_client(request.patience, bars=sys.stderr.isatty() and not way.as_json):
        prospect = plan_push(request)
        state = prospect.state

        def fetch(into: Path) -> None:
            if state is not None:
                tables = [name for name in state.files if name.endswith(SUFFIX)]
                HubRepository(name=request.name).fetch(state.head, tables, into)

        changes = _changes(way.folder, prospect.plan, fetch)
        if not way.as_json:
            say(_headline(prospect))
            _print_plan(prospect.plan, changes)
        answer = {
            "visibility": prospect.visibility,
            **_answer(request.name, prospect.plan, changes),
        }
        if way.dry_run or not (prospect.plan.nothing or way.agreed("Push it?")):
            _finish(way, {**answer, "done": "nothing"}, "Nothing was changed.")
            return
        pushed = push(prospect, progress)
    _finish(way, {**answer, **_outcome(pushed)}, _sentence(request, pushed))


def _headline(prospect: PushPreview) -> str:
    request = prospect.request
    name = f"{request.name} ({prospect.visibility})"
    if prospect.state is None:
        return f"{name}: not there yet, will be made"
    if request.create_pr and not prospect.revision.startswith("refs/pr/"):
        return f"{name}: a new pull request on {prospect.state.head[:12]}"
    made = ", a new branch" if prospect.new_branch else ""
    return f"{name}: {prospect.revision} at {prospect.state.head[:12]}{made}"


def _outcome(pushed: Pushed) -> dict[str, UntypedJson]:
    return {
        "done": "checked" if pushed.unchanged else "pushed",
        "commit": pushed.commit,
        "tag": pushed.tag,
        "pull_request": pushed.pull_request,
    }


def _sentence(request: HubPush, pushed: Pushed) -> str:
    did = "There already" if pushed.unchanged else "Pushed"
    parts = [f"{did}, read back and compared: {request.name}@{pushed.commit}."]
    if pushed.pull_request:
        parts.append(f"Merge {pushed.pull_request}, then push again to tag it.")
    elif pushed.tag:
        parts.append(f"Tagged {pushed.tag}.")
    else:
        parts.append("Not tagged: csbdata release gives the data a version.")
    return " ".join(parts)


def _write_elsewhere(way: _Way, ready: VerifiedFolder, to: str) -> None:
    from curation.publish.fsspec_target import place, plan_write, records_of, write

    target = place(to)
    plan = plan_write(target, ready.files)
    changes = _changes(way.folder, plan, lambda into: records_of(target, into))
    if not way.as_json:
        say(target.shown)
        _print_plan(plan, changes)
    answer = _answer(target.shown, plan, changes)
    if way.dry_run or not (plan.nothing or way.agreed("Write it?")):
        _finish(way, {**answer, "done": "nothing"}, "Nothing was changed.")
        return
    write(way.folder, ready.files, target, plan)
    done = "checked" if plan.nothing else "written"
    _finish(way, {**answer, "done": done}, f"Written and read back: {target.shown}")


def _changes(
    folder: Path, plan: PushPlan, fetch: Callable[[Path], None]
) -> RecordChanges:
    """Compare the records, where a table differs and there are any there."""
    from curation.publish.record_changes import SUFFIX, RecordChanges, record_changes

    touched = (*plan.written, *plan.deleted)
    if not any(name.endswith(SUFFIX) for name in touched):
        return RecordChanges(why_not="no table differs")
    with TemporaryDirectory() as there:
        fetch(Path(there))
        if not any(Path(there).iterdir()):
            return RecordChanges(why_not="there are none there")
        return record_changes(Path(there), folder)


def _answer(
    where: str, plan: PushPlan, changes: RecordChanges
) -> dict[str, UntypedJson]:
    return {"where": where, "plan": plan.as_json(), "records": changes.as_json()}


def _finish(way: _Way, answer: UntypedJson, sentence: str) -> None:
    if way.as_json:
        print_json(answer)
    else:
        show(sentence)


def _print_plan(plan: PushPlan, changes: RecordChanges) -> None:
    for sign, word, names in (
        ("+", "added", plan.added),
        ("~", "changed", plan.changed),
        ("-", "deleted", plan.deleted),
        (" ", "not ours, left alone", plan.left_alone),
    ):
        if names:
            show(f"{len(names):,} {word}")
        for name in names[:_FEW]:
            show(f"  {sign} {name}")
        if len(names) > _FEW:
            show(f"  ... and {len(names) - _FEW:,} more (--format json)")
    show(f"{len(plan.unchanged):,} unchanged; {plan.bytes:,} bytes to send")
    show(str(changes))
