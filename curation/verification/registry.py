"""The checks of a folder, in the order in which their findings are reported.

Those whose units take longest come first among those that have any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.signature import require_public_key
from curation.verification.checks.canary import CANARY
from curation.verification.checks.card import CARD
from curation.verification.checks.counts import COUNTS
from curation.verification.checks.credentials import CREDENTIALS
from curation.verification.checks.digests import DIGESTS
from curation.verification.checks.identity import IDENTITY
from curation.verification.checks.instances import ALL_INSTANCES, INSTANCES
from curation.verification.checks.leakage import LEAKAGE
from curation.verification.checks.loading import LOADING
from curation.verification.checks.personal import PERSONAL
from curation.verification.checks.schemas import SCHEMAS
from curation.verification.checks.signature import SIGNATURE, signature_check
from curation.verification.checks.viewer import VIEWER
from curation.verification.derivations.encoding import ENCODING
from curation.verification.derivations.facts import FACTS
from curation.verification.derivations.ledger_tables import LEDGER_TABLES
from curation.verification.derivations.provenance import PROVENANCE
from curation.verification.derivations.remaking import ALL_REMADE, REMAKING
from curation.verification.derivations.strays import STRAYS

if TYPE_CHECKING:
    from curation.verification.core.check import FolderCheck

#: Each is a file of `curation.verification.checks`, or of `derivations`.
CHECKS = (
    DIGESTS,
    SIGNATURE,
    STRAYS,
    COUNTS,
    LOADING,
    CARD,
    FACTS,
    PROVENANCE,
    LEDGER_TABLES,
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


def checks_to_make(
    *, whole: bool = False, public_key: str | None = None
) -> tuple[FolderCheck, ...]:
    """Return the checks of a folder, in order.

    Args:
        whole: Whether every instance is judged and made again, and not a seeded
            sample.
        public_key: The key with which the folder must be signed, as
            `curation.packaging.signature.signature_fault` takes it; None for none.

    Raises:
        CsbdataError: `public_key` is no key, or the library is not installed.
    """
    others = {}
    if whole:
        others[INSTANCES.name] = ALL_INSTANCES
        others[REMAKING.name] = ALL_REMADE
    if public_key is not None:
        require_public_key(public_key)
        others[SIGNATURE.name] = signature_check(public_key)
    return tuple(others.get(check.name, check) for check in CHECKS)
