"""Credentials never leave: what is printed or logged goes through here first.

A token may come along in an exception's text, in the address of a signed upload, in
a line that a library logs. The formats are those of `credentials.formats`; a value
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

from curation.credentials.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

_P = ParamSpec("_P")
#: What stands where a credential was.
REDACTED = "<redacted>"
#: The marks of each format, and what to take out of a text.
_FORMATS = tuple((known.marks, re.compile(known.leak)) for known in FORMATS)
_SCHEMES = re.compile(r"(?i)\b(?:bearer|basic)\s+(?!<)(?P<value>[^\s'\",;<>]{6,})")
#: Query parameters that open a signed address: AWS, CloudFront, Azure, Google.
_PARAMETERS = re.compile(
    r"(?i)[?&;](?:amp;)?(?:X-Amz-(?:Credential|Signature|Security-Token)"
    r"|X-Goog-(?:Credential|Signature)|AWSAccessKeyId|Signature|Policy|Key-Pair-Id"
    r"|sig|token|access_token|X-Xet-Access-Token)=(?P<value>[^&\s'\"<>]+)"
)
#: Of an address: it need not be known where its scheme begins.
_USERS = re.compile(r"(?i)(?<=[a-z0-9+.-]://)(?P<value>[^/\s@'\"]+)@")


def redacted(text: str) -> str:
    """Return a text without the credentials in it."""
    kept, end = [], 0
    for start, stop in _merged(_spans(text)):
        kept.append(text[end:start])
        end = stop
    return REDACTED.join((*kept, text[end:]))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where credentials begin and end; they may overlap."""
    for marks, pattern in _FORMATS:
        if any(mark in text for mark in marks):
            for found in pattern.finditer(text):
                if found.groupdict("").get("rest", found[0]):
                    yield found.span()
    for context in (_SCHEMES, _PARAMETERS, _USERS):
        for found in context.finditer(text):
            yield found.span("value")


def _merged(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, those that overlap as one."""
    first: tuple[int, int] | None = None
    for start, stop in sorted(spans):
        if first is not None and start < first[1]:
            first = (first[0], max(first[1], stop))
            continue
        if first is not None:
            yield first
        first = (start, stop)
    if first is not None:
        yield first


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
