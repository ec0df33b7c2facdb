"""Results of functions about a schema or a conjunction, kept with that object."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Holder(Protocol):
    """An object that results are kept with."""

    memos: dict[object, Any]


class Memo(Generic[_Key, _Value]):
    """The results of one function, by its further arguments.

    Example:
        >>> from types import SimpleNamespace
        >>> lengths: Memo[str, int] = Memo()
        >>> holder = SimpleNamespace(memos={})
        >>> lengths.of(holder)["abc"] = 3
        >>> lengths.of(holder)
        {'abc': 3}
    """

    def of(self, holder: Holder) -> dict[_Key, _Value]:
        """Return what is known about an object so far."""
        results: dict[_Key, _Value] | None = holder.memos.get(self)
        if results is None:
            results = holder.memos[self] = {}
        return results
