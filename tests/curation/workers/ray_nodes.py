"""Two Ray nodes on this machine, for the tests that need a cluster; one can be killed.

Run by its path, in a process of its own: Ray warns, opens sockets and starts some ten
processes. It prints the address of the head, and then does what its input says.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from curation.system.slow_formats import formats_when_needed
from curation.workers.ray_pool import NODE_PATH

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
with formats_when_needed():
    from ray.cluster_utils import Cluster

if TYPE_CHECKING:
    from ray._private.node import Node

#: Whatever may be left out is not started beside the agents.
_NODE = {
    "num_cpus": 1,
    "object_store_memory": 80 * 2**20,
    "include_log_monitor": False,
    "env_vars": {"PYTHONPATH": NODE_PATH},
}


def main() -> None:
    """Start both, and kill, add or mend (have both as they were) as told, or end."""
    head = {**_NODE, "include_dashboard": False, "no_monitor": True}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    second: Node | None = cluster.add_node(**_NODE)
    as_started = True
    print(cluster.address, flush=True)  # noqa: T201 - what the test reads
    for line in sys.stdin:
        word, _, value = line.strip().partition(" ")
        if second is not None and (
            word == "kill" or (word == "mend" and not as_started)
        ):
            cluster.remove_node(second, allow_graceful=False)
            second = None
        if second is None and word in ("add", "mend"):
            path = os.pathsep.join((value, NODE_PATH)) if value else NODE_PATH
            second = cluster.add_node(**{**_NODE, "env_vars": {"PYTHONPATH": path}})
            as_started = not value
        print(word, flush=True)  # noqa: T201 - the test waits for it
    cluster.shutdown()


if __name__ == "__main__":
    main()
