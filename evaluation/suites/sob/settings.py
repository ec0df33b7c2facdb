"""What `--set` may change."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from evaluation.suites.sob.metrics.rules import PUBLISHED, RECOMMENDED, ScoringRules

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class SobSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one run."""

    #: Whether the prompt shows the schema.
    schema_in_prompt: bool = True
    #: What a constrained answer is held to: the record's schema, or any JSON object,
    #: as a server's JSON mode does.
    constraint: Literal["schema", "object"] = "schema"
    #: Most tokens of an answer.
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 2_048
    #: Whether an empty object or array counts as a leaf.
    empty_leaf: bool = False
    #: The coverage gates of text, and of image and audio.
    text_floor: _Share = 0.95
    soft_floor: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.90
    #: Which reading of the paper decides; `--compat paper` sets it.
    reading: Literal["recommended", "paper"] = "recommended"

    @property
    def rules(self) -> ScoringRules:
        """Return the rules of scoring that the settings amount to."""
        return with_fields(
            PUBLISHED if self.reading == "paper" else RECOMMENDED,
            empty_leaves=self.empty_leaf,
            text_floor=self.text_floor,
            soft_floor=self.soft_floor,
        )


def as_published(settings: SobSettings) -> SobSettings:
    """Return the settings of the published reading."""
    return replace(settings, reading="paper")
