"""Workers on the nodes of a Ray cluster, instead of this machine's.

Each batch is one task, on one CPU of a node, which keeps its worker for the next one.
Nothing else imports ray. Every node needs the same csbdata, and the input files at the
same paths. Ray runs the batches of a lost node again.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CsbdataError,
    TemporarilyUnavailable,
    Unavailable,
    install_extra,
)
from curation.system.slow_formats import formats_when_needed
from curation.system.words import counted
from curation.workers.fingerprint import code_digest, digest_of_files, versions
from curation.workers.limits import Limits, Message, ProcessResult
from curation.workers.pool import BatchResult, Pool
from curation.workers.process import Program

LOCAL = "local"
#: Times that Ray runs a batch again after its node or process was lost.
_RETRIES = 3
#: Seconds between two looks at the nodes.
_LOOK_SECONDS = 2.0
#: Seconds to wait for a connection to the head of a cluster.
_CONNECT_SECONDS = 5.0
#: Bytes of the object store of a cluster started here; Ray spills the rest.
_STORE_BYTES = 100 * 2**20
#: Batches for each CPU handed over before the first is done.
_AHEAD = 2
#: The first file read by each Python of a node started here.
NODE_PATH = str(Path(__file__).with_name("ray_node"))
#: Set before Ray is imported: no usage statistics, no warnings about its settings.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_raylet_start_wait_time_s": "60",
}
#: Makes a pool as the class `Pool` does.
OpenPool: TypeAlias = Callable[..., Pool]


def ray_address(executor: str) -> str | None:
    """Return the address in `ray[:ADDRESS]`; None for `local`.

    `HOST:PORT` is the head of a cluster, `auto` the cluster of this machine, and an
    empty address a cluster started here and ends with the command.

    Raises:
        BadUsage: it is not an executor.

    Example:
        >>> ray_address("local"), ray_address("ray"), ray_address("ray:10.0.0.1:6379")
        (None, '', '10.0.0.1:6379')
    """
    name, colon, address = executor.partition(":")
    if executor == LOCAL:
        return None
    host, _, port = address.rpartition(":")
    if name == "ray" and (
        not colon or address == "auto" or (host and port.isdecimal())
    ):
        return address
    raise BadUsage(
        f"--executor takes local, ray, ray:auto or ray:HOST:PORT, not {executor!r}"
    )


@contextmanager
def open_pools(executor: str, log: Callable[[str], None]) -> Iterator[OpenPool]:
    """Yield what opens pools of workers: here, or on a cluster joined for the block.

    Args:
        executor: `local` or `ray[:ADDRESS]` (see `ray_address`).
        log: Prints the size of the cluster, and lost nodes.

    Raises:
        Unavailable: Ray is not installed, or no cluster answers.
        TemporarilyUnavailable: the cluster here did not start in time.
    """
    address = ray_address(executor)
    if address is None:
        yield Pool
        return
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        with formats_when_needed():
            ray = import_module("ray")
    except ImportError as error:
        raise Unavailable(
            "--executor ray needs the library ray", hint=install_extra("ray")
        ) from error
    identity = {
        "num_cpus": os.cpu_count() or 1,
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }
    # Ray replaces these handlers.
    handlers = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    path = os.environ.get("PYTHONPATH")
    try:
        if not address:
            # The nodes inherit it; this process gets its value back.
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (NODE_PATH, path)))
        if address not in {"", "auto"}:
            # Ray itself would try for a minute.
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="CRITICAL",
            **({} if address else identity),
        )
    except Exception as error:
        ray.shutdown()
        raise _not_joined(address, error) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.pop("PYTHONPATH", None)
        if path is not None:
            os.environ["PYTHONPATH"] = path
    try:
        yield partial(RayPool, ray, log)
    finally:
        ray.shutdown()


class RayPool(Pool):
    """The workers of a cluster over a list of batches, with the same results."""

    def __init__(  # noqa: PLR0913 - the cluster, and all that a pool takes
        self,
        ray: Any,  # noqa: ANN401 - Ray is untyped
        log: Callable[[str], None],
        program: Program,
        *,
        jobs: int,  # noqa: ARG002 - the cluster has as many as CPUs
        limits: Limits | None = None,
        attempts: int = 2,
    ) -> None:
        """Take the cluster, where to report on its nodes, and a pool's arguments."""
        self._ray, self._say = ray, log
        self._worker = pickle.dumps((program, limits, attempts))
        self._driver = tuple(_identity(program).items())
        self._workers = []
        self.peak_rss_mb = 0.0

    def run_batches(
        self, batches: Iterable[Sequence[Message]]
    ) -> Iterator[BatchResult]:
        """Yield the result of every batch as it is completed; order by `index`.

        Raises:
            CsbdataError: a worker cannot be started, or a batch was lost too often.
            Unavailable: csbdata does not run on a node.
            BadConfiguration: a node has other versions or files than this process.
            TemporarilyUnavailable: no node is left.
        """
        ray, running = self._ray, dict[Any, int]()
        task = ray.remote(_run_batch).options(
            num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD"
        )
        given = ray.put(self._worker), ray.put(self._driver)
        nodes = self._look_at_nodes({})
        cpus = sum(int(node["Resources"]["CPU"]) for node in nodes.values())
        self._say(f"Ray: {counted(len(nodes), 'node')}, {counted(cpus, 'CPU')}")
        waiting = enumerate(batches)
        while True:
            while len(running) < _AHEAD * cpus:
                index, requests = next(waiting, (-1, ()))
                if index < 0:
                    break
                running[task.remote(*given, requests)] = index
            if not running:
                return
            done, _ = ray.wait(list(running), timeout=_LOOK_SECONDS)
            nodes = self._look_at_nodes(nodes)
            for reference in done:
                index = running.pop(reference)
                yield BatchResult(index=index, results=self._results(reference))

    def _results(self, reference: object) -> tuple[ProcessResult, ...]:
        ray = self._ray
        try:
            results = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ImportError):
                raise Unavailable(
                    f"a node cannot import csbdata ({error.cause})",
                    hint="install csbdata there as it is installed here",
                ) from error
            raise CsbdataError(f"{error.cause!r}", "a task of Ray") from error
        except ray.exceptions.RayError as error:
            raise CsbdataError(
                f"its worker was lost {_RETRIES + 1} times",
                "a task of Ray",
                "look at the memory of the nodes; the same command continues",
            ) from error
        if isinstance(results, CsbdataError):
            raise results
        found: tuple[ProcessResult, ...] = results
        return found

    def _look_at_nodes(self, before: dict[str, Any]) -> dict[str, Any]:
        """Return the living nodes that offer a CPU; report those lost since `before`.

        Raises:
            TemporarilyUnavailable: no node is left.
        """
        nodes = {
            node["NodeID"]: node
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        }
        for lost in before.keys() - nodes.keys():
            name = f"{before[lost]['NodeManagerAddress']} ({lost[:6]})"
            self._say(f"Ray: node {name} was lost; its batches are run again")
        if not nodes:
            raise TemporarilyUnavailable(
                "no node of the cluster offers a CPU",
                hint="start one with --num-cpus; the same command continues",
            )
        return nodes


