"""Import functions when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def imported_late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports a function when it is called, and calls it.

    Help texts read the lists of tasks and suites, and workers need no tables.

    Args:
        module: Its dotted name.
        name: The function or class in it.
    """

    def call(*arguments: object) -> object:
        return getattr(import_module(module), name)(*arguments)

    return call
