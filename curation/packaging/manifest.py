"""`manifest.json`: versions, pins, rules, counts and the digest of every file.

It holds nothing that differs from run to run: no date, host, path or duration.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from curation.documents import Json
    from curation.summary import ConfigSummary, Pin, Summary

#: The file's name in a build folder.
FILE = "manifest.json"
#: What decides the content of a build beside its sources; the order is that of
#: the manifest.
_DISTRIBUTIONS = (
    "csbdata",
    "jsonschema",
    "jsonschema-rs",
    "regress",
    "fastjsonschema",
    "pyarrow",
)
_CHUNK_BYTES = 2**20


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in _DISTRIBUTIONS},
    }


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    state = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            state.update(chunk)
    return state.hexdigest()


def _files(folder: Path) -> dict[str, Json]:
    paths = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file()
    }
    paths.pop(FILE, None)
    return {
        name: {"bytes": paths[name].stat().st_size, "sha256": file_digest(paths[name])}
        for name in sorted(paths)
    }


def _pin(pin: Pin) -> Json:
    return {name: value for name, value in asdict(pin).items() if value}


def config_figures(config: ConfigSummary) -> Json:
    """Return one config's figures as `csbdata build --format json` prints them."""
    return {
        "raw": config.raw,
        "kept": config.kept,
        "rejected": dict(config.rejected),
        "changed": dict(config.changed),
        "splits": dict(config.splits),
        "origin": config.origin,
    }


def manifest(summary: Summary, folder: Path) -> Json:
    """Return the manifest of what stands in the folder.

    Raises:
        OSError: a file of the folder cannot be read.
    """
    return {
        "name": summary.name,
        "partial": list(summary.partial),
        "rules": summary.rules,
        "versions": _versions(),
        "pins": [_pin(each) for each in summary.pins],
        "rule_list": [asdict(each) for each in summary.rule_notes],
        "configs": {each.config: config_figures(each) for each in summary.configs},
        "extras": sorted(summary.extras),
        "files": _files(folder),
    }


def write_manifest(summary: Summary, folder: Path) -> str:
    """Write the manifest, last of all files; returns its path in the folder.

    Raises:
        OSError: a file of the folder cannot be read, or this one not written.
    """
    text = json.dumps(manifest(summary, folder), indent=2, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
    return FILE
