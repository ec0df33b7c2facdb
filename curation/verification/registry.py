"""The checks of a folder, in the order in which their findings are told.

Those whose units take longest come first among those that have any.
"""

from __future__ import annotations

from curation.verification.check_canary import CANARY
from curation.verification.check_card import CARD
from curation.verification.check_counts import COUNTS
from curation.verification.check_credentials import CREDENTIALS
from curation.verification.check_digests import DIGESTS
from curation.verification.check_identity import IDENTITY
from curation.verification.check_leakage import LEAKAGE
from curation.verification.check_loading import LOADING
from curation.verification.check_personal import PERSONAL
from curation.verification.check_schemas import SCHEMAS
from curation.verification.check_viewer import VIEWER

#: One file each.
CHECKS = (
    DIGESTS,
    COUNTS,
    LOADING,
    CARD,
    SCHEMAS,
    IDENTITY,
    LEAKAGE,
    VIEWER,
    CANARY,
    CREDENTIALS,
    PERSONAL,
)
