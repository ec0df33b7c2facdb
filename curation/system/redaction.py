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
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_P = ParamSpec("_P")
#: What stands where a credential was.
REDACTED = "<redacted>"
_VALUES = re.compile(
    r"hf_[A-Za-z0-9]{20,}"
    r"|hf_(?:oauth|jwt)_[\w.-]+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_\w{20,}"
    r"|A[KS]IA[A-Z0-9]{12,}"
)
#: A signed token, or no more than its first part: what was read once as a first part
#: is not read again from each `eyJ` inside it, however long a text a server sends.
_SIGNED = re.compile(r"eyJ[\w-]{8,}(\.[\w-]{8,}\.[\w-]*)?")
_SCHEMES = re.compile(r"(?i)\b(bearer|basic)(\s+)(?!<)[^\s'\",;<>]{6,}")
#: Query parameters that open a signed address: AWS, CloudFront, Azure, Google.
_PARAMETERS = re.compile(
    r"(?i)([?&;](?:amp;)?(?:X-Amz-(?:Credential|Signature|Security-Token)"
    r"|X-Goog-(?:Credential|Signature)|AWSAccessKeyId|Signature|Policy|Key-Pair-Id"
    r"|sig|token|access_token|X-Xet-Access-Token)=)[^&\s'\"<>]+"
)
#: Of an address: it need not be known where its scheme begins.
_USERS = re.compile(r"(?i)(?<=[a-z0-9+.-]://)[^/\s@'\"]+@")


def redacted(text: str) -> str:
    """Return a text without the credentials in it."""
    text = _SIGNED.sub(lambda found: REDACTED if found[1] else found[0], text)
    text = _VALUES.sub(REDACTED, text)
    text = _SCHEMES.sub(rf"\1\2{REDACTED}", text)
    text = _PARAMETERS.sub(rf"\1{REDACTED}", text)
    return _USERS.sub(f"{REDACTED}@", text)


def redacted_traceback(error: BaseException) -> str:
    """Return the traceback of an exception and of all behind it, redacted."""
    return redacted("".join(traceback.format_exception(error)))


def _redacting(
    make: Callable[_P, logging.LogRecord],
) -> Callable[_P, logging.LogRecord]:
    """Return a factory of log records whose texts hold no credentials."""

    def made(*arguments: _P.args, **options: _P.kwargs) -> logging.LogRecord:
        record = make(*arguments, **options)
        record.msg = redacted(_formatted(record))
        record.args = ()
        if record.exc_info and record.exc_info[1] is not None:
            # A formatter takes this text instead of making its own.
            record.exc_text = redacted_traceback(record.exc_info[1])
        return record

    return made


def _formatted(record: logging.LogRecord) -> str:
    """Return the text; a record with the wrong arguments is no reason to fail."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, LookupError):
        return f"{record.msg} {record.args}"


def guard() -> None:
    """Let nothing that this process logs, or dies of, show a credential.

    `csbdata` calls it once at its start.
    """
    logging.setLogRecordFactory(_redacting(logging.LogRecord))
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
