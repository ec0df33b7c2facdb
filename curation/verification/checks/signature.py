"""Is the list of digests signed with the key that the reader trusts?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.signature import FILE, signature_fault
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "signature"


def signature_check(public_key: str | None) -> FolderCheck:
    """Return the check of a folder's signature.

    Args:
        public_key: As `curation.packaging.signature.signature_fault` takes it; None
            where the reader trusts no key: then a signature is a note, and none is
            nothing.
    """

    def judge(contents: FolderContents, _: Sequence[UnitResult]) -> CheckResult:
        if public_key is not None:
            fault = signature_fault(contents.folder, public_key)
            failure = True
        else:
            given = FILE in contents.files
            fault = "held against no key: --public-key names one" if given else ""
            failure = False
        found = Finding(check=_NAME, where=FILE, detail=fault, failure=failure)
        return CheckResult(findings=[found] if fault else [])

    return FolderCheck(
        name=_NAME,
        question=f"is {FILE} the signature of the key that was named?",
        judge=judge,
    )


#: Where no key is named.
SIGNATURE = signature_check(None)
