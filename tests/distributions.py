"""Distributions of other people, laid out in a folder as an installer would."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
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


def write_wheel(
    folder: Path,
    name: str,
    version: str,
    members: Mapping[str, bytes | str],
    needs: str = "",
) -> Path:
    """Write a wheel of any Python and machine.

    Args:
        folder: Where.
        name: The distribution's name.
        version: The distribution's version.
        members: Contents by their paths.
        needs: What it requires, if anything.
    """
    about = f"{name}-{version}.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    contents = {
        **members,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\n"
        f"Version: {version}\n{requires}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{about}/RECORD"] = "".join(f"{member},,\n" for member in contents)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in contents.items():
            archive.writestr(member, content)
    return path
