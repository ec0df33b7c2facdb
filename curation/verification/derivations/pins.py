"""Are the manifest's pins those of this version, and is what they name all there?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import NOTICES
from curation.core.documents import Origin
from curation.dataset.ledger import DOCUMENTS
from curation.download.local_files import FolderFiles
from curation.download.pins import load_pins
from curation.packaging.manifest import ManifestPin
from curation.sources.base import SAMPLE_ATTRIBUTION, SAMPLE_COMMIT, SAMPLE_LICENCE
from curation.sources.readers import lines
from curation.system.checksums import file_digest
from curation.system.package_data import raw_folder
from curation.verification.derivations.contradiction import (
    Contradiction,
    is_of_this_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.download.pins import ArchivePin
    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.folder_contents import FolderContents

#: Archive to the list of the documents that are read of it, and what begins their ids.
_LISTS = {
    "json-schema-corpus": ("github.txt", "o"),
    "iglu-central": ("snowplow.tsv", ""),
    "ans-schema": ("washingtonpost.tsv", ""),
}
_FIELDS = ("commit", "sha256", "licence", "attribution", "url")


def contradictions(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield where a pin is not that of its archive, or the folder lacks what it has."""
    yield from _unlike_ours(facts)
    yield from _other_texts(facts, contents)
    yield from _lost_documents(facts, contents)


def _unlike_ours(facts: BuildFacts) -> Iterator[Contradiction]:
    """Yield where a pin of the manifest is not the one of its archive."""
    certain = is_of_this_version(facts)
    ours = load_pins()
    for pin in facts.pins:
        if pin.origin is Origin.LOCAL:
            continue
        known = ours.get(pin.archive)
        if known is None:
            yield Contradiction(f"no archive {pin.archive!r} is pinned here", certain)
            continue
        wanted = _sample_pin(pin) if pin.origin is Origin.SAMPLE else _pin(pin, known)
        # Another state of an archive has another digest; its words stay its own.
        same_state = pin.commit == wanted.commit and pin.origin is not Origin.SAMPLE
        for name in _FIELDS:
            stated, right = getattr(pin, name), getattr(wanted, name)
            if stated != right:
                yield Contradiction(
                    f"{name} of the pin {pin.archive} is {stated!r}, not {right!r}",
                    certain or (same_state and name != "attribution"),
                )


def _same_state(facts: BuildFacts) -> Iterator[ArchivePin]:
    """Yield our pins of the archives that a build read in the state that we pin."""
    ours = load_pins()
    for pin in facts.pins:
        known = ours.get(pin.archive)
        read = pin.origin not in {Origin.LOCAL, Origin.SAMPLE}
        if read and known is not None and pin.commit == known.commit:
            yield known


def _other_texts(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield where licence texts and notices are not those that an archive has."""
    for known in _same_state(facts):
        wanted = dict(line.split("  ", 1)[::-1] for line in known.texts)
        inside = f"{NOTICES}/{known.name}/"
        there = {name for name in contents.files if name.startswith(inside)}
        for name in sorted(there | {inside + text for text in wanted}):
            checksum = wanted.get(name.removeprefix(inside))
            if name not in there:
                yield Contradiction(f"{name}, which the pin {known.name} has, is lost")
            elif checksum is None:
                yield Contradiction(f"{name} is no text of the pin {known.name}")
            elif file_digest(contents.files[name]) != checksum:
                yield Contradiction(f"{name} is not the text of the pin {known.name}")


def _lost_documents(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield the archives of whose listed documents the ledger does not tell."""
    if DOCUMENTS not in contents.tables:
        return
    for known in _same_state(facts):
        if known.name not in _LISTS:
            continue
        name, prefix = _LISTS[known.name]
        listed = lines(raw_folder() / "lists", name)
        wanted = {prefix + line.partition("\t")[0] for line in listed}
        told = (
            pl.scan_parquet(contents.files[DOCUMENTS], glob=False)
            .filter(pl.col("commit") == known.commit)
            .select("unique_id")
            .collect()
        )
        lost = sorted(wanted - set(told["unique_id"]))
        if lost:
            yield Contradiction(
                f"the ledger does not tell of {len(lost):,} of the {len(wanted):,} "
                f"documents that are read of {known.name}, {lost[0]} among them"
            )


def _pin(pin: ManifestPin, known: ArchivePin) -> ManifestPin:
    return ManifestPin(
        source=pin.source,
        archive=pin.archive,
        origin=pin.origin,
        commit=known.commit,
        sha256=known.digest,
        licence=known.licence,
        attribution=known.attribution,
        url=known.homepage,
    )


def _sample_pin(pin: ManifestPin) -> ManifestPin:
    folder = raw_folder() / "sample" / pin.archive
    return ManifestPin(
        source=pin.source,
        archive=pin.archive,
        origin=pin.origin,
        commit=SAMPLE_COMMIT,
        sha256=FolderFiles(folder).digest if folder.is_dir() else "",
        licence=SAMPLE_LICENCE,
        attribution=SAMPLE_ATTRIBUTION,
    )
