"""The settings of the prompted pass rate, and its failure classes."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from curation.core.documents import Explained

#: Tokens of an answer by default.
DEFAULT_BUDGET = 2048
#: The policy of the published harness, which takes off no thinking and no end token.
PUBLISHED_CLEANING: Final = "strip_all_backticks"


class FailureClass(Explained):
    """A class of answers that fail; earlier ones take precedence."""

    SCHEMA_ERROR = (
        "schema_error",
        "the validator cannot use the schema; not part of any rate",
    )
    API_ERROR = ("api_error", "no answer: the server or the model failed")
    REFUSAL = ("refusal", "the model refuses to answer")
    TRUNCATED = ("truncated", "no JSON, cut off where the budget of tokens was used up")
    EMPTY = ("empty", "no text at all, or thinking that never came to an answer")
    SYNTAX_ERROR = ("syntax_error", "no JSON")
    SCHEMA_VIOLATION = ("schema_violation", "JSON that its schema does not accept")
    HALLUCINATION = (
        "hallucination",
        "members that the schema does not declare, and nothing else wrong",
    )


class PassrateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of prompts and scoring."""

    #: Put title and description of the schema into the task line.
    describe: bool = True
    #: Most tokens of an answer.
    budget: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT_BUDGET
    #: The policy that takes the answer out of the text (`evaluation.answers`).
    cleaning: Literal["outer_fence", "strip_all_backticks"] = "outer_fence"
    #: Whether undeclared members that the schema accepts fail (`strict`), as the prompt
    #: forbids them, or the schema decides; both rates are reported.
    mode: Literal["strict", "schema"] = "strict"
    #: Assert `format`.
    formats: bool = False
