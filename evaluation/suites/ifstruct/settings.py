"""Settings of IFStruct, and failures of its responses."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto
from typing import Annotated, Final, Literal

import msgspec

from curation.core.documents import Explained


class RuleReading(Flag):
    """A reading of the rules, by which a failure counts."""

    PUBLISHED = auto()
    """The published verifier."""
    RECOMMENDED = auto()
    """The requests as they read, where the published verifier differs."""
    BOTH = PUBLISHED | RECOMMENDED


class Failure(Explained):
    """A reason to fail; the first of several in this order names the row."""

    NO_ANSWER = ("no_answer", "the server or the model failed")
    REFUSED = ("refused", "the server reports that the model refuses to answer")
    TRUNCATED = ("truncated", "cut off by the budget of tokens before it could be read")
    EMPTY = ("empty", "there is nothing, or nothing but white space")
    TOO_LARGE = ("too_large", "more characters than are read")
    THINKING_UNCLOSED = ("thinking_unclosed", "thinking that never ends, and no answer")
    UNCLOSED_FENCE = ("unclosed_fence", "a code block without an end")
    MISSING_FENCE = ("missing_fence", "a required code block is missing")
    WRONG_FENCE_LANGUAGE = (
        "wrong_fence_language",
        "the code block names a language other than the required one",
    )
    FORBIDDEN_FENCE = ("forbidden_fence", "a code block, where none is wanted")
    WRONG_FORMAT = ("wrong_format", "JSON where YAML is asked for, or the reverse")
    COMMENTARY = ("commentary", "text around the answer, where none is wanted")
    SEVERAL_FENCES = (
        "several_fences",
        "more than one code block, where no text around the answer is wanted",
    )
    BYTE_ORDER_MARK = ("byte_order_mark", "JSON that begins with a byte order mark")
    LEADING_TEXT = ("leading_text", "text before JSON outside a code block")
    TRAILING_TEXT = ("trailing_text", "text after the JSON value")
    INVALID_JSON = ("invalid_json", "no JSON can be read")
    INVALID_YAML = ("invalid_yaml", "no YAML can be read")
    YAML_TAB = ("yaml_tab", "a tab where YAML allows none")
    YAML_TAG = ("yaml_tag", "a YAML tag without a plain value")
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
    NOT_IN_ENUM = ("not_in_enum", "a value that is not allowed")
    BELOW_MINIMUM = ("below_minimum", "a number below its minimum")
    ABOVE_MAXIMUM = ("above_maximum", "a number above its maximum")
    TOO_FEW_ITEMS = ("too_few_items", "a list inside an item that is too short")
    TOO_MANY_ITEMS = ("too_many_items", "a list inside an item that is too long")


#: Failures of the content of an answer, apart from the text around it.
STRUCTURE: Final = frozenset([*Failure][[*Failure].index(Failure.NOT_WRAPPED) :])
#: Other failures that leave the content readable, or have no text.
_READABLE: Final = (
    *(Failure.NO_ANSWER, Failure.REFUSED, Failure.MISSING_FENCE),
    *(Failure.WRONG_FENCE_LANGUAGE, Failure.FORBIDDEN_FENCE),
    *(Failure.COMMENTARY, Failure.SEVERAL_FENCES),
)


_UNREADABLE: Final = "no valid JSON or YAML"
#: The error classes of the published summary. Failures without one count under their
#: own class; the published summary shows 80 characters of its message for them.
PUBLISHED_CLASSES: Final[Mapping[Failure, str]] = {
    Failure.MISSING_FIELD: "required field missing",
    Failure.MISSING_FENCE: "missing code block",
    Failure.NOT_WRAPPED: "expected a wrapper",
    Failure.WRAPPED: "expected a bare list",
    Failure.WRONG_WRAPPER_KEY: "wrong wrapper key",
    Failure.NOT_A_LIST: "type mismatch",
    Failure.WRONG_TYPE: "type mismatch",
    Failure.COERCED_SCALAR: "type mismatch",
    Failure.ITEM_COUNT: "wrong number of items",
    Failure.TOO_FEW_ITEMS: "wrong number of items",
    Failure.TOO_MANY_ITEMS: "wrong number of items",
    **dict.fromkeys(
        (it for it in Failure if it not in {*STRUCTURE, *_READABLE}), _UNREADABLE
    ),
}


#: Tokens of an answer; the published run allows 16,000.
DEFAULT_BUDGET = 2048


class IfstructSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of drawing rows, of prompts and of scoring."""

    #: The taxonomy of the rows drawn.
    split: Literal["train", "test"] = "test"
    #: How often each choice is drawn.
    mix: Literal["published", "even"] = "published"
    #: The reading that decides: `recommended`, or `published` (`ifstruct@paper`).
    reading: Literal["recommended", "published"] = "recommended"
    #: Most tokens of an answer.
    budget: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT_BUDGET

    @property
    def decides(self) -> RuleReading:
        """The reading by which a response passes or fails."""
        return RuleReading[self.reading.upper()]
