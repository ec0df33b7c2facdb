"""Score a response: its code block, the text around, the value, fields and types.

The rules are the published verifier's, with the exceptions of `RuleReading`.
A whole number is a Python `int`: `1.0` is not one, and a boolean is never a number. An
object has only its schema's members, whatever the value of `additionalProperties`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from curation.core.json_types import Json, UntypedJson
from curation.json.text import depth
from curation.json.yaml_reader import (
    YamlError,
    YamlFault,
    YamlOptions,
    read_yaml,
    yaml_1_1_scalar,
)
from curation.system.words import shortened
from evaluation.answers.extraction import (
    MissingAnswer,
    NoAnswer,
    TriageRules,
    triage,
)
from evaluation.answers.json_search import json_spans
from evaluation.core.records import FREE, Record, Response, Verdict
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Fence,
    FenceWish,
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
_RULES: Final = TriageRules(longest=LONGEST)
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
#: Maximum levels of nesting; a row asks for five at most.
DEEPEST: Final = 100
#: Characters of a comment, and of a wrong beginning, that a message shows.
_SHOWN, _SHOWN_BEGINNING = 60, 40
#: The fences of one code block.
_ONE_BLOCK: Final = 2
#: Languages of a code block that name the other format.
_OTHER_LANGUAGES: Final = {
    AnswerFormat.JSON: frozenset({"yaml", "yml"}),
    AnswerFormat.YAML: frozenset({"json"}),
}
_MARK: Final = "\ufeff"
_BRACKETS: Final = ("[", "{")
_BRACKET: Final = re.compile(r"[\[{]")
#: The first line of YAML, as opposed to prose.
_YAML: Final = re.compile(r"- [\w\"']+:(?: |$)|-$|\w+:$", re.MULTILINE)
#: YAML 1.1 as PyYAML's safe loader reads it, dates left as text, as the published
#: verifier does.
_YAML_OPTIONS: Final = YamlOptions(
    scalar=yaml_1_1_scalar,
    name=lambda _text, value: value,
    unique_names=False,
    max_values=100_000,
    max_depth=DEEPEST,
)
#: What libyaml takes for white space, and PyYAML's own scanner, the published one, may
#: refuse: tabs between words, which YAML allows, and byte order marks in the middle.
_SCANNED_OTHERWISE: Final = re.compile("[\t\ufeff]")
_YAML_FAILURES: Final = {
    YamlFault.TAB: Failure.YAML_TAB,
    YamlFault.TAG: Failure.YAML_TAG,
    YamlFault.ALIAS: Failure.YAML_ALIASES,
    YamlFault.TOO_DEEP: Failure.TOO_DEEP,
    YamlFault.NUMBER_TOO_LONG: Failure.NUMBER_TOO_LONG,
}


def ifstruct_scorer(settings: IfstructSettings) -> Scorer:
    """Return what judges the responses to rows."""
    decides = settings.decides

    def prepare(record: Record) -> Judge:
        row = read_record(record.fields)
        requirements = row.requirements
        facts: dict[str, Json] = {
            "slices": {**slices_of(row)},
            "cluster": row.entity_type,
        }

        def judge(response: Response) -> Verdict:
            if record.schema is None and not response.condition.startswith(FREE):
                return _NOT_RUN
            return _judge(response, requirements, decides, facts)

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


class StructureVerdict(NamedTuple):
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
    return structure._replace(findings=(cut, *structure.findings))


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
    return structure._replace(findings=tuple(sorted(counted, key=_rank)))


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


class Flaw(NamedTuple):
    """One fault of a response."""

    failure: Failure
    #: The names, values and limits.
    detail: str = ""
    #: Its place in the list, as a path: `[0].poems[1].poem_title`; empty for the whole.
    place: str = ""
    reading: RuleReading = RuleReading.BOTH

    def __str__(self) -> str:
        """Return it as one line."""
        parts = (str(self.failure), self.place, self.detail)
        return ": ".join(part for part in parts if part)


class AnswerValue(NamedTuple):
    """The value of an answer, with the remarks of its reader."""

    value: UntypedJson
    #: Faults of a text whose value could be read.
    findings: tuple[Flaw, ...] = ()


class CodeBlock(NamedTuple):
    """The first code block of a text."""

    #: The first word after the opening fence, in lower case; empty if it has none.
    language: str
    #: The text inside; None if the block is never closed.
    content: str | None
    before: str
    #: The text after the last fence of the whole answer.
    after: str
    #: The number of lines that begin with a fence.
    fences: int


#: Tags of thinking that the published verifier knows.
_PUBLISHED_TAGS: Final = tuple(
    tuple(re.compile(re.escape(tag), re.IGNORECASE) for tag in pair)
    for pair in (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
)
_CHANNELS: Final = re.compile(
    r"(?:<\|start\|>)?assistant(?:<\|channel\|>)?final(?:<\|message\|>)?"
)
_END: Final = re.compile(r"<\|(?:end|return)\|>\s*\Z")


def published_answer(text: str) -> str | MissingAnswer:
    """Return the answer of a text as the published verifier takes it out.

    Pairs of tags go, then all before a lone closing tag, then all after a lone opening
    one, then all before the last of the channels, then one end token.
    """
    for opening, closing in _PUBLISHED_TAGS:
        pieces = []
        start = 0
        while mark := opening.search(text, start):
            end = closing.search(text, mark.end())
            if end is None:
                break
            pieces.append(text[start : mark.start()])
            start = end.end()
        text = "".join((*pieces, text[start:]))
    for _, closing in _PUBLISHED_TAGS:
        if mark := closing.search(text):
            text = text[mark.end() :]
            break
    for opening, _ in _PUBLISHED_TAGS:
        text = opening.split(text, 1)[0]
    text = _CHANNELS.split(text, 1)[-1]
    return _END.sub("", text).strip() or MissingAnswer(NoAnswer.EMPTY, "")


def find_code_block(text: str) -> CodeBlock | None:
    """Return the first code block of a text, None if no line begins with a fence.

    A fence is three backticks at the beginning of a line. The first one opens the
    block and the next one closes it, whatever else is on its line.
    """
    lines = text.strip().split("\n")
    marks = [number for number, line in enumerate(lines) if line.startswith("```")]
    if not marks:
        return None
    start, *ends = marks
    words = lines[start].strip().strip("`").split()
    # Text between this block and a later one is not after the answer.
    after = lines[marks[-1] + 1 :]
    if len(marks) == _ONE_BLOCK:
        after = [lines[marks[-1]].lstrip("`"), *after]
    return CodeBlock(
        language=words[0].lower() if words else "",
        content="\n".join(lines[start + 1 : ends[0]]) if ends else None,
        before="\n".join(lines[:start]),
        after="\n".join(after) if ends else "",
        fences=len(marks),
    )


def check_fence(block: CodeBlock | None, fence: Fence) -> Iterator[Flaw]:
    """Yield the faults of the code block, or of its absence.

    A published row only states whether a block is required, in any language. The
    recommended reading counts a forbidden block and another language too.
    """
    if block is not None and block.content is None:
        yield Flaw(Failure.UNCLOSED_FENCE)
    closed = block is not None and block.content is not None
    if fence.wish is FenceWish.REQUIRED and not closed:
        yield Flaw(Failure.MISSING_FENCE)
    if block is None:
        return
    if fence.wish is FenceWish.FORBIDDEN:
        yield Flaw(Failure.FORBIDDEN_FENCE, reading=RuleReading.RECOMMENDED)
    if fence.language and block.language != fence.language:
        detail = f"{fence.language} is required, {block.language or 'none'} is named"
        yield Flaw(
            Failure.WRONG_FENCE_LANGUAGE, detail, reading=RuleReading.RECOMMENDED
        )


def check_commentary(
    answer: str,
    block: CodeBlock | None,
    requirements: Requirements,
    value: AnswerValue | Flaw,
) -> Iterator[Flaw]:
    """Yield the text around an answer; raw YAML cannot be distinguished from it."""
    if block is not None:
        yield from _check_around_block(block)
    elif requirements.format is AnswerFormat.JSON:
        decoded = (
            isinstance(value, AnswerValue) or value.failure is Failure.TRAILING_TEXT
        )
        yield from _check_around_json(answer, decoded=decoded)


def _check_around_block(block: CodeBlock) -> Iterator[Flaw]:
    """Yield the text before the first fence and after the last one.

    The published verifier ignores text between two code blocks; by the recommended
    reading a second block is commentary too.
    """
    for text in (block.before, block.after):
        if text.strip():
            yield Flaw(Failure.COMMENTARY, shortened(text.strip(), _SHOWN))
    if block.fences > _ONE_BLOCK:
        detail = f"{block.fences} lines begin with a fence"
        yield Flaw(Failure.SEVERAL_FENCES, detail, reading=RuleReading.RECOMMENDED)


def _check_around_json(text: str, *, decoded: bool) -> Iterator[Flaw]:
    """Yield the text outside the outer brackets of JSON without a code block.

    Args:
        text: The answer.
        decoded: Whether a JSON value was read at its beginning. If not, the text after
            the last bracket is rather a piece of broken JSON, and commentary by the
            published verifier only.
    """
    opening = _BRACKET.search(text)
    end = max(text.rfind("]"), text.rfind("}"))
    if opening is None or end < 0:
        return
    before = text[: opening.start()].strip().strip(_MARK)
    after = text[end + 1 :].strip()
    if before:
        yield Flaw(Failure.COMMENTARY, shortened(before, _SHOWN))
    if after:
        reading = RuleReading.BOTH if decoded else RuleReading.PUBLISHED
        yield Flaw(Failure.COMMENTARY, shortened(after, _SHOWN), reading=reading)


def read_answer(
    answer: str,
    block: CodeBlock | None,
    requirements: Requirements,
    *,
    lenient: bool = False,
) -> AnswerValue | Flaw:
    """Return the value of an answer, from its code block if it has one.

    Args:
        answer: The text without thinking.
        block: Its code block.
        requirements: The format.
        lenient: Whether raw JSON may have text around it.
    """
    text = answer.strip()
    if block is not None:
        if block.content is None:
            return Flaw(Failure.UNCLOSED_FENCE)
        if block.language in _OTHER_LANGUAGES[requirements.format]:
            detail = f"the code block names {block.language}"
            return Flaw(Failure.WRONG_FORMAT, detail)
        text = block.content
        if not text.strip():
            return Flaw(Failure.EMPTY, "the code block is empty")
    if requirements.format is AnswerFormat.YAML:
        return _read_yaml(text)
    return _read_json(text, fenced=block is not None, lenient=lenient)


def _read_yaml(text: str) -> AnswerValue | Flaw:
    """Read YAML; JSON in its place is a fault, if its value can be read."""
    try:
        document = read_yaml(text, _YAML_OPTIONS)
    except YamlError as error:
        failure = _YAML_FAILURES.get(error.fault, Failure.INVALID_YAML)
        return Flaw(failure, shortened(error.detail))
    findings = [Flaw(Failure.WRONG_FORMAT, "JSON for YAML")] * document.is_flow
    if _SCANNED_OTHERWISE.search(text):
        findings += _refused_by_pyyaml(text)
    return AnswerValue(value=document.value, findings=tuple(findings))


def _refused_by_pyyaml(text: str) -> Iterator[Flaw]:
    """Yield the fault for which the published verifier does not read a right text."""
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        detail = shortened(" ".join(str(error).split()))
        yield Flaw(Failure.INVALID_YAML, detail, reading=RuleReading.PUBLISHED)


def _read_json(text: str, *, fenced: bool, lenient: bool) -> AnswerValue | Flaw:
    """Read JSON with Python's reader, as the published verifier does.

    It accepts NaN and infinities, of two equal names the last one counts, and a lone
    surrogate is a character.

    Args:
        text: The content of the code block, or the whole answer.
        fenced: Whether it is the content of a code block.
        lenient: Read the last JSON value wherever it begins, and ignore the text
            around.
    """
    text = text.strip()
    start = 0
    if not fenced and lenient:
        bracket = _BRACKET.search(text)
        starts = [bracket.start() if bracket else 0]
        starts += [first for first, _ in json_spans(text)]
        start = starts[-1]
    elif not fenced and not text.startswith(_BRACKETS):
        return _wrong_beginning(text)
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _YAML.match(text):
            return Flaw(Failure.WRONG_FORMAT, "YAML for JSON")
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return Flaw(Failure.INVALID_JSON, detail)
    except RecursionError:
        return Flaw(Failure.TOO_DEEP, "deeper than Python's reader goes")
    except ValueError:
        return Flaw(Failure.NUMBER_TOO_LONG)
    # A level takes a bracket: with few of them the depth is within the limit.
    if text.count("[") + text.count("{") > DEEPEST and depth(value) > DEEPEST:
        return Flaw(Failure.TOO_DEEP, f"over {DEEPEST} levels")
    remainder = text[end:].strip()
    if remainder and (fenced or not lenient):
        return Flaw(Failure.TRAILING_TEXT, shortened(remainder, _SHOWN_BEGINNING))
    return AnswerValue(value=value)


def _wrong_beginning(text: str) -> Flaw:
    begins = shortened(text, _SHOWN_BEGINNING)
    if text.startswith(_MARK):
        return Flaw(Failure.BYTE_ORDER_MARK)
    if _YAML.match(text):
        return Flaw(Failure.WRONG_FORMAT, f"YAML for JSON: {begins}")
    if _BRACKET.search(text):
        return Flaw(Failure.LEADING_TEXT, begins)
    detail = f"begins neither with [ nor {{: {begins}"
    return Flaw(Failure.INVALID_JSON, detail)
