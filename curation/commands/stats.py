"""`csbdata stats`: the paper's Tables 1, 8, 9 and Figure 2 of any edition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from curation.core.benchmark import CONFIGS
from curation.dataset.editions import DEFAULT_BUILD
from curation.system.errors import NoInput
from curation.system.escaping import shortened
from curation.system.tables import table
from curation.system.terminal import Format, FormatOption, print_json, say, show, stdout
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.dataset.edition_statistics import EditionStatistics
    from curation.dataset.paper_tables import SchemaMeasures, Spread

#: Categories of Table 1; what the user adds has none.
_CATEGORIES = {
    "Glaiveai2K": "Function Call",
    "Snowplow": "Operational API",
    "Kubernetes": "Kubernetes API",
    "WashingtonPost": "Resource Access API",
}
_MISC = "Misc"
#: Features and formats that are listed.
_TOP = 25


def stats(
    where: Annotated[
        str,
        typer.Argument(metavar="[DIR]", help="A build, a folder, or owner/name."),
    ] = str(DEFAULT_BUILD),
    format_: FormatOption = Format.AUTO,
) -> None:
    """Print the paper's tables of an edition: counts, measures, drafts, features.

    Example: csbdata stats build/JSONSchemaBench

    Rows of the embedded sample are left out if there are others. For a build under
    the paper's rules Table 8 counts raw files, as in the paper, and so does Table 9's
    row of Kubernetes. The effective size is the number of independent records that a
    config's are worth: n^2 over the sum of the squared sizes of their clusters. The
    last table counts the records of each config by `live_fields`, the fields that lead
    to a keyword which some value can violate.
    """
    from curation.dataset.edition_statistics import as_json, statistics_of
    from curation.dataset.editions import open_edition

    edition = open_edition(where)
    if not edition.is_of_the_benchmark:
        what = "no build, and none of its folders is one of the ten configs"
        raise NoInput(what, where, "csbdata build makes one")
    statistics = statistics_of(edition)
    if statistics.left_out:
        count = sum(statistics.left_out.values())
        say(
            f"{counted(count, 'sample row')} left out: {', '.join(statistics.left_out)}"
        )
    if not statistics.records:
        raise NoInput("no schema in it can be read", where)
    if format_ is Format.JSON:
        print_json(as_json(statistics))
    else:
        _print(statistics)


def _print(statistics: EditionStatistics) -> None:
    _print_table_1(statistics)
    _print_table_8(statistics)
    _print_table_9(statistics.declared)
    _print_figure_2(statistics.records)
    _print_sizes(statistics)


def _print_table_1(statistics: EditionStatistics) -> None:
    from curation.dataset.paper_tables import table_1

    counts, sizes = table_1(statistics.records), statistics.effective
    rows: list[list[object]] = [
        [config, _category(config), count, round(sizes[config]) if sizes else "-"]
        for config, count in counts.items()
    ]
    total = sum(count for config, count in counts.items() if config in CONFIGS)
    rows.insert(sum(config in CONFIGS for config in counts), ["total", "", total, ""])
    show("Table 1: records, and what they are worth", style="bold")
    headers = ["config", "category", "records", "effective size"]
    stdout().print(table(headers, rows, numbers=[2, 3]))


def _category(config: str) -> str:
    return _CATEGORIES.get(config, _MISC) if config in CONFIGS else ""


def _print_table_8(statistics: EditionStatistics) -> None:
    from curation.dataset.paper_tables import TITLES, table_8

    rows = [
        [config, *(_middle_and_most(name, spread) for name, spread in measures.items())]
        for config, measures in table_8(statistics.measured).items()
    ]
    headers = ["config", *TITLES.values()]
    whose = "raw files" if statistics.raw else "records"
    show(f"Table 8: measures of the {whose}, median / largest", style="bold")
    stdout().print(table(headers, rows, numbers=range(1, 5)))


def _middle_and_most(name: str, spread: Spread) -> str:
    form = "{:,.1f} / {:,.1f}" if name == "size_kb" else "{:,.0f} / {:,.0f}"
    return form.format(spread.median, spread.most)


def _print_table_9(schemas: Sequence[SchemaMeasures]) -> None:
    from curation.dataset.paper_tables import DRAFTS, table_9

    counts = table_9(schemas)
    rows: list[list[object]] = [
        [config, *drafts.values()] for config, drafts in counts.items()
    ]
    ten = [drafts for config, drafts in counts.items() if config in CONFIGS]
    sums = [sum(drafts[draft] for drafts in ten) for draft in DRAFTS]
    rows.insert(len(ten), ["total", *sums])
    show("Table 9: drafts that the root's $schema names", style="bold")
    stdout().print(table(["config", *DRAFTS], rows, numbers=range(1, 7)))


def _print_figure_2(schemas: Sequence[SchemaMeasures]) -> None:
    from curation.dataset.paper_tables import figure_2

    figure = figure_2(schemas)
    for letter, name, counts in (
        ("a", "feature", figure.features),
        ("b", "format", figure.formats),
    ):
        show(f"Figure 2{letter}: records with each {name}", style="bold")
        rows = [(shortened(value), count) for value, count in counts[:_TOP]]
        stdout().print(table([name, "records"], rows, numbers=[1]))
        if len(counts) > _TOP:
            show(f"... and {len(counts) - _TOP:,} more (--format json)")


def _print_sizes(statistics: EditionStatistics) -> None:
    from curation.core.benchmark import size_names

    if not statistics.live_sizes:
        return
    rows = [
        [config, *sizes.values()] for config, sizes in statistics.live_sizes.items()
    ]
    show("Records by their live fields; configs go by all fields", style="bold")
    stdout().print(table(["config", *size_names()], rows, numbers=range(1, 6)))
