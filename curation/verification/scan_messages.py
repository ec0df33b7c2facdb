"""What the parent tells the workers of `csbdata verify`."""

from __future__ import annotations

import msgspec

from curation.verification.core.check import CheckUnit


class ScanSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What every worker is given once."""

    #: The dataset folder's full path.
    folder: str


class ScanUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One unit, and the name of the check that it belongs to."""

    check: str
    unit: CheckUnit
