"""Prices of models behind servers, from a dated list that a user can replace."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.user_files import refuse_large
from evaluation.generation.text_generation import TokenPrices
from evaluation.servers.models import DATED

if TYPE_CHECKING:
    from evaluation.servers.client import ServerConnection

#: The list that comes with csbdata.
_LIST: Final = Path(__file__).with_name("prices.toml")


class _HostPrices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    #: Of a million tokens of a prompt and of an answer, by model.
    models: dict[str, tuple[float, float]]


class _PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str
    source: str
    currency: str
    #: By the name of the host that is asked.
    hosts: dict[str, _HostPrices]


def prices_of(
    prices: TokenPrices | Path | None,
    connection: ServerConnection,
    max_cost: float | None = None,
) -> TokenPrices | None:
    """Return the prices of a model behind a server; None if they are not told.

    Args:
        prices: The prices themselves, or a list; None for our own list.
        connection: The server and its model.
        max_cost: What may be spent, which no prices cannot tell.

    Raises:
        BadUsage: a cost is limited, and no price is known.
        NoInput: there is no such file.
        BadData: it is no list of prices.
    """
    if isinstance(prices, TokenPrices):
        return prices
    path = prices or _LIST
    try:
        tables = tomllib.loads(refuse_large(path).read_text("utf-8"))
        own = msgspec.convert(tables, _PriceList)
        host = own.hosts.get(urlsplit(connection.base).hostname or "")
        models = host.models if host else {}
        name = connection.model
        found = models.get(name) or models.get(DATED.sub("", name))
        if host is None or found is None:
            if max_cost is not None:
                then = "use --max-requests, or --set price=PROMPT/OUTPUT if it has it"
                raise BadUsage("--max-cost needs a price", connection.model, then)
            return None
        return TokenPrices(
            prompt=found[0],
            output=found[1],
            source=f"{own.currency}, {own.date}, {own.source}",
        )
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
    except (ValueError, RecursionError) as error:
        raise BadData(f"no list of prices: {error}", str(path)) from error


def parse_prices(text: str) -> TokenPrices | Path | None:
    """Return prices given as `PROMPT/OUTPUT`, for a million tokens each, or their file.

    Raises:
        BadUsage: the text is no such pair of numbers.
    """
    if not text or text.endswith(".toml"):
        return Path(text) if text else None
    first, _, second = text.partition("/")
    try:
        return TokenPrices(prompt=float(first), output=float(second))
    except ValueError:
        raise BadUsage(
            f"--set price takes PROMPT/OUTPUT for a million tokens, not {text!r}"
        ) from None
