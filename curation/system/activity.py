"""What shows a person that the command is at work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec


class Activity(msgspec.Struct):
    """What shows a person that the command is at work."""

    #: When something was printed last, by `time.monotonic`.
    printed: float = msgspec.field(default_factory=time.monotonic)
    #: Number of bars that move, and of questions that wait for the person.
    bars: int = 0
    #: Returns what is at work, and how far it is; empty if nobody has said.
    work: Callable[[], str] = str

    def note(self) -> None:
        """Remember that something was printed just now."""
        self.printed = time.monotonic()


#: That of this process.
ACTIVITY: Final = Activity()
