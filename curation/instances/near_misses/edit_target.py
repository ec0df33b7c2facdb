"""What an edit starts from: a value, and the keyword that it is to fail."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

import msgspec

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.goals import Goals
from curation.instances.constraints.keyword_values import number_of
from curation.instances.constraints.model import Conjunction
from curation.instances.witnesses.context import Nothing

if TYPE_CHECKING:
    from collections.abc import Iterator


#: More elements or properties than this are not made to cross a bound.
MOST_MEMBERS: Final = 2_000
#: A value of each type.
ANY: Final[tuple[Json, ...]] = (7, "text", None, True, [], {}, 0.5)
#: A value to try; NOTHING is in it where something was wanted and could not be made.
Edit: TypeAlias = "Json | Nothing | list[Json | Nothing] | dict[str, Json | Nothing]"
#: Yields values to stand in the place of the target's, the most natural first.
EditFunction: TypeAlias = "Callable[[EditTarget], Iterator[Edit]]"


class EditTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a witness to edit, and what applies to it."""

    value: Json
    #: The schema object whose keyword is to fail.
    schema: dict[str, Json]
    keyword: str
    compiled: CompiledSchema
    #: Everything that the value must meet.
    conjunction: Conjunction
    rng: random.Random
    #: Makes a value for goals.
    fill: Callable[[Goals], Json | Nothing]

    @property
    def operand(self) -> Json:
        """The keyword's value."""
        return self.schema[self.keyword]

    @property
    def bound(self) -> float:
        """The keyword's value, which is a number."""
        return number_of(self.schema, self.keyword)

    @property
    def limit(self) -> int:
        """The keyword's value, which counts characters, elements or properties."""
        return int(self.bound)

    @property
    def array(self) -> list[Json]:
        """The value if it is an array, else an empty one."""
        return self.value if isinstance(self.value, list) else []

    @property
    def members(self) -> dict[str, Json]:
        """The value if it is an object, else an empty one."""
        return self.value if isinstance(self.value, dict) else {}


def is_complete(edit: Edit) -> TypeGuard[Json]:
    """Return whether all that an edit wanted made was made, and JSON can say it."""
    if isinstance(edit, float):
        return math.isfinite(edit)
    if isinstance(edit, dict):
        return not any(isinstance(value, Nothing) for value in edit.values())
    if isinstance(edit, list):
        return not any(isinstance(value, Nothing) for value in edit)
    return not isinstance(edit, Nothing)
