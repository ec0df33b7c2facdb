"""The checks of a folder, in the order in which their findings are reported.

Those whose units take longest come first among those that have any.
"""

from __future__ import annotations

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
from curation.verification.checks.viewer import VIEWER
from curation.verification.derivations.encoding import ENCODING
from curation.verification.derivations.facts import FACTS
from curation.verification.derivations.ledger_tables import LEDGER_TABLES
from curation.verification.derivations.provenance import PROVENANCE
from curation.verification.derivations.strays import STRAYS

#: Each is a file of `curation.verification.checks`, or of `derivations`.
CHECKS = (
    DIGESTS,
    STRAYS,
    COUNTS,
    LOADING,
    CARD,
    FACTS,
    PROVENANCE,
    LEDGER_TABLES,
    ENCODING,
    INSTANCES,
    SCHEMAS,
    IDENTITY,
    LEAKAGE,
    VIEWER,
    CANARY,
    CREDENTIALS,
    PERSONAL,
)
#: The same, every instance judged again.
ALL_CHECKS = tuple(ALL_INSTANCES if check is INSTANCES else check for check in CHECKS)
