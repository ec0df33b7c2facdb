"""What arXiv 2501.10868 prints in its tables, to stand beside what was measured."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from evaluation.reporting.tables import FixedFigure, MissingFigure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.reporting.tables import Cell

#: By the number of a table, the dataset (empty where a table has none) and the
#: framework.
_Tables: TypeAlias = "dict[str, dict[str, dict[str, list[float | str]]]]"
#: Tables that are the first columns of another one: its number, and how many.
_PARTS: Final = {2: (12, 3), 3: (13, 3)}


def printed(number: int, dataset: str = "") -> Mapping[str, tuple[Cell, ...]]:
    """Return the figures that the paper prints, by framework, in its own order.

    Args:
        number: 2, 3, 4, 5, 6, 7, 12 or 13.
        dataset: As the paper names it; empty for a table without datasets.

    Example:
        >>> [str(cell) for cell in printed(3, "GlaiveAI")["XGrammar"]]
        ['0.12', '0.30', '66.78']
    """
    whole, columns = _PARTS.get(number, (number, None))
    found = _figures()[str(whole)].get(dataset, {})
    return {
        framework: tuple(map(_cell, figures[:columns]))
        for framework, figures in found.items()
    }


def _cell(figure: float | str) -> Cell:
    match figure:
        case str():
            return MissingFigure(figure)
        case int():
            return figure
        case _:
            return FixedFigure(figure)


@cache
def _figures() -> _Tables:
    text = files(__package__).joinpath("paper_figures.toml").read_text("utf-8")
    return msgspec.convert(
        tomllib.loads(text), dict[str, dict[str, dict[str, list[int | float | str]]]]
    )
