"""Check the files of a folder: their digests and completeness."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from curation.core.benchmark import LEDGER, NOTICES, SPLITS, records_config
from curation.dataset.parquet import file_name
from curation.packaging.derived_files import is_derived
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import read_sums
from curation.system.errors import BadData
from curation.system.user_files import file_digest
from curation.verification.check import CheckResult, FolderCheck
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text

_GIT = ".git"
#: The notes of the Hub's client about its downloads.
_HUB_NOTES = ".cache/huggingface/"


def judge_digests(contents: FolderContents, _result: CheckResult) -> CheckResult:
    """Compare the digests of all files with the list of them."""
    digests = {name: file_digest(path) for name, path in contents.files.items()}
    counted = {"file": len(digests)}
    # An unreadable file is reported already.
    unread = {finding.where for finding in contents.findings}
    if SUMS not in digests:
        missing = [] if SUMS in unread else [Finding(where=SUMS, detail="missing")]
        return CheckResult(findings=missing, counted=counted)
    try:
        sums = read_sums(contents.folder)
    except (BadData, ValueError, OSError) as error:
        unreadable = Finding(where=SUMS, detail=f"not readable ({error})")
        return CheckResult(findings=[unreadable], counted=counted)
    findings = []
    for path in sorted((digests.keys() | sums.keys()) - unread - {SUMS}):
        if path not in digests:
            detail = f"missing, but listed in {SUMS}"
        elif path not in sums:
            detail = f"not listed in {SUMS}"
        elif digests[path] != sums[path]:
            detail = f"changed: not the digest in {SUMS}"
        else:
            continue
        findings.append(Finding(where=path, detail=detail))
    return CheckResult(findings=findings, counted=counted)


DIGESTS = FolderCheck(
    name="digests",
    question="are the files those that SHA256SUMS lists?",
    judge=judge_digests,
)


def judge_strays(contents: FolderContents, _result: CheckResult) -> CheckResult:
    """Find files that no build writes, empty folders, git's own, and foreign caches."""
    findings = []
    for parent, folders, names in os.walk(contents.folder):
        where = Path(parent).relative_to(contents.folder).as_posix()
        inside = "" if where == "." else f"{where}/"
        if inside and not folders and not names:
            findings.append(Finding(where=where, detail="an empty folder"))
        if _GIT in folders or _GIT in names:
            detail = "git's own folder, which may hold anything; verify a copy without"
            findings.append(Finding(where=inside + _GIT, detail=detail))
            folders[:] = [name for name in folders if name != _GIT]
        if inside.startswith(".cache/") and not inside.startswith(_HUB_NOTES):
            detail = "no note of the Hub's client"
            findings += [Finding(where=inside + name, detail=detail) for name in names]
    tables = {
        name: table for name, table in contents.tables.items() if table.folder != LEDGER
    }
    numbers = Counter((table.folder, table.split) for table in tables.values())
    expected = {
        file_name(folder, split, number, files)
        for (folder, split), files in numbers.items()
        if split in SPLITS and "/" not in records_config(folder)
        for number in range(files)
    }
    for name, path in contents.files.items():
        if name in tables and name not in expected:
            detail = "a table that no build writes under this name"
            findings.append(Finding(where=name, detail=detail))
        if name in contents.tables or is_derived(name):
            continue
        try:
            read_text(path)
        except (ValueError, OSError) as error:
            detail = f"no file of a build, and no text ({error})"
            findings.append(Finding(where=name, detail=detail))
            continue
        # Notices of others keep their own names.
        if not name.startswith(f"{NOTICES}/"):
            detail = "no file of a build"
            findings.append(Finding(where=name, detail=detail, failure=False))
    return CheckResult(findings=findings)


STRAYS = FolderCheck(
    name="strays",
    question="is there nothing else: no stray file, no empty folder, no .git?",
    judge=judge_strays,
)
