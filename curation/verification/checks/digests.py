"""Are the files those that the build wrote: none missing, none more, none changed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import UNLISTED
from curation.packaging.signature import FILE as SIGNATURE
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import file_digest, read_sums
from curation.system.errors import BadData
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "digests"


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=detail)


def _listed_in_manifest(contents: FolderContents) -> dict[str, str]:
    files = contents.manifest.files if contents.manifest else {}
    return {
        name: str(file.get("sha256")) if isinstance(file, dict) else ""
        for name, file in files.items()
    }


def _listed_in_sums(
    contents: FolderContents, findings: list[Finding]
) -> dict[str, str] | None:
    if SUMS not in contents.files:
        findings.append(_finding(SUMS, "missing"))
        return None
    try:
        return read_sums(contents.folder)
    except BadData as error:
        findings.append(_finding(SUMS, f"{error.what} ({error.where})"))
    except (ValueError, OSError) as error:
        findings.append(_finding(SUMS, f"not readable ({error})"))
    return None


def _compared(
    listed: Mapping[str, str], name: str, own: Mapping[str, str], exempt: frozenset[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield path, fact and name of the list that a file differs from."""
    for path in sorted((listed.keys() | own.keys()) - exempt):
        if path not in own:
            yield path, "missing, but listed in", name
        elif path not in listed:
            yield path, "not listed in", name
        elif listed[path] != own[path]:
            yield path, "changed: not the digest that stands in", name


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    own = {name: file_digest(path) for name, path in contents.files.items()}
    # What cannot be read is reported already.
    unread = frozenset(finding.where for finding in contents.findings)
    facts: dict[tuple[str, str], list[str]] = {}
    lists = []
    if contents.manifest:
        lists.append((_listed_in_manifest(contents), MANIFEST, UNLISTED))
    sums = _listed_in_sums(contents, findings)
    if sums is not None:
        lists.append((sums, SUMS, frozenset({SUMS, SIGNATURE})))
    for listed, name, exempt in lists:
        for path, fact, source in _compared(listed, name, own, exempt | unread):
            facts.setdefault((path, fact), []).append(source)
    findings += [
        _finding(path, f"{fact} {' and '.join(names)}")
        for (path, fact), names in facts.items()
    ]
    return CheckResult(findings=findings, counted={"files": len(own)})


DIGESTS = FolderCheck(
    name=_NAME,
    question="are the files those that manifest.json and SHA256SUMS list?",
    judge=_judge,
)