def _identity(program: Program) -> dict[str, str]:
    """Return versions and digests that must be the same on every node, by name."""
    found = (
        (file.parent, path)
        for file in program.files
        for path in sorted((file, *file.rglob("*")))
        if path.is_file()
    )
    files = digest_of_files(found)
    return {**versions(), "code": code_digest(), "input files": files}


@cache
def _open_worker(
    worker: bytes, driver: tuple[tuple[str, str], ...]
) -> Pool | BadConfiguration:
    """Return the worker of this process of a node, or why it must not work.

    Args:
        worker: Program, limits and attempts, pickled.
        driver: The identity of the driver.
    """
    program, limits, attempts = pickle.loads(worker)  # noqa: S301 - from the driver
    identity = _identity(program)
    different = [
        f"{name} {identity.get(name, 'none')[:12]}, not {value[:12]}"
        for name, value in driver
        if identity.get(name) != value
    ]
    if not different:
        return Pool(program, jobs=1, limits=limits, attempts=attempts)
    return BadConfiguration(
        f"node {socket.gethostname()} has {'; '.join(different)}",
        hint="install the same versions, and put the same files at the same paths",
    )


def _run_batch(
    worker: bytes, driver: tuple[tuple[str, str], ...], requests: Sequence[Message]
) -> tuple[ProcessResult, ...] | CsbdataError:
    """Work on a batch, on a node; return the results, or the error."""
    pool = _open_worker(worker, driver)
    if isinstance(pool, BadConfiguration):
        return pool
    try:
        (batch,) = pool.run_batches([requests])
    except CsbdataError as error:
        return error
    return batch.results


def _not_joined(address: str, error: Exception) -> CsbdataError:
    text = " ".join(str(error).split())
    if not address:
        return TemporarilyUnavailable(
            f"Ray did not start here ({text[:200]})",
            hint="try again when the machine is less busy, or leave --executor out",
        )
    if "Version mismatch" in text:
        return Unavailable(text, address, "use the Python and Ray of the cluster")
    return Unavailable(
        f"no Ray cluster answers ({text[:200]})",
        address,
        "start one with `ray start --head`, or use --executor ray",
    )
