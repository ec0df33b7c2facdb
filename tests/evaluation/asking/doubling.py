"""The suite of docs/suites.md, laid out in a folder as a reader would."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).parents[3] / "docs" / "suites.md"


def doubling_source() -> str:
    """Return the Python of the example, as it is printed."""
    (found,) = re.findall(r"```python\n(.*?)```", _DOCS.read_text("utf-8"), re.DOTALL)
    return str(found)


def lay_out(folder: Path, name: str = "doubling") -> Path:
    """Write the suite into a folder of its own; return it."""
    suite = folder / name
    suite.mkdir()
    (suite / "suite.py").write_text(doubling_source(), "utf-8")
    return suite
