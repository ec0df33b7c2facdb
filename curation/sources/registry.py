"""The registry of sources: those of this package, and those of third parties.

A source is a file of this package with a module-level `SOURCE`, or what a distribution
names under the entry point group `csbdata.sources`: the `Source`, or its module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from curation.sources.base import Source
from curation.system.errors import BadConfiguration
from curation.system.registry import Registry, closest_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

    from curation.system.registry import Plugin

GROUP = "csbdata.sources"


class UnknownSourceError(BadConfiguration):
    """No source has this name; `nearest` holds the names that are alike."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        """Say what was asked for, and what is like it."""
        self.name = name
        self.nearest = tuple(closest_names(name, names))
        hint = f"did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        super().__init__(f"there is no source {name!r}", then=hint)


class DuplicateSourceError(BadConfiguration):
    """Two places define a source, or fill a config, of the same name."""


class NotASourceError(BadConfiguration):
    """What an entry point of the group names is not a `Source`."""


@dataclass(frozen=True, kw_only=True)
class _Sources(Registry[Source]):
    """The registry of sources, whose errors have classes of their own."""

    def wrong_class(self, point: EntryPoint, _value: object) -> NotASourceError:
        """Return the error for an entry point that names no `Source`."""
        return NotASourceError(
            f"the entry point {point.name!r} ({point.value}) is not a Source"
        )

    def duplicate(self, plugin: Plugin[Source]) -> DuplicateSourceError:
        """Return the error for the second source of a name."""
        return DuplicateSourceError(
            f"{plugin.found_in} defines the source {plugin.value.name!r}, "
            "which there is already"
        )

    def unknown(self, name: str, candidates: Iterable[str]) -> UnknownSourceError:
        """Return the error for a name that no source has."""
        return UnknownSourceError(name, candidates)


_REGISTRY = _Sources(
    noun="source",
    classes=(Source,),
    attribute="SOURCE",
    groups=(GROUP,),
    package="curation.sources",
)


@cache
def sources() -> Mapping[str, Source]:
    """Return every source by name, the benchmark's own before the extras.

    Raises:
        DuplicateSourceError: two sources claim one name or one config.
        NotASourceError: an entry point names something else.
    """
    by_name = _REGISTRY.by_name()
    filled_by: dict[str, str] = {}
    for source in by_name.values():
        for config in source.configs:
            if config in filled_by:
                raise DuplicateSourceError(
                    f"the sources {filled_by[config]!r} and {source.name!r} both fill "
                    f"the config {config!r}"
                )
            filled_by[config] = source.name
    ordered = sorted(by_name.values(), key=lambda source: (source.extra, source.name))
    return MappingProxyType({source.name: source for source in ordered})


def source_named(name: str) -> Source:
    """Return one source.

    Raises:
        UnknownSourceError: there is none of this name.
    """
    registered = sources()
    if name not in registered:
        raise _REGISTRY.unknown(name, registered)
    return registered[name]
