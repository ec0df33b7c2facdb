"""Where units of work are done: in child processes here, or on the nodes of a cluster.

The steps of a build and the scoring of a suite ask an executor for a pool, and do not
know which one it is. That of a cluster is `curation.cluster.executor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from curation.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from curation.workers.limits import Limits
    from curation.workers.messages import Message
    from curation.workers.pool import BatchResult
    from curation.workers.process import Program


class BatchPool(Protocol):
    """Workers over a list of batches; `curation.workers.pool.Pool` is one."""

    @property
    def peak_rss_mb(self) -> float:
        """Largest resident memory seen, of this process and all workers, in MiB."""

    def __enter__(self) -> Self:
        """Return the pool."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all workers."""

    def run_batches(
        self, batches: Iterable[Sequence[Message]]
    ) -> Iterator[BatchResult]:
        """Yield the result of every batch as it is completed.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
        """


class Executor(Protocol):
    """Gives pools of workers."""

    @property
    def jobs(self) -> int:
        """The number of workers of a pool."""

    def pool(
        self, program: Program, limits: Limits | None = None, *, attempts: int = 2
    ) -> BatchPool:
        """Return a pool whose workers are not started yet.

        Args:
            program: What each worker runs.
            limits: What one worker and one unit may use.
            attempts: Workers that a unit may kill before it is blamed.
        """


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Child processes of this one.

    Example:
        >>> LocalExecutor(2).jobs
        2
    """

    #: Number of workers; one at least.
    jobs: int

    def pool(
        self, program: Program, limits: Limits | None = None, *, attempts: int = 2
    ) -> Pool:
        """Return a pool of child processes."""
        return Pool(program, jobs=self.jobs, limits=limits, attempts=attempts)
