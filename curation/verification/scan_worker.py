"""The worker process of `csbdata verify`: one unit of one check at a time."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from curation.verification.registry import CHECKS
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson


def start(setup: UntypedJson) -> Callable[[UntypedJson], UntypedJson]:
    """Take the folder; return the handler of one unit."""
    folder = Path(setup["folder"])
    work = {each.name: each.work for each in CHECKS}
    gc.disable()

    def handle(unit: UntypedJson) -> UntypedJson:
        name, given = unit
        answer = work[name](folder, given)
        gc.collect(0)
        return answer

    return handle


if __name__ == "__main__":
    serve(start)
