"""Recognise credentials, and take them out of everything printed or logged.

A token may stand in an exception's text, in the address of a signed upload, or in a
line that a library logs. A value behind `Bearer` or in the credential parameters of a
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
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote

_WORD = "A-Za-z0-9"
_WORD_STARTS = rf"(?<![{_WORD}_])"
_WORD_ENDS = rf"(?![{_WORD}])"
_LINE_END = r"(?:\\r|\\n|\s)"
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----"
    rf"{_LINE_END}*(?:[A-Za-z-]+: [^\n]*\n{_LINE_END}*)*"
    rf"(?:[A-Za-z-]+: [^\n]*{_LINE_END})?[{_WORD}+/=]{{40}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialFormat:
    """One documented credential format."""

    name: str
    #: Every text in the format holds one of these: the cheap test.
    marks: tuple[str, ...]
    body: str
    #: Look-arounds that a whole credential needs.
    before: str = _WORD_STARTS
    after: str = ""
    #: What is taken out of a text that leaves this process, wherever it stands; empty
    #: for the body. A match without its group `rest`, if there is one, is no more
    #: than the beginning of a credential, and stays. None may take more than linear
    #: time: a server can send a text of any length.
    loose: str = ""

    @property
    def pattern(self) -> str:
        """The regular expression of a whole credential and nothing else."""
        return f"{self.before}{self.body}{self.after}"

    @property
    def leak(self) -> str:
        """The regular expression of text that must be redacted."""
        return self.loose or self.body


#: The formats, each as its issuer documents it.
FORMATS = (
    CredentialFormat(
        name="AWS access key id",
        marks=("AKIA", "ASIA"),
        body=r"A[KS]IA[A-Z2-7]{16}",
        after=_WORD_ENDS,
        loose=r"A[KS]IA[A-Z0-9]{12,}",
    ),
    CredentialFormat(
        name="GitHub token",
        marks=("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        body=rf"gh[pousr]_[{_WORD}]{{36,251}}",
        after=_WORD_ENDS,
        loose=rf"gh[pousr]_[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="GitHub fine-grained token",
        marks=("github_pat_",),
        body=rf"github_pat_[{_WORD}]{{22}}_[{_WORD}]{{59}}",
        after=_WORD_ENDS,
        loose=r"github_pat_\w{20,}",
    ),
    CredentialFormat(
        name="GitLab token",
        marks=("glpat-",),
        body=rf"glpat-[{_WORD}_-]{{20,}}",
    ),
    CredentialFormat(
        name="Hugging Face token",
        marks=("hf_",),
        body=rf"hf_[{_WORD}]{{34}}",
        after=_WORD_ENDS,
        loose=r"hf_[A-Za-z0-9]{20,}|hf_(?:oauth|jwt)_[\w.-]+",
    ),
    CredentialFormat(
        name="Slack token",
        marks=("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-"),
        body=rf"xox[abpres]-[0-9]{{8,14}}-[{_WORD}-]{{20,}}",
    ),
    CredentialFormat(
        name="Slack webhook",
        marks=("hooks.slack.com/services/",),
        before="",
        body=r"hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/"
        rf"[{_WORD}]{{24}}",
    ),
    CredentialFormat(
        name="Google API key",
        marks=("AIza",),
        body=rf"AIza[{_WORD}_-]{{35}}",
        after=rf"(?![{_WORD}_-])",
    ),
    CredentialFormat(
        name="Google OAuth client secret",
        marks=("GOCSPX-",),
        body=rf"GOCSPX-[{_WORD}_-]{{28}}",
    ),
    CredentialFormat(
        name="Stripe live key",
        marks=("sk_live_", "rk_live_"),
        body=rf"[sr]k_live_[{_WORD}]{{24,}}",
    ),
    CredentialFormat(
        name="npm token",
        marks=("npm_",),
        body=rf"npm_[{_WORD}]{{36}}",
        after=_WORD_ENDS,
    ),
    CredentialFormat(
        name="PyPI token",
        marks=("pypi-AgE",),
        body=rf"pypi-AgE[{_WORD}_-]{{50,}}",
    ),
    CredentialFormat(
        name="OpenAI key",
        marks=("T3BlbkFJ",),
        body=rf"sk-[{_WORD}_-]{{20,}}T3BlbkFJ[{_WORD}_-]{{20,}}",
        loose=_WORD_STARTS + rf"sk-[{_WORD}_-]{{40,}}",
    ),
    CredentialFormat(
        name="Anthropic key",
        marks=("sk-ant-",),
        body=rf"sk-ant-[a-z0-9]+-[{_WORD}_-]{{80,}}",
    ),
    CredentialFormat(
        name="SendGrid key",
        marks=("SG.",),
        body=rf"SG\.[{_WORD}_-]{{22}}\.[{_WORD}_-]{{43}}",
        after=_WORD_ENDS,
    ),
    CredentialFormat(
        name="DigitalOcean token",
        marks=("dop_v1_", "doo_v1_", "dor_v1_"),
        body=r"do[opr]_v1_[a-f0-9]{64}",
        after=_WORD_ENDS,
    ),
    CredentialFormat(
        name="Shopify token",
        marks=("shpat_", "shpca_", "shppa_", "shpss_"),
        body=r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
        after=_WORD_ENDS,
    ),
    CredentialFormat(
        name="Azure storage key",
        marks=("AccountKey=",),
        before="",
        body=rf"AccountKey=[{_WORD}+/]{{86}}==",
    ),
    CredentialFormat(
        name="private key",
        marks=("PRIVATE KEY",),
        before="",
        body=_PRIVATE_KEY,
        loose=r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----"
        r"(?s:.*?)(?:-----END|\Z)",
    ),
    CredentialFormat(
        name="JSON web token",
        marks=("eyJ",),
        body=rf"eyJ[{_WORD}_-]{{10,}}\.eyJ[{_WORD}_-]{{10,}}"
        rf"\.[{_WORD}_-]{{20,}}",
        loose=r"eyJ[\w-]{8,}(?P<rest>\.[\w-]{8,}\.[\w-]*)?",
    ),
    CredentialFormat(
        name="OpenRouter key",
        marks=("sk-or-v1-",),
        body=r"sk-or-v1-[0-9a-f]{64}",
        after=_WORD_ENDS,
        loose=rf"sk-or-v1-[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="Groq key",
        marks=("gsk_",),
        body=rf"gsk_[{_WORD}]{{52}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}gsk_[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="xAI key",
        marks=("xai-",),
        body=rf"xai-[{_WORD}]{{80}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}xai-[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="Replicate token",
        marks=("r8_",),
        body=rf"r8_[{_WORD}]{{37}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}r8_[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="NVIDIA key",
        marks=("nvapi-",),
        body=rf"nvapi-[{_WORD}_-]{{64}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}nvapi-[{_WORD}_-]{{20,}}",
    ),
    CredentialFormat(
        name="Fireworks key",
        marks=("fw_",),
        body=rf"fw_[{_WORD}]{{22,}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}fw_[{_WORD}]{{20,}}",
    ),
    CredentialFormat(
        name="Together key",
        marks=("tgp_v1_",),
        body=rf"tgp_v1_[{_WORD}_-]{{43}}",
        after=_WORD_ENDS,
        loose=rf"{_WORD_STARTS}tgp_v1_[{_WORD}_-]{{20,}}",
    ),
    CredentialFormat(
        name="Google OAuth token",
        marks=("ya29.",),
        body=rf"ya29\.[{_WORD}_-]{{60,}}",
        loose=rf"{_WORD_STARTS}ya29\.[{_WORD}_-]{{20,}}",
    ),
)


#: What stands where a credential was.
REDACTED = "<redacted>"
#: The marks of each format, and what to take out of a text.
_FORMATS = tuple((form.marks, re.compile(form.leak)) for form in FORMATS)
_SCHEMES = re.compile(
    r"(?i)\b(?:bearer|basic|authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:token|key|apikey))"
    r"\s{1,4}(?!<)(?P<value>[^\s'\",;<>]{6,})"
)
#: Query parameters of signed addresses (AWS, CloudFront, Azure, Google) and of keys.
_PARAMETERS = re.compile(
    r"(?i)[?&;#](?:amp;)?(?:X-Amz-(?:Credential|Signature|Security-Token)"
    r"|X-Goog-(?:Credential|Signature)|AWSAccessKeyId|Signature|Policy|Key-Pair-Id"
    r"|sig|auth|key|password|passwd|(?:[a-z]+[_-])?secret|(?:[a-z]+[_-])?api[_-]?key"
    r"|(?:[a-z]+[_-])?token|X-Xet-Access-Token)=(?P<value>[^&\s'\"<>#]+)"
)
#: A header or an assignment: `x-api-key: ...`, `OPENAI_API_KEY=...`.
_KEYS = re.compile(
    r"(?i)(?:api[_-]?key|access[_-]?token|auth[_-]?token)[\"']?\s{0,4}[:=]\s{0,4}"
    r"[\"']?(?!<)(?P<value>[^\s'\",;<>&]{8,})"
)
#: Of an address, whose scheme may begin anywhere and which a path has with one slash;
#: a secret may hold `/`.
_USERS = re.compile(
    r"(?i)(?<=[a-z0-9+.-]:/)/?"
    r"(?P<value>[^/\s@'\"]+(?:@[^/\s@'\"]+)*|[^/\s@:'\"]+:(?!\d+/)[^\s@'\"]{1,300})@"
)


#: Names of environment variables whose values are secret, whatever their format is;
#: Mistral's keys, for one, have none.
_SECRET_NAMES = re.compile(
    r"(?i)(?:api_?key|access_key(?:_id)?|secret|secret_key|token|passw(?:or)?d)\Z"
)
#: Shorter texts than this occur by chance.
_SHORTEST_SECRET: Final = 6


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
    for marks, pattern in _FORMATS:
        if any(mark in text for mark in marks):
            for match in pattern.finditer(text):
                if match.groupdict("").get("rest", match[0]):
                    yield match.span()
    for context in (_SCHEMES, _PARAMETERS, _KEYS, _USERS):
        for match in context.finditer(text):
            yield match.span("value")
    for name, value in os.environ.items():
        if len(value) >= 2 * _SHORTEST_SECRET and _SECRET_NAMES.search(name):
            forms = {re.escape(value), re.escape(quote(value, safe=""))}
            for match in re.finditer("|".join(forms), text):
                yield match.span()


#: A URL with its parts; `urlsplit` would end the password at a `/` in it, and show the
#: rest as a path.
_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)"
    r"(?:(?P<user>[^/@:?#]*)(?::(?!\d+(?:/|$))(?P<password>[^/?#]*|[^@?#]*))?@)?"
    r"(?P<place>[^?#]*)(?:\?(?P<query>[^#]*))?(?P<fragment>(?:#.*)?)",
    re.DOTALL,
)
_LATE: Final = re.compile(r"[?&].*|#[^?&]*=.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitUrl:
    """A URL whose secrets stand apart: user, password, every value of its query."""

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

    def hide(self, text: str) -> str:
        """Return a text without the secrets of this URL."""
        return hide_secrets(text, self.secrets)


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
        # Parameters behind the fragment, or in its place.
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
    forms = {form for each in secrets for form in (each, quote(each, safe=""))}
    for form in sorted(forms, key=len, reverse=True):
        if len(form) >= _SHORTEST_SECRET:
            text = text.replace(form, "*" * len(form))
    return text


#: A URL in a word such as `--model=http://...`.
_IN_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)


def redacted_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command line without the credentials in them."""
    return [redacted(_IN_WORD.sub(_clean_part, word)) for word in words]


