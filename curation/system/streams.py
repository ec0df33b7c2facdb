"""stdout and stderr of a command: a failed write is an error message, no traceback.

A full disk under stdout ends the command; a full stderr does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import BinaryIO, cast

from curation.system.errors import CannotCreate


class _Stream(TextIOWrapper):
    """stdout or stderr, where the system may refuse to write."""

    #: Of stdout: its loss is a fault of the place with exit code 73.
    is_data = False

    def write(self, text: str) -> int:
        """Write a text.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        with self._losses():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what is held back.

        Raises:
            CannotCreate: the system refuses, but for a reader that is gone.
        """
        with self._losses():
            super().flush()

    @contextmanager
    def _losses(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if self.is_data:
                raise
        except OSError as error:
            if self.is_data:
                why = error.strerror or type(error).__name__
                what = f"cannot be written ({why})"
                raise CannotCreate(what, "standard output") from error


def prepare_streams() -> None:
    """Take over stdout and stderr; `csbdata` calls it once at its start.

    A terminal that cannot print a character shows its escape; a stream that the caller
    has closed leads nowhere.
    """
    sys.stdout, sys.stderr = _taken_over(sys.stdout), _taken_over(sys.stderr)
    if isinstance(sys.stdout, _Stream):
        sys.stdout.is_data = True


def _taken_over(stream: object) -> TextIOWrapper:
    if stream is None:
        return _Stream(cast("BinaryIO", open(os.devnull, "wb")))  # noqa: PTH123 - open to the end
    if not isinstance(stream, TextIOWrapper):
        return cast("TextIOWrapper", stream)
    encoding, eager = stream.encoding, stream.line_buffering
    return _Stream(
        cast("BinaryIO", stream.detach()),
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
