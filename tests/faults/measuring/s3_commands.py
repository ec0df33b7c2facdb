"""Commands whose run folder is in a bucket of a store on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

import curation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.store_server import FaultyStore

RUN = "s3://bucket/runs/one"
#: Both made up; the first has the form of AWS's own.
KEY, SECRET = "AKIA" + "Q3EGRZ7XVN2WDKLB", "s3cr3t" * 6
_ROOT = Path(curation.__file__).parents[1]


@contextmanager
def store_with_bucket() -> Iterator[FaultyStore]:
    """Give a store with one empty bucket; it needs moto."""
    from tests import store_server  # noqa: PLC0415 - needs moto

    with store_server.serving() as found:
        request = urllib.request.Request(f"{found.url}/bucket", method="PUT")  # noqa: S310 - our own, on loopback
        urllib.request.urlopen(request).close()  # noqa: S310 - the same
        yield found


def environment(store: FaultyStore, folder: Path, cache: str) -> dict[str, str]:
    """Return the variables with which a command finds the store."""
    own = {
        "AWS_ENDPOINT_URL": store.url,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        # What these libraries try again by themselves is not what is looked at.
        "AWS_MAX_ATTEMPTS": "1",
        "CSBDATA_CACHE": str(folder / cache),
        "PYTHONPATH": str(_ROOT),
    }
    return {**os.environ, **own}


def csbdata(
    store: FaultyStore, folder: Path, words: list[str], cache: str = "cache"
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and see that it tells no secret."""
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(store, folder, cache),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def merged_ids(store: FaultyStore, folder: Path, out: str = "out") -> list[str]:
    """Return the ids of the merged run, with a cache that knows nothing."""
    words = [sys.executable, "-m", "curation", "results", "merge", RUN]
    words += ["--out", out, "--format", "json"]
    done = csbdata(store, folder, words, f"cache-of-{out}")
    assert done.returncode == 0, done.stderr
    lines = (folder / out / "units-1-of-1.jsonl").read_bytes().splitlines()
    return sorted(orjson.loads(line)["id"] for line in lines)
