"""A Hub on loopback to try things by hand: `python -m tests.fake_hub --published`.

It prints the line that turns a shell to it, and serves until it is killed. With
`--published` it holds the published edition.
"""

from __future__ import annotations

import argparse
import sys
import threading

from tests.fake_hub.published import NAME, published
from tests.fake_hub.server import fake_hub

#: Long enough to look like one; it opens nothing but this.
TOKEN = "hf_" + "fake" * 8

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.fake_hub")
    parser.add_argument("port", nargs="?", type=int, default=0)
    parser.add_argument("--published", action="store_true", help=f"hold {NAME}")
    options = parser.parse_args()
    with fake_hub(options.port) as hub:
        hub.allow(TOKEN, "write")
        if options.published:
            hub.store.create(NAME, private=False)
            hub.store.put(NAME, published())
        sys.stdout.write(
            f"export HF_ENDPOINT={hub.endpoint} HF_HUB_DISABLE_XET=1 HF_TOKEN={TOKEN}\n"
        )
        sys.stdout.flush()
        threading.Event().wait()
