"""The HTTP library inside huggingface_hub: httpx2, or httpx in versions before 2.

What is set here, and what is told apart here, must be of the library that
huggingface_hub itself calls. Both have the same names.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

import huggingface_hub

if TYPE_CHECKING:
    import httpx2 as httpx

__all__ = ["httpx"]

#: The first version of huggingface_hub that calls httpx2.
_FIRST_WITH_HTTPX2: Final = 2


def _library_name(version: str) -> str:
    """Return the library that a version of huggingface_hub calls."""
    major = int(version.partition(".")[0])
    return "httpx2" if major >= _FIRST_WITH_HTTPX2 else "httpx"


if not TYPE_CHECKING:
    httpx = importlib.import_module(_library_name(huggingface_hub.__version__))
