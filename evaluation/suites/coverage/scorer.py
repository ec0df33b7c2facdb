"""Score texts of task coverage: three readings of each, and its class.

*Own* is our reading: the record's own dialect, two validators, formats asserted; by
`coverage@paper` it is Listing 10.

*Listing 10* is in arXiv 2501.10868: jsonschema, Draft 2020-12 for every schema,
formats asserted, and a schema that is itself invalid under 2020-12 violated by every
text.

*As published* follows the metric of lm-evaluation-harness's task `jsonschema_bench`,
which validates like the paper's published code: in addition to Listing 10 its
checkers of `ipv4`, `ipv6` and `uuid` return nothing, which jsonschema takes for a
refusal, so that no such string is ever valid; and before parsing, back quotes and then
the letters j, s, o and n are stripped off both ends of a text, so that a fence goes and
`null` becomes `ull`.

One thing is not as they do it: a `$ref` to elsewhere is never fetched, and refuses.
"""

from __future__ import annotations

import ipaddress
import json
import uuid
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from referencing import Registry

from curation.core.documents import Explained
from curation.instances.judging.validators import jsonschema_accepts
from curation.validation.faults import answer_faults
from curation.validation.python_validators import jsonschema
from evaluation.answers.extraction import (
    is_trivial,
    read_json_answer,
    split_thinking,
)
from evaluation.answers.judge import compiled_schema
from evaluation.core.cases import Result
from evaluation.core.records import Record, Response, Verdict
from evaluation.generation.text_generation import (
    Generation,
    TextEnding,
    read_generation,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonschema import FormatChecker

    from curation.core.json_types import Json
    from evaluation.core.suite import Judge, Scorer


#: Characters of an error; validators repeat whole schemas.
_SHOWN: Final = 300
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


def coverage_scorer(*, published: bool, as_paper: bool) -> Scorer:
    """Return what judges texts; one valid under its own dialect is compliant.

    Args:
        published: Whether texts are also read by Listing 10 and as published.
        as_paper: Whether Listing 10 decides.

    Example:
        >>> record = Record(id="a", schema='{"type": "object"}')
        >>> score = coverage_scorer(published=False, as_paper=False)(record)
        >>> score(Response(record="a", text="[]")).failure_class
        'violates'
    """

    def prepare(record: Record) -> Judge:
        # Kept for all responses; a schema that cannot be used fails each of them.
        compiled_schema(record.constraint, record.dialect)
        read = partial(
            judge,
            schema=record.constraint,
            dialect=record.dialect,
            published=published,
            as_paper=as_paper,
        )
        return partial(_judged, read)

    return prepare


def _judged(read: Callable[[str], Judgement], response: Response) -> Verdict:
    generation = read_generation(response)
    judgement = read(generation.text) if generation.generated else None
    outcome = classify(generation, judgement)
    detail = generation.detail or (judgement.detail if judgement else "")
    compliant = outcome is TextClass.COMPLIANT
    return Verdict(
        passed=compliant,
        failure_class="" if compliant else outcome.value,
        reasons=() if compliant else (detail or outcome.explanation,),
        details={"judgement": None if judgement is None else asdict(judgement)},
    )


def judge(
    text: str,
    schema: str,
    dialect: str,
    *,
    published: bool = True,
    as_paper: bool = False,
) -> Judgement:
    """Return the readings of a text.

    Args:
        text: The text that a model wrote.
        schema: The record's schema, a JSON text.
        dialect: The name of its dialect.
        published: Whether Listing 10 and the published code read it, too; undecided
            otherwise.
        as_paper: Whether Listing 10 decides, of the whole text.

    Example:
        >>> judge("[]", '{"type": "object"}', "2020-12").own
        <TextVerdict.INVALID: 'invalid'>
    """
    as_published = listing_10 = TextVerdict.UNDECIDED
    if published:
        as_published = _verdict(accepts=accepts_as_published(text, schema))
        listing_10 = _verdict(accepts=accepts_by_listing_10(text, schema))
    answer = read_json_answer(text if as_paper else split_thinking(text).answer)
    is_json = answer.problem is None
    declared, keyword, detail = TextVerdict.INVALID, "", answer.detail
    if is_json:
        declared, keyword, detail = _own_verdict(answer.value, schema, dialect)
    return Judgement(
        is_json=is_json,
        own=listing_10 if as_paper else declared,
        paper=listing_10,
        published=as_published,
        keyword=keyword,
        detail=detail,
        trivial=is_json and is_trivial(answer.value, schema),
    )


def _verdict(*, accepts: bool) -> TextVerdict:
    return TextVerdict.VALID if accepts else TextVerdict.INVALID


def _own_verdict(
    value: Json, schema: str, dialect: str
) -> tuple[TextVerdict, str, str]:
    """Return the verdict of two validators, the keyword that fails, and why.

    A text is valid if neither refuses it; jsonschema, which takes a hundred times as
    long, is asked where jsonschema-rs accepts, and may have no answer.
    """
    compiled = compiled_schema(schema, dialect)
    if isinstance(compiled, str):
        return TextVerdict.INVALID, "", compiled
    try:
        if compiled.validator.is_valid(value):
            accepts = jsonschema_accepts(compiled, value) is not False
            return _verdict(accepts=accepts), "", ""
        faults = answer_faults(compiled.validator, value)
    except (ValueError, RecursionError) as error:
        detail = f"{type(error).__name__}: {error}"[:_SHOWN]
        return TextVerdict.UNDECIDED, "", detail
    keywords = {fault.keyword for fault in faults}
    keyword = "mixed" if len(keywords) > 1 else "".join(keywords)
    return TextVerdict.INVALID, keyword, ""


_LISTING_10: Final = jsonschema.FormatChecker()


def accepts_by_listing_10(text: str, schema: str) -> bool:
    """Return whether the paper's Listing 10 takes a text for valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return _accepts(value, json.loads(schema), _LISTING_10)


def accepts_as_published(text: str, schema: str) -> bool:
    r"""Return whether the published metric takes a text for valid.

    Example:
        >>> accepts_as_published("```json\n{}\n```", '{"type": "object"}')
        True
        >>> accepts_as_published("null", "true")
        False
    """
    try:
        value = json.loads(text.strip().strip("`").strip("json"))
    except (ValueError, RecursionError):
        return False
    return _accepts(value, json.loads(schema), _as_published())


def _accepts(value: Json, schema: Json, formats: FormatChecker) -> bool:
    try:
        jsonschema.Draft202012Validator.check_schema(schema)  # type: ignore[arg-type]  # anything
        validator = jsonschema.Draft202012Validator(
            schema,  # type: ignore[arg-type]  # anything
            registry=Registry(),
            format_checker=formats,
        )
        return bool(validator.is_valid(value))
    except Exception:  # noqa: BLE001 - as they do it
        return False


def _as_published() -> FormatChecker:
    """Return the published checkers; a checker that returns nothing refuses."""
    formats = jsonschema.FormatChecker()
    parsers: dict[str, Callable[[str], object]] = {
        "ipv4": ipaddress.IPv4Address,
        "ipv6": ipaddress.IPv6Address,
        "uuid": uuid.UUID,
    }

    def returning_nothing(parse: Callable[[str], object]) -> Callable[[object], bool]:
        def check(value: object) -> bool:
            parse(value)  # type: ignore[arg-type]  # as they do it
            return False

        return check

    for name, parse in parsers.items():
        formats.checks(name)(returning_nothing(parse))
    return formats
