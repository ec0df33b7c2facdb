"""Prices of servers' models, from a dated list or as the user gives them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from curation.system.errors import BadUsage
from evaluation.core.records import TokenPrices
from evaluation.servers.models import DATED

if TYPE_CHECKING:
    from evaluation.servers.client import ServerConnection


class _PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str
    source: str
    currency: str
    #: For a million tokens of a prompt and of an answer, by host and model.
    hosts: dict[str, dict[str, tuple[float, float]]]


@cache
def _price_list() -> _PriceList:
    content = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(content, type=_PriceList)


def prices_of(
    prices: TokenPrices | None,
    connection: ServerConnection,
    max_cost: float | None = None,
) -> TokenPrices | None:
    """Return the prices of a server's model; None if unknown.

    Args:
        prices: The user's prices; None for the list's.
        connection: The server and its model.
        max_cost: What may be spent, which needs prices.

    Raises:
        BadUsage: a cost is limited, and no price is known.
    """
    if prices is not None:
        return prices
    known, name = _price_list(), connection.model
    models = known.hosts.get(urlsplit(connection.base).hostname or "", {})
    pair = models.get(name) or models.get(DATED.sub("", name))
    if pair is not None:
        source = f"{known.currency}, {known.date}, {known.source}"
        return TokenPrices(prompt=pair[0], output=pair[1], source=source)
    if max_cost is not None:
        then = "use --max-requests, or --set price=PROMPT/OUTPUT if it has it"
        raise BadUsage("--max-cost needs a price", name, then)
    return None


def parse_prices(text: str) -> TokenPrices:
    """Return prices given as `PROMPT/OUTPUT`, for a million tokens each.

    Raises:
        BadUsage: the text is not a pair of numbers.
    """
    first, _, second = text.partition("/")
    try:
        return TokenPrices(prompt=float(first), output=float(second))
    except ValueError:
        raise BadUsage(
            f"--set price takes PROMPT/OUTPUT for a million tokens, not {text!r}"
        ) from None
