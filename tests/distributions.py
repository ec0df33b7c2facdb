"""Distributions of other people, laid out in a folder as an installer would."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def lay_out_distribution(
    folder: Path, module: str, text: str, group: str, target: str = ""
) -> None:
    """Lay out a distribution of one module with one entry point.

    Args:
        folder: Where; it has to be on the path of imports.
        module: The name of the module, of the distribution and of the entry point.
        text: The module's source.
        group: The group of the entry point.
        target: What the entry point leads to; the module by default.
    """
    (folder / f"{module}.py").write_text(text, "utf-8")
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8"
    )
    (about / "entry_points.txt").write_text(
        f"[{group}]\n{module} = {target or module}\n", "utf-8"
    )
