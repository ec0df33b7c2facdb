"""Ray itself: imported where it is needed, started quietly, and always stopped."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from curation.system.errors import BadUsage, TemporarilyUnavailable, Unavailable
from curation.system.extras import install_extra
from curation.system.iri_grammar import grammar_when_needed

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of the object store of a cluster of our own: what crosses it is small.
_STORE_BYTES = 100 * 2**20
#: Seconds in which somebody must answer at an address.
_KNOCK_SECONDS = 5.0
#: Set before Ray is imported: it tells its authors nothing, and shows no warnings that
#: are about its own settings.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_raylet_start_wait_time_s": "120",
}


def ray_library() -> Any:  # noqa: ANN401 - Ray is optional, and untyped where it is not installed
    """Return the module `ray`.

    Raises:
        Unavailable: it is not installed (exit 69).
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        with grammar_when_needed():
            return import_module("ray")
    except ImportError as error:
        raise Unavailable(
            "--executor ray needs the library ray", then=install_extra("ray")
        ) from error


@contextmanager
def joined(address: str, cpus: int) -> Iterator[Any]:
    """Be a driver of a cluster for the length of a block; give the module `ray`.

    Args:
        address: `HOST:PORT` of its head, `auto` for the one of this machine; empty
            starts one here, which ends with the block.
        cpus: CPUs of the cluster that is started here.

    Raises:
        Unavailable: Ray is not installed, or no cluster is at the address (exit 69).
        TemporarilyUnavailable: the cluster here did not start in time (exit 75).
        BadUsage: this is no address.
    """
    ray = ray_library()
    if address and address != "auto":
        _knock(address)
    handlers = {number: signal.getsignal(number) for number in _signals()}
    quiet = {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=cpus,
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                **quiet,
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


def _not_joined(address: str, error: Exception) -> Exception:
    """Return what is said of a cluster that could not be joined."""
    if not address:
        return TemporarilyUnavailable(
            f"Ray did not start here ({error})",
            then="try again when the machine is less busy, or leave --executor out",
        )
    text = str(error)
    if "Version mismatch" in text:
        words = " ".join(text.split())
        return Unavailable(words, address, "use the Python and Ray of the cluster")
    return Unavailable(
        f"no Ray cluster that can be joined ({' '.join(text.split())[:200]})",
        address,
        "start one with `ray start --head`, or leave --address out",
    )


def _signals() -> list[signal.Signals]:
    """Return the signals whose handlers Ray replaces, and we put back."""
    return [signal.SIGTERM, signal.SIGINT]


def _knock(address: str) -> None:
    """See that somebody answers at an address: Ray would wait a minute for nobody.

    Raises:
        BadUsage: this is no address.
        Unavailable: nobody answers.
    """
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal()):
        raise BadUsage(f"--address takes HOST:PORT or auto, not {address!r}")
    try:
        socket.create_connection((host, int(port)), _KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise Unavailable(
            f"no Ray cluster answers ({error})",
            address,
            "start one with `ray start --head`, or leave --address out",
        ) from error
