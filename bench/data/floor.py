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
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

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
from curation.schema.dialects import DIALECTS
from curation.validation.metaschemas import RUST_VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json

    _Schema = dict[str, Json] | bool

_DIALECTS = {
    dialect.uri.rstrip("#"): RUST_VALIDATORS[dialect.name]
    for dialect in DIALECTS
    if dialect.name in RUST_VALIDATORS
}
_NEWEST = RUST_VALIDATORS["2020-12"]
Given = TypeVar("Given")
Result = TypeVar("Result")


def _refuse(uri: str) -> NoReturn:
    raise ValueError(uri)


class Clock:
    """Seconds by step, summed over all documents."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.seconds: dict[str, float] = {}

    def run(
        self, step: str, work: Callable[[Given], Result], given: Given
    ) -> Result | None:
        """Return what the work makes of what is given, or None where it refuses it."""
        start = time.perf_counter()
        try:
            return work(given)
        except ValueError:
            return None
        finally:
            taken = time.perf_counter() - start
            self.seconds[step] = self.seconds.get(step, 0.0) + taken


def _dialect(schema: _Schema) -> type[jsonschema_rs.Validator]:
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(declared, str):
        return _NEWEST
    return _DIALECTS.get(declared.rstrip("#"), _NEWEST)


def _checked(schema: _Schema) -> bool:
    if isinstance(schema, dict):
        # An unknown `$schema` would be asked for over the network.
        uri = schema.get("$schema")
        known = isinstance(uri, str) and uri.rstrip("#") in _DIALECTS
        schema = schema if known else {**schema, "$schema": _NEWEST_URI}
    return jsonschema_rs.meta.is_valid(schema)


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
        content = clock.run("read", pack.read, path) or b""
        size += len(content)
        schema: _Schema | None = clock.run("parse", orjson.loads, content)
        if schema is not None:
            clock.run("check", _checked, schema)
            clock.run("compile", _compiled, schema)
        digests.append(clock.run("sha256", _digest, content) or "")
        texts.append(content.decode("utf-8", "replace"))
    clock.run("parquet", _write, (texts, digests))
    return {
        "archive": archive,
        "documents": len(digests),
        "bytes": size,
        "seconds": round(time.perf_counter() - start, 3),
        "steps": {step: round(seconds, 3) for step, seconds in clock.seconds.items()},
        "peak_rss_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1
        ),
    }


def _compiled(schema: _Schema) -> jsonschema_rs.Validator:
    return _dialect(schema)(schema, retriever=_refuse)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(columns: tuple[list[str], list[str]]) -> None:
    texts, digests = columns
    table = pyarrow.table({"json_schema": texts, "sha256": digests})
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, Path(folder) / "floor.parquet")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    print(json.dumps(floor(sys.argv[1])))
