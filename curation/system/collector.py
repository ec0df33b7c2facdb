"""Work without the collector of reference cycles.

Where a process makes many objects that live as long as it does, the collector goes
through all of them again and again, and finds nothing to free.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect no reference cycles meanwhile; afterwards it is as it was before.

    Example:
        >>> with without_collector():
        ...     gc.isenabled()
        False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
