"""Score a response: its code block, the text around, the value, fields and types.

The rules are the published verifier's, with the exceptions of `Flaw.reading`.
A whole number is a Python `int`: `1.0` is not one, and a boolean is never a number. An
object has only its schema's members, whatever the value of `additionalProperties`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
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
    FAILURES,
    IfstructSettings,
    Requirements,
    read_record,
    slices_of,
)

if TYPE_CHECKING:
    from evaluation.core.suite import Judge, Scorer

#: A response of more characters is not read; 16,000 tokens are a twentieth of it.
LONGEST: Final = 1_000_000
_RULES: Final = TriageRules(longest=LONGEST)
_ORDER: Final = {failure: rank for rank, failure in enumerate(FAILURES)}
#: Most faults of a value, and reasons of a verdict.
_MOST_FAULTS, _MOST_REASONS = 200, 20
#: The verdict on a row whose answer no engine can constrain.
_NOT_RUN: Final = Verdict(
    passed=False,
    failure_class="no_answer",
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
_OTHER_LANGUAGES: Final = {"json": ("yaml", "yml"), "yaml": ("json",)}
_MARK: Final = "\ufeff"
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
    YamlFault.TAB: "yaml_tab",
    YamlFault.TAG: "yaml_tag",
    YamlFault.ALIAS: "yaml_aliases",
    YamlFault.TOO_DEEP: "too_deep",
    YamlFault.NUMBER_TOO_LONG: "number_too_long",
}


def ifstruct_scorer(settings: IfstructSettings) -> Scorer:
    """Return what judges the responses to rows."""

    def prepare(record: Record) -> Judge:
        row = read_record(record.fields)
        requirements = row.requirements
        facts: dict[str, Json] = {"slices": slices_of(row), "cluster": row.entity_type}

        def judge(response: Response) -> Verdict:
            if record.schema is None and not response.condition.startswith(FREE):
                return _NOT_RUN
            flaws, is_parsed = verify(response, requirements, settings.reading)
            failures = [flaw.failure for flaw in flaws]
            is_wrong = any(FAILURES[failure].structure for failure in failures)
            published = [FAILURES[failure].published or failure for failure in failures]
            return Verdict(
                passed=not flaws,
                failure_class=failures[0] if flaws else "",
                reasons=tuple(map(str, flaws[:_MOST_REASONS])),
                scores={"structure": float(not is_wrong)} if is_parsed else {},
                details={**facts, "published_errors": [*published]},
            )

        return judge

    return prepare


class Flaw(NamedTuple):
    """One fault of a response."""

    #: A name in `failures.toml`.
    failure: str
    #: The names, values and limits.
    detail: str = ""
    #: Its place in the list, as a path: `[0].poems[1].poem_title`; empty for the whole.
    place: str = ""
    #: The reading that counts it: `published`, as the verifier does; `recommended`, as
    #: the request reads where the verifier differs; empty for both.
    reading: str = ""

    def __str__(self) -> str:
        """Return it as one line."""
        return ": ".join(filter(None, (self.failure, self.place, self.detail)))


class Findings(NamedTuple):
    """All faults of one response by one reading; the first names the row."""

    flaws: list[Flaw]
    #: Whether a JSON or YAML value could be read.
    is_parsed: bool = False


def _rank(flaw: Flaw) -> tuple[bool, int]:
    """Place what only the published verifier counts last: it has another fault too."""
    return flaw.reading == "published", _ORDER[flaw.failure]


def verify(
    response: Response, requirements: Requirements, reading: str = "recommended"
) -> Findings:
    """Return all faults of a response by one reading."""
    is_published = reading == "published"
    answer = triage(response, _RULES)
    failure = ""
    if isinstance(answer, MissingAnswer):
        match answer.kind:
            case NoAnswer.FAILED:
                return Findings([Flaw("no_answer", answer.reason)])
            case NoAnswer.REFUSED:
                return Findings([Flaw("refused", answer.reason)])
            case NoAnswer.TOO_LARGE:
                failure = "too_large"
    if is_published and not failure:
        theirs = published_answer(response.text or "")
        # It knows fewer tags of thinking; texts empty for both have one reason.
        if isinstance(answer, str) or theirs:
            answer = theirs or MissingAnswer(NoAnswer.EMPTY, "")
    if isinstance(answer, MissingAnswer):
        empty = "thinking_unclosed" if answer.unclosed else "empty"
        findings = Findings([Flaw(failure or empty, answer.reason if failure else "")])
    else:
        findings = _verify_answer(answer, requirements, reading)
    if is_published or response.finish != "length" or findings.is_parsed:
        return findings
    return Findings([Flaw("truncated", "the budget was used up"), *findings.flaws])


def _verify_answer(answer: str, requirements: Requirements, reading: str) -> Findings:
    is_published = reading == "published"
    # In a block any separator of lines that Python knows is one, inside texts too.
    block = find_code_block("\n".join(answer.splitlines()) if is_published else answer)
    flaws = [*_fence_flaws(block, requirements.fence)]
    is_lenient = requirements.commentary and not is_published
    value = _read_answer(answer, block, requirements, is_lenient=is_lenient)
    if not requirements.commentary and block is not None:
        flaws += _flaws_around_block(block)
    elif not requirements.commentary and requirements.format == "json":
        flaws += _flaws_around_json(answer, value)
    is_parsed = isinstance(value, AnswerValue)
    if isinstance(value, AnswerValue):
        flaws += [*value.flaws, *_value_flaws(value.value, requirements)]
    elif value.failure != "unclosed_fence":
        flaws.append(value)
    counted = [flaw for flaw in flaws if flaw.reading in ("", reading)]
    return Findings(sorted(counted, key=_rank), is_parsed)


class AnswerValue(NamedTuple):
    """The value of an answer."""

    value: UntypedJson
    #: Faults of a text whose value could be read.
    flaws: tuple[Flaw, ...] = ()


def _value_flaws(items: UntypedJson, requirements: Requirements) -> Iterator[Flaw]:
    """Yield the faults of a value: its wrapper, its number of items, its fields.

    A wrapper is an object with one member that is a list; with a second member it is
    not a wrapper.
    """
    wrapper = requirements.wrapper
    members = [*items.items()] if isinstance(items, dict) else []
    if len(members) == 1 and isinstance(members[0][1], list):
        ((name, items),) = members
        key = str(name)
        if wrapper is None:
            yield Flaw("wrapped", f"under {shortened(key, 40)}")
        elif key != wrapper:
            yield Flaw("wrong_wrapper_key", f"{shortened(key, 40)} for {wrapper}")
    elif isinstance(items, list) and wrapper is not None:
        yield Flaw("not_wrapped", f"the key is {wrapper}")
    if not isinstance(items, list):
        yield Flaw("not_a_list", f"it is {kind_of(items)}")
        return
    minimum, maximum = requirements.least, requirements.most
    count = len(items)
    if not minimum <= count <= maximum:
        span = str(minimum) if minimum == maximum else f"{minimum} to {maximum}"
        yield Flaw("item_count", f"{count} items, {span} are required")
    if [*_length_flaws(requirements.schema, count, "")]:
        # The published verifier counts a wrong number twice.
        yield Flaw("item_count", "the schema's own bound", reading="published")
    is_yaml = requirements.format == "yaml"
    flaws = schema_flaws(requirements.schema, items, is_yaml=is_yaml)
    yield from islice(flaws, _MOST_FAULTS)


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
        failure = "coerced_scalar" if coerced else "wrong_type"
        detail = f" ({value!r})"[:40] * is_scalar
        yield Flaw(failure, f"{kind}{detail} for {' or '.join(sorted(types))}", path)
    elif isinstance(members, dict) and isinstance(value, dict):
        for name, member in members.items():
            inner = f"{path}.{name}"
            if name in value:
                yield from schema_flaws(member, value[name], inner, is_yaml=is_yaml)
            elif name in schema.get("required", ()):
                yield Flaw("missing_field", "", inner)
        for name in (name for name in value if name not in members):
            yield Flaw("unknown_field", "", f"{path}.{shortened(str(name), 40)}")
    elif "items" in schema and isinstance(value, list):
        if path:
            yield from _length_flaws(schema, len(value), path)
        for index, item in enumerate(value):
            inner = f"{path}[{index}]"
            yield from schema_flaws(schema["items"], item, inner, is_yaml=is_yaml)
    else:
        yield from _scalar_flaws(schema, value, path)


def _scalar_flaws(
    schema: Mapping[str, UntypedJson], value: UntypedJson, path: str
) -> Iterator[Flaw]:
    if "enum" in schema and value not in schema["enum"]:
        yield Flaw("not_in_enum", shortened(repr(value), 60), path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            yield Flaw("wrong_type", str(value), path, "recommended")
        low, high = map(schema.get, ("minimum", "maximum"))
        if low is not None and value < low:
            yield Flaw("below_minimum", f"{value} for at least {low}", path)
        elif high is not None and value > high:
            yield Flaw("above_maximum", f"{value} for at most {high}", path)


def _length_flaws(
    schema: Mapping[str, UntypedJson], count: int, path: str
) -> Iterator[Flaw]:
    minimum, maximum = map(schema.get, ("minItems", "maxItems"))
    if minimum is not None and count < minimum:
        yield Flaw("too_few_items", f"{count} for at least {minimum}", path)
    if maximum is not None and count > maximum:
        yield Flaw("too_many_items", f"{count} for at most {maximum}", path)


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


def published_answer(text: str) -> str:
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
    return _END.sub("", _CHANNELS.split(text, 1)[-1]).strip()


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


def _fence_flaws(block: CodeBlock | None, fence: str) -> Iterator[Flaw]:
    """Yield the faults of the code block, or of its absence.

    A published row only states whether a block is required, in any language. The
    recommended reading counts a forbidden block and another language too.
    """
    wish, _, language = fence.partition(":")
    is_open = block is not None and block.content is None
    if is_open:
        yield Flaw("unclosed_fence")
    if wish == "required" and (is_open or block is None):
        yield Flaw("missing_fence")
    if block is None:
        return
    if wish == "forbidden":
        yield Flaw("forbidden_fence", reading="recommended")
    if language and block.language != language:
        detail = f"{language} is required, {block.language or 'none'} is named"
        yield Flaw("wrong_fence_language", detail, reading="recommended")


def _flaws_around_block(block: CodeBlock) -> Iterator[Flaw]:
    """Yield the text before the first fence and after the last one.

    The published verifier ignores text between two code blocks; by the recommended
    reading a second block is commentary too.
    """
    for text in (block.before, block.after):
        if text.strip():
            yield Flaw("commentary", shortened(text.strip(), _SHOWN))
    if block.fences > _ONE_BLOCK:
        detail = f"{block.fences} lines begin with a fence"
        yield Flaw("several_fences", detail, reading="recommended")


def _flaws_around_json(text: str, value: AnswerValue | Flaw) -> Iterator[Flaw]:
    """Yield the text outside the outer brackets of JSON without a code block.

    Where no JSON value was read, the text after the last bracket is rather a piece of
    broken JSON, and commentary by the published verifier only. Raw YAML cannot be
    distinguished from commentary.
    """
    opening = _BRACKET.search(text)
    end = max(text.rfind("]"), text.rfind("}"))
    if opening is None or end < 0:
        return
    before = text[: opening.start()].strip().strip(_MARK)
    after = text[end + 1 :].strip()
    if before:
        yield Flaw("commentary", shortened(before, _SHOWN))
    if after:
        is_broken = isinstance(value, Flaw) and value.failure != "trailing_text"
        reading = "published" if is_broken else ""
        yield Flaw("commentary", shortened(after, _SHOWN), reading=reading)


def _read_answer(
    answer: str,
    block: CodeBlock | None,
    requirements: Requirements,
    *,
    is_lenient: bool,
) -> AnswerValue | Flaw:
    """Return the value of an answer, from its code block if it has one.

    Args:
        answer: The text without thinking.
        block: Its code block.
        requirements: The requirements of the row.
        is_lenient: Whether raw JSON may have text around it.
    """
    text = answer.strip()
    if block is not None:
        if block.content is None:
            return Flaw("unclosed_fence")
        if block.language in _OTHER_LANGUAGES[requirements.format]:
            return Flaw("wrong_format", f"the code block names {block.language}")
        text = block.content
        if not text.strip():
            return Flaw("empty", "the code block is empty")
    if requirements.format == "yaml":
        return _read_yaml(text)
    return _read_json(
        text.strip(),
        is_fenced=block is not None,
        is_lenient=is_lenient and block is None,
    )


def _read_yaml(text: str) -> AnswerValue | Flaw:
    """Read YAML; JSON in its place is a fault, if its value can be read."""
    try:
        document = read_yaml(text, _YAML_OPTIONS)
    except YamlError as error:
        failure = _YAML_FAILURES.get(error.fault, "invalid_yaml")
        return Flaw(failure, shortened(error.detail))
    flaws = [Flaw("wrong_format", "JSON for YAML")] * document.is_flow
    if _SCANNED_OTHERWISE.search(text):
        try:
            for _ in yaml.parse(text, Loader=yaml.SafeLoader):
                pass
        except yaml.YAMLError as error:
            # The published verifier does not read a right text.
            detail = shortened(" ".join(str(error).split()))
            flaws.append(Flaw("invalid_yaml", detail, reading="published"))
    return AnswerValue(document.value, tuple(flaws))


def _read_json(text: str, *, is_fenced: bool, is_lenient: bool) -> AnswerValue | Flaw:
    """Read JSON with Python's reader, as the published verifier does.

    It accepts NaN and infinities, of two equal names the last one counts, and a lone
    surrogate is a character.

    Args:
        text: The content of the code block, or the whole answer.
        is_fenced: Whether it is the content of a code block.
        is_lenient: Read the last JSON value wherever it begins, and ignore the text
            around.
    """
    start = 0
    if is_lenient:
        bracket = _BRACKET.search(text)
        starts = [bracket.start() if bracket else 0]
        starts += [first for first, _ in json_spans(text)]
        start = starts[-1]
    elif not is_fenced and not text.startswith(("[", "{")):
        return _wrong_beginning(text)
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _YAML.match(text):
            return Flaw("wrong_format", "YAML for JSON")
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return Flaw("invalid_json", detail)
    except RecursionError:
        return Flaw("too_deep", "deeper than Python's reader goes")
    except ValueError:
        return Flaw("number_too_long")
    # A level takes a bracket: with few of them the depth is within the limit.
    if text.count("[") + text.count("{") > DEEPEST and depth(value) > DEEPEST:
        return Flaw("too_deep", f"over {DEEPEST} levels")
    remainder = text[end:].strip()
    if remainder and not is_lenient:
        return Flaw("trailing_text", shortened(remainder, _SHOWN_BEGINNING))
    return AnswerValue(value)


def _wrong_beginning(text: str) -> Flaw:
    begins = shortened(text, _SHOWN_BEGINNING)
    if text.startswith(_MARK):
        return Flaw("byte_order_mark")
    if _YAML.match(text):
        return Flaw("wrong_format", f"YAML for JSON: {begins}")
    if _BRACKET.search(text):
        return Flaw("leading_text", begins)
    return Flaw("invalid_json", f"begins neither with [ nor {{: {begins}")
