"""What is checked of a request before anything is fetched for it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from curation.system.errors import BadUsage, Unavailable
from curation.system.extras import install_extra
from curation.system.registry import closest_names
from evaluation.models.shapes.catalogue import check_learnt
from evaluation.models.store import check_installed
from evaluation.tasks.registry import task_named
from evaluation.tasks.registry import tasks as known_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.participant import Participant
    from evaluation.core.task import Task
    from evaluation.core.task_settings import TaskSettings
    from evaluation.measurement.request import RunRequest


def check_settings(tasks: Sequence[Task], settings: TaskSettings) -> None:
    """Check that a task of the run reads every setting that it is given.

    Args:
        tasks: The tasks of the run.
        settings: What they are told.

    Raises:
        BadUsage: no task reads one of them, or it has an option of its own; says which
            there are.
    """
    if "orders" in settings.values:
        raise BadUsage("--set orders: it has an option of its own", then="--orders N")
    given = [*settings.values, *(["orders"] if settings.orders else [])]
    accepted = {setting.name for task in tasks for setting in task.settings}
    for name in given:
        if name not in accepted:
            named = ", ".join(task.name for task in tasks)
            raise BadUsage(
                f"no task of this run ({named}) has the setting {name!r}",
                then=_alternatives(name, tasks),
            )


def check_repeats(tasks: Sequence[Task], repeats: int) -> None:
    """Check that a task of the run takes times, if they are to be taken repeatedly.

    Args:
        tasks: The tasks of the run.
        repeats: How often every case is to be measured.

    Raises:
        BadUsage: none of them does.
    """
    if repeats > 1 and not any(task.takes_turns for task in tasks):
        named = ", ".join(task.name for task in tasks)
        timed = [task.name for task in known_tasks().values() if task.takes_turns]
        raise BadUsage(
            f"--repeats: the times of {named} are no results",
            then=f"add --task {timed[0]}" if timed else "",
        )


def _alternatives(name: str, tasks: Sequence[Task]) -> str:
    """Return what can be said instead: the same of other tasks, or others of these."""
    others = [
        task.name
        for task in known_tasks().values()
        if any(setting.name == name for setting in task.settings)
    ]
    if others:
        return f"{' and '.join(others)} has it: --task {others[0]}"
    settings = {setting.name: setting for task in tasks for setting in task.settings}
    close = closest_names(name, settings)
    if close:
        return f"did you mean {close[0]}?"
    known = (f"{setting.name} ({setting.meaning})" for setting in settings.values())
    return f"there are: {', '.join(known)}" if settings else "they have none"


def check_usable(participants: Sequence[Participant], request: RunRequest) -> None:
    """Check that there is something to measure with, before 93 MB are fetched for it.

    Args:
        participants: Who takes part.
        request: Says which tasks there are, and which model.

    Raises:
        Unavailable: a library is missing, or no engine can be used here.
        BadUsage: texts of a model without weights of its own were to be judged.
        BadConfiguration: a task needs a model, and the libraries for it are missing.
    """
    if find_spec("tokenizers") is None:
        raise Unavailable(
            "encoding texts needs the library tokenizers",
            then=install_extra("eval"),
        )
    heads = [participant.header() for participant in participants]
    if all(head["unavailable"] for head in heads):
        reasons = (f"{head['engine']}: {head['unavailable']}" for head in heads)
        installs = dict.fromkeys(str(head["install"] or "") for head in heads)
        raise Unavailable(
            f"no engine of this run can be used here ({'; '.join(reasons)})",
            then=" or ".join(filter(None, installs)),
        )
    for name in request.tasks:
        if task_named(name).judges_texts:
            check_learnt(request.models.model, name)
    writes = any(task_named(name).needs_model for name in request.tasks)
    if writes and not request.models.over_http:
        check_installed()
