"""Check the files of a folder: their digests, and that there are no others."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from curation.core.benchmark import (
    LEDGER,
    NOTICES,
    SPLITS,
    holds_instances,
    records_config,
)
from curation.dataset.parquet import file_name
from curation.packaging.derived_files import is_derived
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import UNLISTED
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import file_digest, read_sums
from curation.system.errors import BadData
from curation.verification.check import (
    CheckResult,
    FolderCheck,
    ItemResult,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text

_GIT = ".git"
#: The notes of the Hub's client about its downloads.
_HUB_NOTES = ".cache/huggingface/"


def _digest(where: str, detail: str) -> Finding:
    return Finding(check="digests", where=where, detail=detail)


def _read_sums(
    contents: FolderContents, findings: list[Finding]
) -> dict[str, str] | None:
    if SUMS not in contents.files:
        findings.append(_digest(SUMS, "missing"))
        return None
    try:
        return read_sums(contents.folder)
    except BadData as error:
        findings.append(_digest(SUMS, f"{error.what} ({error.where})"))
    except (ValueError, OSError) as error:
        findings.append(_digest(SUMS, f"not readable ({error})"))
    return None


def _differences(
    digests: Mapping[str, str],
    name: str,
    own: Mapping[str, str],
    exempt: frozenset[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield path, fact and name of the list, of each file that differs from a list."""
    for path in sorted((digests.keys() | own.keys()) - exempt):
        if path not in own:
            yield path, "missing, but listed in", name
        elif path not in digests:
            yield path, "not listed in", name
        elif digests[path] != own[path]:
            yield path, "changed: not the digest that stands in", name


def _judge_digests(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    findings: list[Finding] = []
    own = {name: file_digest(path) for name, path in contents.files.items()}
    # An unreadable file is reported already.
    unread = frozenset(finding.where for finding in contents.findings)
    facts: dict[tuple[str, str], list[str]] = {}
    lists = []
    if contents.manifest:
        files = contents.manifest.files
        digests = {name: file.sha256 for name, file in files.items()}
        lists.append((digests, MANIFEST, UNLISTED))
    sums = None if SUMS in unread else _read_sums(contents, findings)
    if sums is not None:
        lists.append((sums, SUMS, frozenset({SUMS})))
    for digests, name, exempt in lists:
        for path, fact, source in _differences(digests, name, own, exempt | unread):
            facts.setdefault((path, fact), []).append(source)
    findings += [
        _digest(path, f"{fact} {' and '.join(names)}")
        for (path, fact), names in facts.items()
    ]
    return CheckResult(findings=findings, counted={"files": len(own)})


DIGESTS = FolderCheck(
    name="digests",
    question="are the files those that manifest.json and SHA256SUMS list?",
    judge=_judge_digests,
)


def _stray(where: str, detail: str, *, failure: bool = True) -> Finding:
    return Finding(check="strays", where=where, detail=detail, failure=failure)


def _strays_of_folder(folder: Path) -> Iterator[Finding]:
    """Yield empty folders, git's own, and caches that are not the Hub client's."""
    for parent, folders, names in os.walk(folder):
        where = Path(parent).relative_to(folder).as_posix()
        inside = "" if where == "." else f"{where}/"
        if inside and not folders and not names:
            yield _stray(where, "an empty folder")
        if _GIT in folders or _GIT in names:
            detail = "git's own folder, which may hold anything; verify a copy without"
            yield _stray(inside + _GIT, detail)
            folders[:] = [name for name in folders if name != _GIT]
        if inside.startswith(".cache/") and not inside.startswith(_HUB_NOTES):
            for name in names:
                yield _stray(inside + name, "no note of the Hub's client")


def _is_table_of_build(name: str, folder: str, files: Mapping[str, int]) -> bool:
    """Return whether a build may write a table of this name into this folder.

    Args:
        name: Path of the table, with `/`.
        folder: Its folder.
        files: Number of tables of each split in that folder.
    """
    config = records_config(folder) if holds_instances(folder) else folder
    names = {
        file_name(folder, split, number, files[split])
        for split in SPLITS
        for number in range(files[split])
    }
    return name in names and "/" not in config


def _strays_of_files(contents: FolderContents) -> Iterator[Finding]:
    tables: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for table in contents.tables.values():
        tables[table.folder][table.split] += 1
    for name, path in contents.files.items():
        own = contents.tables.get(name)
        if own is not None and own.folder != LEDGER:
            if not _is_table_of_build(name, own.folder, tables[own.folder]):
                yield _stray(name, "a table that no build writes under this name")
        elif own is None and not is_derived(name):
            try:
                read_text(path)
            except (ValueError, OSError) as error:
                yield _stray(name, f"no file of a build, and no text ({error})")
                continue
            # Notices of others keep their own names.
            if not name.startswith(f"{NOTICES}/"):
                yield _stray(name, "no file of a build", failure=False)


def _judge_strays(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    return CheckResult(
        findings=[*_strays_of_folder(contents.folder), *_strays_of_files(contents)]
    )


STRAYS = FolderCheck(
    name="strays",
    question="is there nothing else: no stray file, no empty folder, no .git?",
    judge=_judge_strays,
)
