"""Ray, as far as `curation.workers.ray_pool` calls it, in this process."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from curation.workers import ray_pool
from curation.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _TaskError(Exception):
    """An exception of a task."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause


class _Exceptions:
    """The names of Ray's exceptions."""

    RayTaskError = _TaskError
    RayError = ConnectionError


class _Reference:
    """The result of a task, or what it raised."""

    def __init__(self, function: Callable[..., object], arguments: bytes) -> None:
        self._call = function, arguments

    def value(self) -> object:
        """Run the task, whose arguments have travelled."""
        function, arguments = self._call
        try:
            result = function(*pickle.loads(arguments))  # noqa: S301 - our own
            return pickle.loads(pickle.dumps(result))  # noqa: S301 - likewise
        except ConnectionError:
            raise
        except Exception as error:
            raise _TaskError(error) from error


class _Task:
    """A function whose calls are references."""

    def __init__(
        self, function: Callable[..., object], sent: list[tuple[Any, ...]]
    ) -> None:
        self._function, self._sent = function, sent

    def options(self, **_: object) -> _Task:
        """Take what Ray has to know of resources."""
        return self

    def remote(self, *arguments: Any) -> _Reference:  # noqa: ANN401 - any task's
        """Send the arguments off."""
        self._sent.append(arguments)
        return _Reference(self._function, pickle.dumps(arguments))


class LocalRay:
    """Nodes of one CPU each, whose tasks end in another order than they began.

    Example:
        >>> with closing(LocalRay()) as ray:
        ...     pool = RayPool(ray, print, program, jobs=1)
    """

    exceptions = _Exceptions

    def __init__(self, nodes: Sequence[str] = ("node-1", "node-2")) -> None:
        """Begin with these nodes; whoever takes one away has killed it."""
        self.alive = list(nodes)
        self._known = tuple(nodes)
        self._sent: list[tuple[Any, ...]] = []

    def close(self) -> None:
        """End the workers that the tasks have left for the next ones."""
        for arguments in self._sent:
            pool = ray_pool._open_worker(*arguments[:2])
            if isinstance(pool, Pool):
                pool.close()
        ray_pool._open_worker.cache_clear()

    def nodes(self) -> list[dict[str, Any]]:
        """Describe the nodes as Ray does."""
        return [
            {
                "NodeID": name,
                "NodeManagerAddress": "host",
                "Alive": name in self.alive,
                "Resources": {"CPU": 1.0},
            }
            for name in self._known
        ]

    def remote(self, function: Callable[..., object]) -> _Task:
        """Return a function as a task."""
        return _Task(function, self._sent)

    def put(self, value: object) -> object:
        """Return the value, which is its own reference."""
        return value

    def wait(self, running: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        """Return the reference that was made last."""
        assert timeout
        return running[-1:], running[:-1]

    def get(self, reference: _Reference) -> object:
        """Return the result of a task."""
        return reference.value()
