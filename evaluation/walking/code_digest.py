"""Digests of our own code that decides a row: measuring, writing and judging.

A row made by other code is measured again. Code that only reads rows is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

import curation
from curation.workers.fingerprint import digest_of_files, fingerprint

#: The folder that holds both packages.
_ROOT: Final = Path(curation.__file__).parents[1]
#: Added to the files of the engine and the task; a folder stands for its modules and
#: its tables.
MEASURING: Final = (
    "evaluation/walking",
    "evaluation/tokenizers",
    "evaluation/core/cases.py",
    "evaluation/core/spelled_json.py",
    "evaluation/results/outcomes.py",
    "curation/json/pointer.py",
    "curation/workers",
)
#: Code that writes texts, and code that judges them.
WRITING: Final = (
    *MEASURING,
    "evaluation/answers/extraction.py",
    "evaluation/generation",
    "evaluation/models",
    "evaluation/prompts",
    "evaluation/servers",
    "evaluation/suites/coverage",
    "curation/fit",
    "curation/instances",
    "curation/json",
    "curation/references",
    "curation/regex",
    "curation/relation",
    "curation/schema",
    "curation/validation",
)
#: Modules of those folders that only read rows.
_READING: Final = frozenset({"report.py", "efficiency.py", "texts.py"})
#: Libraries whose version decides how a text is judged.
_JUDGES: Final = ("jsonschema", "jsonschema-rs", "referencing", "regress")


def code_files(names: Sequence[str], root: Path = _ROOT) -> list[tuple[Path, Path]]:
    """Return the files of `MEASURING` or `WRITING`, each after the root.

    Args:
        names: Paths of files, and of folders that stand for their modules.
        root: The folder that holds both packages.
    """
    paths: set[Path] = set()
    for name in names:
        path = root / name
        inside = (*path.rglob("*.py"), *path.rglob("*.toml"))
        paths.update(inside if path.is_dir() else (path,))
    return [(root, path) for path in sorted(paths) if path.name not in _READING]


@cache
def measuring_digest() -> str:
    """Return the digest of the code that decides a measurement."""
    return digest_of_files(code_files(MEASURING))


@cache
def writing_digest() -> str:
    """Return the digest of the code that writes and judges texts."""
    return fingerprint(
        code=digest_of_files(code_files(WRITING)),
        judges={name: version(name) for name in _JUDGES},
    )
