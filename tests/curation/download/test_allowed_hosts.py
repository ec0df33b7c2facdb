"""F9: which addresses may be asked."""

from __future__ import annotations

import pytest

from curation.download.allowed_hosts import HostPolicy, host_of, resolve, shown_url
from curation.system.errors import Unavailable

GATE = HostPolicy(hosts=frozenset({"things.example", ".cdn.example"}))
PUBLIC = ["93.184.216.34"]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def _check(policy: HostPolicy, url: str, *addresses: str) -> None:
    policy.check(url, lambda _host, _port: addresses or PUBLIC)


@pytest.mark.parametrize(
    "url",
    [
        "https://things.example/x",
        "https://THINGS.example:443/x",
        "https://a.cdn.example/x",
        "https://a.b.cdn.example/x",
    ],
)
def test_a_listed_host_may_be_asked(url: str) -> None:
    """By its name, or below a name that begins with a dot."""
    _check(GATE, url)


@pytest.mark.parametrize(
    "url",
    [
        "https://cdn.example/x",
        "https://evilcdn.example/x",
        "https://evilthings.example/x",
        "https://things.example.evil/x",
        "https://things.example:8443/x",
        "http://things.example/x",
        "https://things.example@evil.example/x",
        "https://someone@things.example/x",
        "https://:word@things.example/x",
        "https://things.example:abc/x",
        "https:///x",
        "//things.example/x",
        "data:,x",
        "",
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    """Whatever it looks like."""
    with pytest.raises(Unavailable, match="not asked"):
        _check(GATE, url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",  # noqa: S104 (an address to refuse)
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "fc00::1",
        "ff02::1",
        "::ffff:169.254.169.254",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::169.254.169.254",
        "64:ff9b::10.0.0.1",
        "::10.0.0.1",
        "::169.254.169.254",
        "192.0.0.192",
        "168.63.129.16",
        "64:ff9b::168.63.129.16",
    ],
)
def test_a_listed_name_of_a_private_machine_is_refused(address: str) -> None:
    """What the name stands for counts, and one such address is enough."""
    with pytest.raises(Unavailable, match="not asked"):
        _check(GATE, "https://things.example/x", *PUBLIC, address)


def test_the_users_own_base_may_be_private() -> None:
    """A company's mirror stands on its own network; only TLS stays required."""
    policy = HostPolicy(hosts=frozenset(), base="https://mirror.corp:8443/github")
    _check(policy, "https://mirror.corp:8443/github/x", "10.0.0.7")
    for url in ("https://mirror.corp/x", "http://mirror.corp:8443/x"):
        with pytest.raises(Unavailable, match="not asked"):
            _check(policy, url, "10.0.0.7")


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fd00:ec2::254", "::", "ff02::1"]
)
def test_not_even_the_users_base_may_be_a_metadata_service(address: str) -> None:
    """No mirror lives there, nor at an address of no host or of many."""
    policy = HostPolicy(hosts=frozenset(), base="https://mirror.corp")
    with pytest.raises(Unavailable, match=r"metadata|no host's"):
        _check(policy, "https://mirror.corp/x", address)


def test_only_a_loopback_base_may_do_without_tls() -> None:
    """And only for itself: another port of the machine is another host."""
    policy = HostPolicy(hosts=frozenset(), base="http://127.0.0.1:8000")
    _check(policy, "http://127.0.0.1:8000/x", "127.0.0.1")
    with pytest.raises(Unavailable, match="not asked"):
        _check(policy, "http://127.0.0.1:8001/x", "127.0.0.1")


def test_behind_a_proxy_the_proxy_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name may be unknown here; the list of hosts holds nevertheless."""

    def blow_up(_host: str, _port: int) -> list[str]:
        raise AssertionError("resolved")

    monkeypatch.setenv("https_proxy", "http://proxy.corp:3128")
    GATE.check("https://things.example/x", blow_up)
    with pytest.raises(Unavailable, match="not one of the source's"):
        GATE.check("https://evil.example/x", blow_up)


def test_an_address_is_shown_without_secrets() -> None:
    """Neither credentials nor a query, where signatures stand."""
    assert shown_url("https://a:b@host/x?token=y#z") == "https://host/x"
    assert shown_url("https://[::1/x") == "a malformed address"
    assert host_of("https://host/x") == "host:443"


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..example"])
def test_what_no_host_can_be_called_stands_for_none(host: str) -> None:
    """As a name that nobody has does, without a question to the network."""
    with pytest.raises(OSError, match="label"):
        resolve(host, 443)
