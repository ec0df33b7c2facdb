"""Which weights a folder holds: two folders of one name are not taken for one model."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from curation.system.checksums import file_digest

if TYPE_CHECKING:
    from pathlib import Path

#: What of a folder decides a model's texts: weights, settings, vocabulary, templates.
_DECISIVE: Final = ("*.safetensors", "*.bin", "*.json", "*.model", "*.jinja", "*.gguf")


def folder_digest(folder: Path) -> str:
    """Return the sha256 of the files of a folder that decide what its model writes.

    Every byte is read: a model that was trained on differs from its beginning in a
    few of its tensors only. A gigabyte takes about a second.

    Raises:
        OSError: a file cannot be read.
    """
    found = {path for pattern in _DECISIVE for path in folder.glob(pattern)}
    lines = [
        f"{file_digest(path)}  {path.name}\n"
        for path in sorted(found)
        if path.is_file()
    ]
    return sha256("".join(lines).encode()).hexdigest()
