"""Places of the files that ship with the project, in a checkout or in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_SHIPPED = _PACKAGE / "_data"


def raw_folder() -> Path:
    """Return the folder of `sources.toml`, the id lists and the sample."""
    return _folder("raw")


def cards_folder() -> Path:
    """Return the folder of the dataset card's templates and texts."""
    return _folder("cards")


def results_folder() -> Path:
    """Return the folder of published results, an edition each."""
    return _folder("results")


def _folder(name: str) -> Path:
    """Prefer what the wheel carries; a checkout has the folder beside the package.

    Raises:
        FileNotFoundError: neither is there, so the installation is damaged.
    """
    for parent in (_SHIPPED, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise FileNotFoundError(f"csbdata is installed without its {name!r} folder")
