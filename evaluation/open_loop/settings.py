"""How requests arrive at a server, what they ask for, and when an answer is in time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json

#: Name of the task whose rows these are.
TASK: Final = "open-loop"
#: What a limit can be set for.
LIMITED: Final = ("ttft", "tpot", "e2e")
_LIMIT: Final = re.compile(r"([a-z0-9]+)[:=]([0-9]*\.?[0-9]+)(ms|s)?")
_UNITS: Final = {"ms": 1_000_000, "s": 1_000_000_000}


class SchemaChoice(StrEnum):
    """Which schema the requests of one stream ask for."""

    ONE = "one"
    """One schema for all: whatever a server keeps of a grammar is there."""
    MARKED = "marked"
    """The same, made new for each request by a `$comment`: the text has the same
    prompt and the same grammar, and nothing that a server keeps by the schema fits."""
    EACH = "each"
    """A schema of its own for each request, as the data has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimit:
    """How long one thing may take for an answer to be in time."""

    #: One of `LIMITED`.
    name: str
    ns: int

    def __str__(self) -> str:
        """Return it as it is given: `ttft:200ms`."""
        return f"{self.name}:{self.ns / _UNITS['ms']:g}ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoopSettings:
    """How requests arrive; all of it is part of a run's header."""

    #: Requests a second; infinite: all at once.
    rate: float
    #: Most requests under way; one that arrives beyond them waits here, and that
    #: counts.
    concurrency: int = 256
    #: See `evaluation.open_loop.arrivals.draw_arrivals`.
    burstiness: float = 1.0
    #: Requests before the first that is measured, arriving in the same way.
    warm_up: int = 8
    choices: tuple[SchemaChoice, ...] = (SchemaChoice.ONE, SchemaChoice.EACH)
    #: What goodput asks of an answer.
    limits: tuple[ServiceLimit, ...] = ()
    seed: int = 0

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        return {
            "rate": str(self.rate),
            "concurrency": self.concurrency,
            "burstiness": self.burstiness,
            "warm_up": self.warm_up,
            "schemas": [choice.value for choice in self.choices],
            "goodput": [str(limit) for limit in self.limits],
        }


def parse_limits(texts: Sequence[str]) -> tuple[ServiceLimit, ...]:
    """Return limits given as `ttft:200ms`, several in one text parted by blanks.

    Raises:
        BadUsage: one is no such limit, or something has two.

    Example:
        >>> [str(limit) for limit in parse_limits(["ttft:0.2s tpot:50ms"])]
        ['ttft:200ms', 'tpot:50ms']
    """
    found: dict[str, ServiceLimit] = {}
    for part in (part for text in texts for part in re.split(r"[\s,]+", text.strip())):
        read = _LIMIT.fullmatch(part)
        if read is None or read[1] not in LIMITED or not float(read[2]):
            raise BadUsage(
                f"--goodput {part!r}: no limit",
                then=f"say {', '.join(LIMITED)} and a time, such as ttft:200ms",
            )
        name, amount, unit = read.groups()
        if name in found:
            raise BadUsage(f"--goodput: two limits for {name}")
        ns = round(float(amount) * _UNITS[unit or "ms"])
        found[name] = ServiceLimit(name=name, ns=ns)
    return tuple(found.values())
