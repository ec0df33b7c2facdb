"""Plug-ins: values of a known class, found in a folder of ours or by entry points.

Example:
    >>> SOURCES = Registry[Source](
    ...     noun="source",
    ...     classes=(Source,),
    ...     attribute="SOURCE",
    ...     group="csbdata.sources",
    ...     package="curation.sources",
    ... )
    >>> SOURCES.by_name()["github"].configs
    ('Github_trivial', 'Github_easy', ...)
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from curation.system.errors import BadConfiguration, BadUsage

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Named(Protocol):
    """What a registry holds: a value that knows its own name."""

    @property
    def name(self) -> str:
        """What users write for it."""


P = TypeVar("P", bound=Named)


def list_entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group in order of their names."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes time

    return sorted(entry_points(group=group), key=lambda item: item.name)


def closest_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that a misspelt one may mean, the likeliest first."""
    return difflib.get_close_matches(name, list(names), n=most)


def unknown_name(noun: str, name: str, candidates: Iterable[str]) -> BadUsage:
    """Return the error for a name that nothing of a kind has, with the nearest."""
    names = list(candidates)
    near = closest_names(name, names)
    hint = f"known: {', '.join(names)}"
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    return BadUsage(f"there is no {noun} {name!r}", hint=hint)


@dataclass(frozen=True, kw_only=True)  # `Registry[T](...)` needs more than slots
class Registry(Generic[P]):
    """All plug-ins of one kind: found, checked, and known by their names."""

    #: What a message calls one of them: `source`, `task`.
    noun: str
    #: A plug-in is an instance of one of these.
    classes: tuple[type[P], ...]
    #: The name that holds the plug-in in its module: `SOURCE`, `TASK`.
    attribute: str
    #: The group of other packages' entry points; empty where they can add none.
    group: str = ""
    #: The folder to search; empty without one.
    package: str = ""
    #: A plug-in may be a folder: the module of that folder that holds it.
    module: str = ""

    def built_in(self, only: str = "") -> Iterator[tuple[str, P]]:
        """Yield the plug-ins of our folder in order of their files' names.

        Each comes after its module. A module without the attribute is passed over: it
        may be shared by others.

        Args:
            only: The name of the only module to import; empty for all.
        """
        folder = import_module(self.package).__path__ if self.package else []
        for module in pkgutil.iter_modules(folder):
            if only not in ("", module.name):
                continue
            parts = (self.package, module.name, self.module if module.ispkg else "")
            name = ".".join(filter(None, parts))
            plugin = self.in_module(name)
            if plugin is not None:
                yield name, plugin

    def in_module(self, module: str) -> P | None:
        """Return the plug-in of one module by its dotted name; None if it has none."""
        value = getattr(import_module(module), self.attribute, None)
        return value if isinstance(value, self.classes) else None

    def by_name(self) -> dict[str, P]:
        """Return every plug-in by its name, ours first.

        Those of other packages come in order of their entry points' names. An entry
        point names the plug-in itself, or a module that holds it.

        Raises:
            BadConfiguration: two have one name, or an entry point names something else.
        """
        plugins = list(self.built_in())
        for point in list_entry_points(self.group) if self.group else ():
            loaded = point.load()
            value = getattr(loaded, self.attribute, loaded)
            if not isinstance(value, self.classes):
                message = f"the entry point {point.name!r} is no {self.noun}"
                raise BadConfiguration(message, point.value)
            plugins.append((point.value, value))
        known: dict[str, P] = {}
        for place, plugin in plugins:
            if plugin.name in known:
                raise BadConfiguration(
                    f"a second {self.noun} named {plugin.name!r}", place
                )
            known[plugin.name] = plugin
        return known

    def unknown(self, name: str, candidates: Iterable[str]) -> BadUsage:
        """Return the error for a name that no plug-in has."""
        return unknown_name(self.noun, name, candidates)


def imported_late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports a function when it is called, and calls it.

    Help texts read the lists of tasks and suites, and workers need no tables.

    Args:
        module: Its dotted name.
        name: The function or class in it.
    """

    def call(*arguments: object) -> object:
        return getattr(import_module(module), name)(*arguments)

    return call
