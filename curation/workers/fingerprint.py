"""A digest of everything that decides a result: input, options, versions and code.

Finished work is found again under its fingerprint (`curation.workers.run_folder`).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from curation.core.json_types import UntypedJson
from curation.json.text import canonical
from curation.system.user_files import cards_folder, raw_folder

#: Libraries whose version decides the content or the bytes of a build.
_DECISIVE = (
    *("fastjsonschema", "google-re2", "huggingface_hub", "jinja2", "jsonschema"),
    *("jsonschema-rs", "matplotlib", "orjson", "polars", "pyarrow", "referencing"),
    "regress",
)


def fingerprint(**parts: UntypedJson) -> str:
    """Return the sha256 of the canonical form of everything that decides a result."""
    return hashlib.sha256(canonical(parts)).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that decide a result."""
    return {"python": sys.version.split()[0]} | {
        name: version(name) for name in _DECISIVE
    }


def code_files() -> list[tuple[Path, Path]]:
    """Return every file of ours that decides a result, each after its root folder.

    These are the modules and tables of `curation`, `raw/` and `cards/`; the sample has
    a separate digest.
    """
    package, raw, cards = Path(__file__).parents[1], raw_folder(), cards_folder()
    found = {
        package: [*package.rglob("*.py"), *package.rglob("*.toml")],
        raw: [*raw.glob("*.toml"), *(raw / "lists").rglob("*")],
        cards: cards.rglob("*"),
    }
    files = [(root, path) for root, paths in found.items() for path in paths]
    return sorted(
        ((root, path) for root, path in files if path.is_file()),
        key=lambda item: str(item[1].relative_to(item[0])),
    )


@cache
def code_digest() -> str:
    """Return the sha256 of csbdata's code and data (`code_files`), by name and content.

    Raises:
        OSError: a file of the installation cannot be read.
    """
    return digest_of_files(code_files())


def digest_of_files(files: Iterable[tuple[Path, Path]]) -> str:
    """Return the sha256 of files by name and content.

    Args:
        files: Each file after the folder that its name is relative to; their order
            counts.

    Raises:
        OSError: a file cannot be read.
    """
    total = hashlib.sha256()
    for root, path in files:
        name = path.relative_to(root).as_posix().encode()
        content = hashlib.sha256(path.read_bytes()).digest()
        total.update(name + content)
    return total.hexdigest()
