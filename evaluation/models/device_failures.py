"""What an exception of a model's libraries says: no memory, or a failed device."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from curation.system.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What libraries say in an exception of another class when memory is used up.
_NO_MEMORY: Final = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
)
#: What torch says when the device itself has failed: in this process nothing can be
#: computed there any more.
_DEVICE_LOST: Final = ("cuda error", "cublas_status", "cudnn_status", "hip error")


def is_memory_used_up(error: Exception) -> bool:
    """Return whether an exception says that there was no memory."""
    return isinstance(error, MemoryError) or _has_any(error, _NO_MEMORY)


def check_device(error: Exception) -> None:
    """Check that an exception is not the device's own failure.

    Raises:
        Unavailable: it is, and whatever is computed next would fail too (exit 69).
    """
    if not is_memory_used_up(error) and _has_any(error, _DEVICE_LOST):
        raise Unavailable(
            f"the model's device has failed ({_first_line(error)})",
            then="look at nvidia-smi; the same command goes on from here",
        ) from error


@contextmanager
def failures_of_loading(model: str) -> Iterator[None]:
    """Tell in one line what a device does while a model is put there and tried.

    Raises:
        Unavailable: it is busy, fails, or has no memory left (exit 69).
    """
    try:
        yield
    except RuntimeError as error:
        check_device(error)
        if not is_memory_used_up(error):
            raise
        raise Unavailable(
            f"--model {model}: the device has no memory left for it "
            f"({_first_line(error)})",
            then="see what else is on it (nvidia-smi), or take --device cpu",
        ) from error


def _has_any(error: Exception, words: tuple[str, ...]) -> bool:
    said = str(error).lower()
    return any(word in said for word in words)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
