"""`csbdata stats`: the paper's Tables 1, 8, 9 and Figure 2 of any edition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from curation.core.benchmark import CONFIGS
from curation.dataset.editions import DEFAULT_BUILD
from curation.dataset.paper_tables import DRAFTS, TITLES
from curation.system.errors import BadUsage, NoInput
from curation.system.terminal import (
    Format,
    FormatOption,
    log,
    print_json,
    print_screen,
    stdout,
    table,
    with_more,
)
from curation.system.words import counted, shortened

if TYPE_CHECKING:
    from rich.console import Group

    from curation.dataset.edition_statistics import EditionStatistics

#: Categories of Table 1; the user's configs have none.
_CATEGORIES = {
    "Glaiveai2K": "Function Call",
    "Snowplow": "Operational API",
    "Kubernetes": "Kubernetes API",
    "WashingtonPost": "Resource Access API",
}
_MISC = "Misc"
#: Number of listed features and formats.
_TOP = 25


def stats(
    where: Annotated[
        str, typer.Argument(metavar="[DIR]", help="A build, a folder, or owner/name.")
    ] = str(DEFAULT_BUILD),
    name: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME", help="Only this table; repeatable."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every table, not one screen.")
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Print the paper's tables of an edition: counts, measures, drafts, features.

    Example: csbdata stats build/JSONSchemaBench

    Rows of the embedded sample are left out if there are others. For a build under
    the paper's rules Table 8 counts raw files, as in the paper, and so does Table 9's
    row of Kubernetes. The effective size is the number of independent records that a
    config's are worth: n^2 over the sum of the squared sizes of their clusters.
    """
    from curation.dataset.edition_statistics import compute_statistics
    from curation.dataset.editions import open_edition

    edition = open_edition(where)
    if not edition.is_of_the_benchmark:
        message = "no build, and none of its folders is one of the ten configs"
        raise NoInput(message, where, "csbdata build makes one")
    statistics = compute_statistics(edition)
    if statistics.left_out:
        count = sum(statistics.left_out.values())
        log(
            f"{counted(count, 'sample row')} left out: {', '.join(statistics.left_out)}"
        )
    if not statistics.table_1:
        raise NoInput("no schema in it can be read", where)
    if format_ is Format.JSON:
        members = asdict(statistics)
        del members["left_out"]
        print_json(members)
        return
    figure = statistics.figure_2
    tables = {
        "table-1": _table_1(statistics),
        "table-8": _table_8(statistics),
        "table-9": _table_9(statistics.table_9),
        "figure-2a": _figure_2("a", "feature", figure["features"]),
        "figure-2b": _figure_2("b", "format", figure["formats"]),
    }
    if not name and not everything:
        print_screen(with_more(here=("stats", where)), tables, ())
        return
    for title in name or tables:
        if title not in tables:
            hint = f"say one of {', '.join(tables)}"
            raise BadUsage(f"no table {title!r}", where, hint)
        stdout().print(tables[title])


def _table_1(statistics: EditionStatistics) -> Group:
    counts, sizes = statistics.table_1, statistics.effective_sizes
    rows: list[list[object]] = [
        [
            config,
            _CATEGORIES.get(config, _MISC) if config in CONFIGS else "",
            count,
            round(sizes[config]) if sizes else "-",
        ]
        for config, count in counts.items()
    ]
    ten = [count for config, count in counts.items() if config in CONFIGS]
    if ten:
        rows.insert(len(ten), ["total", "", sum(ten), ""])
    return table(
        ["config", "category", "records", "effective size"],
        rows,
        title="Table 1: records, and what they are worth",
        numbers=[2, 3],
    )


def _table_8(statistics: EditionStatistics) -> Group:
    rows = []
    for config, measures in statistics.table_8.items():
        forms = dict.fromkeys(measures, "{:,.0f} / {:,.0f}")
        forms["size_kb"] = "{:,.1f} / {:,.1f}"
        cells = (
            forms[name].format(spread.median, spread.most)
            for name, spread in measures.items()
        )
        rows.append([config, *cells])
    return table(
        ["config", *TITLES.values()],
        rows,
        title=f"Table 8: measures of the {statistics.table_8_of}, "
        "median (of two the upper) / largest",
        numbers=range(1, 5),
    )


def _table_9(counts: Mapping[str, Mapping[str, int]]) -> Group:
    rows: list[list[object]] = [
        [config, *drafts.values()] for config, drafts in counts.items()
    ]
    ten = [drafts for config, drafts in counts.items() if config in CONFIGS]
    if ten:
        sums = [sum(drafts[draft] for drafts in ten) for draft in DRAFTS]
        rows.insert(len(ten), ["total", *sums])
    return table(
        ["config", *DRAFTS],
        rows,
        title="Table 9: drafts that the root's $schema names",
        numbers=range(1, 7),
    )


def _figure_2(letter: str, name: str, counts: Mapping[str, int]) -> Group:
    limit = f", the first {_TOP} of {len(counts)}" if len(counts) > _TOP else ""
    return table(
        [name, "records"],
        [(shortened(value), count) for value, count in [*counts.items()][:_TOP]],
        title=f"Figure 2{letter}: records with each {name}{limit}",
        numbers=[1],
    )
