"""A folder that may be published: looked at, verified, and not partial by accident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import BuildFacts, read_facts
from curation.publish.file_inventory import describe_content, inventory
from curation.system.errors import BadData
from curation.verification import verify_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.publish.file_inventory import LocalFile
    from curation.system.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedFolder:
    """What was verified: these contents and no others may be published."""

    files: Mapping[str, LocalFile]
    facts: BuildFacts


def _joined(reasons: Sequence[str]) -> str:
    return " ".join(map(str, reasons)).removesuffix(".")


def verify_for_push(
    folder: Path, *, allow_partial: bool, jobs: int, progress: Progress
) -> VerifiedFolder:
    """Verify a folder.

    The digests are taken before: a file that changes from here on is noticed when it
    is sent.

    Raises:
        NoInput: the folder is no build.
        BadData: it does not verify, or is partial and that was not allowed.
    """
    facts = read_facts(folder)
    if facts.partial and not allow_partial:
        raise BadData(
            f"the build is partial: {_joined(facts.partial)}",
            str(folder),
            "build all of it, or say --allow-partial",
        )
    files = inventory(folder)
    if describe_content((folder / MANIFEST).read_bytes()) != files[MANIFEST] or (
        read_facts(folder) != facts
    ):
        raise BadData("changes while it is looked at", str(folder), "push it again")
    verification = verify_folder(folder, jobs=jobs, progress=progress)
    failures = verification.failures
    if failures:
        for failure in failures[1:]:
            progress.say(str(failure))
        raise BadData(
            f"does not verify, {len(failures)} findings; the first: {failures[0]}",
            str(folder),
            f"csbdata verify {folder} lists them",
        )
    return VerifiedFolder(files=files, facts=facts)
