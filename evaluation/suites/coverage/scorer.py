"""Score texts of task coverage: three readings of each, and its class.

*Own* is our reading: the record's own dialect, two validators, formats asserted.

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
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Final

from referencing import Registry

from curation.instances.judging.validators import verdicts
from curation.instances.judging.violations import as_near_miss
from curation.system.words import shortened
from curation.validation.python_validators import jsonschema
from evaluation.answers.extraction import split_thinking
from evaluation.answers.json_answers import compiled_schema, read_json_answer
from evaluation.answers.judge import is_trivial
from evaluation.core.records import Record, Response, Verdict
from evaluation.generation.text_generation import generation_of
from evaluation.suites.coverage.judgement import (
    Judgement,
    TextClass,
    TextVerdict,
    classify,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonschema import FormatChecker

    from curation.core.json_types import Json
    from evaluation.core.suite import Judge, Scorer


#: Characters of an error; validators repeat whole schemas.
_SHOWN: Final = 300


def coverage_scorer(*, published: bool = True) -> Scorer:
    """Return what judges texts; one valid under its own dialect is compliant.

    Args:
        published: Whether texts are also read by Listing 10 and as published.

    Example:
        >>> record = Record(id="a", schema='{"type": "object"}')
        >>> score = coverage_scorer()(record)
        >>> score(Response(record="a", text="[]")).failure_class
        'violates'
    """

    def prepare(record: Record) -> Judge:
        # Kept for all responses; a schema that cannot be used fails each of them.
        compiled_schema(record.constraint, record.dialect)
        return partial(_judged, record.constraint, record.dialect, published)

    return prepare


def _judged(
    schema: str,
    dialect: str,
    published: bool,  # noqa: FBT001 - partial gives it by place
    response: Response,
) -> Verdict:
    generation = generation_of(response)
    judgement = None
    if generation.generated:
        judgement = judge(generation.text, schema, dialect, published=published)
    outcome = classify(generation, judgement)
    detail = generation.detail or (judgement.detail if judgement else "")
    compliant = outcome is TextClass.COMPLIANT
    return Verdict(
        passed=compliant,
        failure_class="" if compliant else outcome.value,
        reasons=() if compliant else (detail or outcome.explanation,),
        details={"judgement": None if judgement is None else asdict(judgement)},
    )


def judge(text: str, schema: str, dialect: str, *, published: bool = True) -> Judgement:
    """Return the readings of a text.

    Args:
        text: The text that a model wrote.
        schema: The record's schema, a JSON text.
        dialect: The name of its dialect.
        published: Whether Listing 10 and the published code read it, too; undecided
            otherwise.

    Example:
        >>> judge("[]", '{"type": "object"}', "2020-12").own
        <TextVerdict.INVALID: 'invalid'>
    """
    as_published = listing_10 = TextVerdict.UNDECIDED
    if published:
        as_published = _verdict(accepts=accepts_as_published(text, schema))
        listing_10 = _verdict(accepts=accepts_by_listing_10(text, schema))
    answer = read_json_answer(split_thinking(text).answer)
    if answer.problem is not None:
        return Judgement(
            is_json=False,
            paper=listing_10,
            published=as_published,
            detail=answer.detail,
        )
    declared, keyword, detail = _own_verdict(answer.value, schema, dialect)
    return Judgement(
        is_json=True,
        own=declared,
        paper=listing_10,
        published=as_published,
        keyword=keyword,
        detail=detail,
        trivial=is_trivial(answer.value, schema),
    )


def _verdict(*, accepts: bool) -> TextVerdict:
    return TextVerdict.VALID if accepts else TextVerdict.INVALID


def _own_verdict(
    value: Json, schema: str, dialect: str
) -> tuple[TextVerdict, str, str]:
    """Return the verdict of two validators, the keyword that fails, and why.

    A text is valid if neither refuses it; one of them may have no answer.
    """
    compiled = compiled_schema(schema, dialect)
    if isinstance(compiled, str):
        return TextVerdict.INVALID, "", compiled
    try:
        checked = verdicts(compiled, value, ask_jsonschema=True)
        failed = None if checked.jsonschema_rs else as_near_miss(compiled, value)
    except (ValueError, RecursionError) as error:
        detail = shortened(f"{type(error).__name__}: {error}", _SHOWN)
        return TextVerdict.UNDECIDED, "", detail
    if checked.jsonschema_rs and checked.jsonschema is not False:
        return TextVerdict.VALID, "", ""
    return TextVerdict.INVALID, failed.keyword if failed else "", checked.error


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
