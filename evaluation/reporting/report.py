"""A task's report: tables and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.reporting.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One picture; drawn only where somebody wants the file."""

    #: Name of the file, without its suffix.
    name: str
    #: Draws on the matplotlib Figure it is given.
    draw: Callable[[Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a task makes of a run."""

    tables: tuple[Table, ...]
    plots: tuple[Plot, ...] = ()
