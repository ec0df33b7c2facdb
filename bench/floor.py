"""The floor: the least that any build of these documents has to do, in one process.

Read, parse with orjson, check against the metaschema and compile with jsonschema-rs,
sha256, parquet. Nothing is decided, repaired or recorded. Prints one JSON object.

Usage: floor.py ARCHIVE (a name in raw/sources.toml, at hand in the mirror or cache)
"""

from __future__ import annotations

import gc
import hashlib
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import orjson
import pyarrow
import pyarrow.parquet

from curation.download.acquire import (
    FetchSettings,
    UnavailableArchive,
    acquire,
    load_pins,
)
from curation.download.packs import open_pack

if TYPE_CHECKING:
    from collections.abc import Callable

_DIALECTS = {
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}
_NEWEST = jsonschema_rs.Draft202012Validator


def _refuse(uri: str) -> Any:  # noqa: ANN401 (the retriever's signature)
    raise ValueError(uri)


class Clock:
    """Seconds by step, summed over all documents."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.seconds: dict[str, float] = {}

    def run(self, step: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401 (any step)
        """Return what the work returns, or None where it refuses the document."""
        start = time.perf_counter()
        try:
            return work()
        except ValueError:
            return None
        finally:
            taken = time.perf_counter() - start
            self.seconds[step] = self.seconds.get(step, 0.0) + taken


def _dialect(schema: Any) -> Any:  # noqa: ANN401 (any JSON)
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(declared, str):
        return _NEWEST
    return _DIALECTS.get(declared.rstrip("#"), _NEWEST)


def _checked(schema: Any) -> bool:  # noqa: ANN401 (any JSON)
    if isinstance(schema, dict):
        # An unknown `$schema` would be asked for over the network.
        uri = schema.get("$schema")
        known = isinstance(uri, str) and uri.rstrip("#") in _DIALECTS
        schema = schema if known else {**schema, "$schema": _NEWEST_URI}
    return bool(jsonschema_rs.meta.is_valid(schema))


_NEWEST_URI = "https://json-schema.org/draft/2020-12/schema"


def floor(archive: str) -> dict[str, Any]:
    """Return the figures of one pass over an archive's documents."""
    acquired = acquire(
        load_pins()[archive], FetchSettings.from_environment(offline=True), _say
    )
    if isinstance(acquired, UnavailableArchive):
        raise SystemExit(f"{archive}: {acquired.why}")
    pack, clock, size = open_pack(acquired.pack), Clock(), 0
    digests: list[str] = []
    texts: list[str] = []
    gc.disable()
    start = time.perf_counter()
    for path in pack.paths:
        content: bytes = clock.run("read", lambda path=path: pack.read(path))
        size += len(content)
        schema = clock.run("parse", lambda content=content: orjson.loads(content))
        clock.run("check", lambda schema=schema: _checked(schema))
        clock.run(
            "compile",
            lambda schema=schema: _dialect(schema)(schema, retriever=_refuse),
        )
        digests.append(
            clock.run("sha256", lambda content=content: _digest(content)) or ""
        )
        texts.append(content.decode("utf-8", "replace"))
    clock.run("parquet", lambda: _write(texts, digests))
    return {
        "archive": archive,
        "documents": len(digests),
        "bytes": size,
        "seconds": round(time.perf_counter() - start, 3),
        "steps": {step: round(each, 3) for step, each in clock.seconds.items()},
        "peak_rss_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1
        ),
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(texts: list[str], digests: list[str]) -> None:
    table = pyarrow.table({"json_schema": texts, "sha256": digests})
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, Path(folder) / "floor.parquet")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    print(json.dumps(floor(sys.argv[1])))
