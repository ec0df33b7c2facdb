"""Write the dataset card, README.md, and LICENSE.

The YAML is that of `huggingface_hub.DatasetCardData`. All figures in the body are
counted; its words are those of the templates in `cards/`, of `Reason`, of
`BenchmarkRecord` and of the rules.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from curation.core.benchmark import (
    CANARY,
    DEFAULT,
    METADATA_KEY,
    OTHER_TABLE,
    SPLITS,
    instances_folder,
)
from curation.core.benchmark import INSTANCES as INSTANCE_FOLDER
from curation.core.documents import Change, Origin, Reason
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import (
    CHANGE_COLUMNS,
    CHANGES,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    LedgerRow,
)
from curation.dataset.paper_tables import TITLES
from curation.dataset.parquet import COLUMNS, columns_of
from curation.dataset.summary import ConfigSummary, Summary, total_of
from curation.instances.dataset.parquet import COLUMNS as INSTANCES
from curation.instances.dataset.parquet import INSTANCE_LEDGER, InstanceLedgerRow
from curation.instances.values.model import InstanceRow
from curation.lint.lint import CODES
from curation.packaging import licences
from curation.packaging import plots as figures
from curation.packaging.core import CORE_TABLE, CoreRecord
from curation.packaging.hub_info import HubConfig, configs_metadata
from curation.packaging.markdown import render_template
from curation.system.escaping import safe
from curation.system.package_data import cards_folder

if TYPE_CHECKING:
    import pyarrow as pa
    from huggingface_hub import DatasetCardData

    from curation.core.json_types import UntypedJson
    from curation.packaging.card_figures import FolderCounts
    from curation.packaging.plots import PaperTables

#: The file's name in a build folder, and that of its template.
FILE = "README.md"
_TEMPLATE = "README.md.j2"
_LICENCE_TEMPLATE = "LICENSE.j2"
_NOTE = re.compile(r"((?:^ *#: .*\n)*)^ *(\w+): ", re.MULTILINE)
_HUB = "https://huggingface.co/datasets/"
# Upper bounds of the Hub's closed list of size categories.
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)
#: The pictures of published results in a dataset folder.
RESULTS_PICTURE = f"{figures.FOLDER}/results.svg"
FITS_PICTURE = f"{figures.FOLDER}/fits.svg"
#: What the card folds, below its first screen: the line to click, and the template.
_FOLDED = {
    "This edition": "card/summary.md.j2",
    "Results": "card/results.md.j2",
    "Authors and citation": "card/citation.md.j2",
    "Rows and splits": "card/rows.md.j2",
    "What changed against the published edition, and why": "card/published.md.j2",
    "Statistics": "card/statistics.md.j2",
    "Instances": "card/instances.md.j2",
    "Known limits": "card/limits.md.j2",
    "Sources and licences": "card/licences.md.j2",
    "Asking for removal": "card/removal.md.j2",
    "Columns of records, instances and ledger": "card/columns.md.j2",
    "How each subset was made, rule by rule": "card/making.md.j2",
    "Why raw documents are not here": "card/reasons.md.j2",
    "Datasheet": "card/datasheet.md.j2",
    "Contamination canary": "card/canary.md.j2",
}
#: Meanings of columns that no class of rows has.
_SHARED = {
    "document": "Number of the document, in the order of reading, from 0.",
    "config": "The config that the record is in.",
    "split": "Its split.",
    "detail": "What exactly was seen.",
}
#: Features and formats that the card lists.
_TOP = 15


class CardColumn(NamedTuple):
    """One column of the records, as the card lists it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContents:
    """The contents of a folder, for the card."""

    summary: Summary
    counts: FolderCounts
    configs: Sequence[HubConfig]
    #: The config of records on which engines differ, if its content was measured.
    core: Sequence[HubConfig] = ()
    #: The tables of `csbdata stats`; None without records.
    tables: PaperTables | None
    #: Paths of the archives' own licence texts and notices.
    notices: Sequence[str] = ()
    #: The tables of published results on it, as Markdown; empty without any.
    results: str = ""

    @property
    def rows(self) -> int:
        """Records of all configs of schemas."""
        return sum(config.kept for config in self.summary.configs)


