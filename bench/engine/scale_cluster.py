"""One Ray node on this machine, until its input ends; prints its address.

Usage: python scale_cluster.py CPUS
"""

from __future__ import annotations

import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")

from ray.cluster_utils import Cluster


def main() -> None:
    """Start it, and end it when nobody is there any more."""
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": int(sys.argv[1]),
            "object_store_memory": 100 * 2**20,
            "include_dashboard": False,
        },
    )
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
