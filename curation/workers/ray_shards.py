"""Run the shards of a command as tasks of a Ray cluster.

Each shard is one task that does one of N parts; the driver keeps
finished shards, and the caller merges their folders. Nothing else imports ray. Every
node needs the same csbdata, and the input files at the same paths.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CsbdataError,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.extras import install_extra
from curation.system.slow_formats import formats_when_needed
from curation.system.words import counted
from curation.workers.fingerprint import code_digest, versions
from curation.workers.run_folder import FinishedWork

_Request = TypeVar("_Request")
LOCAL: Final = "local"
#: Times that Ray runs a shard again after its node or process was lost.
_RETRIES = 3
#: Seconds between two looks at the nodes.
_LOOK_SECONDS = 2.0
#: Seconds to wait for a connection to the head of a cluster.
_CONNECT_SECONDS = 5.0
#: Bytes of the object store of a cluster that is started here; Ray spills the rest.
_STORE_BYTES = 100 * 2**20
#: What each Python of a node that is started here reads first.
NODE_PATH: Final = str(Path(__file__).with_name("ray_node"))
#: Set before Ray is imported: no usage statistics, no warnings about its settings.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_raylet_start_wait_time_s": "60",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One shard, as the function that works on it gets it."""

    #: Part (from 1) and number of parts.
    part: int
    parts: int
    #: An empty folder on the node; its files are the shard's result.
    folder: Path
    #: CPUs that the task has reserved.
    cpus: int


