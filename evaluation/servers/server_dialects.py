"""The server dialects there are: every file of `dialects` that holds a `DIALECT`.

`--engine` names one where `--model` is a server. Another package adds one through the
entry point group `csbdata.servers` (the `ServerDialect` itself, or a module that holds
one as `DIALECT`).
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from curation.system.registry import Registry
from evaluation.servers.server_dialect import ServerDialect

if TYPE_CHECKING:
    from collections.abc import Mapping

_REGISTRY = Registry[ServerDialect](
    noun="server dialect",
    classes=(ServerDialect,),
    attribute="DIALECT",
    groups=("csbdata.servers",),
    package="evaluation.servers.dialects",
)


@cache
def server_dialects() -> Mapping[str, ServerDialect]:
    """Return every dialect by name, in alphabetical order.

    Raises:
        BadConfiguration: two places define one name, or an entry point is no dialect.
    """
    return MappingProxyType(dict(sorted(_REGISTRY.by_name().items())))


def server_dialect(name: str) -> ServerDialect:
    """Return a dialect by its name.

    Raises:
        BadConfiguration: there is none of this name; the message names alike ones.
    """
    known = server_dialects()
    if name not in known:
        raise _REGISTRY.unknown(name, known)
    return known[name]
