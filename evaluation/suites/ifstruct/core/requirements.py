"""What an answer must look like: the choices that are drawn apart from the fields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


class AnswerFormat(StrEnum):
    """The language of an answer."""

    JSON = "json"
    YAML = "yaml"


class FenceWish(StrEnum):
    """What a row says of a Markdown code block around the answer."""

    REQUIRED = "required"
    FORBIDDEN = "forbidden"
    FREE = "free"
    """Nothing is said: both are right."""


@dataclass(frozen=True, slots=True)
class Fence:
    """What is asked of the code block; as text `required:json`, `forbidden`, `free`."""

    wish: FenceWish
    #: Which language its first line must name; empty: any, or none.
    language: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the value that a record's `fence` stands for.

        Raises:
            ValueError: it stands for none.
        """
        wish, _, language = text.partition(":")
        if language and wish != FenceWish.REQUIRED:
            raise ValueError(f"{text!r}: only a required fence names a language")
        return cls(FenceWish(wish), language)

    def __str__(self) -> str:
        """Return it as a record's `fence` has it."""
        return f"{self.wish}:{self.language}" if self.language else str(self.wish)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """All that the answer to one row is held to."""

    format: AnswerFormat
    #: The one key of the object around the list; None: the list stands bare.
    wrapper: str | None
    #: How many items there may be, both ends included.
    least: int
    most: int
    fence: Fence
    #: Whether there may be text before and after the answer.
    commentary: bool
    #: The JSON Schema of the list.
    schema: dict[str, UntypedJson]
    #: Whether keywords beyond the published ones count (`ifstruct-ext`).
    extended: bool = False
    #: Whether a member may stand twice in one object; the last one counts then.
    duplicate_keys: bool = True
    #: Whether a number may be NaN or infinite.
    non_finite: bool = True

    def answer_schema(self) -> dict[str, UntypedJson]:
        """Return the JSON Schema of the whole answer, the wrapper included.

        This is what a constrained run is held to. The wish for the number of items is
        part of it: where the schema of the list says less, the wish is added.
        """
        listed: dict[str, UntypedJson] = {
            "type": "array",
            **self.schema,
            "minItems": self.least,
            "maxItems": self.most,
        }
        if self.wrapper is None:
            return listed
        return {
            "type": "object",
            "properties": {self.wrapper: listed},
            "required": [self.wrapper],
            "additionalProperties": False,
        }