def ray_address(executor: str) -> str | None:
    """Return the address in `ray[:ADDRESS]`; None for `local`.

    `HOST:PORT` is the head of a cluster, `auto` the cluster of this machine, and an
    empty address a cluster that is started here and ends with the command.

    Raises:
        BadUsage: it is no executor.

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


def run_shards(  # noqa: PLR0913 - the function, its request, and where each part stands
    function: Callable[[_Request, Shard], object],
    request: _Request,
    *,
    executor: str,
    folder: Path,
    fingerprint: str,
    shards_per_place: int = 4,
    use_gpus: bool = False,
    say: Callable[[str], None] = lambda _message: None,
) -> list[Path]:
    """Have a cluster work on all shards of a request; return their folders, in order.

    The same call continues after the driver was killed: shards in `folder` are not
    worked on again. Ray runs the shard of a lost node again.

    Args:
        function: A function of a module; it leaves its result in the shard's folder.
        request: Its first argument; it is pickled.
        executor: `ray[:ADDRESS]` (see `ray_address`).
        folder: The driver's folder of finished shards. The caller holds its lock, and
            removes it when the shards are merged.
        fingerprint: A digest of everything that decides the result; other shards in
            the folder are not used.
        shards_per_place: Number of shards for each node (each GPU). More of them lose
            less work with a node, but each has the cost of a start.
        use_gpus: Reserve one GPU for each task if the cluster has GPUs.
        say: Prints progress and lost nodes.

    Raises:
        CsbdataError: the function has raised it, or a shard was lost too often.
        Unavailable: Ray is not installed, no cluster answers, or csbdata does not
            run on a node.
        BadConfiguration: a node has other versions than this process.
        TemporarilyUnavailable: no node is left that can run a shard.
        CannotCreate: `folder` cannot be written.
    """
    work = FinishedWork(folder / "finished", fingerprint)
    with _joined(ray_address(executor) or "") as ray:
        nodes = _nodes(ray)
        cpus, gpus, places = _places(nodes, use_gpus=use_gpus)
        parts = int(work.find("parts") or places * shards_per_place)
        work.store("parts", str(parts).encode())
        missing = [n for n in range(1, parts + 1) if work.find(f"{n}") is None]
        count = counted(len(nodes), "node")
        say(f"Ray: {len(missing)} of {parts} shards to do on {count}")
        task = ray.remote(_run_shard).options(
            num_cpus=cpus,
            num_gpus=gpus,
            max_retries=_RETRIES,
            scheduling_strategy="SPREAD",
        )
        here = (versions(), code_digest(), str(Path.cwd()))
        running = {
            task.remote(function, request, part, parts, cpus, here): part
            for part in missing
        }
        alive = {node["NodeID"]: _name(node) for node in nodes}
        while running:
            done, _ = ray.wait(list(running), num_returns=1, timeout=_LOOK_SECONDS)
            _look_at_nodes(ray, alive, cpus, gpus, say)
            for reference in done:
                part = running.pop(reference)
                work.store(f"{part}", _result(ray, reference, f"{part}/{parts}"))
                say(f"Ray: shard {part}/{parts} done")
    return [_unpacked(work, part, folder / f"{part}") for part in range(1, parts + 1)]


def _run_shard(  # noqa: PLR0913, PLR0917 - it crosses to another process
    function: Callable[[_Request, Shard], object],
    request: _Request,
    part: int,
    parts: int,
    cpus: int,
    driver: tuple[dict[str, str], str, str],
) -> bytes | CsbdataError:
    """Work on a shard, on its node; return its folder as a tar archive, or the error.

    Relative paths of the request are relative to the driver's working directory.
    """
    required, code, directory = driver
    own = versions()
    different = [
        f"{n} {own.get(n)}, not {v}" for n, v in required.items() if own.get(n) != v
    ]
    if code_digest() != code:
        different.append("other code of csbdata than here")
    if different:
        return BadConfiguration(
            f"node {socket.gethostname()} has {'; '.join(different)}",
            then="install the same versions on every node",
        )
    with suppress(OSError):
        os.chdir(directory)
    with TemporaryDirectory(prefix="csbdata-shard-") as name:
        folder = Path(name) / "shard"
        folder.mkdir()
        try:
            function(request, Shard(part=part, parts=parts, folder=folder, cpus=cpus))
        except CsbdataError as error:
            return error
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(folder, arcname=".")
        return packed.getvalue()


def _result(ray: Any, reference: object, shard: str) -> bytes:  # noqa: ANN401 - Ray is untyped
    """Return the archive of a finished shard.

    Raises:
        CsbdataError: the shard ended with this error.
    """
    try:
        result = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ImportError):
            raise Unavailable(
                f"a node cannot import csbdata ({cause})",
                then="install csbdata there as it is installed here",
            ) from error
        raise CsbdataError(f"{cause!r}", f"shard {shard}") from error
    except ray.exceptions.RayError as error:
        raise CsbdataError(
            f"its worker was lost {_RETRIES + 1} times",
            f"shard {shard}",
            "look at the memory of the nodes; the same command continues",
        ) from error
    if isinstance(result, CsbdataError):
        raise result
    return bytes(result)


def _unpacked(work: FinishedWork, part: int, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    packed = io.BytesIO(work.find(f"{part}") or b"")
    with tarfile.open(fileobj=packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _nodes(ray: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - Ray is untyped
    """Return the living nodes that offer a CPU.

    Raises:
        BadConfiguration: there is none.
    """
    nodes = [
        node
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    ]
    if not nodes:
        raise BadConfiguration(
            "no node of the cluster offers a CPU", then="start one with --num-cpus"
        )
    return nodes


def _name(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})"


def _places(nodes: list[dict[str, Any]], *, use_gpus: bool) -> tuple[int, int, int]:
    """Return the CPUs and GPUs of a task, and how many tasks run at the same time.

    A task takes a whole node, or one GPU with its part of the node's CPUs; where
    nodes differ, the smallest decides.
    """
    with_gpus = [node for node in nodes if node["Resources"].get("GPU", 0) >= 1]
    if not (use_gpus and with_gpus):
        return min(int(node["Resources"]["CPU"]) for node in nodes), 0, len(nodes)
    gpus = [int(node["Resources"]["GPU"]) for node in with_gpus]
    cpus = min(
        int(node["Resources"]["CPU"]) // count
        for node, count in zip(with_gpus, gpus, strict=True)
    )
    return max(1, cpus), 1, sum(gpus)


def _look_at_nodes(
    ray: Any,  # noqa: ANN401 - Ray is untyped
    alive: dict[str, str],
    cpus: int,
    gpus: int,
    say: Callable[[str], None],
) -> None:
    """Report nodes that were lost since the last look, and forget them.

    Raises:
        TemporarilyUnavailable: no node is left that can run a shard.
    """
    nodes = [node for node in ray.nodes() if node["Alive"]]
    for lost in alive.keys() - {node["NodeID"] for node in nodes}:
        say(f"Ray: node {alive.pop(lost)} was lost; its shards are run again")
    if not any(
        node["Resources"].get("CPU", 0) >= cpus
        and node["Resources"].get("GPU", 0) >= gpus
        for node in nodes
    ):
        raise TemporarilyUnavailable(
            "no node of the cluster is left that can run a shard",
            then="start one; the same command continues",
        )


@contextmanager
def _joined(address: str) -> Iterator[Any]:
    """Connect to a cluster for the length of a block; yield the module `ray`.

    Raises:
        Unavailable: Ray is not installed, or no cluster is at the address.
        TemporarilyUnavailable: the cluster here did not start in time.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    if not address:
        paths = (NODE_PATH, os.environ.get("PYTHONPATH"))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    try:
        with formats_when_needed():
            ray = import_module("ray")
    except ImportError as error:
        raise Unavailable(
            "--executor ray needs the library ray", then=install_extra("ray")
        ) from error
    if address and address != "auto":
        _check_that_it_answers(address)
    here = {
        "num_cpus": os.cpu_count() or 1,
        "include_dashboard": False,
        "object_store_memory": _STORE_BYTES,
    }
    # Ray replaces these handlers.
    handlers = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="CRITICAL",
            **({} if address else here),
        )
    except Exception as error:
        ray.shutdown()
        raise _not_joined(address, error) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        yield ray
    finally:
        ray.shutdown()


def _not_joined(address: str, error: Exception) -> CsbdataError:
    text = " ".join(str(error).split())
    if not address:
        return TemporarilyUnavailable(
            f"Ray did not start here ({text[:200]})",
            then="try again when the machine is less busy, or leave --executor out",
        )
    if "Version mismatch" in text:
        return Unavailable(text, address, "use the Python and Ray of the cluster")
    return Unavailable(
        f"the Ray cluster cannot be joined ({text[:200]})",
        address,
        "start one with `ray start --head`, or use --executor ray",
    )


def _check_that_it_answers(address: str) -> None:
    """Connect to the head of a cluster once: Ray itself would try for a minute.

    Raises:
        Unavailable: nothing answers.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise Unavailable(
            f"no Ray cluster answers ({error})",
            address,
            "start one with `ray start --head`, or use --executor ray",
        ) from error
