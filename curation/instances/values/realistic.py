"""Values as people write them, by the name of the property that holds them.

`text` and `span` know some hundred words that occur in names. The last known word of
a name decides: `firstName` is a name, `name_count` a count.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeVar

from curation.instances.values.words import ACCENTED, VALUES, WORDS

_Value = TypeVar("_Value")
_SPLIT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_KNOWN: Final[dict[str, list[str]]] = VALUES["texts"]
_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: Share of people whose name is beyond ASCII.
_OTHERS: Final = 0.12


def plain_word(rng: random.Random) -> str:
    """Return a word in lower case."""
    return WORDS[int(rng.random() * len(WORDS))]


def _phrase(rng: random.Random) -> str:
    count = 1 + int(rng.random() * 3)
    return " ".join(plain_word(rng) for _ in range(count))


def _sentence(rng: random.Random) -> str:
    words = [plain_word(rng) for _ in range(4 + int(rng.random() * 6))]
    if rng.random() < 0.1:  # noqa: PLR2004 - now and then
        words[-1] = rng.choice(ACCENTED)
    return " ".join(words).capitalize() + "."


def _slug(rng: random.Random) -> str:
    return f"{plain_word(rng)}-{plain_word(rng)}"


def _person(rng: random.Random) -> str:
    if rng.random() < _OTHERS:
        return rng.choice(_KNOWN["other_names"])
    return f"{rng.choice(_KNOWN['first_names'])} {rng.choice(_KNOWN['last_names'])}"


def host(rng: random.Random) -> str:
    """Return a host name below a domain reserved for examples."""
    domain = f"example.{rng.choice(_KNOWN['tlds'])}"
    return domain if rng.random() < 0.5 else f"{plain_word(rng)}.{domain}"  # noqa: PLR2004 - a fair coin


def email(rng: random.Random) -> str:
    """Return an e-mail address at a host reserved for examples."""
    return f"{rng.choice(_KNOWN['first_names']).lower()}.{plain_word(rng)}@{host(rng)}"


def url(rng: random.Random) -> str:
    """Return the URL of a page at a host reserved for examples."""
    return f"https://{host(rng)}/{plain_word(rng)}" + (
        f"/{plain_word(rng)}" if rng.random() < 0.5 else ""  # noqa: PLR2004 - a fair coin
    )


def uuid(rng: random.Random) -> str:
    """Return a random UUID of version 4."""
    digits = f"{rng.getrandbits(128):032x}"
    variant = "89ab"[rng.getrandbits(2)]
    return (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}"
        f"-{digits[20:]}"
    )


def day(rng: random.Random) -> str:
    """Return a day of this century."""
    month, date = 1 + int(rng.random() * 12), 1 + int(rng.random() * 28)
    return f"{2001 + int(rng.random() * 25)}-{month:02}-{date:02}"


def clock(rng: random.Random) -> str:
    """Return a time of day."""
    hour, minute, second = (int(rng.random() * count) for count in (24, 60, 60))
    return f"{hour:02}:{minute:02}:{second:02}"


def instant(rng: random.Random) -> str:
    """Return a day and time of RFC 3339."""
    choice = rng.random()
    zone = "Z"
    if choice >= 0.7:  # noqa: PLR2004 - shares
        zone = "+02:00" if choice < 0.9 else ".250Z"  # noqa: PLR2004 - shares
    return f"{day(rng)}T{clock(rng)}{zone}"


def ipv4(rng: random.Random) -> str:
    """Return an address of the blocks for documentation (RFC 5737)."""
    block = rng.choice(("192.0.2", "198.51.100", "203.0.113"))
    return f"{block}.{1 + int(rng.random() * 254)}"


def ipv6(rng: random.Random) -> str:
    """Return an address of the block for documentation (RFC 3849)."""
    return f"2001:db8::{1 + rng.getrandbits(16):x}"


def version(rng: random.Random) -> str:
    """Return a version of three numbers."""
    return ".".join(str(int(rng.random() * count)) for count in (5, 20, 10))


def _identifier(rng: random.Random) -> str:
    if rng.random() < 0.5:  # noqa: PLR2004 - a fair coin
        return f"{plain_word(rng)}-{1 + int(rng.random() * 9999)}"
    return f"{rng.getrandbits(48):012x}"


def _title(rng: random.Random) -> str:
    return " ".join(word.capitalize() for word in _phrase(rng).split())


def _pick(name: str) -> Callable[[random.Random], str]:
    values = _KNOWN[name]
    return lambda rng: values[int(rng.random() * len(values))]


_TEXTS: Final[dict[str, Callable[[random.Random], str]]] = {
    word: make
    for words, make in (
        ("email mail", email),
        ("url uri href link website homepage web endpoint iri site", url),
        ("id identifier key ref token sku reference code", _identifier),
        ("uuid guid", uuid),
        ("date day birthday birthdate dob", day),
        ("datetime timestamp created updated modified createdat updatedat", instant),
        ("time hour clock", clock),
        ("version semver release", version),
        ("hostname host domain server", host),
        ("ip ipv4 address", ipv4),
        ("ipv6", ipv6),
        (
            "path dir directory folder",
            lambda rng: f"{plain_word(rng)}/{plain_word(rng)}",
        ),
        (
            "file filename",
            lambda rng: f"{plain_word(rng)}.{rng.choice(_KNOWN['suffixes'])}",
        ),
        (
            "phone telephone tel mobile fax",
            lambda rng: f"+1 555 01{int(rng.random() * 100):02}",
        ),
        ("firstname forename givenname given", _pick("first_names")),
        ("lastname surname familyname family", _pick("last_names")),
        ("author person owner user customer contact fullname", _person),
        ("username login handle nickname account", plain_word),
        ("name label displayname", _phrase),
        ("title heading headline subject caption", _title),
        ("description summary comment comments text message note notes", _sentence),
        ("body content abstract bio about details help tooltip reason", _sentence),
        ("city town place location", _pick("cities")),
        ("country nation", _pick("countries")),
        ("countrycode", _pick("country_codes")),
        ("language lang locale languagecode", _pick("languages")),
        ("currency currencycode", _pick("currencies")),
        ("timezone tz zone", _pick("zones")),
        ("color colour background fill stroke foreground", _pick("colours")),
        ("unit units uom", _pick("units")),
        ("status state phase", _pick("statuses")),
        ("type kind category class mode", _pick("types")),
        ("license licence spdx", _pick("licences")),
        ("mimetype contenttype mime mediatype", _pick("media")),
        ("method verb", _pick("methods")),
        ("level severity priority", _pick("levels")),
        (
            "street streetaddress",
            lambda rng: (
                f"{1 + int(rng.random() * 180)} {plain_word(rng).capitalize()} Street"
            ),
        ),
        (
            "zip zipcode postcode postal postalcode",
            lambda rng: "".join(rng.choices("0123456789", k=5)),
        ),
        ("price amount cost total", lambda rng: f"{rng.random() * 200:.2f}"),
        (
            "hash sha sha1 commit checksum digest revision",
            lambda rng: f"{rng.getrandbits(160):040x}",
        ),
        ("slug topic permalink", _slug),
        (
            "byte base64 certificate binary data",
            lambda rng: "".join(
                rng.choices(_BASE64, k=4 * (3 + int(rng.random() * 6)))
            ),
        ),
        ("year", lambda rng: day(rng)[:4]),
        ("number count quantity num", lambda rng: str(1 + int(rng.random() * 99))),
        ("duration interval", lambda rng: f"PT{1 + int(rng.random() * 59)}M"),
        ("regex pattern", lambda rng: f"^{plain_word(rng)}$"),
        ("company organization organisation employer publisher vendor", _title),
    )
    for word in words.split()
}
_FALLBACKS: Final = (plain_word, plain_word, _slug, _phrase)

#: Words in names of numbers: lowest, highest, decimals.
_NUMBERS: Final[dict[str, tuple[float, float, int]]] = {
    word: tuple(span)
    for words, span in VALUES["numbers"].items()
    for word in words.split()
}


def _last_known(name: str, values: Mapping[str, _Value]) -> _Value | None:
    """Return the entry of the last word of a name, in the singular or as it is.

    Each pair of words comes before the second of them.
    """
    words = ["", *(part.lower() for part in _SPLIT.findall(name[:200]))]
    for before, word in reversed([*pairwise(words)]):
        for part in (before + word, word):
            for spelled in (part, part.removesuffix("s")):
                if spelled in values:
                    return values[spelled]
    return None


@lru_cache(maxsize=16_384)
def _sampler(name: str) -> Callable[[random.Random], str] | None:
    return _last_known(name, _TEXTS)


def known_text(name: str, rng: random.Random) -> str | None:
    """Return text that a property of that name may hold, or None if unknown."""
    make = _sampler(name)
    return make(rng) if make else None


def text(name: str, rng: random.Random) -> str:
    """Return text for a property of that name, plain words if it is unknown."""
    make = _sampler(name) or _FALLBACKS[int(rng.random() * len(_FALLBACKS))]
    return make(rng)


@lru_cache(maxsize=16_384)
def span(name: str) -> tuple[float, float, int] | None:
    """Return lowest, highest and decimals of numbers of that name, if known."""
    return _last_known(name, _NUMBERS)
