"""Whether a model's weights fit into a device, before they are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import psutil
import torch

from curation.system.errors import BadConfiguration

if TYPE_CHECKING:
    from pathlib import Path

_GIB: Final = 2**30
#: Share of the free memory that texts may take: passes want some, too.
_SHARE: Final = 0.7
#: Most texts at a time, however much memory there is.
_MOST_ON_A_GPU: Final = 64
_MOST_ON_A_PROCESSOR: Final = 8
#: Files of weights; a folder that has both kinds is read from the first.
_WEIGHTS: Final = ("*.safetensors", "*.bin")
#: What configs call the number type of the files.
_DTYPE_NAMES: Final = ("dtype", "torch_dtype")


def free_memory(device: torch.device) -> int:
    """Return the bytes that a device can still give."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available


def texts_that_fit(device: torch.device, text_bytes: int) -> int:
    """Return how many texts at a time fit into what a device can still give.

    A power of two, so that a little more or less memory changes nothing: other batches
    have other last bits. On a processor more than a few texts are no faster.

    Args:
        device: Where the model is, loaded already.
        text_bytes: What one text takes at most.
    """
    most = _MOST_ON_A_GPU if device.type == "cuda" else _MOST_ON_A_PROCESSOR
    fitting = int(free_memory(device) * _SHARE) // text_bytes
    return 1 << (max(1, min(most, fitting)).bit_length() - 1)


def check_fits(
    model: str, wanted: int, device: torch.device, then: str, *, where: str = ""
) -> None:
    """Check that so many bytes of weights fit into a device.

    Args:
        model: What messages call the model.
        wanted: Bytes of all weights, as they will be held.
        device: Where they are to be.
        then: What to do where they do not fit.
        where: The place that messages name.

    Raises:
        BadConfiguration: they do not.
    """
    free = free_memory(device)
    if wanted > free:
        message = f"{model}its weights take {wanted / _GIB:.1f} GiB, and {device} has"
        raise BadConfiguration(f"{message} {free / _GIB:.1f} GiB free", where, then)


def check_weights_fit(
    model: str, folder: Path, dtype: torch.dtype, device: torch.device
) -> None:
    """Check that the weights of a folder fit into a device in a number type.

    The sizes of the files say how many there are; where the config does not say in
    which number type, they are taken as they are.

    Raises:
        BadConfiguration: they do not fit.
    """
    sizes = [
        sum(path.stat().st_size for path in folder.glob(pattern))
        for pattern in _WEIGHTS
    ]
    stored = next((size for size in sizes if size), 0)
    held = stored * dtype.itemsize // (_stored_itemsize(folder) or dtype.itemsize)
    check_fits(
        f"--model {model}: ",
        held,
        device,
        "take a smaller one, --dtype bf16 or --device cpu",
    )


def _stored_itemsize(folder: Path) -> int | None:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        names = [config.get(name) for name in _DTYPE_NAMES]
        named = getattr(torch, next(name for name in names if isinstance(name, str)))
    except (OSError, ValueError, AttributeError, StopIteration):
        return None
    return named.itemsize if isinstance(named, torch.dtype) else None
