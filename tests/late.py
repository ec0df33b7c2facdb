"""Import what is heavy when a test first uses it: every worker collects every file."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

#: What pytest asks every name of a module for.
_COLLECTING: Final = {"__bases__", "__test__", "__wrapped__", "_mock_name"}


class Late:
    """A module, or a name in it, that stands in for it until a test uses it.

    `monkeypatch` changes it by its dotted name: `"math.floor"`.

    Example:
        >>> math = Late("math")
        >>> math.floor(1.5)
        1
    """

    def __init__(self, module: str, name: str = "") -> None:
        """Import nothing yet."""
        self._module = module
        self._name = name

    def _whole(self) -> Any:  # noqa: ANN401 - a module, class or function
        module = import_module(self._module)
        return getattr(module, self._name) if self._name else module

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
        """Return an attribute of it; a collector's question imports nothing."""
        if name in _COLLECTING:
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __call__(self, *arguments: object, **named: object) -> Any:  # noqa: ANN401 - any answer
        """Call it."""
        return self._whole()(*arguments, **named)
