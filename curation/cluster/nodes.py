"""The nodes of a cluster: what each is asked before it gets work, and who may work."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration
from curation.workers.fingerprint import code_digest, versions

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What decides a result on a node: its Python, libraries and our code."""

    #: Version by name; `python` is among them.
    versions: dict[str, str]
    #: sha256 of the code and data of csbdata.
    code: str
    #: Names the machine as long as it runs; two nodes may stand on one.
    machine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node that may be given work."""

    #: Ray's own name of it.
    id: str
    #: Its address, as messages name it.
    name: str
    #: CPUs that it offers.
    cpus: int
    #: GPUs that it offers.
    gpus: int = 0
    #: Whether its machine has no other node, and no other work held any of its CPUs
    #: when the cluster was joined.
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lane stands: a node, and which of its lanes it is, from 0."""

    node: Node
    index: int


def installation() -> Installation:
    """Return what is installed where this is called."""
    try:
        machine = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        machine = platform.node()
    return Installation(versions=versions(), code=code_digest(), machine=machine)


def check_same(here: Installation, there: Installation, name: str) -> None:
    """Check that a node gives the results that this process would give.

    Args:
        here: What the driver has.
        there: What the node has.
        name: What a message calls the node.

    Raises:
        BadConfiguration: they differ; says in what (exit 78).
    """
    different = [
        f"{library} {there.versions.get(library, 'none')}, here {version}"
        for library, version in here.versions.items()
        if there.versions.get(library) != version
    ]
    if here.code != there.code:
        different.append("other code of csbdata than here")
    if different:
        raise BadConfiguration(
            f"node {name} has {'; '.join(different)}",
            then="install the same versions on every node",
        )


def places(nodes: Sequence[Node], jobs: int) -> list[Place]:
    """Return where so many lanes stand: spread over the nodes, a CPU each.

    Args:
        nodes: Who may be given work.
        jobs: How many lanes there are at most; no node has more than CPUs.

    Example:
        >>> two = [Node(id=name, name=name, cpus=2) for name in ("a", "b")]
        >>> [(place.node.name, place.index) for place in places(two, 3)]
        [('a', 0), ('b', 0), ('a', 1)]
    """
    rounds = range(max((node.cpus for node in nodes), default=0))
    found = [
        Place(node, index) for index in rounds for node in nodes if index < node.cpus
    ]
    return found[:jobs]


def model_places(
    nodes: Sequence[Node], jobs: int | None, *, on_gpus: bool
) -> list[Place]:
    """Return where copies of a model stand: one a GPU, or one a node without any.

    Args:
        nodes: Who may be given work.
        jobs: How many copies there are at most; None for all.
        on_gpus: Whether GPUs are used; where no node has one, none is.

    Example:
        >>> nodes = [Node(id="a", name="a", cpus=2, gpus=2)]
        >>> len(model_places(nodes, None, on_gpus=True))
        2
        >>> len(model_places(nodes, None, on_gpus=False))
        1
    """
    with_gpus = [
        Place(node, index) for node in nodes for index in range(node.gpus) if on_gpus
    ]
    return (with_gpus or [Place(node, 0) for node in nodes])[:jobs]
