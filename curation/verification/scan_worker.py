"""The worker process of `csbdata verify`: one unit of one check at a time."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.verification.registry import CHECKS
from curation.verification.scan_messages import ScanSetup, ScanUnit
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json
    from curation.workers.messages import Message


def start(setup: Json) -> Callable[[Json], Message]:
    """Take the folder; return the handler of one unit."""
    folder = Path(msgspec.convert(setup, ScanSetup).folder)
    work = {check.name: check.work for check in CHECKS}
    gc.disable()

    def handle(message: Json) -> Message:
        unit = msgspec.convert(message, ScanUnit)
        answer = work[unit.check](folder, unit.unit)
        gc.collect(0)
        return answer

    return handle


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode)