@cache
def card_columns() -> tuple[CardColumn, ...]:
    """Return the columns of records, each with its comment in `BenchmarkRecord`."""
    return _described(BenchmarkRecord, COLUMNS)


@cache
def other_columns() -> Mapping[str, tuple[CardColumn, ...]]:
    """Return the columns of instances and of the ledger's tables, by title."""
    columns = columns_of(InstanceLedgerRow)
    return {
        "Instances": _described(InstanceRow, INSTANCES),
        DOCUMENTS: _described(LedgerRow, DOCUMENT_COLUMNS),
        CHANGES: _described(Change, CHANGE_COLUMNS),
        INSTANCE_LEDGER: _described(InstanceLedgerRow, columns),
    }


def _described(row_type: type, columns: pa.Schema) -> tuple[CardColumn, ...]:
    """Return columns with the comments of a class, else those of `BenchmarkRecord`."""
    notes = {**_SHARED, **_notes(BenchmarkRecord), **_notes(row_type)}
    types = [re.sub(r"\w+: ", "", str(column.type)) for column in columns]
    return tuple(
        CardColumn(name, type_, notes.get(name, ""))
        for name, type_ in zip(columns.names, types, strict=True)
    )


def _notes(row_type: type) -> dict[str, str]:
    """Return the comments on the fields of a class."""
    fields = _NOTE.findall(inspect.getsource(row_type))
    notes = {name: " ".join(re.findall(r"#: (.*)", text)) for text, name in fields}
    return {name: note for name, note in notes.items() if note}


class PublishedEdition(msgspec.Struct, frozen=True, kw_only=True):
    """The edition that was published with the paper."""

    #: Number of the paper at arXiv.
    arxiv: str
    title: str
    year: int
    #: Family name last.
    authors: list[str]
    #: Config to records, the paper's Table 1.
    records: dict[str, int]


def published() -> PublishedEdition:
    """Read `cards/published.toml`."""
    content = (cards_folder() / "published.toml").read_bytes()
    return msgspec.toml.decode(content, type=PublishedEdition)


