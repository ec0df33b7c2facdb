"""The dataset folder: every config's files, the ledger, and all that tells of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import write_sorted
from curation.instances.dataset.parquet import write_instances
from curation.packaging.derived_files import write_derived
from curation.packaging.eval_yaml import FILE as EVAL_YAML
from curation.packaging.manifest import Manifest, read_manifest, write_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from curation.core.records import Record
    from curation.dataset.decisions import DecidedDocument
    from curation.dataset.summary import Summary
    from curation.instances.dataset.build_step import RecordInstances
    from curation.packaging.plots.plot_process import PlotProcess


def write_folder(  # noqa: PLR0913 (one argument for each thing that is written)
    folder: Path,
    summary: Summary,
    documents: Sequence[DecidedDocument],
    *,
    compiled: Mapping[str, str],
    products: Iterable[RecordInstances],
    drawing: PlotProcess,
) -> Manifest:
    """Write a build into a folder that holds at most what was carried over.

    Args:
        folder: Where to write.
        summary: What the build came to.
        documents: What became of every raw document, in benchmark order.
        compiled: Digest of a schema to the verdict of fastjsonschema, where asked.
        products: The instances, if any were made.
        drawing: The process that draws the plots of these documents.

    Returns:
        Its manifest.

    Raises:
        CsbdataError: the plots could not be drawn.
        OSError: a file cannot be written.
    """
    kept = (document for document in documents if document.kept)
    for config, members in groupby(kept, key=lambda document: document.result.config):
        records = (_compiled(member.record(), compiled) for member in members)
        write_sorted(folder, config, records)
    write_ledger((document.ledger_row() for document in documents), folder)
    write_facts(summary, folder)
    if summary.instances:
        write_instances(folder, products)
    wanted = (folder / EVAL_YAML).is_file()
    write_derived(folder, folder, drawing, eval_yaml_too=wanted)
    return read_manifest(folder)


def _compiled(record: Record, verdicts: Mapping[str, str]) -> Record:
    if record.sha256 not in verdicts:
        return record
    return replace(record, fastjsonschema=verdicts[record.sha256])
