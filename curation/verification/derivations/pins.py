"""Are the manifest's pins those of the archives that this version pins?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Origin
from curation.download.local_files import FolderFiles
from curation.download.pins import load_pins
from curation.packaging.manifest import ManifestPin
from curation.sources.base import SAMPLE_ATTRIBUTION, SAMPLE_COMMIT, SAMPLE_LICENCE
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

_FIELDS = ("commit", "sha256", "licence", "attribution", "url")


def contradictions(
    facts: BuildFacts, _contents: FolderContents
) -> Iterator[Contradiction]:
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
