"""A tokenizer of a model on the Hub, as a local folder of its small files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.tokenizers.local import CONFIG_FILES, TOKENIZER_FILES

if TYPE_CHECKING:
    from pathlib import Path

#: Files of weights end in these too: they are not worth gigabytes.
_WEIGHTS: Final = frozenset({"*.gguf", "*.model"})
_WANTED: Final = (
    *(pattern for pattern in TOKENIZER_FILES if pattern not in _WEIGHTS),
    *CONFIG_FILES,
)


def hub_folder(name: str, revision: str | None) -> Path:
    """Return the folder with a Hub model's tokenizer files at a revision.

    Raises:
        CsbdataError: as `curation.huggingface.model_files`.
    """
    from curation.huggingface import model_files  # noqa: PLC0415 - heavy, rarely asked

    return model_files(name, revision, _WANTED)
