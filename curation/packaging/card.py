"""Write the dataset card README.md, its page DETAILS.md, and LICENSE.

All figures are counted; the words come from the templates in `cards/`, of `Reason`,
of `BenchmarkRecord` and of the rules.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from curation.core.benchmark import (
    CANARY,
    CORE,
    DEFAULT,
    METADATA_KEY,
    SIZES,
    SPLITS,
)
from curation.core.documents import Change, Origin, Reason
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import (
    CHANGE_COLUMNS,
    CHANGES,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    LedgerRow,
)
from curation.dataset.paper_tables import PLOTS, TARGETS_PLOT
from curation.dataset.parquet import COLUMNS, make_columns
from curation.instances.dataset.parquet import COLUMNS as INSTANCES
from curation.instances.dataset.parquet import INSTANCE_LEDGER, InstanceLedgerRow
from curation.instances.model import InstanceRow
from curation.lint.lint import CODES
from curation.packaging import licences
from curation.packaging.markdown import python, render_template
from curation.packaging.tables import CORE_TABLE, CoreRecord
from curation.system.user_files import cards_folder

if TYPE_CHECKING:
    import pyarrow as pa

    from curation.core.json_types import UntypedJson
    from curation.dataset.edition_statistics import EditionStatistics
    from curation.packaging.counts import DataFiles, Values
    from curation.packaging.manifest import BuildFacts, ConfigFigures

#: The files' names in a build folder; their templates end in `.j2`.
FILE = "README.md"
DETAILS = "DETAILS.md"
_NOTE = re.compile(r"((?:^ *#: .*\n)*)^ *(\w+): ", re.MULTILINE)
#: The folder of plots in a dataset folder, and the pictures of published results.
PLOTS_FOLDER = "plots"
RESULTS_PICTURE = f"{PLOTS_FOLDER}/results.svg"
FITS_PICTURE = f"{PLOTS_FOLDER}/fits.svg"
#: The parts of the page that the card leads to: the title, and the template.
_DETAILS = {
    "Results": "card/results.md.j2",
    "Rows and splits": "card/rows.md.j2",
    "What changed against the published edition, and why": "card/published.md.j2",
    "Statistics": "card/statistics.md.j2",
    "Instances": "card/instances.md.j2",
    "Lints": "card/lints.md.j2",
    "Sources and licences": "card/licences.md.j2",
    "Asking for removal": "card/removal.md.j2",
    "Columns of records, instances and ledger": "card/columns.md.j2",
    "Rules, and reasons to reject": "card/rules.md.j2",
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


class CardContents(NamedTuple):
    """The contents of a folder, by the names that the card's templates use."""

    facts: BuildFacts
    #: Figures by config, in benchmark order.
    configs: Mapping[str, ConfigFigures]
    #: `curation.packaging.counts.count_rows`.
    counts: Values
    #: The files of each config: of records, instances and ledger.
    files: DataFiles
    #: The tables of `csbdata stats`.
    statistics: EditionStatistics
    #: Paths of the archives' own licence texts and notices.
    notices: Sequence[str] = ()
    #: The tables of published results on it, as Markdown; empty without any.
    results: str = ""

    @property
    def rows(self) -> int:
        """Records of all configs of schemas."""
        return sum(config.kept for config in self.configs.values())

    @property
    def plots(self) -> list[str]:
        """The path of every plot of its tables; none without records."""
        if not self.statistics.table_1:
            return []
        names = [*PLOTS, *([TARGETS_PLOT] if self.counts["targets"] else [])]
        return [
            f"{PLOTS_FOLDER}/{name}.{kind}" for name in names for kind in ("png", "svg")
        ]


@cache
def card_columns() -> Mapping[str, Sequence[tuple[str, str, str]]]:
    """Return name, type and meaning of the columns of every table, by its title."""
    tables: tuple[tuple[str, type, Iterable[pa.Field]], ...] = (
        ("Records", BenchmarkRecord, COLUMNS),
        ("Instances", InstanceRow, INSTANCES),
        (DOCUMENTS, LedgerRow, DOCUMENT_COLUMNS),
        (CHANGES, Change, CHANGE_COLUMNS),
        (INSTANCE_LEDGER, InstanceLedgerRow, make_columns(InstanceLedgerRow)),
        # The additional columns of the config `core`.
        ("Core", CoreRecord, [*CORE_TABLE.columns][len(COLUMNS) :]),
    )
    listed = {}
    for title, row_type, columns in tables:
        notes = {**_SHARED, **_notes(BenchmarkRecord), **_notes(row_type)}
        listed[title] = [
            (
                column.name,
                re.sub(r"\w+: ", "", str(column.type)),
                notes.get(column.name, ""),
            )
            for column in columns
        ]
    return listed


