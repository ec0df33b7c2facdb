"""Does what the manifest states follow from rows, ledger, pins and releases?

The facts of a manifest are what nobody can count from the folder's files alone, but
few of them are free: each module beside this one derives what can be derived, from
the ledger, the tables, the changelog, and the pins and rules of this version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import read_facts
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.derivations import (
    options,
    partiality,
    pins,
    release,
    rule_list,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "facts"
_PARTS = (partiality, pins, release, rule_list, options)


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    if contents.manifest is None:
        return CheckResult()
    facts = read_facts(contents.folder)
    return CheckResult(
        findings=[
            Finding(
                check=_NAME,
                where=MANIFEST,
                detail=contradiction.detail,
                failure=contradiction.certain,
            )
            for part in _PARTS
            for contradiction in part.contradictions(facts, contents)
        ]
    )


FACTS = FolderCheck(
    name=_NAME,
    question="does what the manifest states follow from ledger, pins and releases?",
    judge=_judge,
)
