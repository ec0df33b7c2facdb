"""Score a response: text around the answer, outer shape, fields, types and values.

The rules are the published verifier's, with the exceptions of `RuleReading`.
A whole number is a Python `int`: `1.0` is not one, and a boolean is never a number. An
object has only its schema's members, whatever the value of `additionalProperties`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from curation.core.json_types import Json, UntypedJson
from curation.system.words import shortened
from evaluation.answers.extraction import (
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
    triage,
)
from evaluation.core.records import Record, Response, Verdict, is_free
from evaluation.suites.ifstruct.answer_text import (
    AnswerValue,
    Flaw,
    check_commentary,
    check_fence,
    find_code_block,
    published_answer,
    read_answer,
)
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Requirements,
    read_record,
    slices_of,
)
from evaluation.suites.ifstruct.settings import (
    PUBLISHED_CLASSES,
    STRUCTURE,
    Failure,
    IfstructSettings,
    RuleReading,
)

if TYPE_CHECKING:
    from evaluation.core.suite import Judge, Scorer

#: A response of more characters is not read; 16,000 tokens are a twentieth of it.
LONGEST: Final = 1_000_000
_RULES: Final = TriageRules(refusals=Refusals.WITHOUT_TEXT, longest=LONGEST)
_MISSING: Final = {
    NoAnswer.FAILED: Failure.NO_ANSWER,
    NoAnswer.REFUSED: Failure.REFUSED,
    NoAnswer.TOO_LARGE: Failure.TOO_LARGE,
}
_ORDER: Final = {failure: rank for rank, failure in enumerate(Failure)}
#: Most faults of a value, and reasons of a verdict.
_MOST_FAULTS, _MOST_REASONS = 200, 20
#: The verdict on a row whose answer no engine can constrain.
_NOT_RUN: Final = Verdict(
    passed=False,
    failure_class=str(Failure.NO_ANSWER),
    reasons=("not run: YAML is held to no schema",),
    counted=False,
)


def ifstruct_scorer(settings: IfstructSettings) -> Scorer:
    """Return what judges the responses to rows."""
    decides = settings.decides

    def prepare(record: Record) -> Judge:
        row = read_record(record.fields)
        facts: dict[str, Json] = {
            "slices": {**slices_of(row)},
            "cluster": row.entity_type,
        }

        def judge(response: Response) -> Verdict:
            if record.schema is None and not is_free(response.condition):
                return _NOT_RUN
            return _judge(response, row.requirements, decides, facts)

        return judge

    return prepare


def _judge(
    response: Response,
    requirements: Requirements,
    decides: RuleReading,
    facts: Mapping[str, Json],
) -> Verdict:
    """Return the verdict on one response, with all that a report slices it by."""
    structure = verify(response, requirements, decides)
    findings = structure.findings
    scores = {}
    if structure.parsed:
        lost = {finding.failure for finding in findings} & STRUCTURE
        scores["structure"] = float(not lost)
    return Verdict(
        passed=not findings,
        failure_class=str(findings[0].failure) if findings else "",
        reasons=tuple(str(finding) for finding in findings[:_MOST_REASONS]),
        scores=scores,
        details={
            **facts,
            "published_errors": [
                PUBLISHED_CLASSES.get(finding.failure, str(finding.failure))
                for finding in findings
            ],
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureVerdict:
    """All faults of one response by one reading."""

    #: The failure that names the row first.
    findings: tuple[Flaw, ...]
    #: Whether a JSON or YAML value could be read.
    parsed: bool = False


def _rank(finding: Flaw) -> tuple[bool, int]:
    """Place what only the published verifier counts last: it has another fault too."""
    return finding.reading is RuleReading.PUBLISHED, _ORDER[finding.failure]


def verify(
    response: Response,
    requirements: Requirements,
    reading: RuleReading = RuleReading.RECOMMENDED,
) -> StructureVerdict:
    """Return all faults of a response by one reading.

    Args:
        response: The response of a model.
        requirements: The requirements of its row.
        reading: The reading.
    """
    published = reading is RuleReading.PUBLISHED
    answer = triage(response, _RULES)
    failure = None
    if isinstance(answer, MissingAnswer):
        failure = _MISSING.get(answer.kind)
        if failure in (Failure.NO_ANSWER, Failure.REFUSED):
            return StructureVerdict(findings=(Flaw(failure, answer.reason),))
    if published and failure is None:
        theirs = published_answer(response.text or "")
        # It knows fewer tags of thinking; texts empty for both have one reason.
        if isinstance(answer, str) or isinstance(theirs, str):
            answer = theirs
    if isinstance(answer, MissingAnswer):
        empty = Failure.THINKING_UNCLOSED if answer.unclosed else Failure.EMPTY
        detail = answer.reason if failure else ""
        structure = StructureVerdict(findings=(Flaw(failure or empty, detail),))
    else:
        structure = _verify_answer(answer, requirements, reading)
    if published or response.finish != "length" or structure.parsed:
        return structure
    cut = Flaw(Failure.TRUNCATED, "the budget was used up")
    return replace(structure, findings=(cut, *structure.findings))


def _verify_answer(
    answer: str, requirements: Requirements, reading: RuleReading
) -> StructureVerdict:
    published = reading is RuleReading.PUBLISHED
    # In a block any separator of lines that Python knows is one, inside texts too.
    block = find_code_block("\n".join(answer.splitlines()) if published else answer)
    findings = list(check_fence(block, requirements.fence))
    lenient = requirements.commentary and not published
    value = read_answer(answer, block, requirements, lenient=lenient)
    if not requirements.commentary:
        findings += check_commentary(answer, block, requirements, value)
    if isinstance(value, Flaw):
        if value.failure is not Failure.UNCLOSED_FENCE:
            findings.append(value)
        structure = StructureVerdict(findings=tuple(findings))
    else:
        structure = _verify_value(value, requirements, findings)
    counted = [finding for finding in structure.findings if finding.reading & reading]
    return replace(structure, findings=tuple(sorted(counted, key=_rank)))


def _verify_value(
    answer: AnswerValue, requirements: Requirements, findings: list[Flaw]
) -> StructureVerdict:
    """Return the verdict on a value, after the faults of its text."""
    findings += answer.findings
    items = answer.value
    if isinstance(items, dict) and len(items) == 1:
        ((key, inner),) = items.items()
        if isinstance(inner, list):
            items = inner
            findings += _check_key(str(key), requirements.wrapper)
    elif isinstance(items, list) and requirements.wrapper is not None:
        findings.append(Flaw(Failure.NOT_WRAPPED, f"the key is {requirements.wrapper}"))
    if isinstance(items, list):
        findings += _check_length(items, requirements)
        is_yaml = requirements.format is AnswerFormat.YAML
        flaws = schema_flaws(requirements.schema, items, is_yaml=is_yaml)
        findings += islice(flaws, _MOST_FAULTS)
    else:
        findings.append(Flaw(Failure.NOT_A_LIST, f"it is {kind_of(items)}"))
    return StructureVerdict(findings=tuple(findings), parsed=True)


def _check_key(key: str, wrapper: str | None) -> Iterator[Flaw]:
    """Yield the fault of a wrapper: an object with one member that is a list.

    An object with a second member is not a wrapper.
    """
    if wrapper is None:
        yield Flaw(Failure.WRAPPED, f"under {shortened(key, 40)}")
    elif key != wrapper:
        detail = f"{shortened(key, 40)} for {wrapper}"
        yield Flaw(Failure.WRONG_WRAPPER_KEY, detail)


def _check_length(
    items: Sequence[UntypedJson], requirements: Requirements
) -> Iterator[Flaw]:
    """Yield a wrong number of items.

    The published verifier counts it twice if the schema of the list refuses it too.
    """
    minimum = requirements.least
    maximum = requirements.most
    count = len(items)
    if not minimum <= count <= maximum:
        span = str(minimum) if minimum == maximum else f"{minimum} to {maximum}"
        yield Flaw(Failure.ITEM_COUNT, f"{count} items, {span} are required")
    low, high = (requirements.schema.get(name) for name in ("minItems", "maxItems"))
    if (low is not None and count < low) or (high is not None and count > high):
        detail = "the schema's own bound"
        yield Flaw(Failure.ITEM_COUNT, detail, reading=RuleReading.PUBLISHED)


_KINDS: Final = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def kind_of(value: UntypedJson) -> str:
    """Return JSON's word for a value's type; Python's for other values of YAML."""
    return _KINDS.get(type(value), type(value).__name__)


