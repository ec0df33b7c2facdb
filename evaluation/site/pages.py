"""The first page, the pages of engines, and the page about the edition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from curation.core.documents import Explained
from evaluation.reporting.tables import Rate, Table
from evaluation.results.edition import COLUMNS, INDEX, ROWS, scorecards_table
from evaluation.results.fits import fits_table, read_fits
from evaluation.results.headline import ALL
from evaluation.results.outcomes import Outcome
from evaluation.site.keywords import keywords_of_messages
from evaluation.site.rendering import engine_path, render
from evaluation.site.schema import PROFILES, script
from evaluation.site.site import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.results.edition import Line
    from evaluation.site.site import Site

#: Examples of a cause.
_EXAMPLES: Final = 3
#: Times of an engine, by columns of the headline.
_TIMES: Final = {
    "compile": "compile_median",
    "first mask": "first_median",
    "mask": "mask_median",
}


class Class(Explained):
    """What became of a schema, for who has to choose."""

    RIGHT = (
        "taken and right",
        "every valid text could be written, every invalid one was blocked",
    )
    REFUSED = (
        "refused honestly",
        "the schema was not compiled, and the engine said so",
    )
    SILENT = (
        "accepts invalid",
        "compiled, and an invalid text could be written, warned of or not",
    )
    BLOCKED = ("blocked valid", "a valid text could not be written")
    DIED = ("died", "crashed, ran out of time or memory, or was at odds with itself")
    UNTESTED = ("untested", "compiled, and there was no text to judge by")


def compute_rates(line: Line) -> dict[Class, Rate]:
    """Return the share of each class, by a line of the headline."""
    counts = [
        line["passed"],
        line["refused"],
        line["accepts_invalid"],
        line["blocks_valid"],
        line["limited"] + line["failed"],
    ]
    counts.append(line["asked"] - sum(counts))
    return {
        each: Rate(count, line["asked"])
        for each, count in zip(Class, counts, strict=True)
    }


def front(site: Site) -> Iterator[Page]:
    """Yield the first page, which judges a pasted schema, and its script."""
    yield render(
        site,
        "index.html",
        "front",
        "Which providers accept my schema?",
        needs=("python", "judge", "schema-page"),
        profiles=PROFILES,
        classes=Class,
        times=_TIMES,
        rates={engine: compute_rates(line) for engine, line in site.headline.items()},
        timed=max(
            (value["schemas"] or 0 for value in site.headline.values()), default=0
        ),
        by_config=_by_config(site),
        providers=fits_table(read_fits(site.folder)),
    )
    yield Page(path="judge.js", content=script().encode())


def _by_config(site: Site) -> Table:
    """Return the share of each config that engines take and get right."""
    rates = {
        (line["engine"], line["config"]): Rate(line["passed"], line["asked"])
        for line in site.figures
    }
    configs = dict.fromkeys(line["config"] for line in site.figures)
    configs.pop(ALL, None)
    return Table(
        title="Taken and right, by config of the dataset",
        columns=("engine", *configs),
        rows=tuple(
            (engine, *(rates.get((engine, config)) for config in configs))
            for engine in site.headline
        ),
    )


def engines(site: Site) -> Iterator[Page]:
    """Yield the page of each engine: its versions, what stops it, causes."""
    keywords = keywords_of_messages(site)
    for entry in site.index.engines:
        lines = site.masks.filter(engine=entry.engine).sort("config", "id")
        names = [keywords.get(message, "") for message in lines["message"]]
        refused = lines.with_columns(name=pl.Series(names, dtype=pl.String))
        causes = lines.with_columns(name=pl.col("why").str.split(" | "))
        yield render(
            site,
            engine_path(entry.engine),
            "engine",
            entry.engine,
            entry=entry,
            masks=lines.height,
            classes=Class,
            times=_TIMES,
            rates={
                engine.engine: compute_rates(site.headline[engine.engine])
                for engine in site.index.engines
                if engine.name == entry.name and engine.engine in site.headline
            },
            refusals=_ranked(refused.filter(outcome="compile_error")),
            causes=_ranked(causes.explode("name").filter(pl.col("name") != "")),
        )


def _ranked(lines: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the names of lines with their count and first records.

    The most frequent first, the empty one last.
    """
    groups = lines.group_by("name").agg(
        count=pl.len(), examples=pl.col("key").head(_EXAMPLES)
    )
    order = (pl.col("name") == "", -pl.col("count").cast(pl.Int64), "name")
    return groups.sort(*order).to_dicts()


def about(site: Site) -> Iterator[Page]:
    """Yield the page about the edition: how it was measured, files, columns, words."""
    yield render(
        site,
        "about.html",
        "about",
        "How it was measured, and the data",
        columns={name: meaning for name, (_, meaning) in COLUMNS.items()},
        files=[ROWS, INDEX],
        outcomes=Outcome,
        suites=scorecards_table(site.index),
    )
