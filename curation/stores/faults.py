"""What a file system has raised, as an error of ours: one line, one exit code."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from curation.credentials.redaction import redacted
from curation.system.errors import (
    BadConfiguration,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What stores say when there is no room: `s3fs` has one number for all of these.
_FULL: Final = ("storagefull", "quotaexceeded", "insufficientstorage", "no space left")
#: Numbers of what may pass: `s3fs` gives them to 500, 502, 503 and slow-down answers.
_MAY_PASS: Final = frozenset(
    {
        *(errno.EBUSY, errno.EAGAIN, errno.EIO, errno.ETIMEDOUT, errno.EPIPE),
        *(errno.ECONNRESET, errno.ECONNABORTED, errno.ECONNREFUSED),
        # "Remote I/O error"; there is none on macOS.
        getattr(errno, "EREMOTEIO", errno.EIO),
    }
)


@contextmanager
def file_system_errors(where: str) -> Iterator[None]:
    """Raise the exceptions of any file system as ours.

    Args:
        where: The folder or URL; a message names it without credentials.
    """
    try:
        yield
    except CsbdataError:
        raise
    except Exception as error:
        raise fault_of(error, where) from error


def fault_of(error: Exception, where: str) -> CsbdataError:
    """Return what a file system's exception is called here.

    Args:
        error: What was raised; each file system has exceptions of its own.
        where: The folder or URL.
    """
    shown, what = redacted(where), redacted(str(error) or type(error).__name__)
    kind: type[CsbdataError] = Unavailable
    if is_full(error):
        kind = CannotCreate
    elif isinstance(error, (ImportError, ValueError)):
        kind = BadConfiguration
    elif isinstance(error, PermissionError):
        kind = NotPermitted
    elif isinstance(error, FileNotFoundError):
        kind = NoInput
    elif isinstance(error, OSError):
        kind = TemporarilyUnavailable if may_pass(error) else CannotCreate
    else:
        what = redacted(f"{type(error).__name__}: {error}")
    then = {
        CannotCreate: "make room there; the same command goes on",
        TemporarilyUnavailable: "the same command goes on",
        Unavailable: "the same command later goes on",
    }
    return kind(what, shown, then.get(kind, ""))


def is_full(error: Exception) -> bool:
    """Return whether a file system said that it has no room."""
    text = f"{error} {error.__cause__ or ''}".lower().replace(" ", "")
    number = getattr(error, "errno", None)
    return number in {errno.ENOSPC, errno.EDQUOT} or any(
        word.replace(" ", "") in text for word in _FULL
    )


def may_pass(error: Exception) -> bool:
    """Return whether the same may succeed when it is tried again.

    A refusal, a missing bucket and a full store stay; trouble on the way passes, and
    what no file system of Python's has a word for is trouble on the way.
    """
    if is_full(error) or isinstance(error, CsbdataError):
        return False
    if isinstance(error, (TimeoutError, ConnectionError)):
        return True
    if isinstance(error, OSError):
        return error.errno in _MAY_PASS
    return not isinstance(
        error, (ImportError, ValueError, TypeError, AttributeError, NotImplementedError)
    )
