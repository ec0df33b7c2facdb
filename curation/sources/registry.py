"""The registry of sources: this package's and third parties'.

A source is a file of this package with a module-level `SOURCE`, or a `Source` or its
module that a distribution names under the entry point group `csbdata.sources`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from curation.sources.readers import Source
from curation.system.errors import BadConfiguration
from curation.system.registry import Registry

GROUP = "csbdata.sources"


_REGISTRY = Registry[Source](
    noun="source",
    classes=(Source,),
    attribute="SOURCE",
    group=GROUP,
    package="curation.sources",
)


@cache
def sources() -> Mapping[str, Source]:
    """Return every source by name, the benchmark's own before the extras.

    Raises:
        BadConfiguration: two sources claim one name or one config, or an entry
            point names something else.
    """
    by_name = _REGISTRY.by_name()
    filled_by: dict[str, str] = {}
    for source in by_name.values():
        for config in source.configs:
            if config in filled_by:
                raise BadConfiguration(
                    f"the sources {filled_by[config]!r} and {source.name!r} both fill "
                    f"the config {config!r}"
                )
            filled_by[config] = source.name
    ordered = sorted(by_name.values(), key=lambda source: (source.extra, source.name))
    return MappingProxyType({source.name: source for source in ordered})


def source_named(name: str) -> Source:
    """Return one source.

    Raises:
        BadUsage: no source has this name.
    """
    registered = sources()
    if name not in registered:
        raise _REGISTRY.unknown(name, registered)
    return registered[name]
