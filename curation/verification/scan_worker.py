"""The worker process of `csbdata verify`: one item of one check at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.verification.check import CheckItem, ScanSetup
from curation.verification.registry import CHECKS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.workers.limits import Message


def start(setup: Json) -> Callable[[Json], Message]:
    """Take the folder; return the handler of one item."""
    folder = Path(msgspec.convert(setup, ScanSetup).folder)
    work = {check.name: check.work for check in CHECKS}

    def handle(message: Json) -> Message:
        item = msgspec.convert(message, CheckItem)
        return work[item.check](folder, item)

    return handle
