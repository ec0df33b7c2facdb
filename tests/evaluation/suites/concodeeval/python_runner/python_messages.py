"""What crosses the channel to the worker that runs Python representations."""

from __future__ import annotations

import msgspec


class CodeToRun(msgspec.Struct, frozen=True, kw_only=True):
    """A representation, and the instances that its root class is given."""

    code: str
    #: The class at the root.
    root: str
    #: JSON texts.
    instances: tuple[str, ...]


class AcceptedInstances(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the class accepts each of the instances."""

    accepted: tuple[bool, ...]
