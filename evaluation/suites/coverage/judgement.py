"""The classes of a generated text, and the readings that decide them.

A text is read three times: under the record's own dialect with formats asserted, by the
paper's Listing 10, and as its published code and lm-evaluation-harness do
(`evaluation.suites.coverage.scorer`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from curation.core.documents import Explained
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding

#: Minimum run of white space that is no longer layout.
_RUNAWAY = 40


class TextVerdict(StrEnum):
    """The verdict of one reading of the schema on a text."""

    VALID = "valid"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    """The validator failed or ran out of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The readings of one text."""

    is_json: bool
    #: Under the record's own dialect, formats asserted.
    own: TextVerdict = TextVerdict.INVALID
    #: By the paper's Listing 10: under 2020-12, formats asserted.
    paper: TextVerdict = TextVerdict.INVALID
    #: As the published code does; None if it was not read so.
    published: TextVerdict | None = None
    #: The keyword that fails under the own dialect; `mixed` for several.
    keyword: str = ""
    #: Why it is refused, or why that is not known.
    detail: str = ""
    #: Whether it is trivial (`is_trivial`).
    trivial: bool = False


class TextClass(Explained):
    """The class of a text; each text is in exactly one."""

    COMPLIANT = ("compliant", "valid under the record's own dialect, formats asserted")
    COMPILE_ERROR = ("compile_error", "the engine refused the schema")
    COMPILE_TIMEOUT = ("compile_timeout", "no grammar within the deadline")
    TIMEOUT = ("timeout", "not written within the deadline")
    CRASH = ("crash", "the engine's process died")
    OUT_OF_MEMORY = ("out_of_memory", "the engine's process used too much memory")
    ENGINE_ERROR = ("engine_error", "the engine failed while the text was written")
    MODEL_ERROR = ("model_error", "the model's server gave no whole answer")
    BAD_LOGITS = ("bad_logits", "the model's logits were NaN or infinite")
    REQUEST_REFUSED = (
        "request_refused",
        "the server refused the request, and not because of its schema",
    )
    REFUSAL = ("refusal", "the model refused to answer")
    CONTENT_FILTER = ("content_filter", "the provider's filter ended the text")
    UNKNOWN_END = ("unknown_end", "the server ended it for a reason that is not known")
    PROMPT_TOO_LONG = ("prompt_too_long", "the prompt leaves the model no room")
    DEAD_END = ("dead_end", "the mask allowed no token and no end")
    REASONING_ONLY = ("reasoning_only", "the model thought, and gave no answer")
    THINK_TEXT = ("think_text", "a thought in <think> tags, and no answer after it")
    RUNAWAY_WHITESPACE = ("runaway_whitespace", "white space until the budget was gone")
    TRUNCATED = ("truncated", "the budget was used up before the text's end")
    NOT_JSON = ("not_json", "ended, and is not JSON")
    VIOLATES = ("violates", "JSON that its schema does not accept")
    UNDECIDED = (
        "undecided",
        "no verdict: a validator or a busy machine ran out of time",
    )


#: The class of a text that was not written, by its result.
CLASS_OF_RESULT: Final = {
    Result.COMPILE_ERROR: TextClass.COMPILE_ERROR,
    Result.TIMEOUT: TextClass.TIMEOUT,
    Result.CRASH: TextClass.CRASH,
    Result.OUT_OF_MEMORY: TextClass.OUT_OF_MEMORY,
    Result.ENGINE_ERROR: TextClass.ENGINE_ERROR,
    Result.ERROR: TextClass.ENGINE_ERROR,
    Result.TOO_MUCH_OUTPUT: TextClass.ENGINE_ERROR,
    Result.PROTOCOL_ERROR: TextClass.ENGINE_ERROR,
    Result.UNDECIDED: TextClass.UNDECIDED,
}
#: The class of a text that ended early, by its ending.
CLASS_OF_ENDING: Final = {
    TextEnding.MODEL: TextClass.MODEL_ERROR,
    TextEnding.LOGITS: TextClass.BAD_LOGITS,
    TextEnding.PROMPT: TextClass.PROMPT_TOO_LONG,
    TextEnding.REQUEST: TextClass.REQUEST_REFUSED,
    TextEnding.REFUSED: TextClass.REFUSAL,
    TextEnding.FILTERED: TextClass.CONTENT_FILTER,
    TextEnding.DEAD_END: TextClass.DEAD_END,
    TextEnding.UNKNOWN: TextClass.UNKNOWN_END,
}


def classify(generation: Generation, judgement: Judgement | None) -> TextClass:
    """Return the one class of a text.

    A text that is valid is compliant even where the budget ended it.
    """
    if judgement is not None and judgement.own is TextVerdict.VALID:
        return TextClass.COMPLIANT
    if generation.ending in CLASS_OF_ENDING:
        return CLASS_OF_ENDING[generation.ending]
    if generation.result is not Result.OK:
        compiling = (
            generation.compile_ns is None and generation.ending is TextEnding.ENGINE
        )
        if generation.result is Result.TIMEOUT and compiling:
            return TextClass.COMPILE_TIMEOUT
        return CLASS_OF_RESULT[generation.result]
    if not generation.text.strip() and (generation.tagged or generation.reasoning):
        return TextClass.THINK_TEXT if generation.tagged else TextClass.REASONING_ONLY
    if generation.ending is TextEnding.TRUNCATED:
        blank = len(generation.text) - len(generation.text.rstrip())
        return (
            TextClass.RUNAWAY_WHITESPACE if blank >= _RUNAWAY else TextClass.TRUNCATED
        )
    if judgement is None or not judgement.is_json:
        return TextClass.NOT_JSON
    undecided = judgement.own is TextVerdict.UNDECIDED
    return TextClass.UNDECIDED if undecided else TextClass.VIOLATES
