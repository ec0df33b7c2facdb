"""The tasks: every file here with a `TASK`, or folder with one in its module `task`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from curation.system.registry import Registry
from evaluation.core.task import Task

_REGISTRY = Registry[Task](
    noun="task",
    classes=(Task,),
    attribute="TASK",
    package="evaluation.tasks",
    module="task",
)


@cache
def tasks() -> Mapping[str, Task]:
    """Return every task by name, in alphabetical order.

    Raises:
        BadConfiguration: two places define one name.
    """
    return MappingProxyType(dict(sorted(_REGISTRY.by_name().items())))


def task_named(name: str) -> Task:
    """Return one task.

    Raises:
        BadConfiguration: unknown name; the message suggests similar ones.
    """
    task = named_alike(name)
    if task is not None:
        return task
    by_name = tasks()
    if name not in by_name:
        raise _REGISTRY.unknown(name, by_name)
    return by_name[name]


def named_alike(name: str) -> Task | None:
    """Return the task whose module has its name; None if none has. Imports no other."""
    tasks_there = (task for _, task in _REGISTRY.built_in(only=name))
    return next((task for task in tasks_there if task.name == name), None)
