"""How often each choice is drawn: named mixes, and mixes in files of one's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadConfiguration, BadData
from evaluation.suites.ifstruct.core.row_spec import Presentation
from evaluation.suites.ifstruct.rewriter.voice import voices

if TYPE_CHECKING:
    from random import Random

_FILE: Final = Path(__file__).with_name("mixes.toml")
#: What may be drawn for each choice but presentation and voice.
CHOICES: Final = {
    "format": ("json", "yaml"),
    "wrapper": ("wrapped", "bare"),
    "commentary": ("banned", "allowed"),
    "fence": ("required", "required_language", "forbidden", "free"),
    "count": ("exact", "range"),
    "escaping": ("stressed", "plain"),
}


class Mix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of each alternative of each choice; one that is left out is 0."""

    about: str = ""
    format: dict[str, float]
    wrapper: dict[str, float]
    commentary: dict[str, float]
    fence: dict[str, float]
    count: dict[str, float]
    escaping: dict[str, float]
    presentation: dict[str, float]
    voice: dict[str, float]

    def draw(self, choice: str, draw: Random) -> str:
        """Return one alternative of a choice, drawn by the weights."""
        weights = self.weights(choice)
        return draw.choices(list(weights), list(weights.values()))[0]

    def weights(self, choice: str) -> dict[str, float]:
        """Return the weights of a choice's alternatives."""
        weights: dict[str, float] = getattr(self, choice)
        return weights

    def shares(self, choice: str) -> dict[str, float]:
        """Return the share of rows that each alternative of a choice is to have."""
        weights = self.weights(choice)
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}


def alternatives(choice: str) -> tuple[str, ...]:
    """Return what a mix may give weights to, for one choice."""
    if choice == "presentation":
        return tuple(Presentation)
    return tuple(voices()) if choice == "voice" else CHOICES[choice]


@cache
def find_mix(name: str) -> Mix:
    """Return a mix by its name, or out of a TOML file of that path.

    Raises:
        BadConfiguration: there is none of this name.
        BadData: the file is no mix, or gives weight to what there is not.
    """
    path = Path(name)
    if path.suffix == ".toml":
        try:
            mix = msgspec.toml.decode(path.read_bytes(), type=Mix)
        except OSError as error:
            raise BadConfiguration("the mix cannot be read", str(path)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadData(f"no mix: {error}", str(path)) from None
        _check(mix, str(path))
        return mix
    known = named_mixes()
    if name not in known:
        then = f"choose of {', '.join(known)}, or name a file that ends with .toml"
        raise BadConfiguration(f"there is no mix {name!r}", then=then)
    return known[name]


@cache
def named_mixes() -> dict[str, Mix]:
    """Return the mixes that have names."""
    mixes = msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, Mix])
    for mix in mixes.values():
        _check(mix, str(_FILE))
    return mixes


def _check(mix: Mix, where: str) -> None:
    for choice in (*CHOICES, "presentation", "voice"):
        weights = mix.weights(choice)
        unknown = sorted(set(weights) - set(alternatives(choice)))
        if unknown:
            raise BadData(
                f"{choice} has no {unknown[0]!r}",
                where,
                f"choose of {', '.join(alternatives(choice))}",
            )
        if min(weights.values(), default=-1) < 0 or not sum(weights.values()):
            raise BadData(f"the weights of {choice} are no weights", where)
