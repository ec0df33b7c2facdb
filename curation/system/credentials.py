"""Recognise credentials, and take them out of everything printed or logged.

A token may stand in an exception's text, in the address of a signed upload, or in a
line that a library logs. A value behind `Bearer` or in the credential parameters of a
signed address is always taken out.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
)


#: What stands where a credential was.
REDACTED = "<redacted>"
#: The marks of each format, and what to take out of a text.
_FORMATS = tuple((form.marks, re.compile(form.leak)) for form in FORMATS)
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
    for context in (_SCHEMES, _PARAMETERS, _USERS):
        for match in context.finditer(text):
            yield match.span("value")


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
