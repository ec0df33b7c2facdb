"""The checks of a folder, in the order of their findings."""

from __future__ import annotations

from curation.verification.derived import DERIVED
from curation.verification.files import DIGESTS, STRAYS
from curation.verification.labels import LABELS
from curation.verification.leakage import LEAKAGE
from curation.verification.loading import LOADING
from curation.verification.records import ROWS
from curation.verification.texts import TEXTS

CHECKS = (DIGESTS, STRAYS, LOADING, DERIVED, ROWS, LABELS, LEAKAGE, TEXTS)
