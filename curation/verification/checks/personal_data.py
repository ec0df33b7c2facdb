"""What in a text may lead to a person: addresses, telephone numbers, and the like.

Public schemas are full of them, in authors' names and examples, so that they are
counted and listed, never refused. Names that are reserved for examples (RFC 2606,
RFC 5737, RFC 3849) belong to no one and do not count.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Callable

_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}")
_PHONE = re2.compile(r"\+[1-9][0-9]{0,2}(?:[ .()-]{1,2}[0-9]{2,5}){2,5}\b")
_IP = re2.compile(
    r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"
)
_PASSWORD = re2.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{1,64}:[^\s/@\"']{1,64}@")
_RESERVED = ("example", "test", "invalid", "localhost")
_RESERVED_DOMAINS = ("example.com", "example.org", "example.net")


def _may_be_personal(address: str) -> bool:
    domain = address.rpartition("@")[2].lower()
    return domain.rpartition(".")[2] not in _RESERVED and not any(
        domain == reserved or domain.endswith(f".{reserved}")
        for reserved in _RESERVED_DOMAINS
    )


def _is_global(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _always(_text: str) -> bool:
    return True


#: Name of a kind, a text that each has, its pattern, and whether it counts.
_KINDS: tuple[tuple[str, str, re2.Pattern, Callable[[str], bool]], ...] = (
    ("e-mail address", "@", _EMAIL, _may_be_personal),
    ("telephone number", "+", _PHONE, _always),
    ("IP address", "", _IP, _is_global),
    ("URL with a password", "://", _PASSWORD, _always),
)


#: RE2 syntax: a text that this does not meet holds none of them.
SUSPECT = (
    r"@[A-Za-z0-9]|\+[1-9]|[0-9]\.[0-9]{1,3}\.[0-9]|[0-9A-Fa-f]:[0-9A-Fa-f]|://[^/]*@"
)


def found_in(text: str) -> Counter[str]:
    """Return how many distinct ones of each kind stand in a text."""
    counted: Counter[str] = Counter()
    for name, mark, pattern, counts in _KINDS:
        if mark in text:
            real = set(filter(counts, pattern.findall(text)))
            if real:
                counted[name] = len(real)
    return counted
