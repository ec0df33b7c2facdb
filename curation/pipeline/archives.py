"""Acquiring the archives of several sources, each archive once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from curation.download.acquire import Acquired, acquire, load_pins
from curation.download.pins import pins_for
from curation.sources.registry import sources
from curation.system.errors import BadUsage
from curation.system.registry import closest_names

if TYPE_CHECKING:
    from curation.download.acquire import FetchSettings, UnavailableArchive


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
    """Acquire what sources or archives need.

    For a source each rule set's first archive that can be had is acquired. It is
    missing if the rule set `clean` has none. Of a source in parts each archive is
    acquired, and it is missing if any cannot be had.

    Args:
        names: Names of sources or archives; none for the sources of the ten configs.
        settings: Places of archives.
        say: Prints what takes time.

    Raises:
        BadUsage: a name is neither a source nor an archive.
        CsbdataError: an archive is not what is pinned, or the cache cannot be written.
    """
    chains, pins = chains_by_source(names), load_pins()
    acquired: dict[str, Acquired | UnavailableArchive] = {}

    def acquire_first(names: Iterable[str]) -> int:
        """Return 0 once one of the archives is there, else the worst exit code."""
        code = 0
        for name in names:
            if name not in acquired:
                acquired[name] = acquire(pins[name], settings, say)
            archive = acquired[name]
            if isinstance(archive, Acquired):
                return 0
            code = max(code, archive.exit_code)
        return code

    missing = {}
    for name, by_rules in chains.items():
        codes = {rules: acquire_first(own) for rules, own in by_rules.items()}
        code = codes.get("clean", max(codes.values()))
        if code:
            missing[name] = code
    archives = {name: acquired[name] for name in pins if name in acquired}
    return Acquisition(archives=archives, missing=missing)


def chains_by_source(
    names: Sequence[str],
) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Return what each name stands for: rule set or part to archives, best first.

    Args:
        names: Names of sources or archives; none for the sources of the ten configs.

    Raises:
        BadUsage: a name is neither a source nor an archive.
    """
    registered, pins = sources(), load_pins()
    chains: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for name in names or [own.name for own in registered.values() if not own.extra]:
        if name in registered:
            source = registered[name]
            archives = pins_for(name, chain.from_iterable(source.archives.values()))
            parts = {archive: (archive,) for archive in archives}
            chains[name] = parts if source.in_parts else source.archives
        elif name in pins:
            chains[name] = {"clean": (name,)}
        else:
            alike = closest_names(name, [*registered, *pins], most=2)
            known = f"did you mean {' or '.join(alike)}?" if alike else ""
            then = known or "see `csbdata sources`"
            raise BadUsage(f"there is no source or archive {name!r}", then=then)
    return chains
