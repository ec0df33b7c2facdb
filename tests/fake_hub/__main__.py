"""A Hub on loopback for trying things by hand: `python -m tests.fake_hub [PORT]`."""

from __future__ import annotations

import sys
import threading

from tests.fake_hub.server import fake_hub

#: Long enough to look like one; it opens nothing but this.
TOKEN = "hf_" + "fake" * 8

if __name__ == "__main__":
    with fake_hub(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as hub:
        hub.allow(TOKEN, "write")
        sys.stdout.write(
            f"export HF_ENDPOINT={hub.endpoint} HF_HUB_DISABLE_XET=1 HF_TOKEN={TOKEN}\n"
        )
        sys.stdout.flush()
        threading.Event().wait()
