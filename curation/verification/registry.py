"""The checks of a folder, in the order of their findings.

Among those with work for child processes the longest come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.verification.counts import COUNTS, IDENTITY
from curation.verification.credentials import CREDENTIALS
from curation.verification.files import CARD, DIGESTS, STRAYS
from curation.verification.instances import INSTANCES
from curation.verification.leakage import LEAKAGE
from curation.verification.ledger import LEDGER
from curation.verification.loading import LOADING
from curation.verification.personal import PERSONAL
from curation.verification.remaking import REMAKING
from curation.verification.schemas import SCHEMAS
from curation.verification.tables import CANARY_CHECK, ENCODING, VIEWER

if TYPE_CHECKING:
    from curation.verification.check import FolderCheck

CHECKS = (
    DIGESTS,
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
    CANARY_CHECK,
    CREDENTIALS,
    PERSONAL,
)


def select_checks(*, whole: bool = False, nonce: str = "") -> tuple[FolderCheck, ...]:
    """Return the checks of a folder, in order.

    Args:
        whole: Whether every instance is judged and made again, and not a sample.
        nonce: Seeds the sample, so that whoever changes a folder cannot know it.
    """
    variants = {
        check.name: check.variant(whole=whole, nonce=nonce)
        for check in (INSTANCES, REMAKING)
    }
    return tuple(variants.get(check.name, check) for check in CHECKS)
