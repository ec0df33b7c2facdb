"""`csbdata stats`: the paper's Tables 1, 8, 9 and Figure 2 of any edition."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path  # noqa: TC003 - typer reads it off the signature
from typing import TYPE_CHECKING, Annotated

import typer

from curation.benchmark import CONFIGS
from curation.documents import Origin
from curation.faults import BadConfiguration, CannotCreate, NoInput
from curation.terminal import Format, FormatOption, print_json, say, show, stdout, table
from curation.visible_text import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.documents import Json
    from curation.editions import Edition
    from curation.tables import Sight, Spread

_BUILD = "build/JSONSchemaBench"
#: Categories of Table 1; what the user adds has none.
_CATEGORIES = {
    "Glaiveai2K": "Function Call",
    "Snowplow": "Operational API",
    "Kubernetes": "Kubernetes API",
    "WashingtonPost": "Resource Access API",
}
_MISC = "Misc"
_TITLES = {
    "size_kb": "Size (KB)",
    "field_count": "Field count",
    "max_fan_out": "Max fan-out",
    "schema_depth": "Schema depth",
}
#: Bars of Figure 2.
_BARS = 30
#: The config that the paper's Table 9 counts before any rule.
_RAW_IN_TABLE_9 = "Kubernetes"


def stats(
    where: Annotated[
        str,
        typer.Argument(metavar="[DIR]", help="A build, a folder, or owner/name."),
    ] = _BUILD,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also draw them there, as SVG and PNG."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Features and formats to list.")] = 25,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Print the paper's tables of an edition: counts, measures, drafts, features.

    Example: csbdata stats build/JSONSchemaBench --plots plots

    Rows of the embedded sample are left out where there are others. Of a build under
    the paper's rules Table 8 is that of the raw files, as in the paper, and so is
    Table 9's row of Kubernetes.
    """
    from curation.editions import open_edition
    from curation.raw_sights import raw_sights
    from curation.tables import sights

    edition = open_edition(where)
    seen = sights(_real_rows(edition))
    if not seen:
        raise NoInput("no schema in it can be read", where)
    views = Views(records=seen, raw=raw_sights(edition.folder))
    if plots is not None:
        _draw(views, plots)
    if format_ is Format.JSON:
        print_json(as_json(views))
    else:
        _print(views, top)


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """What is counted: the records, and the raw files where they were measured."""

    records: Sequence[Sight]
    raw: Sequence[Sight]

    @property
    def measured(self) -> Sequence[Sight]:
        """What Table 8 is about: the raw files, if anything is known of them."""
        return self.raw or self.records

    @property
    def declared(self) -> Sequence[Sight]:
        """What Table 9 is about: the records, and the raw files of Kubernetes."""
        raw = [each for each in self.raw if each.config == _RAW_IN_TABLE_9]
        if not raw:
            return self.records
        by_config: dict[str, list[Sight]] = {}
        for each in self.records:
            by_config.setdefault(each.config, []).append(each)
        by_config[_RAW_IN_TABLE_9] = raw
        return [each for own in by_config.values() for each in own]


def _real_rows(edition: Edition) -> list[tuple[str, str]]:
    """Return config and text of each row, the sample's only if there are no others."""
    rows = edition.rows
    if "origin" in rows.columns:
        is_sample = rows["origin"].fill_null("") == Origin.SAMPLE.value
        if is_sample.any() and not is_sample.all():
            configs = rows.filter(is_sample)["config"].unique().sort().to_list()
            say(f"{is_sample.sum():,} sample rows left out: {', '.join(configs)}")
            rows = rows.filter(~is_sample)
    return rows.select("config", "json_schema").rows()


def as_json(views: Views) -> Json:
    """Return all tables and figures as one JSON object."""
    from curation.tables import figure_2, table_1, table_8, table_9

    spreads = table_8(views.measured)
    figure = figure_2(views.records)
    return {
        "table_1": table_1(views.records),
        "table_8": {
            config: {name: asdict(spread) for name, spread in measures.items()}
            for config, measures in spreads.items()
        },
        "table_8_of": "raw files" if views.raw else "records",
        "table_9": table_9(views.declared),
        "figure_2": {
            "features": dict(figure.features),
            "formats": dict(figure.formats),
        },
    }


