"""The checks of a folder, in the order of their findings, and the worker that does one.

The worker process of `csbdata verify` takes one item of one check at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.verification.check import CheckItem
from curation.verification.files import DIGESTS, STRAYS
from curation.verification.labels import LABELS
from curation.verification.records import LEAKAGE, ROWS
from curation.verification.tables import DERIVED, LOADING
from curation.verification.texts import TEXTS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.workers.limits import Message

CHECKS = (DIGESTS, STRAYS, LOADING, DERIVED, ROWS, LABELS, LEAKAGE, TEXTS)


def start(setup: Json) -> Callable[[Json], Message]:
    """Take the folder's full path; return the handler of one item."""
    folder = Path(str(setup))
    work = {check.name: check.work for check in CHECKS}

    def handle(message: Json) -> Message:
        item = msgspec.convert(message, CheckItem)
        return work[item.check](folder, item)

    return handle
