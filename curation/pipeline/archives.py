"""Acquiring the archives of several sources, each archive once."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.download.acquire import Acquired, acquire, load_pins
from curation.sources.registry import sources
from curation.system.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from curation.download.acquire import ArchivePin, FetchSettings, UnavailableArchive
    from curation.sources.base import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquisition:
    """What became of the archives that were asked for."""

    #: By name of the archive, in the order of `raw/sources.toml`.
    archives: Mapping[str, Acquired | UnavailableArchive]
    #: What was asked for and cannot be had at all, with the exit code.
    missing: Mapping[str, int]

    @property
    def exit_code(self) -> int:
        """0, 75 if something may be had later, or 69."""
        return max(self.missing.values(), default=0)


def acquire_all(
    names: Sequence[str], settings: FetchSettings, say: Callable[[str], None]
) -> Acquisition:
    """Acquire what sources or archives need; without names, the ten configs'.

    For a source each rule set's first archive that can be had is acquired. It is
    missing if the rule set `clean` has none. Raises `BadConfiguration` for a name
    that is neither a source nor an archive, and what `acquire` raises.
    """
    pins = load_pins()
    got: dict[str, Acquired | UnavailableArchive] = {}

    def first(chain: Iterable[str]) -> int:
        """Return 0 once one of the archives is there, else the last exit code."""
        code = 0
        for name in chain:
            if name not in got:
                got[name] = acquire(pins[name], settings, say)
            outcome = got[name]
            if isinstance(outcome, Acquired):
                return 0
            code = max(code, outcome.exit_code)
        return code

    missing = {}
    for wanted, chains in _wanted(names, pins).items():
        codes = {rules: first(chain) for rules, chain in chains.items()}
        if codes["clean"]:
            missing[wanted] = codes["clean"]
    archives = {name: got[name] for name in pins if name in got}
    return Acquisition(archives=archives, missing=missing)


def _wanted(
    names: Sequence[str], pins: Mapping[str, ArchivePin]
) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Return what each name stands for: rule set to archives, best first."""
    known = sources()
    chosen = names or [each.name for each in known.values() if not each.extra]
    return {name: _chains(name, known, pins) for name in chosen}


def _chains(
    name: str, known: Mapping[str, Source], pins: Mapping[str, ArchivePin]
) -> Mapping[str, tuple[str, ...]]:
    if name in known:
        return known[name].archives
    if name in pins:
        return {"clean": (name,)}
    alike = difflib.get_close_matches(name, [*known, *pins], n=2)
    then = f"did you mean {' or '.join(alike)}?" if alike else "see `csbdata sources`"
    raise BadConfiguration(f"there is no source or archive {name!r}", then=then)
