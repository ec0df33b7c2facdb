"""Memory of the processor that a device reads by itself, while the processor goes on.

That takes pinned memory on a GPU: torch keeps what was given back, and gives it out
again only when the device has read it. For a processor it is plain memory.
"""

from __future__ import annotations

import torch


def staging(shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return bytes to write into, from which a device will read; not set."""
    return torch.empty(shape, dtype=torch.uint8, pin_memory=device.type == "cuda")


def to_device(held: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the processor on a device, without waiting for the device."""
    if device.type != "cuda":
        return held.to(device)
    pinned = held if held.is_pinned() else held.pin_memory()
    return pinned.to(device, non_blocking=True)
