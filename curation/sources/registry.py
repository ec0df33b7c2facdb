"""The sources there are: those of this package, and those of third parties.

A file of this package with a module-level `SOURCE` is a source, and so is what an
installed distribution names under the entry point group `csbdata.sources` (the
`Source` itself, or a module that holds one as `SOURCE`).
"""

from __future__ import annotations

import difflib
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING

import curation.sources
from curation.sources.base import Source
from curation.system.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

GROUP = "csbdata.sources"
_ATTRIBUTE = "SOURCE"


class UnknownSourceError(BadConfiguration):
    """No source has this name; `nearest` holds the names that are alike."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        """Say what was asked for, and what is like it."""
        self.name = name
        self.nearest = tuple(difflib.get_close_matches(name, list(known), n=3))
        hint = f"did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        super().__init__(f"there is no source {name!r}", then=hint)


class DuplicateSourceError(BadConfiguration):
    """Two places define a source, or fill a config, of the same name."""


class NotASourceError(BadConfiguration):
    """What an entry point of the group names is not a `Source`."""


@cache
def sources() -> Mapping[str, Source]:
    """Return every source by name, the benchmark's own before the extras.

    Raises:
        DuplicateSourceError: two sources claim one name or one config.
        NotASourceError: an entry point names something else.
    """
    found: dict[str, Source] = {}
    configs: dict[str, str] = {}
    for place, source in (*_built_in(), *_third_party()):
        if source.name in found:
            raise DuplicateSourceError(
                f"{place} defines the source {source.name!r}, which there is already"
            )
        for config in source.configs:
            if config in configs:
                raise DuplicateSourceError(
                    f"the sources {configs[config]!r} and {source.name!r} both fill "
                    f"the config {config!r}"
                )
            configs[config] = source.name
        found[source.name] = source
    ordered = sorted(found.values(), key=lambda each: (each.extra, each.name))
    return MappingProxyType({each.name: each for each in ordered})


def source_named(name: str) -> Source:
    """Return one source.

    Raises:
        UnknownSourceError: there is none of this name.
    """
    known = sources()
    if name not in known:
        raise UnknownSourceError(name, known)
    return known[name]


def _built_in() -> Iterator[tuple[str, Source]]:
    for module in pkgutil.iter_modules(curation.sources.__path__):
        place = f"{curation.sources.__name__}.{module.name}"
        source = getattr(import_module(place), _ATTRIBUTE, None)
        if isinstance(source, Source):
            yield place, source


def _third_party() -> Iterator[tuple[str, Source]]:
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        loaded = point.load()
        source = getattr(loaded, _ATTRIBUTE, loaded)
        if not isinstance(source, Source):
            raise NotASourceError(
                f"the entry point {point.name!r} ({point.value}) is not a Source"
            )
        yield point.value, source
