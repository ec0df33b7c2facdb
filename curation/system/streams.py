"""stdout and stderr of a command: a failed write is an error message, no traceback.

A full disk under stdout ends the command; a full stderr does not.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BufferedIOBase, TextIOWrapper
from typing import BinaryIO, cast

from curation.system.errors import CannotCreate


class _Data(TextIOWrapper):
    """stdout, where a failed write is a fault of the place with exit code 73."""

    def write(self, text: str) -> int:
        """Write a text.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        try:
            return super().write(text)
        except OSError as error:
            raise _lost(error) from error

    def flush(self) -> None:
        """Hand over what is held back.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        try:
            super().flush()
        except OSError as error:
            raise _lost(error) from error


class _Talk(TextIOWrapper):
    """stderr, whose loss ends nothing."""

    def write(self, text: str) -> int:
        """Write a text if that can be done."""
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what is held back, if that can be done."""
        with suppress(OSError):
            super().flush()


def _lost(error: OSError) -> OSError | CannotCreate:
    if isinstance(error, BrokenPipeError):
        return error
    why = error.strerror or type(error).__name__
    return CannotCreate(f"cannot be written ({why})", "standard output")


def prepare_streams() -> None:
    """Take over stdout and stderr; `csbdata` calls it once at its start.

    A terminal that cannot print a character shows its escape; a stream that the caller
    has closed leads nowhere.
    """
    sys.stdout = _taken_over(sys.stdout, _Data)
    sys.stderr = _taken_over(sys.stderr, _Talk)


def _taken_over(stream: object, kind: type[TextIOWrapper]) -> TextIOWrapper:
    if stream is None:
        return kind(cast("BinaryIO", open(os.devnull, "wb")))  # noqa: PTH123 - open to the end
    if not isinstance(stream, TextIOWrapper):
        return cast("TextIOWrapper", stream)
    encoding, eager = stream.encoding, stream.line_buffering
    buffer: BufferedIOBase = cast("BufferedIOBase", stream.detach())
    return kind(
        cast("BinaryIO", buffer),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=eager,
    )


def end_output() -> None:
    """Print what stdout still holds back, or give it up."""
    try:
        sys.stdout.flush()
    except (CannotCreate, OSError, ValueError):
        give_up_output()


def give_up_output() -> None:
    """Lead stdout nowhere: its reader is gone, or its disk is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