def _notes(row_type: type) -> dict[str, str]:
    """Return the comments on the fields of a class."""
    fields = _NOTE.findall(inspect.getsource(row_type))
    notes = {name: " ".join(re.findall(r"#: (.*)", text)) for text, name in fields}
    return {name: note for name, note in notes.items() if note}


def hub_configs(files: DataFiles) -> list[dict[str, UntypedJson]]:
    """Return the configs as the card's head lists them."""
    return [
        {
            "config_name": name,
            **({"default": True} if name == DEFAULT else {}),
            "data_files": [
                {"split": split, "path": paths[0] if len(paths) == 1 else paths}
                for split, paths in splits.items()
            ],
        }
        for name, splits in files.items()
    ]


def _total(configs: Mapping[str, ConfigFigures]) -> Values:
    """Sum the configs; the sample's count if it is the only one."""
    real = {
        name: figures
        for name, figures in configs.items()
        if figures.origin != Origin.SAMPLE
    }
    title = "all but the sample's" if real else "all, sample only"
    chosen = (real or configs).values()
    return {
        "config": "all" if len(real) == len(configs) else title,
        "raw": sum(figures.raw for figures in chosen),
        "kept": sum(figures.kept for figures in chosen),
        **{
            name: sum((Counter(getattr(each, name)) for each in chosen), Counter())
            for name in ("rejected", "changed", "splits")
        },
    }


def _template_values(contents: CardContents) -> Values:
    """Return the values of the templates."""
    facts, licence_counts = contents.facts, contents.counts["licences"]
    terms = licences.archive_terms(facts.pins, licence_counts, contents.notices)
    filled = [name for name, figures in contents.configs.items() if figures.kept]
    # The sample's config and split to load if they are the only ones.
    files = {
        name: [*splits]
        for name, splits in contents.files.items()
        if name in contents.configs
    }
    real = [name for name in files if contents.configs[name].origin != Origin.SAMPLE]
    config = next(iter([*real, *files]), DEFAULT)
    split = files[config][-1] if files else SPLITS[-1]
    picture = None
    if contents.results:
        alt = "Share of schemas that each engine compiles and enforces"
        picture = RESULTS_PICTURE, alt
    elif contents.plots:
        alt = "Size and nesting of schemas, by config"
        picture = f"{PLOTS_FOLDER}/table-8.png", alt
    words = (cards_folder() / "published.toml").read_text("utf-8")
    return {
        **contents._asdict(),
        "rows": contents.rows,
        "filled": filled,
        "outside": [name for name in filled if name in facts.extras],
        "splits": SPLITS,
        "split_by_shingles": facts.rules != "paper",
        "total": _total(contents.configs),
        "has_default": DEFAULT in contents.files,
        "example": (config, split),
        "place": python(facts.repository) if facts.repository else "os.getcwd()",
        "columns": card_columns(),
        "detail_parts": _DETAILS,
        "hub_configs": hub_configs(contents.files),
        "sizes": SIZES,
        "picture": picture,
        "reasons": tuple(Reason),
        "terms": terms,
        "licences": licences.named_licences(terms),
        "own_licence": licences.OWN,
        "unstated": licences.UNSTATED,
        "edition": tomllib.loads(words),
        "lint_meanings": CODES,
        "canary": CANARY,
        "canary_key": METADATA_KEY,
        "core": CORE in contents.files,
    }


def write_card(contents: CardContents, folder: Path) -> list[str]:
    """Write both pages, LICENSE and the licence texts; return their paths.

    Raises:
        OSError: a file cannot be written.
    """
    values = _template_values(contents)
    values["texts"] = licences.write_texts(values["licences"], folder)
    pages = (FILE, DETAILS, licences.FILE)
    for name in pages:
        text = render_template(f"{name}.j2", values)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [*pages, *values["texts"].values()]
