"""Which of our code decides a row: what it measures, and what it writes texts with.

A row that other code has made is not taken for finished work. What only reads rows
(reports) is no part of it: a better table does not ask for a new measurement.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import curation.workers.protocol

_HERE: Final = Path(__file__).parents[1]
#: Beside the engine's and the task's own files.
_MEASURING: Final = (
    "execution/engine_process.py",
    "execution/walk_session.py",
    "execution/generation_session.py",
    "execution/row_builder.py",
    "execution/worker_messages.py",
    "core/cases.py",
)
_WRITING: Final = ("generation", "models", "prompts", "servers")
#: Modules of those folders that only read what was written, or the command line.
READING: Final = frozenset({"model_options.py", "generated_texts.py"})


@cache
def measuring_digest() -> str:
    """Return the digest of the code that decides what is measured."""
    files = [_HERE / name for name in _MEASURING]
    return _digest([*files, Path(curation.workers.protocol.__file__)])


@cache
def writing_digest() -> str:
    """Return the digest of the code that decides what a model writes, and its class."""
    files = [
        path
        for folder in _WRITING
        for path in sorted((_HERE / folder).glob("*.py"))
        if path.name not in READING
    ]
    return sha256((measuring_digest() + _digest(files)).encode()).hexdigest()


def _digest(files: list[Path]) -> str:
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
