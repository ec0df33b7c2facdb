"""Select the participants of a run; check its request before anything is fetched."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from curation.system.errors import BadUsage, Unavailable, install_extra
from curation.system.registry import closest_names
from evaluation.setup.selected_engines import EngineUnderTest, select_engines
from evaluation.tasks import tasks as all_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.records import TokenPrices
    from evaluation.core.run_header import Constraint, TaskSettings
    from evaluation.core.task import Task
    from evaluation.runner.request import ModelOptions, RunRequest, SuiteChoice
    from evaluation.servers.model_server import ModelServer


class Side(NamedTuple):
    """A model with the engines it writes under, or the ways in which it is asked."""

    options: ModelOptions
    #: A local model's engines.
    engines: Sequence[EngineUnderTest] = ()
    #: A server's model, once for each way to send a schema.
    servers: Sequence[ModelServer] = ()
    #: What the tokens of a server cost; None if that is not known.
    prices: TokenPrices | None = None

    @property
    def constraints(self) -> Sequence[Constraint]:
        """All that constrain the model."""
        return (*self.engines, *self.servers)


def list_participants(
    request: RunRequest, tasks: Sequence[Task], choice: SuiteChoice | None
) -> list[Side]:
    """Return each model of a request with the engines it writes under.

    Args:
        request: The request, checked here too.
        tasks: Its tasks.
        choice: The suite that models are asked; None if none is.

    Raises:
        BadUsage: a setting that no task reads, an unknown engine, way to ask or
            option, or a task wants masks of a server.
        Unavailable: a library is missing, no engine can be used here, or a server does
            not answer (exit 69).
    """
    _check_settings(tasks, request.settings, choice)
    named = ", ".join(task.name for task in tasks)
    if request.repeats > 1 and not any(task.takes_turns for task in tasks):
        timed = [task.name for task in all_tasks().values() if task.takes_turns]
        raise BadUsage(
            f"repeats: the times of {named} are no results",
            hint=f"add --task {timed[0]}" if timed else "",
        )
    walking = [task.name for task in tasks if not task.needs_model]
    if walking and any(options.over_http for options in request.models):
        raise BadUsage(
            f"a server gives no masks, so it cannot be asked for {', '.join(walking)}",
            hint="say --task coverage --task efficiency",
        )
    sides = list_engines(request)
    _check_usable(
        [constraint for side in sides for constraint in side.constraints],
        request,
        tasks,
        choice,
    )
    return sides


def list_engines(request: RunRequest) -> list[Side]:
    """Return each model of a request with the engines it writes under.

    A server is asked in the ways that `--engine` names.

    Raises:
        BadUsage: no such engine, way to ask or option, or what a
            limit of cost is to be counted by.
        Unavailable: a server does not answer (exit 69).
    """
    sides: list[Side] = []
    for options in request.models:
        if not options.over_http:
            engines = select_engines(
                request.fetch.cache,
                request.engine_specs,
                request.preset,
                request.options,
            )
            sides.append(Side(options=options, engines=engines))
            continue
        if request.options and all(options.over_http for options in request.models):
            raise BadUsage(
                f"--option {request.options[0]}: a server has no options",
                hint="it is constrained by what it was started with",
            )
        from evaluation.servers.client import RequestLimits  # noqa: PLC0415 - of servers alone
        from evaluation.servers.model_server import served_model  # noqa: PLC0415 - as above
        from evaluation.servers.models import find_prices  # noqa: PLC0415 - as above

        limits = RequestLimits(
            seconds=request.bounds.run_seconds, patience=options.patience
        )
        servers = [
            replace(server, adapt=request.adapt)
            for server in served_model(options.model, request.engine_specs, limits)
        ]
        connection = servers[0].connection
        prices = find_prices(options.prices, connection, request.max_cost)
        sides.append(Side(options=options, servers=servers, prices=prices))
    return sides


def _check_settings(
    tasks: Sequence[Task], settings: TaskSettings, choice: SuiteChoice | None
) -> None:
    """Check that a task of the run, or its suite, reads every setting that it is given.

    Args:
        tasks: The tasks of the run.
        settings: Their settings.
        choice: The suite that models are asked; None if none is.

    Raises:
        BadUsage: no task reads one of them.
    """
    names = [*settings.values, *(["orders"] if settings.orders else [])]
    accepted = {setting.name for task in tasks for setting in task.settings}
    if choice is not None:
        accepted |= set(choice.suite.settings.__struct_fields__)
    for name in names:
        if name not in accepted:
            named = ", ".join(task.name for task in tasks)
            raise BadUsage(
                f"no task of this run ({named}) has the setting {name!r}",
                hint=_alternatives(name, tasks, accepted),
            )


def _alternatives(name: str, tasks: Sequence[Task], accepted: set[str]) -> str:
    """Return other tasks that have the setting, or other settings of these."""
    other_tasks = [
        task.name
        for task in all_tasks().values()
        if any(setting.name == name for setting in task.settings)
    ]
    if other_tasks:
        return f"{' and '.join(other_tasks)} has it: --task {other_tasks[0]}"
    close = closest_names(name, accepted)
    if close:
        return f"did you mean {close[0]}?"
    meanings = {s.name: s.meaning for task in tasks for s in task.settings}
    settings = [
        f"{name} ({meanings[name]})" if name in meanings else name
        for name in sorted(accepted)
    ]
    return f"there are: {', '.join(settings)}" if settings else "they have none"


def _check_usable(
    engines: Sequence[Constraint],
    request: RunRequest,
    tasks: Sequence[Task],
    choice: SuiteChoice | None,
) -> None:
    """Check that there is something to measure with, before 93 MB are fetched for it.

    Raises:
        Unavailable: a library is missing, or no engine can be used here.
    """
    local = [options for options in request.models if not options.over_http]
    if (tasks or local) and find_spec("tokenizers") is None:
        raise Unavailable(
            "encoding texts needs the library tokenizers", hint=install_extra("eval")
        )
    heads = [engine.header() for engine in engines]
    if all(head["unavailable"] for head in heads):
        reasons = (f"{head['engine']}: {head['unavailable']}" for head in heads)
        installs = dict.fromkeys(str(head["install"] or "") for head in heads)
        raise Unavailable(
            f"no engine of this run can be used here ({'; '.join(reasons)})",
            hint=" or ".join(filter(None, installs)),
        )
    if local and choice is not None:
        from evaluation.models.store import check_installed  # noqa: PLC0415 - of models alone

        check_installed()
