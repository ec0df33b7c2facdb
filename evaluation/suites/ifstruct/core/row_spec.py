"""What was drawn for one row: every choice, so that results can be sliced by each."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from evaluation.suites.ifstruct.core.fields import Field, list_schema
from evaluation.suites.ifstruct.core.requirements import (
    AnswerFormat,
    Fence,
    Requirements,
)


class Presentation(StrEnum):
    """How the fields are shown; drawn apart from what they are."""

    PROSE = "prose"
    """Sentences of a request."""
    BULLETS = "bullets"
    """One bullet a field, with explicit paths: `poems[].poem_title`."""
    SCHEMA = "schema"
    """The raw JSON Schema."""
    ANNOTATED = "annotated"
    """An example of the structure, with types and limits in place of values."""
    GLOSSARY = "glossary"
    """A flat list of paths with their definitions."""
    TABLE = "table"
    """A table drawn in characters."""


class Choice(StrEnum):
    """What a text may say twice, where only the last word counts."""

    FORMAT = "format"
    COUNT = "count"
    WRAPPER = "wrapper"
    FENCE = "fence"
    LIMIT = "limit"
    """The largest value of one field."""
    FIELD = "field"
    """A field that is named and then taken back."""


class Retraction(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that a text states first and takes back later."""

    choice: Choice
    #: What was said first, as the text spells it.
    wrong: str
    #: What holds, as the text spells it; empty for a field that is taken back.
    final: str = ""
    #: The field whose limit it is.
    field: str = ""


class RowSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All choices of one row."""

    #: The kind of thing that is asked for, and its words: one, and several.
    entity: str
    label: str
    plural: str
    #: What the items are for, as an ending of a sentence: `for a spring catalogue`.
    context: str = ""
    #: A sentence on the manner of the values.
    manner: str = ""
    fields: tuple[Field, ...]
    least: int
    most: int
    format: AnswerFormat
    wrapper: str | None = None
    #: As `Fence` reads it.
    fence: str = "free"
    commentary: bool = True
    #: Whether some text has to be escaped; then a field has a `stress`.
    escaping: bool = False
    presentation: Presentation
    voice: str
    #: What a voice that thinks aloud says first and takes back.
    retractions: tuple[Retraction, ...] = ()
    #: The mix that the choices were drawn from.
    mix: str = ""
    #: Whether it is a row of `ifstruct-ext`.
    extended: bool = False

    @property
    def requirements(self) -> Requirements:
        """What the answer is held to."""
        return Requirements(
            format=self.format,
            wrapper=self.wrapper,
            least=self.least,
            most=self.most,
            fence=Fence.parse(self.fence),
            commentary=self.commentary,
            schema=list_schema(self.fields, self.least, self.most),
            extended=self.extended,
            duplicate_keys=not self.extended,
            non_finite=not self.extended,
        )
