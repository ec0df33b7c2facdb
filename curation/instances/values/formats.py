r"""Strings for every `format` of draft-03 to 2020-12.

They satisfy jsonschema-rs and jsonschema's format checker of each draft at once;
a format that no draft defines is taken as a hint, as the name of a property is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.instances.values import realistic
from curation.instances.values.realistic import plain_word
from curation.validation.metaschemas import RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    import jsonschema_rs


def _reference(rng: random.Random) -> str:
    choice = int(rng.random() * 4)
    return (
        realistic.url(rng),
        f"/{plain_word(rng)}/{plain_word(rng)}",
        f"{plain_word(rng)}.html",
        f"#{plain_word(rng)}",
    )[choice]


def _uri(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.9:  # noqa: PLR2004 - mostly pages
        return realistic.url(rng)
    return f"urn:example:{plain_word(rng)}:{int(rng.random() * 1000)}"


def _duration(rng: random.Random) -> str:
    month, second = 1 + int(rng.random() * 11), 1 + int(rng.random() * 28)
    return (
        f"P{second}D",
        f"PT{second}M",
        f"PT{month}H{second}M",
        f"P{month}W",
        f"P1Y{month}M",
        f"P{month}DT{second}S",
    )[int(rng.random() * 6)]


def _pointer(rng: random.Random) -> str:
    return f"/{plain_word(rng)}/{int(rng.random() * 10)}"


def _regex(rng: random.Random) -> str:
    return (
        f"^{plain_word(rng)}$",
        "^[a-z]+$",
        "[0-9]{2,4}",
        f"{plain_word(rng)}|{plain_word(rng)}",
    )[int(rng.random() * 4)]


_SAMPLERS: Final[dict[str, Callable[[random.Random], str]]] = {
    "date-time": realistic.instant,
    "date": realistic.day,
    "time": lambda rng: realistic.clock(rng) + "Z",
    "duration": _duration,
    "email": realistic.email,
    "idn-email": realistic.email,
    "hostname": realistic.host,
    "idn-hostname": realistic.host,
    "host-name": realistic.host,
    "ipv4": realistic.ipv4,
    "ip-address": realistic.ipv4,
    "ipv6": realistic.ipv6,
    "uri": _uri,
    "iri": _uri,
    "uri-reference": _reference,
    "iri-reference": _reference,
    "uri-template": lambda rng: f"{realistic.url(rng)}/{{{plain_word(rng)}}}",
    "uuid": realistic.uuid,
    "json-pointer": _pointer,
    "relative-json-pointer": lambda rng: f"{int(rng.random() * 3)}{_pointer(rng)}",
    "regex": _regex,
}

_LABEL = "[A-Za-z0-9]{1,20}(-[A-Za-z0-9]{1,20}){0,2}"
_HOST = rf"{_LABEL}(\.{_LABEL})*"
_DATE = r"[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])"
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+\-](0\d|1[0-2]):[0-5]\d)"
_NO_SLASH = r"([A-Za-z0-9._~!$&'()*+,;=:@\-]|%[0-9A-F]{2})"
_SEGMENT = r"([A-Za-z0-9._~!$&'()*+,;=:@/\-]|%[0-9A-F]{2})"
_QUERY = r"([A-Za-z0-9._~!$&'()*+,;=:@/?\-]|%[0-9A-F]{2})"
_AUTHORITY = (
    rf"//([A-Za-z0-9._~\-]{{1,20}}@)?({_HOST})(:[1-9]\d{{1,3}})?(/{_SEGMENT}*)?"
)
_TAIL = rf"(\?{_QUERY}*)?(#{_QUERY}*)?"
_PATH = rf"///{_NO_SLASH}{_SEGMENT}*|/?{_NO_SLASH}{_SEGMENT}*"
_URI = rf"[A-Za-z][A-Za-z0-9+.\-]*:({_AUTHORITY}|{_PATH}){_TAIL}"
_EMAIL = rf"[A-Za-z0-9_+\-]{{1,20}}(\.[A-Za-z0-9_+\-]{{1,20}}){{0,2}}@{_HOST}"
_OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_TOKENS = r"(/([A-Za-z0-9 _.\-]|~[01])+)*"

#: A part of each format's language, for when a pattern or a length comes with it.
PATTERNS: Final[dict[str, str]] = {
    name: f"^({body})$"
    for names, body in (
        ("date-time", f"{_DATE}T{_CLOCK}"),
        ("date", _DATE),
        ("time", _CLOCK),
        (
            "duration",
            r"P(\d{1,4}[DWMY]|\d{1,3}Y\d{1,2}M|(\d{1,3}D)?T\d{1,4}([HMS]|H\d{1,2}M|M\d{1,2}S))",
        ),
        ("email idn-email", _EMAIL),
        ("hostname idn-hostname host-name", _HOST),
        ("ipv4 ip-address", rf"({_OCTET}\.){{3}}{_OCTET}"),
        ("ipv6", "([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|2001:db8::[0-9a-f]{1,4}|::1"),
        ("uri iri", _URI),
        (
            "uri-reference iri-reference",
            rf"{_URI}|{_AUTHORITY}{_TAIL}|/?[A-Za-z0-9._~\-]*(/{_NO_SLASH}+)*{_TAIL}",
        ),
        (
            "uri-template",
            rf"(https://{_HOST}|/?[A-Za-z0-9._~\-]+)(/({_NO_SLASH}+|\{{[a-z]+\}}))*",
        ),
        ("uuid", "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
        ("json-pointer", _TOKENS),
        ("relative-json-pointer", rf"(0|[1-9]\d*){_TOKENS}"),
        ("regex", r"[A-Za-z0-9 _/:.,@#%&=!<>'~;\-]*"),
    )
    for name in names.split()
}


def is_asserted(name: str) -> bool:
    """Return whether some draft defines a format of that name for strings."""
    return name in PATTERNS


def formatted_text(name: str, rng: random.Random) -> str:
    """Return a string of a format."""
    make = _SAMPLERS.get(name)
    return make(rng) if make else realistic.text(name, rng)


@lru_cache(maxsize=512)
def _validator(name: str, dialect: str) -> jsonschema_rs.Validator:
    make = RUST_VALIDATORS[dialect or "2020-12"]
    schema = {"type": "string", "format": name}
    return make(schema, validate_formats=True, retriever=refuse)


def accepts(name: str, text: str, dialect: str = "") -> bool:
    """Return whether jsonschema-rs accepts a string as one of a format.

    Args:
        name: The format.
        text: The string.
        dialect: Name of the dialect whose formats count; where empty, 2020-12, which
            knows the formats of all.
    """
    return _validator(name, dialect).is_valid(text)


_WITH_SCHEME: Final = frozenset({"uri", "iri"})


def accepts_twice(name: str, text: str) -> bool:
    """Return whether jsonschema-rs and jsonschema both accept it as one of a format."""
    if name in _WITH_SCHEME and not text.partition(":")[2]:
        return False
    if not accepts(name, text):
        return False
    from curation.validation.python_validators import PYTHON_VALIDATORS  # noqa: PLC0415 - slow

    try:
        return bool(PYTHON_VALIDATORS["2020-12"].FORMAT_CHECKER.conforms(text, name))
    except (OverflowError, RecursionError):
        # Of `re`, which jsonschema asks about `regex`.
        return False
