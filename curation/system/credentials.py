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


def _token(
    name: str, prefixes: str, rest: str, *, leak: str = "", before_leak: str = ""
) -> CredentialFormat:
    """Return the format of tokens that begin with one of some prefixes.

    Args:
        name: The format's name.
        prefixes: The beginnings, with spaces between.
        rest: The regular expression of what follows.
        leak: The same of what is redacted behind a prefix; empty for `rest`.
        before_leak: A look-behind that text needs to be redacted.
    """
    marks = tuple(prefixes.split())
    start = f"(?:{'|'.join(map(re.escape, marks))})"
    return CredentialFormat(
        name=name,
        marks=marks,
        body=start + rest,
        after=_WORD_ENDS,
        loose=before_leak + start + leak if leak else "",
    )


def _key(
    name: str, prefix: str, rest: str, characters: str = _WORD
) -> CredentialFormat:
    """Return the format of keys whose prefix may also end another word."""
    leak = f"[{characters}]{{20,}}"
    return _token(name, prefix, rest, leak=leak, before_leak=_WORD_STARTS)


_DASHED = f"{_WORD}_-"
#: The formats, each as its issuer documents it.
FORMATS = (
    _token("AWS access key id", "AKIA ASIA", "[A-Z2-7]{16}", leak="[A-Z0-9]{12,}"),
    _token(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        f"[{_WORD}]{{36,251}}",
        leak=f"[{_WORD}]{{20,}}",
    ),
    _token(
        "GitHub fine-grained token",
        "github_pat_",
        f"[{_WORD}]{{22}}_[{_WORD}]{{59}}",
        leak=r"\w{20,}",
    ),
    _token("GitLab token", "glpat-", f"[{_DASHED}]{{20,}}"),
    _token(
        "Hugging Face token",
        "hf_",
        f"[{_WORD}]{{34}}",
        leak=rf"(?:[{_WORD}]{{20,}}|(?:oauth|jwt)_[\w.-]+)",
    ),
    _token(
        "Slack token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe-",
        f"[0-9]{{8,14}}-[{_WORD}-]{{20,}}",
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
        body=f"AIza[{_DASHED}]{{35}}",
        after=f"(?![{_DASHED}])",
    ),
    _token("Google OAuth client secret", "GOCSPX-", f"[{_DASHED}]{{28}}"),
    _token("Stripe live key", "sk_live_ rk_live_", f"[{_WORD}]{{24,}}"),
    _token("npm token", "npm_", f"[{_WORD}]{{36}}"),
    _token("PyPI token", "pypi-AgE", f"[{_DASHED}]{{50,}}"),
    CredentialFormat(
        name="OpenAI key",
        marks=("T3BlbkFJ",),
        body=rf"sk-[{_DASHED}]{{20,200}}T3BlbkFJ[{_DASHED}]{{20,}}",
        loose=_WORD_STARTS + rf"sk-[{_DASHED}]{{40,}}",
    ),
    _token("Anthropic key", "sk-ant-", f"[a-z0-9]+-[{_DASHED}]{{80,}}"),
    _token("SendGrid key", "SG.", rf"[{_DASHED}]{{22}}\.[{_DASHED}]{{43}}"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}"),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", "[a-fA-F0-9]{32}"),
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
        body=rf"eyJ[{_DASHED}]{{10,4096}}\.eyJ[{_DASHED}]{{10,65536}}\."
        rf"[{_DASHED}]{{20,}}",
        loose=r"eyJ[\w-]{8,}(?P<rest>\.[\w-]{8,}\.[\w-]*)?",
    ),
    _token("OpenRouter key", "sk-or-v1-", "[0-9a-f]{64}", leak=f"[{_WORD}]{{20,}}"),
    _key("Groq key", "gsk_", f"[{_WORD}]{{52}}"),
    _key("xAI key", "xai-", f"[{_WORD}]{{80}}"),
    _key("Replicate token", "r8_", f"[{_WORD}]{{37}}"),
    _key("NVIDIA key", "nvapi-", f"[{_DASHED}]{{64}}", _DASHED),
    _key("Fireworks key", "fw_", f"[{_WORD}]{{22,}}"),
    _key("Together key", "tgp_v1_", f"[{_DASHED}]{{43}}", _DASHED),
    _key("Google OAuth token", "ya29.", f"[{_DASHED}]{{60,}}", _DASHED),
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
    return [
        redacted(_IN_WORD.sub(lambda match: split_url(match[0]).clean, word))
        for word in words
    ]


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
