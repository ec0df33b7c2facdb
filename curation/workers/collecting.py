"""The garbage of a worker, collected behind each request and at no other time."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


def collecting(handle: Callable[[_Request], _Answer]) -> Callable[[_Request], _Answer]:
    """Return a handler behind which what its request made is collected at once.

    Most of it lives until the answer: to look for garbage before that is in vain.
    """
    gc.disable()

    def collected(request: _Request) -> _Answer:
        try:
            return handle(request)
        finally:
            gc.collect(0)

    return collected
