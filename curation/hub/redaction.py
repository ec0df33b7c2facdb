"""Credentials never leave: what is printed or logged goes through here first.

A token may come along in an exception's text, in the address of a signed upload, in
a line that a library logs. The formats are those that their issuers document; a value
that stands behind `Bearer` or in the credential parameters of a signed address is
taken out whatever it looks like.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

#: What stands where a credential was.
REDACTED = "<redacted>"
_VALUES = re.compile(
    r"hf_[A-Za-z0-9]{20,}"
    r"|hf_(?:oauth|jwt)_[\w.-]+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_\w{20,}"
    r"|A[KS]IA[A-Z0-9]{12,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
)
_SCHEMES = re.compile(r"(?i)\b(bearer|basic)(\s+)(?!<)[^\s'\",;<>]{6,}")
#: Query parameters that open a signed address: AWS, CloudFront, Azure, Google.
_PARAMETERS = re.compile(
    r"(?i)([?&;](?:amp;)?(?:X-Amz-(?:Credential|Signature|Security-Token)"
    r"|X-Goog-(?:Credential|Signature)|AWSAccessKeyId|Signature|Policy|Key-Pair-Id"
    r"|sig|token|access_token|X-Xet-Access-Token)=)[^&\s'\"<>]+"
)
_USERS = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^/\s@'\"]+@")


def redacted(text: str) -> str:
    """Return a text without the credentials in it."""
    text = _VALUES.sub(REDACTED, text)
    text = _SCHEMES.sub(rf"\1\2{REDACTED}", text)
    text = _PARAMETERS.sub(rf"\1{REDACTED}", text)
    return _USERS.sub(rf"\1{REDACTED}@", text)


def redacted_traceback(error: BaseException) -> str:
    """Return the traceback of an exception and of all behind it, redacted."""
    return redacted("".join(traceback.format_exception(error)))


class _Record(logging.LogRecord):
    """A log record whose text holds no credentials, whoever formats it."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type] # as logging calls it
        self.msg = redacted(self._formatted())
        self.args = ()
        if self.exc_info and self.exc_info[1] is not None:
            # A formatter takes this text instead of making its own.
            self.exc_text = redacted_traceback(self.exc_info[1])

    def _formatted(self) -> str:
        """Return the text; a record with the wrong arguments is no reason to fail."""
        try:
            return super().getMessage()
        except (TypeError, ValueError, LookupError):
            return f"{self.msg} {self.args}"


def guard() -> None:
    """Let nothing that this process logs, or dies of, show a credential.

    `csbdata` calls it once at its start.
    """
    logging.setLogRecordFactory(_Record)
    sys.excepthook = _died
    threading.excepthook = _thread_died


def _died(
    _kind: type[BaseException],
    error: BaseException,
    _traceback: TracebackType | None,
) -> None:
    sys.stderr.write(redacted_traceback(error))


def _thread_died(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is not None:
        sys.stderr.write(redacted_traceback(arguments.exc_value))
