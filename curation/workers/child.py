"""The child process of every task of ours: `python -m curation.workers.child MODULE`.

The module has a function `start`, which takes the set-up and returns the handler of one
request. Garbage is collected after each request and at no other time: most objects live
until the answer.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

import msgspec

from curation.core.json_types import Json
from curation.workers.limits import Message
from curation.workers.protocol import serve

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


def collecting(handle: Callable[[_Request], _Answer]) -> Callable[[_Request], _Answer]:
    """Return a handler after which the garbage of its request is collected."""

    def collected(request: _Request) -> _Answer:
        try:
            return handle(request)
        finally:
            gc.collect(0)

    return collected


def main(module: str) -> None:
    """Answer the parent's requests by the task of a module."""

    def start(setup: Json) -> Callable[[Json], Message]:
        handle: Callable[[Json], Message] = import_module(module).start(setup)
        return collecting(handle)

    gc.disable()
    # What a forked child has from its parent is no garbage, and is not touched.
    gc.freeze()
    serve(start, encode=msgspec.json.encode, decode=msgspec.json.decode)


if __name__ == "__main__":
    main(sys.argv[1])
