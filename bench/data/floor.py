"""The floor: the least that any build of these documents has to do, in one process.

Parse with orjson, check against the metaschema and compile with jsonschema-rs, sha256,
parquet. Nothing is decided, repaired or recorded, and nothing of csbdata is imported.
Times are processor seconds (user and system). Prints one JSON object.

Usage: floor.py FOLDER|ARCHIVE [PASSES] (an archive is anything that tarfile reads)
"""

from __future__ import annotations

import gc
import hashlib
import json
import resource
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import jsonschema_rs
import orjson
import pyarrow
import pyarrow.parquet

if TYPE_CHECKING:
    from collections.abc import Callable

    _Schema = dict[str, Any] | bool

_NEWEST_URI = "https://json-schema.org/draft/2020-12/schema"
_VALIDATORS: dict[str, type[jsonschema_rs.Validator]] = {
    uri: jsonschema_rs.validator_cls_for({"$schema": uri})
    for uri in (
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        _NEWEST_URI,
    )
}
Given = TypeVar("Given")
Result = TypeVar("Result")


class Clock:
    """Processor seconds by step, summed over all documents."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.seconds: dict[str, float] = {}

    def run(
        self, step: str, work: Callable[[Given], Result], given: Given
    ) -> Result | None:
        """Return the work's result, or None if it raises ValueError."""
        start = time.process_time()
        try:
            return work(given)
        except ValueError:
            return None
        finally:
            taken = time.process_time() - start
            self.seconds[step] = self.seconds.get(step, 0.0) + taken


def contents(source: Path) -> list[bytes]:
    """Read every file of a folder or an archive."""
    if source.is_dir():
        return [path.read_bytes() for path in source.rglob("*") if path.is_file()]
    with tarfile.open(source) as archive:
        files = map(archive.extractfile, archive)
        return [file.read() for file in files if file is not None]


def floor(source: Path, passes: int = 1) -> dict[str, Any]:
    """Measure passes over all documents of a folder or an archive."""
    documents, clock = contents(source), Clock()
    gc.disable()
    start = time.process_time()
    for _ in range(passes):
        _pass(documents, clock)
    return {
        "source": source.name,
        "documents": len(documents) * passes,
        "bytes": sum(map(len, documents)) * passes,
        "cpu_seconds": round(time.process_time() - start, 3),
        "steps": {step: round(seconds, 3) for step, seconds in clock.seconds.items()},
        "peak_rss_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1
        ),
    }


def _pass(documents: list[bytes], clock: Clock) -> None:
    digests: list[str] = []
    for document in documents:
        schema = clock.run("parse", orjson.loads, document)
        if isinstance(schema, dict | bool):
            clock.run("check", _check, schema)
            clock.run("compile", _compile, schema)
        digests.append(clock.run("sha256", _digest, document) or "")
    texts = [document.decode("utf-8", "replace") for document in documents]
    clock.run("parquet", _write, {"json_schema": texts, "sha256": digests})


def _dialect(schema: _Schema) -> str:
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    uri = declared.rstrip("#") if isinstance(declared, str) else ""
    return uri if uri in _VALIDATORS else _NEWEST_URI


def _check(schema: _Schema) -> bool:
    if isinstance(schema, dict):
        # An unknown `$schema` would be fetched.
        schema = {**schema, "$schema": _dialect(schema)}
    return jsonschema_rs.meta.is_valid(schema)


def _compile(schema: _Schema) -> jsonschema_rs.Validator:
    return _VALIDATORS[_dialect(schema)](schema, retriever=_refuse)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(uri)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(columns: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(
            pyarrow.table(columns), Path(folder) / "floor.parquet"
        )


if __name__ == "__main__":
    print(json.dumps(floor(Path(sys.argv[1]), int((*sys.argv, "1")[2]))))
