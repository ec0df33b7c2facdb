"""What the verifier can find: kinds of failures, and who counts them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from curation.core.documents import Explained
from evaluation.suites.ifstruct.core.requirement import Requirement


class RuleReading(Flag):
    """By which reading of the rules a failure counts."""

    PUBLISHED = auto()
    """What the published verifier does."""
    RECOMMENDED = auto()
    """What the requests say, where the published verifier does something else."""
    BOTH = PUBLISHED | RECOMMENDED


class Failure(Explained):
    """Why a response fails; of several, the first in this order names the row."""

    NO_ANSWER = ("no_answer", "the server, the engine or the model failed")
    REFUSED = ("refused", "the server says that the model refuses to answer")
    TRUNCATED = ("truncated", "cut off by the budget of tokens before it could be read")
    EMPTY = ("empty", "there is nothing, or nothing but white space")
    TOO_LARGE = ("too_large", "more characters than are read")
    THINKING_UNCLOSED = ("thinking_unclosed", "thinking that never ends, and no answer")
    UNCLOSED_FENCE = ("unclosed_fence", "a code block that is opened and never closed")
    MISSING_FENCE = ("missing_fence", "a code block is required and there is none")
    WRONG_FENCE_LANGUAGE = (
        "wrong_fence_language",
        "the code block names another language than the one that is required",
    )
    FORBIDDEN_FENCE = ("forbidden_fence", "a code block, where none is wanted")
    WRONG_FORMAT = ("wrong_format", "JSON where YAML is asked for, or the reverse")
    COMMENTARY = ("commentary", "text around the answer, where none is wanted")
    SEVERAL_FENCES = (
        "several_fences",
        "more than one code block, where no text around the answer is wanted",
    )
    BYTE_ORDER_MARK = ("byte_order_mark", "JSON that begins with a byte order mark")
    LEADING_TEXT = ("leading_text", "text before JSON that stands in no code block")
    TRAILING_TEXT = ("trailing_text", "text after the JSON value")
    INVALID_JSON = ("invalid_json", "no JSON can be read")
    INVALID_YAML = ("invalid_yaml", "no YAML can be read")
    YAML_TAB = ("yaml_tab", "a tab where YAML allows none")
    YAML_TAG = ("yaml_tag", "a YAML tag that stands for no plain value")
    YAML_ALIASES = (
        "yaml_aliases",
        "aliases that hold themselves, or amount to more values than are read",
    )
    TOO_DEEP = ("too_deep", "nested deeper than is read")
    NUMBER_TOO_LONG = ("number_too_long", "a whole number of more than 4,300 digits")
    NOT_WRAPPED = ("not_wrapped", "a bare list, where a wrapper is required")
    WRAPPED = ("wrapped", "a wrapper, where a bare list is wanted")
    WRONG_WRAPPER_KEY = ("wrong_wrapper_key", "a wrapper under another key")
    NOT_A_LIST = ("not_a_list", "no list where the items should be")
    ITEM_COUNT = ("item_count", "more or fewer items than are wanted")
    MISSING_FIELD = ("missing_field", "a required field is not there")
    UNKNOWN_FIELD = ("unknown_field", "a field that was not asked for")
    COERCED_SCALAR = (
        "coerced_scalar",
        "a YAML scalar without quotes that became something else than text",
    )
    WRONG_TYPE = ("wrong_type", "a value of another type")
    NOT_IN_ENUM = ("not_in_enum", "a value that is none of those allowed")
    BELOW_MINIMUM = ("below_minimum", "a number below its minimum")
    ABOVE_MAXIMUM = ("above_maximum", "a number above its maximum")
    TOO_FEW_ITEMS = ("too_few_items", "a list inside an item that is too short")
    TOO_MANY_ITEMS = ("too_many_items", "a list inside an item that is too long")
    DUPLICATE_KEY = ("duplicate_key", "an object has two members of one name")
    NOT_FINITE = ("not_finite", "a number that is NaN or infinite")
    PATTERN = ("pattern", "text that its pattern does not match")
    BAD_FORMAT = ("bad_format", "text that is no date, address, ... as asked")
    TOO_SHORT = ("too_short", "text of too few characters")
    TOO_LONG = ("too_long", "text of too many characters")
    NOT_UNIQUE = ("not_unique", "a list with two equal values")
    CONDITION = ("condition", "a field is missing that another one's value requires")

    @property
    def requirement(self) -> Requirement:
        """Which requirement is not kept."""
        return _REQUIREMENTS.get(self, Requirement.SYNTAX)


_REQUIREMENTS = {
    Failure.NO_ANSWER: Requirement.ANSWER,
    Failure.REFUSED: Requirement.ANSWER,
    Failure.TRUNCATED: Requirement.ANSWER,
    Failure.EMPTY: Requirement.ANSWER,
    Failure.THINKING_UNCLOSED: Requirement.ANSWER,
    Failure.UNCLOSED_FENCE: Requirement.FENCE,
    Failure.MISSING_FENCE: Requirement.FENCE,
    Failure.WRONG_FENCE_LANGUAGE: Requirement.FENCE,
    Failure.FORBIDDEN_FENCE: Requirement.FENCE,
    Failure.WRONG_FORMAT: Requirement.FORMAT,
    Failure.COMMENTARY: Requirement.COMMENTARY,
    Failure.SEVERAL_FENCES: Requirement.COMMENTARY,
    Failure.NOT_WRAPPED: Requirement.WRAPPER,
    Failure.WRAPPED: Requirement.WRAPPER,
    Failure.WRONG_WRAPPER_KEY: Requirement.WRAPPER,
    Failure.NOT_A_LIST: Requirement.WRAPPER,
    Failure.ITEM_COUNT: Requirement.COUNT,
    Failure.MISSING_FIELD: Requirement.FIELDS,
    Failure.UNKNOWN_FIELD: Requirement.NO_EXTRA,
    Failure.COERCED_SCALAR: Requirement.TYPES,
    Failure.WRONG_TYPE: Requirement.TYPES,
    Failure.NOT_IN_ENUM: Requirement.ENUMS,
    Failure.BELOW_MINIMUM: Requirement.BOUNDS,
    Failure.ABOVE_MAXIMUM: Requirement.BOUNDS,
    Failure.TOO_FEW_ITEMS: Requirement.LISTS,
    Failure.TOO_MANY_ITEMS: Requirement.LISTS,
    Failure.DUPLICATE_KEY: Requirement.EXTENDED,
    Failure.NOT_FINITE: Requirement.EXTENDED,
    Failure.PATTERN: Requirement.EXTENDED,
    Failure.BAD_FORMAT: Requirement.EXTENDED,
    Failure.TOO_SHORT: Requirement.EXTENDED,
    Failure.TOO_LONG: Requirement.EXTENDED,
    Failure.NOT_UNIQUE: Requirement.EXTENDED,
    Failure.CONDITION: Requirement.EXTENDED,
}


@dataclass(frozen=True, slots=True)
class StructureFinding:
    """One thing that is wrong with a response."""

    failure: Failure
    #: What exactly: the names, values and limits.
    detail: str = ""
    #: Where in the list, as a path: `[0].poems[1].poem_title`; empty: the whole.
    place: str = ""
    reading: RuleReading = RuleReading.BOTH

    def __str__(self) -> str:
        """Return it as one line."""
        parts = (str(self.failure), self.place, self.detail)
        return ": ".join(part for part in parts if part)
