"""Recognise credentials, and take them out of everything printed or logged.

A token may be in an exception's text, in the address of a signed upload, or in a
line that a library logs. A value after `Bearer` or in the credential parameters of a
signed address is always taken out.
"""

from __future__ import annotations

import base64
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import msgspec


class CredentialFormat(msgspec.Struct, frozen=True, kw_only=True):
    """One documented credential format (`credentials.toml`)."""

    name: str
    #: Every text in the format holds one of these.
    marks: tuple[str, ...]
    #: The regular expression of a whole credential and nothing else.
    pattern: str
    #: That of text that must be redacted, where it is another.
    leak: str = ""


class _Context(msgspec.Struct, frozen=True):
    """Text around a credential, the group `value`, of any format."""

    pattern: str


class _Tables(msgspec.Struct, frozen=True):
    format: tuple[CredentialFormat, ...]
    context: tuple[_Context, ...]


@cache
def tables() -> _Tables:
    """Return the known formats, and the texts around a credential."""
    content = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(content, type=_Tables)


#: The replacement of a credential.
REDACTED = "<redacted>"
#: Names of environment variables whose values are secret, whatever their format is;
#: Mistral's keys, for one, have none.
_SECRET_NAMES = re.compile(
    r"(?i)(?:api_?key|access_key(?:_id)?|secret|secret_key|token|passw(?:or)?d)\Z"
)
#: Shorter texts than this occur by chance.
_SHORTEST_SECRET = 6


def redacted(text: str) -> str:
    """Return a text without the credentials in it, or in the environment."""
    parts, end = [], 0
    for start, stop in sorted(_spans(text)):
        if start >= end:
            parts.append(text[end:start])
        end = max(end, stop)
    return REDACTED.join((*parts, text[end:]))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of credentials, which may overlap."""
    # Compiled when they are needed, and kept by `re`.
    for form in tables().format:
        if any(mark in text for mark in form.marks):
            for match in re.finditer(form.leak or form.pattern, text):
                if match.groupdict("").get("rest", match[0]):
                    yield match.span()
    for context in tables().context:
        for match in re.finditer(context.pattern, text):
            yield match.span("value")
    for name, value in os.environ.items():
        if len(value) >= 2 * _SHORTEST_SECRET and _SECRET_NAMES.search(name):
            forms = {re.escape(value), re.escape(quote(value, safe=""))}
            for match in re.finditer("|".join(forms), text):
                yield match.span()


#: A URL with its parts; `urlsplit` would end the password at a `/` in it, and show the
#: rest as a path.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)"
    r"(?:(?P<user>[^/@:?#]*)(?::(?!\d+(?:/|$))(?P<password>[^/?#]*|[^@?#]*))?@)?"
    r"(?P<place>[^?#]*)(?:\?(?P<query>[^#]*))?(?P<fragment>(?:#.*)?)",
    re.DOTALL,
)
_LATE = re.compile(r"[?&].*|#[^?&]*=.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitUrl:
    """A URL split into its secrets: user, password, every value of its query."""

    #: The URL without them, for messages and records.
    clean: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    #: Names and values, decoded.
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must not be shown, as it is and as it may be encoded."""
        pair = f"{self.user}:{self.password}".encode()
        basic = base64.b64encode(pair).decode() if self.password else ""
        values = (self.user, self.password, *(value for _, value in self.query))
        return (basic, *values)


def split_url(url: str) -> SplitUrl:
    """Split the secrets off a URL; another text is its own clean form.

    Example:
        >>> split_url("http://me:word@host:1/v1?api_key=abc#model").clean
        'http://host:1/v1#model'
    """
    match = _URL.fullmatch(url)
    if match is None:
        return SplitUrl(clean=url)
    fragment, query = match["fragment"], match["query"] or ""
    if "=" in fragment:
        # Parameters after the fragment, or instead of it.
        model = _LATE.sub("", fragment)
        query = f"{query}&{fragment[len(model) :].lstrip('#?&')}"
        fragment = model
    return SplitUrl(
        clean=match["scheme"] + match["place"] + fragment,
        user=unquote(match["user"] or ""),
        password=unquote(match["password"] or ""),
        query=tuple(parse_qsl(query, keep_blank_values=True)),
    )


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text of the same length with asterisks for these secrets."""
    forms = {form for secret in secrets for form in (secret, quote(secret, safe=""))}
    for form in sorted(forms, key=len, reverse=True):
        if len(form) >= _SHORTEST_SECRET:
            text = text.replace(form, "*" * len(form))
    return text


#: A URL in a word such as `--model=http://...`.
_IN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)


def redacted_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command line without the credentials in them."""
    return [
        redacted(_IN_WORD.sub(lambda match: split_url(match[0]).clean, word))
        for word in words
    ]


def redacted_traceback(error: BaseException) -> str:
    """Return the traceback of an exception and its causes, redacted."""
    return redacted("".join(traceback.format_exception(error)))


def guard() -> None:
    """Redact all logs and uncaught exceptions of this process.

    `csbdata` calls it once, at its start.
    """

    def log_record(*arguments: Any, **options: Any) -> logging.LogRecord:  # noqa: ANN401 - logging's own
        """Return a log record whose texts hold no credentials."""
        record = logging.LogRecord(*arguments, **options)
        try:
            text = record.getMessage()
        except (TypeError, ValueError, LookupError):
            # A record with the wrong arguments must not fail.
            text = f"{record.msg} {record.args}"
        record.msg, record.args = redacted(text), ()
        if record.exc_info and record.exc_info[1] is not None:
            # A formatter takes this text instead of making its own.
            record.exc_text = redacted_traceback(record.exc_info[1])
        return record

    logging.setLogRecordFactory(log_record)
    sys.excepthook = lambda _kind, error, _traceback: _died(error)
    threading.excepthook = lambda arguments: _died(arguments.exc_value)


def _died(error: BaseException | None) -> None:
    if error is not None:
        sys.stderr.write(redacted_traceback(error))
