"""What a lane keeps on its node from one task to the next, and the actor around it.

Nothing here knows Ray: an actor is an object whose methods are called from afar.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from curation.system.errors import CsbdataError

if TYPE_CHECKING:
    from collections.abc import Callable

_Task_contra = TypeVar("_Task_contra", contravariant=True)
_Answer_co = TypeVar("_Answer_co", covariant=True)
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")
_Shared = TypeVar("_Shared")
_Asked = TypeVar("_Asked")


class Session(Protocol[_Task_contra, _Answer_co]):
    """What answers the tasks of one lane, one after the other."""

    def answer(self, task: _Task_contra) -> _Answer_co:
        """Return what came of a task.

        Raises:
            CsbdataError: the lane can answer none at all.
        """

    def close(self) -> None:
        """End what the session has started."""


class SessionActor(Generic[_Shared, _Task, _Answer]):
    """A process on a node, and its session, which is opened with its first task.

    Child processes that the session starts end with this one (`workers.protocol`).
    """

    def __init__(self) -> None:
        """Have no session yet."""
        self._made: Callable[[], Session[_Task, _Answer]] | None = None
        self._session: Session[_Task, _Answer] | None = None

    @staticmethod
    def call(function: Callable[..., _Asked], *arguments: object) -> _Asked:
        """Return what a function returns here."""
        return function(*arguments)

    def open(
        self,
        open_session: Callable[[_Shared], Session[_Task, _Answer]],
        shared: _Shared,
    ) -> None:
        """Keep what opens the session; one that was open ends.

        Args:
            open_session: A function of a module, which every node has.
            shared: What it is given: the same value for many lanes.
        """
        self.close()
        self._made = partial(open_session, shared)

    def answer(self, task: _Task) -> _Answer | CsbdataError:
        """Return the session's answer, or the fault that it has raised.

        Raises:
            RuntimeError: no session was opened.
        """
        if self._made is None:
            raise RuntimeError("no session was opened")
        try:
            if self._session is None:
                self._session = self._made()
            return self._session.answer(task)
        except CsbdataError as fault:
            return fault

    def close(self) -> None:
        """End what the session has started."""
        session, self._session, self._made = self._session, None, None
        if session is not None:
            session.close()
