"""What hosted models cannot do and what they cost, from dated tables or a user."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from curation.system.errors import BadUsage
from evaluation.core.records import TokenPrices

if TYPE_CHECKING:
    from evaluation.servers.client import ServerConnection


_TABLES: Final = Path(__file__).parent
#: What vendors put behind a model's name: the day of a version.
DATED: Final = re.compile(r"-(?:[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|latest)\Z")


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one model."""

    #: Its levels of reasoning; None if that is not known.
    efforts: tuple[str, ...] | None = None
    #: Whether a tool can be forced.
    forced_tool: bool = True
    #: Whether it accepts a temperature.
    sampling: bool = True
    #: The day on which it is shut down; empty if none is announced.
    end: str = ""


class ModelTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table, with the day on which it was made."""

    date: str
    source: str
    #: By provider and name.
    models: dict[str, dict[str, ModelFacts]]

    def facts(self, providers: tuple[str, ...], model: str) -> ModelFacts:
        """Return the facts on a model, or on its unversioned name."""
        names = (model, DATED.sub("", model))
        tables = [self.models.get(provider, {}) for provider in providers]
        found = (table[name] for table in tables for name in names if name in table)
        return next(found, ModelFacts())


class _PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str
    source: str
    currency: str
    #: Of a million tokens of a prompt and of an answer, by host and model.
    hosts: dict[str, dict[str, tuple[float, float]]]


@cache
def model_table() -> ModelTable:
    """Return the table that comes with csbdata."""
    content = (_TABLES / "models.toml").read_bytes()
    return msgspec.toml.decode(content, type=ModelTable)


@cache
def _price_list() -> _PriceList:
    content = (_TABLES / "prices.toml").read_bytes()
    return msgspec.toml.decode(content, type=_PriceList)


def find_prices(
    prices: TokenPrices | None,
    connection: ServerConnection,
    max_cost: float | None = None,
) -> TokenPrices | None:
    """Return the prices of a model behind a server; None if they are not known.

    Args:
        prices: The prices that the user gives; None for those of the list.
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
        hint = "use --max-requests, or --set price=PROMPT/OUTPUT if it has it"
        raise BadUsage("--max-cost needs a price", name, hint)
    return None


def parse_prices(text: str) -> TokenPrices:
    """Return prices given as `PROMPT/OUTPUT`, for a million tokens each.

    Raises:
        BadUsage: the text is no such pair of numbers.
    """
    first, _, second = text.partition("/")
    try:
        return TokenPrices(prompt=float(first), output=float(second))
    except ValueError:
        raise BadUsage(
            f"--set price takes PROMPT/OUTPUT for a million tokens, not {text!r}"
        ) from None
