"""The checks of a folder, in the order of their findings.

Among those with work for child processes the longest come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.signature import require_public_key
from curation.verification.counts import COUNTS, IDENTITY
from curation.verification.credentials import CREDENTIALS
from curation.verification.files import (
    CARD,
    DIGESTS,
    SIGNATURE,
    STRAYS,
    signature_check,
)
from curation.verification.instances import INSTANCES
from curation.verification.leakage import LEAKAGE
from curation.verification.ledger import LEDGER
from curation.verification.loading import LOADING
from curation.verification.personal import PERSONAL
from curation.verification.remaking import REMAKING
from curation.verification.schemas import SCHEMAS
from curation.verification.tables import CANARY, ENCODING, VIEWER

if TYPE_CHECKING:
    from curation.verification.check import FolderCheck

CHECKS = (
    DIGESTS,
    SIGNATURE,
    STRAYS,
    COUNTS,
    LOADING,
    CARD,
    LEDGER,
    ENCODING,
    INSTANCES,
    REMAKING,
    SCHEMAS,
    IDENTITY,
    LEAKAGE,
    VIEWER,
    CANARY,
    CREDENTIALS,
    PERSONAL,
)


def select_checks(
    *, whole: bool = False, nonce: str = "", public_key: str | None = None
) -> tuple[FolderCheck, ...]:
    """Return the checks of a folder, in order.

    Args:
        whole: Whether every instance is judged and made again, and not a sample.
        nonce: Seeds the sample, so that whoever changes a folder cannot know it.
        public_key: The key with which the folder must be signed, as
            `curation.packaging.signature.signature_fault` takes it; None for none.

    Raises:
        CsbdataError: `public_key` is no key, or the library is not installed.
    """
    variants = {
        check.name: check.variant(whole=whole, nonce=nonce)
        for check in (INSTANCES, REMAKING)
    }
    if public_key is not None:
        require_public_key(public_key)
        variants[SIGNATURE.name] = signature_check(public_key)
    return tuple(variants.get(check.name, check) for check in CHECKS)
