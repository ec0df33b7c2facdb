"""Does the data's version follow from the release that the changelog tells of?"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from curation.core.canary import canary
from curation.packaging.derived_files import CHANGELOG
from curation.verification.core.folder_contents import read_text
from curation.verification.derivations.contradiction import Contradiction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.folder_contents import FolderContents

_VERSION = re.compile(r"(\d+)\.\d+\.\d+(-dev)?")
#: A section's version, and the month by which the release is called, if it is told.
_SECTION = re.compile(r"^## (\S+)(?: \((\d{4}-\d{2})\))?$", re.MULTILINE)
_FIRST_RELEASE = re.compile(r"^The first release: ([\d,]+) records\.$", re.MULTILINE)


def contradictions(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield where version, day, canary and changelog do not fit each other."""
    found = _VERSION.fullmatch(facts.data_version)
    if found is None:
        yield Contradiction(f"`data_version` is {facts.data_version!r}: no version")
        return
    if facts.canary != canary(int(found[1])):
        yield Contradiction(f"the canary is not that of version {found[1]}")
    if isinstance(facts.released, str) and facts.released:
        if found[2]:
            yield Contradiction("a day of release for data that was not released")
        try:
            date.fromisoformat(facts.released)
        except ValueError:
            yield Contradiction(f"`released` is {facts.released!r}: no day")
    if not found[2]:
        yield from _not_told(facts, contents)


def _not_told(facts: BuildFacts, contents: FolderContents) -> Iterator[Contradiction]:
    """Yield where the changelog does not tell of the release that this is."""
    if CHANGELOG not in contents.files:
        yield Contradiction(
            f"version {facts.data_version} is released, without {CHANGELOG}"
        )
        return
    told = read_text(contents.files[CHANGELOG])
    headings = _SECTION.findall(told)
    sections = [version for version, _ in headings]
    month = headings[0][1] if headings else ""
    day = facts.released if isinstance(facts.released, str) else ""
    if month and not day.startswith(month):
        yield Contradiction(
            f"{CHANGELOG} calls it the release of {month}; `released` is {day!r}"
        )
    if not sections or sections[0] != facts.data_version:
        newest = sections[0] if sections else "nothing"
        yield Contradiction(
            f"`data_version` is {facts.data_version}, but {CHANGELOG} ends with "
            f"{newest}"
        )
    if len(set(sections)) != len(sections):
        yield Contradiction(f"{CHANGELOG} tells of a version twice")
    first = _FIRST_RELEASE.search(told)
    records = sum(table.rows for table in contents.records())
    if first and len(sections) == 1 and int(first[1].replace(",", "")) != records:
        yield Contradiction(
            f"{CHANGELOG} says {first[1]} records; there are {records:,}"
        )
