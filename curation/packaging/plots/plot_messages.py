"""What the process that draws a folder's plots is told, and what it answers."""

from __future__ import annotations

import msgspec

from curation.dataset.paper_tables import Spread


class PaperFigure2(msgspec.Struct, frozen=True, kw_only=True):
    """In how many schemas each feature and each format occurs, most first."""

    features: dict[str, int]
    formats: dict[str, int]


class PaperTables(msgspec.Struct, frozen=True, kw_only=True):
    """The paper's tables of a folder, as `csbdata stats --format json` prints them."""

    #: Config to its schemas.
    table_1: dict[str, int]
    #: Config to measure to how it is distributed.
    table_8: dict[str, dict[str, Spread]]
    #: What Table 8 was computed on: `raw files` or `records`.
    table_8_of: str
    #: Config to draft to the schemas that declare it.
    table_9: dict[str, dict[str, int]]
    figure_2: PaperFigure2
    #: Config to its rows of the embedded sample, which are not counted.
    left_out: dict[str, int]


class PlotAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The plots of the tables."""

    #: File name to content; in base 64 on its way, as msgspec writes bytes.
    plots: dict[str, bytes]
