"""Digests of our own code that decides a row: measuring, writing and judging.

A row made by other code is measured again. Code that only reads rows is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

import curation
from curation.workers.fingerprint import digest_of_files, fingerprint

#: The folder that holds both packages.
_ROOT: Final = Path(curation.__file__).parents[1]
#: Beside the engine's and the task's own files; a folder stands for its modules.
_MEASURING: Final = (
    "evaluation/walking/engine_process.py",
    "evaluation/walking/engine_worker.py",
    "evaluation/walking/walk_session.py",
    "evaluation/walking/generation_session.py",
    "evaluation/walking/rows.py",
    "evaluation/walking/why.py",
    "evaluation/core/spelled_json.py",
    "evaluation/results/outcomes.py",
    "curation/json/pointer.py",
    "evaluation/core/cases.py",
    "evaluation/tokenizers/files.py",
    "evaluation/tokenizers/gguf.py",
    "evaluation/tokenizers/huggingface_json.py",
    "evaluation/tokenizers/wheels.py",
    "evaluation/tokenizers/vocabulary.py",
    "curation/workers/limits.py",
    "curation/workers/outcomes.py",
    "curation/workers/process.py",
    "curation/workers/protocol.py",
    "curation/workers/shared_memory.py",
    "curation/workers/worker.py",
)
#: What writes texts, and what judges them.
_WRITING: Final = (
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
    "curation/schema",
    "curation/validation",
)
#: Modules of those folders that only read rows.
READING: Final = frozenset({"report.py", "efficiency.py", "texts.py"})
#: Libraries whose version decides what a text is judged to be.
_JUDGES: Final = ("jsonschema", "jsonschema-rs", "referencing", "regress")


def measuring_files(root: Path = _ROOT) -> list[tuple[Path, Path]]:
    """Return the files that decide what is measured, each after the root.

    Args:
        root: The folder that holds both packages.
    """
    return _files(root, _MEASURING)


def writing_files(root: Path = _ROOT) -> list[tuple[Path, Path]]:
    """Return the files that decide what a model writes, and how it is judged.

    Args:
        root: The folder that holds both packages.
    """
    files = _files(root, (*_MEASURING, *_WRITING))
    return [(root, path) for root, path in files if path.name not in READING]


@cache
def measuring_digest() -> str:
    """Return the digest of the code that decides what is measured."""
    return digest_of_files(measuring_files())


@cache
def writing_digest() -> str:
    """Return the digest of the code that writes and judges texts."""
    return fingerprint(
        code=digest_of_files(writing_files()),
        judges={name: version(name) for name in _JUDGES},
    )


def _files(root: Path, names: Iterable[str]) -> list[tuple[Path, Path]]:
    paths: set[Path] = set()
    for name in names:
        path = root / name
        paths.update(path.rglob("*.py") if path.is_dir() else (path,))
    return [(root, path) for path in sorted(paths)]
