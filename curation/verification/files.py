"""Check the files of a folder: their digests, and that there are no others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from curation.core.benchmark import LEDGER, NOTICES, SPLITS, records_config
from curation.dataset.parquet import file_name
from curation.packaging.derived_files import is_derived
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import UNLISTED
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import file_digest, read_sums
from curation.system.errors import BadData
from curation.verification.check import CheckResult, FolderCheck, ItemResult
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text

_GIT = ".git"
#: The notes of the Hub's client about its downloads.
_HUB_NOTES = ".cache/huggingface/"
_DIGESTS, _STRAYS = "digests", "strays"


def _judge_digests(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    digests = {name: file_digest(path) for name, path in contents.files.items()}
    # An unreadable file is reported already.
    unread = frozenset(finding.where for finding in contents.findings)
    findings = []
    lists: list[tuple[str, Mapping[str, str], frozenset[str]]] = []
    if contents.manifest:
        files = contents.manifest.files
        listed = {name: file.sha256 for name, file in files.items()}
        lists.append((MANIFEST, listed, UNLISTED))
    if SUMS not in contents.files:
        findings += [] if SUMS in unread else [(SUMS, "missing")]
    else:
        try:
            lists.append((SUMS, read_sums(contents.folder), frozenset({SUMS})))
        except (BadData, ValueError, OSError) as error:
            findings.append((SUMS, f"not readable ({error})"))
    for name, listed, exempt in lists:
        for path in sorted((digests.keys() | listed.keys()) - exempt - unread):
            if path not in digests:
                findings.append((path, f"missing, but listed in {name}"))
            elif path not in listed:
                findings.append((path, f"not listed in {name}"))
            elif digests[path] != listed[path]:
                findings.append((path, f"changed: not the digest in {name}"))
    return CheckResult(
        findings=[
            Finding(check=_DIGESTS, where=where, detail=detail)
            for where, detail in findings
        ],
        counted={"files": len(digests)},
    )


DIGESTS = FolderCheck(
    name=_DIGESTS,
    question="are the files those that manifest.json and SHA256SUMS list?",
    judge=_judge_digests,
)


def _strays_of_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield empty folders, git's own, and caches that are not the Hub client's."""
    for parent, folders, names in os.walk(folder):
        where = Path(parent).relative_to(folder).as_posix()
        inside = "" if where == "." else f"{where}/"
        if inside and not folders and not names:
            yield where, "an empty folder"
        if _GIT in folders or _GIT in names:
            detail = "git's own folder, which may hold anything; verify a copy without"
            yield inside + _GIT, detail
            folders[:] = [name for name in folders if name != _GIT]
        if inside.startswith(".cache/") and not inside.startswith(_HUB_NOTES):
            yield from (
                (inside + name, "no note of the Hub's client") for name in names
            )


def _judge_strays(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    tables = {
        name: table for name, table in contents.tables.items() if table.folder != LEDGER
    }
    numbers = Counter((table.folder, table.split) for table in tables.values())
    right = {
        file_name(folder, split, number, files)
        for (folder, split), files in numbers.items()
        if split in SPLITS and "/" not in records_config(folder)
        for number in range(files)
    }
    strays = list(_strays_of_folder(contents.folder))
    unknown = []
    for name, path in contents.files.items():
        if name in tables:
            if name not in right:
                strays.append((name, "a table that no build writes under this name"))
        elif name not in contents.tables and not is_derived(name):
            try:
                read_text(path)
            except (ValueError, OSError) as error:
                strays.append((name, f"no file of a build, and no text ({error})"))
                continue
            # Notices of others keep their own names.
            if not name.startswith(f"{NOTICES}/"):
                unknown.append((name, "no file of a build"))
    return CheckResult(
        findings=[
            Finding(check=_STRAYS, where=where, detail=detail, failure=failure)
            for failure, facts in ((True, strays), (False, unknown))
            for where, detail in facts
        ]
    )


STRAYS = FolderCheck(
    name=_STRAYS,
    question="is there nothing else: no stray file, no empty folder, no .git?",
    judge=_judge_strays,
)
