"""Write the files computed from a dataset folder's rows, ledger and facts.

A build writes rows, ledger and facts; licences, plots, card and the
lists of files are computed here from the folder alone. `csbdata card` computes the same
bytes for an earlier build.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from shutil import copyfile, copytree
from typing import NamedTuple

import polars as pl

from curation.core.benchmark import CORE, NOTICES, SPLITS
from curation.core.records import BenchmarkRecord
from curation.dataset.content_digest import SHARE, unchanged_records
from curation.dataset.decisions import DecidedDocument
from curation.dataset.edition_statistics import compute_statistics
from curation.dataset.editions import Edition, open_edition
from curation.dataset.ledger import open_ledger, write_ledger
from curation.dataset.parquet import COLUMNS, file_name, write_sorted
from curation.instances.dataset.make_instances import RecordInstances
from curation.instances.dataset.parquet import write_instances
from curation.packaging import card, licences, manifest
from curation.packaging.card import (
    FITS_PICTURE,
    PLOTS_FOLDER,
    RESULTS_PICTURE,
    CardContents,
)
from curation.packaging.counts import (
    config_figures,
    count_rows,
    data_files,
)
from curation.packaging.manifest import BuildFacts, Manifest, read_manifest
from curation.packaging.rewritten_fits import rewritten_fit
from curation.packaging.tables import refuse_foreign_columns, write_core
from curation.system import checksums
from curation.system.atomic_files import UNFINISHED, recover
from curation.system.errors import NoInput
from curation.system.user_files import reading_parquet, results_folder
from curation.workers.run_folder import find_run_folder, locked

_SINGLE = frozenset(
    {card.FILE, card.DETAILS, licences.FILE, manifest.FILE, checksums.FILE}
)
_FOLDERS = (f"{CORE}/", f"{PLOTS_FOLDER}/", f"{licences.FOLDER}/")

#: The file of an edition with the accuracy of its evidence on engines.
VERDICTS = "engines.md"
#: Pictures of an edition of results, and their places in a dataset folder.
_PICTURES = {"picture.svg": RESULTS_PICTURE, "fits.svg": FITS_PICTURE}


def is_derived(name: str) -> bool:
    """Return whether a file of a folder, named with `/`, is written here."""
    return name in _SINGLE or name.startswith(_FOLDERS)


def write_derived(
    folder: Path,
    into: Path,
    facts: BuildFacts | None = None,
    *,
    drawn: bool = False,
) -> list[str]:
    """Write everything derived of `folder` into `into`, which may be the same.

    Args:
        folder: A build; only its rows, ledger and facts are read.
        into: Where the files go.
        facts: The manifest's facts; None to read `folder`'s.
        drawn: Whether the plots of `folder` are known to be right, and copied.

    Returns:
        The paths written.

    Raises:
        NoInput: the folder is not a build.
        CsbdataError: its manifest or the plots are not as they must be.
        OSError: a file cannot be read or written.
    """
    facts = facts or manifest.read_facts(folder)
    ledger = open_ledger(folder)
    configs = config_figures(ledger)
    files = data_files(folder, configs, facts.extras)
    names = checksums.names_in(folder)
    measured = measured_edition(folder)
    results = measured.folder if measured else None
    core = write_core(folder, results, into) if results else {}
    try:
        edition = open_edition(str(folder))
    except NoInput:  # It has no records.
        strings = dict.fromkeys(("config", "split"), pl.String)
        columns = strings | pl.Schema(COLUMNS)
        rows = pl.DataFrame(schema=columns)
        edition = Edition(name=str(folder), folder=folder, rows=rows)
    written = [file_name(name, SPLITS[-1]) for name in core]
    contents = CardContents(
        facts=facts,
        configs=configs,
        counts=count_rows(folder, edition.rows, [*configs]),
        files={**files, **core},
        statistics=compute_statistics(edition),
        notices=sorted(name for name in names if name.startswith(f"{NOTICES}/")),
        results=results_text(measured) if measured else "",
    )
    if drawn and contents.plots:
        copytree(folder / PLOTS_FOLDER, into / PLOTS_FOLDER)
    elif contents.plots:
        draw_plots(contents, into)
    written += contents.plots
    for name, location in _PICTURES.items():
        if results and (results / name).exists():
            copyfile(results / name, into / location)
            written.append(location)
    written += card.write_card(contents, into)
    full_manifest = manifest.whole_manifest(facts, configs)
    written.append(manifest.write_manifest(full_manifest, into))
    kept = [name for name in names if not is_derived(name)]
    sums = checksums.compute_sums(folder, kept) | checksums.compute_sums(into, written)
    return [*written, checksums.write_sums(into, sums)]


def draw_plots(contents: CardContents, into: Path) -> None:
    """Draw the plots of a folder's tables into `into`.

    Raises:
        OSError: a plot cannot be written.
    """
    from curation.dataset.plots import draw  # noqa: PLC0415 - loads matplotlib

    counts = contents.counts
    accepted = {name: target["accepted"] for name, target in counts["targets"].items()}
    draw(contents.statistics, accepted, counts["asked"], into / PLOTS_FOLDER)


class MeasuredEdition(NamedTuple):
    """An edition of results on a dataset, or on most records of it."""

    folder: Path
    records: int
    #: Records that the dataset has as they were measured.
    unchanged: int


def measured_edition(folder: Path) -> MeasuredEdition | None:
    """Return the newest edition of results whose records a dataset has unchanged.

    Args:
        folder: The dataset; its ids, schema texts, instances and labels decide.

    Returns:
        The edition; None if the dataset has less than nine tenths of each edition's.

    Raises:
        BadData: a table cannot be read.
    """
    for index in sorted(results_folder().glob("*/index.json"), reverse=True):
        same, records = unchanged_records(folder, index.parent)
        if records and len(same) >= SHARE * records:
            return MeasuredEdition(index.parent, records, unchanged=len(same))
    return None


def results_text(measured: MeasuredEdition) -> str:
    """Return the tables of an edition, the targets' with its picture."""
    edition = measured.folder
    texts = [(edition / "table.md").read_text("utf-8")]
    if changed := measured.records - measured.unchanged:
        texts.append(
            f"{changed:,} of the {measured.records:,} records that were measured have"
            " another schema or other instances in this dataset, or are not in it.\n"
        )
    if (fits := edition / "fits.md").exists():
        picture = f"![What each target takes, before and after]({FITS_PICTURE})\n"
        texts += [fits.read_text("utf-8"), picture]
    if (verdicts := edition / VERDICTS).exists():
        texts.append(verdicts.read_text("utf-8"))
    return "\n".join(texts)


