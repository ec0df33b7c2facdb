"""What crosses the channel to a worker of instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Witnesses that are looked for unless a unit asks for more or fewer.
DEFAULT_COUNT = 4


class InstanceUnit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One schema whose instances are to be made, or to be graded.

    It is answered by a `SchemaInstances`, or, if it holds instances, by a `Graded`.
    """

    schema: str
    #: Name of a dialect; where empty, the worker decides.
    dialect: str
    #: JSON texts to be graded; None to make some.
    instances: tuple[str, ...] | None = None
    #: Most witnesses that are looked for.
    count: int = DEFAULT_COUNT
    #: Instances that the source says are right, as JSON texts.
    examples: tuple[str, ...] = ()
    #: Whether only witnesses are made, judged by jsonschema-rs alone.
    lean: bool = False

    def to_json(self) -> Json:
        """Return it as a JSON value."""
        message: Json = msgspec.to_builtins(self)
        return message