def _print(views: Views, top: int) -> None:
    _print_table_1(views.records)
    _print_table_8(views)
    _print_table_9(views.declared)
    _print_figure_2(views.records, top)


def _print_table_1(seen: Sequence[Sight]) -> None:
    from curation.tables import table_1

    counts = table_1(seen)
    rows: list[list[object]] = [
        [config, _category(config), count] for config, count in counts.items()
    ]
    total = sum(count for config, count in counts.items() if config in CONFIGS)
    rows.insert(sum(config in CONFIGS for config in counts), ["total", "", total])
    show("Table 1: records", style="bold")
    stdout().print(table(["config", "category", "records"], rows, numbers=[2]))


def _category(config: str) -> str:
    return _CATEGORIES.get(config, _MISC) if config in CONFIGS else ""


def _print_table_8(views: Views) -> None:
    from curation.tables import table_8

    rows = [
        [config, *(_middle_and_most(name, each) for name, each in measures.items())]
        for config, measures in table_8(views.measured).items()
    ]
    headers = ["config", *_TITLES.values()]
    whose = "raw files" if views.raw else "records"
    show(f"Table 8: measures of the {whose}, median / largest", style="bold")
    stdout().print(table(headers, rows, numbers=range(1, 5)))


def _middle_and_most(name: str, spread: Spread) -> str:
    form = "{:,.1f} / {:,.1f}" if name == "size_kb" else "{:,.0f} / {:,.0f}"
    return form.format(spread.median, spread.most)


def _print_table_9(seen: Sequence[Sight]) -> None:
    from curation.tables import DRAFTS, table_9

    counts = table_9(seen)
    rows: list[list[object]] = [
        [config, *drafts.values()] for config, drafts in counts.items()
    ]
    ten = [drafts for config, drafts in counts.items() if config in CONFIGS]
    sums = [sum(each[draft] for each in ten) for draft in DRAFTS]
    rows.insert(len(ten), ["total", *sums])
    show("Table 9: drafts that the root's $schema names", style="bold")
    stdout().print(table(["config", *DRAFTS], rows, numbers=range(1, 7)))


def _print_figure_2(seen: Sequence[Sight], top: int) -> None:
    from curation.tables import figure_2

    found = figure_2(seen)
    for letter, name, counts in (
        ("a", "feature", found.features),
        ("b", "format", found.formats),
    ):
        show(f"Figure 2{letter}: records with each {name}", style="bold")
        rows = [(shortened(each), count) for each, count in counts[:top]]
        stdout().print(table([name, "records"], rows, numbers=[1]))
        if len(counts) > top:
            show(f"... and {len(counts) - top:,} more (--top, --format json)")


def _draw(views: Views, folder: Path) -> None:
    """Draw all plots into a folder, and say which.

    Raises:
        BadConfiguration: the extra `plots` is not installed.
        CannotCreate: the folder cannot be written.
    """
    try:
        from curation import plots
    except ImportError as error:
        then = "pip install 'csbdata[plots]'"
        raise BadConfiguration("plots need matplotlib", "--plots", then) from error
    from curation.tables import figure_2, table_8, table_9

    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = figure_2(views.records)
        drawn = [
            *plots.features(
                found.features[:_BARS], found.formats[:_BARS], folder / "figure-2"
            ),
            *plots.spreads(_by_measure(table_8(views.measured)), folder / "table-8"),
            *plots.drafts(table_9(views.declared), folder / "table-9"),
        ]
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise CannotCreate(what, str(folder)) from error
    say(f"drawn: {', '.join(map(str, drawn))}")


def _by_measure(
    spreads: Mapping[str, Mapping[str, Spread]],
) -> dict[str, dict[str, Spread]]:
    return {
        title: {config: measures[name] for config, measures in spreads.items()}
        for name, title in _TITLES.items()
    }