def rebuild(folder: Path, facts: BuildFacts | None = None) -> list[str]:
    """Write everything derived of a folder again, in its place; return the paths.

    Nothing is touched before all new files are in a folder next to it. A derived file
    without a source is removed.

    Args:
        folder: The dataset folder.
        facts: The manifest's facts, such as another version; None for its own.

    Raises:
        NoInput: the folder is not a build.
        BadData: a table has not the columns of a build.
        TemporarilyUnavailable: a build, or another like this, is at work in it.
        CsbdataError: its manifest or the plots are not as they must be.
        OSError: a file cannot be read or written.
    """
    manifest.read_facts(folder)
    location = folder.resolve()
    with locked(find_run_folder(location)):
        recover(location)  # Killed processes may have left folders there.
        with tempfile.TemporaryDirectory(
            prefix=f".{location.name}.", suffix=UNFINISHED, dir=location.parent
        ) as name:
            fresh = Path(name)
            written = _write_fresh(folder, fresh, facts)
            for file in checksums.names_in(folder) - set(written):
                if is_derived(file):
                    (folder / file).unlink()
                    with suppress(OSError):  # It holds others.
                        (folder / file).parent.rmdir()
            for file in written:
                (folder / file).parent.mkdir(exist_ok=True)
                (fresh / file).replace(folder / file)
    return written


def differing_files(folder: Path) -> list[str]:
    """Return the derived files that are missing, stray, or not computed from the data.

    Raises:
        NoInput: the folder is not a build.
        CsbdataError: its manifest or the plots are not as they must be.
        OSError: a file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="csbdata-card-") as name:
        fresh = Path(name)
        right = checksums.compute_sums(fresh, _write_fresh(folder, fresh))
    present = filter(is_derived, checksums.names_in(folder))
    sums = checksums.compute_sums(folder, present)
    return sorted(
        name for name in sums.keys() | right if sums.get(name) != right.get(name)
    )


def _write_fresh(
    folder: Path, fresh: Path, facts: BuildFacts | None = None
) -> list[str]:
    manifest.read_facts(folder)
    refuse_foreign_columns(folder)
    with reading_parquet(folder):
        return write_derived(folder, fresh, facts)


def write_folder(  # noqa: PLR0913 (one argument for each written part)
    folder: Path,
    facts: BuildFacts,
    documents: Sequence[DecidedDocument],
    *,
    compiled: Mapping[str, str],
    columns: Mapping[str, Mapping[str, str | tuple[str, ...]]],
    products: Iterable[RecordInstances],
) -> Manifest:
    """Write a build into a folder that is empty but for carried-over files.

    Args:
        folder: Where to write.
        facts: The facts of the build.
        documents: Every raw document with its decision, in benchmark order.
        compiled: Digest of a schema to the verdict of fastjsonschema, if it ran.
        columns: Digest of a schema to columns derived with its instances: its answer
            and the targets that take it.
        products: The instances, if any were made.

    Returns:
        Its manifest.

    Raises:
        CsbdataError: the plots could not be drawn.
        OSError: a file cannot be written.
    """

    def judged(document: DecidedDocument) -> BenchmarkRecord:
        sha256 = document.result.sha256
        found = columns.get(sha256, {})
        return document.record(
            fastjsonschema=compiled.get(sha256),
            **found,
            fits_rewritten=rewritten_fit(sha256) if found else None,
        )

    kept = (document for document in documents if document.kept)
    for config, members in groupby(kept, key=lambda document: document.config):
        write_sorted(folder, config, map(judged, members))
    write_ledger((document.ledger_row() for document in documents), folder)
    manifest.write_manifest(facts, folder)
    if "instances" in facts.options:
        write_instances(folder, products)
    write_derived(folder, folder)
    return read_manifest(folder)
