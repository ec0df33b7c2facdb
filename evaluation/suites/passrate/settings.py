"""The settings of the prompted pass rate, and its failure classes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from curation.core.documents import Explained

#: Tokens of an answer where `--set budget` says nothing.
DEFAULT_BUDGET = 2048


class FailureClass(Explained):
    """What became of an answer that did not pass; earlier ones take precedence."""

    SCHEMA_ERROR = (
        "schema_error",
        "the validator cannot use the schema; not part of any rate",
    )
    API_ERROR = ("api_error", "no answer: the server or the model failed")
    ENGINE_ERROR = (
        "engine_error",
        "the engine refused the schema, or failed",
    )
    REFUSAL = ("refusal", "the model refuses to answer")
    TRUNCATED = ("truncated", "no JSON, cut off where the budget of tokens was used up")
    EMPTY = ("empty", "no text at all, or thinking that never came to an answer")
    SYNTAX_ERROR = ("syntax_error", "no JSON")
    SCHEMA_VIOLATION = ("schema_violation", "JSON that its schema does not accept")
    HALLUCINATION = (
        "hallucination",
        "members that the schema does not declare, and nothing else wrong",
    )


class Mode(StrEnum):
    """What undeclared members mean where the schema itself lets them pass."""

    STRICT = "strict"
    """A failure: the prompt forbids them."""
    SCHEMA = "schema"
    """Nothing: the schema decides."""


class PassrateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are asked for, cleaned and judged."""

    #: The system prompt: `default`, or the path of a text file.
    system: str = "default"
    #: Whether title and description of the schema stand in the task line.
    describe: bool = True
    #: Most fields that the line of hints names; 0 leaves the line out.
    hints: int = 20
    #: Worked examples before the question.
    shots: int = 0
    #: Most tokens of an answer.
    budget: int = DEFAULT_BUDGET
    #: How the answer is taken out of the text (`evaluation.answers.extraction`).
    cleaning: Literal["outer_fence", "strip_all_backticks", "raw", "outer_braces"] = (
        "outer_fence"
    )
    #: Whether undeclared members fail where the schema lets them pass; both rates are
    #: reported.
    mode: Mode = Mode.STRICT
    #: Whether `format` is asserted.
    formats: bool = False


def as_published(settings: PassrateSettings) -> PassrateSettings:
    """Return the settings of the published harness: cleaning, task line and mode."""
    return msgspec.structs.replace(
        settings,
        describe=False,
        cleaning="strip_all_backticks",
        mode=Mode.STRICT,
        formats=False,
    )
