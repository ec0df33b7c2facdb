"""Known credential formats: is there something in here that nobody may publish?

Only formats that their issuers document and that a random text does not meet by
chance. What a finding says never includes the value. A placeholder (`EXAMPLE`,
one character over and over) is not a credential.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
import re2

from curation.json.pointer import Tokens, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson

#: Fewer distinct characters than this after the prefix make a placeholder.
_LEAST_VARIETY = 8
_WORD = "A-Za-z0-9"
_START = rf"(?<![{_WORD}_])"
_END = rf"(?![{_WORD}])"
_LINE_END = r"(?:\\r|\\n|\s)"
_PLACEHOLDER = re.compile(
    r"example|placeholder|dummy|sample|redacted|changeme|your|x{6}|\*{4}|0123456|1234567"
    r"|abcdefg",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One documented credential format."""

    name: str
    #: Every text in the format holds one of these: the cheap test.
    marks: tuple[str, ...]
    pattern: str


#: The formats, each as its issuer documents it.
FORMATS = (
    Format(
        name="AWS access key id",
        marks=("AKIA", "ASIA"),
        pattern=_START + r"A[KS]IA[A-Z2-7]{16}" + _END,
    ),
    Format(
        name="GitHub token",
        marks=("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        pattern=_START + rf"gh[pousr]_[{_WORD}]{{36,251}}" + _END,
    ),
    Format(
        name="GitHub fine-grained token",
        marks=("github_pat_",),
        pattern=_START + rf"github_pat_[{_WORD}]{{22}}_[{_WORD}]{{59}}" + _END,
    ),
    Format(
        name="GitLab token",
        marks=("glpat-",),
        pattern=_START + rf"glpat-[{_WORD}_-]{{20,}}",
    ),
    Format(
        name="Hugging Face token",
        marks=("hf_",),
        pattern=_START + rf"hf_[{_WORD}]{{34}}" + _END,
    ),
    Format(
        name="Slack token",
        marks=("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-"),
        pattern=_START + rf"xox[abpres]-[0-9]{{8,14}}-[{_WORD}-]{{20,}}",
    ),
    Format(
        name="Slack webhook",
        marks=("hooks.slack.com/services/",),
        pattern=r"hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/"
        rf"[{_WORD}]{{24}}",
    ),
    Format(
        name="Google API key",
        marks=("AIza",),
        pattern=_START + rf"AIza[{_WORD}_-]{{35}}(?![{_WORD}_-])",
    ),
    Format(
        name="Google OAuth client secret",
        marks=("GOCSPX-",),
        pattern=_START + rf"GOCSPX-[{_WORD}_-]{{28}}",
    ),
    Format(
        name="Stripe live key",
        marks=("sk_live_", "rk_live_"),
        pattern=_START + rf"[sr]k_live_[{_WORD}]{{24,}}",
    ),
    Format(
        name="npm token",
        marks=("npm_",),
        pattern=_START + rf"npm_[{_WORD}]{{36}}" + _END,
    ),
    Format(
        name="PyPI token",
        marks=("pypi-AgE",),
        pattern=_START + rf"pypi-AgE[{_WORD}_-]{{50,}}",
    ),
    Format(
        name="OpenAI key",
        marks=("T3BlbkFJ",),
        pattern=_START + rf"sk-[{_WORD}_-]{{20,}}T3BlbkFJ[{_WORD}_-]{{20,}}",
    ),
    Format(
        name="Anthropic key",
        marks=("sk-ant-",),
        pattern=_START + rf"sk-ant-[a-z0-9]+-[{_WORD}_-]{{80,}}",
    ),
    Format(
        name="SendGrid key",
        marks=("SG.",),
        pattern=_START + rf"SG\.[{_WORD}_-]{{22}}\.[{_WORD}_-]{{43}}" + _END,
    ),
    Format(
        name="DigitalOcean token",
        marks=("dop_v1_", "doo_v1_", "dor_v1_"),
        pattern=_START + r"do[opr]_v1_[a-f0-9]{64}" + _END,
    ),
    Format(
        name="Shopify token",
        marks=("shpat_", "shpca_", "shppa_", "shpss_"),
        pattern=_START + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}" + _END,
    ),
    Format(
        name="Azure storage key",
        marks=("AccountKey=",),
        pattern=rf"AccountKey=[{_WORD}+/]{{86}}==",
    ),
    Format(
        name="private key",
        marks=("PRIVATE KEY",),
        pattern=r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----"
        rf"{_LINE_END}*(?:[A-Za-z-]+: [^\n]*{_LINE_END}+)*[{_WORD}+/=]{{40}}",
    ),
    Format(
        name="JSON web token",
        marks=("eyJ",),
        pattern=_START + rf"eyJ[{_WORD}_-]{{10,}}\.eyJ[{_WORD}_-]{{10,}}"
        rf"\.[{_WORD}_-]{{20,}}",
    ),
)
_COMPILED = tuple((each, re.compile(each.pattern)) for each in FORMATS)
#: All marks in one automaton: ten times faster than asking for one after another.
_ANY_MARK = "|".join(re.escape(mark) for each in FORMATS for mark in each.marks)
_MARKS = re2.compile(_ANY_MARK)
#: RE2 syntax: a text that this does not meet holds no credential, nor does the JSON
#: value that it may be: a mark stands as such, or a character of it is escaped.
SUSPECT = _ANY_MARK + r"|\\u00[2-7]|\\/"
#: Payload of the token that jwt.io shows to everyone: `{"sub":"1234567890",`.
_KNOWN_TOKENS = ("eyJzdWIiOiIxMjM0NTY3ODkwIi", "eyJsb2dnZWRJbkFzIjoiYWRtaW4iL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A credential: its format and where it stands, never its value."""

    format: str
    pointer: str


def find(value: UntypedJson) -> Finding | None:
    """Return the first credential in a JSON value's texts and names, or None."""
    if _MARKS.search(_text(value)) is None:
        return None
    for tokens, string in _strings(value):
        for each, pattern in _COMPILED:
            if any(_is_real(found[0]) for found in pattern.finditer(string)):
                return Finding(format=each.name, pointer=pointer(tokens))
    return None


def covered(text: str) -> str:
    """Return a text with the name of its format in the place of each credential."""
    for each, pattern in _COMPILED:
        if any(mark in text for mark in each.marks):
            text = pattern.sub(f"<{each.name}>", text)
    return text


def _text(value: UntypedJson) -> bytes:
    try:
        return orjson.dumps(value, default=float)
    except TypeError:
        # An integer of more than 64 bits.
        return json.dumps(value, ensure_ascii=False).encode()


def _is_real(credential: str) -> bool:
    if _PLACEHOLDER.search(credential) or any(
        known in credential for known in _KNOWN_TOKENS
    ):
        return False
    return len(set(credential)) >= _LEAST_VARIETY + len(set(credential[:4]))


def _strings(value: UntypedJson) -> Iterator[tuple[Tokens, str]]:
    """Yield every text and every name, with the place where it stands.

    A name is reported at its object, for the pointer would repeat it.
    """
    stack: list[tuple[Tokens, UntypedJson]] = [((), value)]
    while stack:
        tokens, each = stack.pop()
        if isinstance(each, str):
            yield tokens, each
        elif isinstance(each, dict):
            for name in each:
                yield tokens, name
            stack.extend(((*tokens, name), inner) for name, inner in each.items())
        elif isinstance(each, list):
            stack.extend(
                ((*tokens, str(index)), inner) for index, inner in enumerate(each)
            )
