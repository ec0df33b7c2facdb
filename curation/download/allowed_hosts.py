"""Addresses that may be requested, redirects included.

Each hop is checked: its scheme, its host against the list of the source, and the
resolved address, which must not be a private one.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urljoin, urlsplit

from requests.utils import get_environ_proxies, select_proxy

from curation.system.errors import Unavailable

if TYPE_CHECKING:
    Resolve = Callable[[str, int], Iterable[str]]

_PORTS: Final = {"https": 443, "http": 80}
#: Where clouds answer questions about the machine and its credentials, apart
#: from link-local addresses: Alibaba's, Amazon's, Oracle's and Azure's.
_METADATA: Final = frozenset(
    {"100.100.100.200", "fd00:ec2::254", "192.0.0.192", "168.63.129.16"}
)
#: IPv6 networks whose addresses end in the IPv4 address that is meant: NAT64 (RFC
#: 6052, section 2.1) and IPv4-compatible ones (RFC 4291, section 2.5.5.1).
_HOLDING_IPV4: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses that a host's name stands for.

    Raises:
        OSError: it stands for none.
    """
    try:
        results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        # Of a label that no name may have, such as one of 70 letters.
        raise OSError(str(error)) from error
    return [str(info[4][0]) for info in results]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """Which hosts may be asked for one source."""

    #: Names; one that begins with a dot stands for all hosts below it.
    hosts: frozenset[str]
    #: The address that the user has set in place of the usual one, or none. Its
    #: host may be a private machine; a loopback one may do without TLS.
    base: str = ""

    def check(self, url: str, resolve: Resolve = resolve) -> None:
        """Refuse an address that must not be asked.

        Raises:
            Unavailable: it must not; the message says why.
            OSError: its name cannot be resolved.
        """
        parts = _split(url)
        is_base = bool(self.base) and _place(parts) == _place(_split(self.base))
        why = _forbidden(parts, is_base=is_base) or self._foreign(
            parts, is_base=is_base
        )
        if why:
            raise Unavailable(f"not asked: {why}", shown_url(url))
        if _proxied(url):
            # The proxy resolves the name, and its rules hold.
            return
        for address in resolve(parts.hostname or "", _place(parts)[1]):
            why = _out_of_bounds(address, is_base=is_base)
            if why:
                raise Unavailable(f"not asked: {why}", shown_url(url))

    def _foreign(self, parts: SplitResult, *, is_base: bool) -> str:
        host = parts.hostname or ""
        is_allowed = host in self.hosts or any(
            is_allowed.startswith(".") and host.endswith(is_allowed)
            for is_allowed in self.hosts
        )
        usual = _place(parts)[1] == _PORTS.get(parts.scheme)
        if is_base or (is_allowed and usual):
            return ""
        return "this host is not one of the source's"


def shown_url(url: str) -> str:
    """Return an address for people: without credentials, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a malformed address"
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path}"


def host_of(url: str) -> str:
    """Return the host and the port of an address."""
    return ":".join(map(str, _place(_split(url))))


def joined(url: str, target: str) -> str:
    """Return where a redirect leads.

    Raises:
        Unavailable: it is no address.
    """
    try:
        return urljoin(url, target)
    except ValueError as error:
        raise Unavailable("redirects to what is no address", shown_url(url)) from error


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _place(parts)
    except ValueError as error:
        raise Unavailable("not asked: this is no address", shown_url(url)) from error
    return parts


def _place(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def _forbidden(parts: SplitResult, *, is_base: bool) -> str:
    if parts.username is not None:
        return "the address holds credentials"
    if parts.scheme == "https":
        return ""
    if parts.scheme == "http" and is_base and _is_loopback(parts.hostname or ""):
        return ""
    return f"{parts.scheme or 'no scheme'} is not https"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _out_of_bounds(address: str, *, is_base: bool) -> str:
    place = _unmapped(address)
    if place.is_link_local or str(place) in _METADATA:
        return f"{address} belongs to the local link or a metadata service"
    if place.is_multicast or place.is_unspecified:
        return f"{address} is no host's"
    if not is_base and not place.is_global:
        return f"{address} is a private address"
    return ""


def _unmapped(address: str) -> IPv4Address | IPv6Address:
    """Return the IPv4 address inside an IPv6 one, if there is one."""
    place = ip_address(address.partition("%")[0])
    if not isinstance(place, IPv6Address):
        return place
    if any(place in network for network in _HOLDING_IPV4):
        return IPv4Address(int(place) & 0xFFFFFFFF)
    return place.ipv4_mapped or place.sixtofour or place


def _proxied(url: str) -> bool:
    return select_proxy(url, get_environ_proxies(url)) is not None