def schema_flaws(
    schema: UntypedJson, value: UntypedJson, path: str = "", *, is_yaml: bool
) -> Iterator[Flaw]:
    """Yield the faults of a value and of all inside it.

    Args:
        schema: The schema; anything but an object requires nothing.
        value: The value.
        path: Its path, for messages; empty for the outermost list, whose length is
            checked elsewhere.
        is_yaml: Whether a scalar of another type may be text without its quotes.
    """
    schema = schema if isinstance(schema, dict) else {}
    members = schema.get("properties")
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else types
    kind = kind_of(value)
    has_type = kind in types or (kind == "integer" and "number" in types)
    if types and not has_type:
        is_scalar = isinstance(value, bool | int | float)
        coerced = is_yaml and set(types) == {"string"} and (is_scalar or value is None)
        failure = Failure.COERCED_SCALAR if coerced else Failure.WRONG_TYPE
        detail = f" ({value!r})"[:40] * is_scalar
        yield Flaw(failure, f"{kind}{detail} for {' or '.join(sorted(types))}", path)
    elif isinstance(members, dict) and isinstance(value, dict):
        for name, member in members.items():
            inner = f"{path}.{name}"
            if name in value:
                yield from schema_flaws(member, value[name], inner, is_yaml=is_yaml)
            elif name in schema.get("required", ()):
                yield Flaw(Failure.MISSING_FIELD, "", inner)
        for name in (name for name in value if name not in members):
            yield Flaw(Failure.UNKNOWN_FIELD, "", f"{path}.{shortened(str(name), 40)}")
    elif "items" in schema and isinstance(value, list):
        if path:
            yield from _length_flaws(schema, len(value), path)
        for index, item in enumerate(value):
            inner = f"{path}[{index}]"
            yield from schema_flaws(schema["items"], item, inner, is_yaml=is_yaml)
    else:
        yield from _scalar_flaws(schema, value, path)


def _length_flaws(
    schema: Mapping[str, UntypedJson], count: int, path: str
) -> Iterator[Flaw]:
    minimum, maximum = map(schema.get, ("minItems", "maxItems"))
    if minimum is not None and count < minimum:
        yield Flaw(Failure.TOO_FEW_ITEMS, f"{count} for at least {minimum}", path)
    if maximum is not None and count > maximum:
        yield Flaw(Failure.TOO_MANY_ITEMS, f"{count} for at most {maximum}", path)


def _scalar_flaws(
    schema: Mapping[str, UntypedJson], value: UntypedJson, path: str
) -> Iterator[Flaw]:
    if "enum" in schema and value not in schema["enum"]:
        yield Flaw(Failure.NOT_IN_ENUM, shortened(repr(value), 60), path)
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, float) and not math.isfinite(value):
        yield Flaw(Failure.WRONG_TYPE, str(value), path, RuleReading.RECOMMENDED)
    low, high = map(schema.get, ("minimum", "maximum"))
    if low is not None and value < low:
        yield Flaw(Failure.BELOW_MINIMUM, f"{value} for at least {low}", path)
    elif high is not None and value > high:
        yield Flaw(Failure.ABOVE_MAXIMUM, f"{value} for at most {high}", path)
