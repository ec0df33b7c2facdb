"""Loading a transformers model from a folder, or from the Hub."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

from curation.core.hub_names import model_name
from curation.huggingface import model_files
from curation.system.errors import BadConfiguration, NoInput
from evaluation.models.device.kept_step import choose_step_kind
from evaluation.models.device_failures import failures_of_loading
from evaluation.models.hardware import make_current
from evaluation.models.memory import check_weights_fit
from evaluation.models.transformers import TransformersModel
from evaluation.models.weights import folder_digest

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

#: Number types that may be asked for.
DTYPES: Final = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
}
#: Everything of a repository but its weights.
_SMALL_FILES: Final = (
    "*.json",
    "*.jinja",
    "*.txt",
    "*.tiktoken",
    "tokenizer.model",
    "*.spm",
)
#: Weights, the better form first.
_WEIGHTS: Final = (
    ("model*.safetensors",),
    ("pytorch_model*.bin",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How a model is loaded; all of it is part of a run's header."""

    #: Branch, tag or commit on the Hub.
    revision: str | None = None
    device: str = "auto"
    #: One of `DTYPES`, or `auto`.
    dtype: str = "auto"
    #: Threads of torch on a CPU.
    threads: int = 1
    #: What computes attention, as transformers calls it: `eager`, `sdpa`,
    #: `flash_attention_2`, ...; empty: its own choice.
    attention: str = ""
    #: How a step of decoding is kept: `auto`, `none`, `graphs` or `compile`.
    compile: str = "auto"


def choose_device(wanted: str) -> torch.device:
    """Return a device by its name: `auto` is the GPU where there is one, else the CPU.

    Raises:
        BadConfiguration: there is no such device here.
    """
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        message = f"--device {wanted}: no such device; say auto, cpu, cuda or cuda:N"
        raise BadConfiguration(message) from None
    if device.type == "cuda":
        _check_gpu(wanted, device)
    return device


def _check_gpu(wanted: str, device: torch.device) -> None:
    """Check that torch sees a GPU.

    Raises:
        BadConfiguration: it does not; says why, such as a driver that is too old.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if seen > (device.index or 0):
        return
    what = f"{seen} of them" if seen else "no GPU"
    why = "".join(f" ({str(one.message).splitlines()[0]})" for one in told[:1])
    raise BadConfiguration(
        f"--device {wanted}: torch {torch.__version__} sees {what} here{why}",
        then="say --device cpu",
    )


def choose_dtype(wanted: str, device: torch.device) -> torch.dtype:
    """Return a number type by its name: `auto` is bf16 on a GPU, fp32 on a CPU.

    A CPU without arithmetic of its own for bf16 takes two to three times as long with
    it as with fp32, and its texts would differ from one CPU to the next.

    Raises:
        BadConfiguration: there is no such number type.
    """
    if wanted == "auto":
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    if wanted not in DTYPES:
        message = f"--dtype {wanted}: no such number type; say auto,"
        raise BadConfiguration(f"{message} {', '.join(DTYPES)}")
    return DTYPES[wanted]


def load_model(
    where: str | Path, loading: LoadOptions, *, name: str = ""
) -> TransformersModel:
    """Load a model from a folder or from the Hub.

    Args:
        where: A folder, or `owner/name` on the Hub.
        loading: How it is loaded.
        name: What results call it; as `where` by default.

    Raises:
        NoInput: there is no such model, or it cannot be loaded.
        NotPermitted: the Hub gives it only to those who have accepted its terms.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
        BadConfiguration: the device or number type is not there, or the model cannot
            be talked with.
    """
    device = choose_device(loading.device)
    dtype = choose_dtype(loading.dtype, device)
    step = choose_step_kind(loading.compile, device)
    torch.set_num_threads(loading.threads)
    folder = Path(where)
    local = folder.is_dir()
    if not local:
        folder = _hub_folder(str(where), loading.revision)
    try:
        with failures_of_loading(str(where)):
            make_current(device)
            check_weights_fit(str(where), folder, dtype, device)
            module, tokenizer = _loaded(folder, dtype, device, loading.attention)
    except (OSError, ValueError, ImportError, KeyError, AttributeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"--model {where}: cannot be loaded ({reason}); name a folder with"
        raise NoInput(f"{message} a model, or a model of the Hub") from error
    with failures_of_loading(str(where)):
        return TransformersModel(
            module,
            tokenizer,
            name=name or str(where),
            # Snapshots of the Hub are named by their commit.
            revision=folder_digest(folder) if local else folder.name,
            folder=folder,
            step=step,
        )


def _hub_folder(name: str, revision: str | None) -> Path:
    """Return the folder of a Hub model's files, fetched first if they are not here."""
    if model_name(name) is None:
        message = f"--model {name}: no such folder, and no name of a model on the Hub"
        raise NoInput(message, then="name a folder with a model, or owner/name")
    folder = model_files(name, revision, _SMALL_FILES)
    for patterns in _WEIGHTS:
        folder = model_files(name, revision, [*_SMALL_FILES, *patterns])
        if any(list(folder.glob(pattern)) for pattern in patterns):
            break
    return folder


def _loaded(
    folder: Path, dtype: torch.dtype, device: torch.device, attention: str
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    where = str(folder)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = AutoConfig.from_pretrained(where)
        # What reads pictures too is loaded whole, and given texts alone.
        writes = type(config) in AutoModelForCausalLM._model_mapping  # noqa: SLF001 - nothing public says it
        kind = AutoModelForCausalLM if writes else AutoModelForImageTextToText
        module = kind.from_pretrained(
            where,
            dtype=dtype,
            device_map=str(device),
            attn_implementation=attention or None,
        )
        tokenizer = _tokenizer(folder)
    return module, tokenizer


def _tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Return a model's tokenizer, as its `tokenizer.json` has it.

    A class that is declared, `LlamaTokenizer` above all, is often not that of the file.
    transformers before 5.23 believes the class, and then loses every space.
    """
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(str(folder))
    file = folder / "tokenizer.json"
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if (
        backend is not None
        and not isinstance(backend.decoder, ByteLevel)
        and file.is_file()
        and isinstance(Tokenizer.from_file(str(file)).decoder, ByteLevel)
    ):
        tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
    return tokenizer
