"""Load a transformers model from a folder or from the Hub."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)
from transformers.utils import logging

from curation.core.hub_names import model_name
from curation.download.huggingface import hub_snapshot
from curation.download.packs import compute_digest
from curation.system.errors import BadConfiguration, BadUsage, CsbdataError, NoInput
from curation.system.user_files import file_digest
from evaluation.models import hardware
from evaluation.models.transformers import TransformersModel

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

_GIB: Final = 2**30
#: Files that decide a model's texts: weights, settings, vocabulary, templates.
_DECISIVE: Final = ("*.safetensors", "*.bin", "*.json", "*.model", "*.jinja", "*.gguf")


def folder_digest(folder: Path) -> str:
    """Return the sha256 of the files of a folder that decide a model's texts.

    Every byte is read: a fine-tuned model may differ in a few tensors only. A gigabyte
    takes about a second.

    Raises:
        OSError: a file cannot be read.
    """
    files = {path for pattern in _DECISIVE for path in folder.glob(pattern)}
    return compute_digest(
        (file.name, file_digest(file)) for file in files if file.is_file()
    )


#: Number types that may be asked for.
DTYPES: Final = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
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
_WEIGHTS: Final = ("model*.safetensors", "pytorch_model*.bin")


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


def choose_device(name: str) -> torch.device:
    """Return a device by its name: `auto` is the GPU if present, otherwise the CPU.

    Raises:
        BadConfiguration: no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in {"cpu", "cuda"}:
        raise BadUsage(
            f"--device {name}: no such device; say auto, cpu, cuda or cuda:N"
        )
    if device.type == "cuda":
        _check_gpu(name, device)
    return device


def _check_gpu(name: str, device: torch.device) -> None:
    """Check that torch sees a GPU.

    Raises:
        BadConfiguration: it does not, for a reason such as too old a driver.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count > (device.index or 0):
        return
    what = f"{count} of them" if count else "no GPU"
    why = "".join(
        f" ({str(warning.message).splitlines()[0]})" for warning in caught[:1]
    )
    raise BadConfiguration(
        f"--device {name}: torch {torch.__version__} sees {what} here{why}",
        hint="say --device cpu",
    )


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Return a number type by its name: `auto` is bf16 on a GPU, fp32 on a CPU.

    Without native bf16 a CPU takes two to three times as long, and texts would differ
    between CPUs.

    Raises:
        BadConfiguration: no such number type.
    """
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    if dtype not in DTYPES:
        message = f"--set dtype={dtype}: no such number type; say auto,"
        raise BadUsage(f"{message} {', '.join(DTYPES)}")
    return DTYPES[dtype]


def load_model(
    where: str | Path, loading: LoadOptions, *, name: str = ""
) -> TransformersModel:
    """Load a model from a folder or from the Hub.

    Args:
        where: A folder, or `owner/name` on the Hub.
        loading: How it is loaded.
        name: What results call it; as `where` by default.

    Raises:
        NoInput: no such model, or it cannot be loaded.
        NotPermitted: the Hub gives it only to those who have accepted its terms.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
        BadConfiguration: the device or number type is not there, or the model cannot
            be talked with.
    """
    device, dtype = prepared(loading)
    folder = Path(where)
    local = folder.is_dir()
    if not local:
        folder = _hub_folder(str(where), loading.revision)
    try:
        with hardware.failures_of_loading(str(where)):
            hardware.make_current(device)
            module, tokenizer = _loaded(str(where), folder, dtype, device, loading)
    except CsbdataError:
        raise
    except Exception as error:
        # The libraries raise anything: for a truncated file, for another shape.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"--model {where}: cannot be loaded ({reason}); name a folder with"
        raise NoInput(f"{message} a model, or a model of the Hub") from error
    with hardware.failures_of_loading(str(where)):
        return TransformersModel(
            module,
            tokenizer,
            name=name or str(where),
            # Snapshots of the Hub are named by their commit.
            revision=folder_digest(folder) if local else folder.name,
            folder=folder,
        )


def prepared(loading: LoadOptions) -> tuple[torch.device, torch.dtype]:
    """Prepare torch; return the device and the number type of a model."""
    device = choose_device(loading.device)
    dtype = choose_dtype(loading.dtype, device)
    torch.set_num_threads(loading.threads)
    return device, dtype


def _hub_folder(name: str, revision: str | None) -> Path:
    """Return the folder of a Hub model's files, fetched first if they are not here."""
    if model_name(name) is None:
        message = f"--model {name}: no such folder, and no name of a model on the Hub"
        raise NoInput(message, hint="name a folder with a model, or owner/name")
    folder = hub_snapshot(name, revision, _SMALL_FILES, kind="model")
    for pattern in _WEIGHTS:
        files = [*_SMALL_FILES, pattern]
        folder = hub_snapshot(name, revision, files, kind="model")
        if any(folder.glob(pattern)):
            break
    return folder


def _loaded(
    model: str,
    folder: Path,
    dtype: torch.dtype,
    device: torch.device,
    loading: LoadOptions,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    where = str(folder)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = AutoConfig.from_pretrained(where)
        kind = _model_class(model, config)
        check_memory(model, kind, config, dtype, device)
        module = kind.from_pretrained(
            where,
            dtype=dtype,
            device_map=str(device),
            attn_implementation=loading.attention or None,
        )
        tokenizer = AutoTokenizer.from_pretrained(where)
    return module, tokenizer


def _model_class(
    model: str, config: PretrainedConfig
) -> type[AutoModelForCausalLM | AutoModelForImageTextToText]:
    """Return the class of transformers that loads a model.

    Raises:
        NoInput: the model cannot continue a text, as an encoder.
    """
    is_decoder = config.to_dict().get("is_decoder", False)
    reads_whole = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if config.is_encoder_decoder:
        why = "an encoder with a decoder"
    elif reads_whole and not is_decoder:
        why = "an encoder"
    elif config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForCausalLM
    elif config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        # What reads pictures too is loaded whole, and given texts alone.
        return AutoModelForImageTextToText
    else:
        why = "no language model"
    raise NoInput(
        f"--model {model}: {config.model_type} is {why}, and cannot continue a text",
        hint="name a causal language model, such as HuggingFaceTB/SmolLM2-135M",
    )


def check_memory(
    model: str,
    kind: type[AutoModelForCausalLM | AutoModelForImageTextToText],
    config: PretrainedConfig,
    dtype: torch.dtype,
    device: torch.device,
) -> None:
    """Check that a model's weights fit into a device, before they are read.

    Raises:
        BadConfiguration: they do not.
    """
    with torch.device("meta"):
        hollow = kind.from_config(config, dtype=dtype)  # type: ignore[no-untyped-call]  # the library's own lack
    needed = sum(part.nbytes for part in hollow.parameters())
    free = hardware.free_memory(device)
    if needed > free:
        message = f"--model {model}: its weights take {needed / _GIB:.1f} GiB"
        raise BadConfiguration(
            f"{message}, and {device} has {free / _GIB:.1f} GiB free",
            hint="take a smaller one, --set dtype=bf16 or --device cpu",
        )