def _clean_part(match: re.Match[str]) -> str:
    return split_url(match[0]).clean


def redacted_traceback(error: BaseException) -> str:
    """Return the traceback of an exception and its causes, redacted."""
    return redacted("".join(traceback.format_exception(error)))


def _log_record(*arguments: Any, **options: Any) -> logging.LogRecord:  # noqa: ANN401 - logging's own
    """Return a log record whose texts hold no credentials."""
    record = logging.LogRecord(*arguments, **options)
    record.msg = redacted(_formatted(record))
    record.args = ()
    if record.exc_info and record.exc_info[1] is not None:
        # A formatter takes this text instead of making its own.
        record.exc_text = redacted_traceback(record.exc_info[1])
    return record


def _formatted(record: logging.LogRecord) -> str:
    """Return the text; a record with the wrong arguments is no reason to fail."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, LookupError):
        return f"{record.msg} {record.args}"


def guard() -> None:
    """Redact all logs and uncaught exceptions of this process.

    `csbdata` calls it once, at its start.
    """
    logging.setLogRecordFactory(_log_record)
    sys.excepthook = _died
    threading.excepthook = _thread_died


def _died(_kind: object, error: BaseException, _traceback: object) -> None:
    sys.stderr.write(redacted_traceback(error))


def _thread_died(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is not None:
        sys.stderr.write(redacted_traceback(arguments.exc_value))
