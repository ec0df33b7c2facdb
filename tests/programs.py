"""Programs that are run to their end."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def ended(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 (those of the library)
    """Return how a program ended, and what it printed."""
    options = {"check": False, "capture_output": True, "text": True, **options}
    return subprocess.run(words, **options)  # noqa: PLW1510 (an option)
