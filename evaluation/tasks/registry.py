"""The tasks there are: every folder here whose module `task` holds a `TASK`.

Another package adds one through the entry point group `csbdata.tasks` (the `Task`
itself, or a module that holds one as `TASK`).
"""

from __future__ import annotations

import difflib
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING

import evaluation.tasks
from curation.system.errors import BadConfiguration
from evaluation.core.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUP = "csbdata.tasks"
_ATTRIBUTE = "TASK"


@cache
def tasks() -> Mapping[str, Task]:
    """Return every task by name, in alphabetical order.

    Raises:
        BadConfiguration: two places define one name, or an entry point is no task.
    """
    found: dict[str, Task] = {}
    for place, task in (*_built_in(), *_third_party()):
        if task.name in found:
            raise BadConfiguration(f"a second task named {task.name!r}", place)
        found[task.name] = task
    return MappingProxyType(dict(sorted(found.items())))


def task_named(name: str) -> Task:
    """Return one task.

    Raises:
        BadConfiguration: there is none of this name; the message names alike ones.
    """
    known = tasks()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or known
        raise BadConfiguration(
            f"there is no task {name!r}", then=f"choose of {', '.join(near)}"
        )
    return known[name]


def _built_in() -> Iterator[tuple[str, Task]]:
    for module in pkgutil.iter_modules(evaluation.tasks.__path__):
        if not module.ispkg:
            continue
        place = f"{evaluation.tasks.__name__}.{module.name}.{_ATTRIBUTE.lower()}"
        task = getattr(import_module(place), _ATTRIBUTE, None)
        if isinstance(task, Task):
            yield place, task


def _third_party() -> Iterator[tuple[str, Task]]:
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        loaded = point.load()
        task = getattr(loaded, _ATTRIBUTE, loaded)
        if not isinstance(task, Task):
            raise BadConfiguration(
                f"the entry point {point.name!r} is no task", point.value
            )
        yield point.value, task
