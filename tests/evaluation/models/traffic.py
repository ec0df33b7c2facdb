"""Bytes that a model's operations move, counted without a device to move them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - as torch's own documents name it
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LOOKED_UP = ("aten::embedding", "aten::index.Tensor", "aten::index_put")


def _bytes(tensor: torch.Tensor) -> int:
    """Return the bytes behind a tensor; what is expanded counts once."""
    count = tensor.element_size()
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride else 1
    return count


def _tensors(values: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


class Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Counts the bytes that each operation reads and writes, views left out."""

    def __init__(self) -> None:
        """Begin at 0."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.bytes = 0

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - torch's own
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """Count one operation."""
        found = func(*args, **(kwargs or {}))
        schema = func._schema
        if schema.name.startswith("aten::empty") or "new_empty" in schema.name:
            return found
        given, made = _tensors((args, kwargs)), _tensors(found)
        writes = any(
            one.alias_info and one.alias_info.is_write for one in schema.returns
        )
        held = {one.untyped_storage()._cdata for one in given}
        if not writes and all(one.untyped_storage()._cdata in held for one in made):
            return found
        name = f"{schema.name}.{schema.overload_name}".rstrip(".")
        if name.startswith(_LOOKED_UP):
            # Of a table only the rows that are looked up, or written to.
            rows = given[-1] if "put" in name else made[0]
            self.bytes += 2 * _bytes(rows)
        else:
            self.bytes += sum(map(_bytes, given)) + sum(map(_bytes, made))
        return found


class FusedAttention(TorchFunctionMode):
    """Takes attention for one kernel, as on a GPU: its arguments, and its result."""

    def __init__(self, traffic: Traffic) -> None:
        """Count into this."""
        super().__init__()
        self._traffic = traffic

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """Count attention, and let everything else be."""
        kwargs = kwargs or {}
        if func is not F.scaled_dot_product_attention:
            return func(*args, **kwargs)
        query, _, value = args[:3]
        found = torch.empty(
            (*query.shape[:-1], value.shape[-1]), dtype=query.dtype, device=query.device
        )
        self._traffic.bytes += sum(map(_bytes, _tensors((args, kwargs, found))))
        return found


def moved_bytes(work: Callable[[], object]) -> int:
    """Return the bytes that work moves."""
    traffic = Traffic()
    with traffic, FusedAttention(traffic):
        work()
    return traffic.bytes