def responsible() -> dict[str, str | list[str]]:
    """Return the texts on origin, limits and use, by their names."""
    content = (cards_folder() / "responsible.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, str | list[str]])


def _size(rows: int) -> str:
    for bound, name in _SIZES:
        if rows < bound:
            return name
    return "1M<n<10M"


def _source_datasets(summary: Summary) -> list[str]:
    """Return the source datasets: the Hub's names, or our names of archives."""
    named = {
        "original"
        if pin.origin in {Origin.SAMPLE, Origin.LOCAL}
        else pin.url.removeprefix(_HUB)
        if pin.url.startswith(_HUB)
        else f"extended|other-{safe(pin.archive)}"
        for pin in summary.pins
    }
    return sorted(named) or ["original"]


def hub_metadata(contents: CardContents) -> DatasetCardData:
    """Return the card's metadata."""
    from huggingface_hub import DatasetCardData  # noqa: PLC0415 - a tenth of a second

    summary = contents.summary
    has_instances = bool(summary.instances)
    return DatasetCardData(
        annotations_creators=[
            "machine-generated" if has_instances else "no-annotation"
        ],
        language_creators=["found"],
        language=["en"],
        license="other",
        license_name="per-record",
        license_link=licences.FILE,
        size_categories=[_size(contents.rows)],
        source_datasets=_source_datasets(summary),
        task_categories=["text-generation"],
        pretty_name=summary.name,
        tags=[
            "json-schema",
            "structured-output",
            "constrained-decoding",
            "function-calling",
            "benchmark",
        ],
        configs=configs_metadata([*contents.configs, *contents.core]),
    )


def _total(summary: Summary) -> ConfigSummary:
    """Sum the configs; the sample's count only if there are no others."""
    real = [config for config in summary.configs if config.origin != Origin.SAMPLE]
    if len(real) == len(summary.configs):
        return total_of(real, "all")
    if real:
        return total_of(real, "all but the sample's")
    return total_of(summary.configs, "all, sample only")


def _example(contents: CardContents) -> tuple[str, str]:
    """Return a config and a split to load; the sample's only if there are no others."""
    named = [config for config in contents.configs if not config.default]
    sample = {
        config.config
        for config in contents.summary.configs
        if config.origin == Origin.SAMPLE
    }
    real = [config for config in named if config.name not in sample]
    config = next(iter(real or named), None)
    return (config.name, list(config.files)[-1]) if config else (DEFAULT, SPLITS[-1])


def _instance_files(repository: str, config: str, split: str) -> str:
    """Return the pattern of the files of instances of a config and a split."""
    place = f"hf://datasets/{repository}/" if repository else ""
    return f"{place}{instances_folder(config)}/{split}-*{OTHER_TABLE}"


def _picture(contents: CardContents) -> tuple[str, str] | None:
    """Return the path and description of the card's picture; None without records."""
    if contents.results:
        return (
            RESULTS_PICTURE,
            "Share of schemas that each engine compiles and enforces",
        )
    if contents.tables is None:
        return None
    return f"{figures.FOLDER}/table-8.png", "Size and nesting of schemas, by config"


def _template_values(contents: CardContents) -> dict[str, UntypedJson]:
    """Return the values of the templates."""
    summary, counts = contents.summary, contents.counts
    terms = licences.archive_terms(summary, counts.licences, contents.notices)
    names = licences.named_licences(terms)
    edition, example = published(), _example(contents)
    tables = contents.tables
    own = _described(CoreRecord, CORE_TABLE.columns)
    return {
        "summary": summary,
        "counts": counts,
        "rows": contents.rows,
        "filled": [config.config for config in summary.configs if config.kept],
        "outside": [
            config.config
            for config in summary.configs
            if config.kept and config.config in summary.extras
        ],
        "splits": SPLITS,
        "split_by_shingles": summary.rules != "paper",
        "total": _total(summary),
        "default": next(
            (config for config in contents.configs if config.default), None
        ),
        "example": example,
        "place": summary.repository or ".",
        "other_columns": other_columns(),
        "folded_parts": _FOLDED,
        "picture": _picture(contents),
        "reasons": tuple(Reason),
        "columns": card_columns(),
        "instances": summary.instances,
        "instance_folder": INSTANCE_FOLDER,
        "instance_ending": OTHER_TABLE,
        "instance_files": _instance_files(summary.repository, *example),
        "terms": terms,
        "texts": {name: licences.text_name(name) for name in names},
        "own_licence": licences.OWN,
        "obligations": licences.obligations(),
        "unstated": licences.UNSTATED,
        "edition": edition,
        "responsible": responsible(),
        # Reading has no name, and comes first.
        "rule_names": ["", *(rule.name for rule in summary.rule_notes)],
        "tables": tables,
        "measures": TITLES,
        "plots": figures.plot_paths(tables),
        "features": tables.figure_2.features[:_TOP] if tables else [],
        "formats": tables.figure_2.formats[:_TOP] if tables else [],
        "lint_meanings": CODES,
        "canary": CANARY,
        "canary_key": METADATA_KEY,
        "results": contents.results,
        "core": own[len(COLUMNS) :] if contents.core else (),
        "default_name": DEFAULT,
    }


def card_text(contents: CardContents) -> str:
    """Return the text of README.md."""
    head = hub_metadata(contents).to_yaml(line_break="\n")
    return (
        f"---\n{head}\n---\n\n{render_template(_TEMPLATE, _template_values(contents))}"
    )


def write_card(contents: CardContents, folder: Path) -> list[str]:
    """Write README.md, LICENSE and the licence texts; return their paths.

    Raises:
        OSError: a file cannot be written.
    """
    values = _template_values(contents)
    for name, text in (
        (FILE, card_text(contents)),
        (licences.FILE, render_template(_LICENCE_TEMPLATE, values)),
    ):
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [FILE, licences.FILE, *licences.write_texts(list(values["texts"]), folder)]
