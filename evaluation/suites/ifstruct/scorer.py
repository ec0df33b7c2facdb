"""Score a response: its code block, the text around, the value, fields and types.

The rules are the published verifier's; the two readings differ in the failures that
count (`NOT_COUNTED`), and in what is read. A whole number is a Python `int`: `1.0` is
not one, and a boolean is never a number. An object has only its schema's members,
whatever the value of `additionalProperties`.
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
    YamlOptions,
    read_yaml,
    yaml_1_1_scalar,
)
from curation.system.words import shortened
from evaluation.answers.extraction import NoAnswer, TriageRules, split_thinking, triage
from evaluation.answers.json_search import json_spans
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.ifstruct.rows import (
    FAILURES,
    NOT_COUNTED,
    PUBLISHED_ERRORS,
    STRUCTURE,
    IfstructRecord,
    IfstructSettings,
    read_record,
    row_slices,
)

if TYPE_CHECKING:
    from evaluation.core.suite import Judge, Scorer

_ORDER: Final = {failure: rank for rank, failure in enumerate(FAILURES)}
#: Most faults of a value, and reasons of a verdict.
_MAX_FAULTS, _MAX_REASONS = 200, 20
#: Characters of a comment, and of a wrong beginning, that a message shows.
_SHOWN, _SHOWN_BEGINNING = 60, 40


def ifstruct_scorer(settings: IfstructSettings) -> Scorer:
    """Return what judges the responses to rows."""

    def prepare(record: Record) -> Judge:
        row = read_record(record.fields)
        facts: dict[str, Json] = {"slices": row_slices(row), "cluster": row.entity_type}

        def judge(response: Response) -> Verdict:
            flaws, is_parsed = verify(response, row, settings.reading)
            failures = [flaw.failure for flaw in flaws]
            errors = [PUBLISHED_ERRORS.get(failure, failure) for failure in failures]
            is_right = STRUCTURE.keys().isdisjoint(failures)
            return Verdict(
                passed=not flaws,
                failure_class=failures[0] if flaws else "",
                reasons=tuple(map(str, flaws[:_MAX_REASONS])),
                scores={"structure": float(is_right)} if is_parsed else {},
                details={**facts, "published_errors": [*errors]},
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

    def __str__(self) -> str:
        """Return it as one line."""
        return ": ".join(filter(None, (self.failure, self.place, self.detail)))


class Findings(NamedTuple):
    """All faults of one response by one reading; the first names the row."""

    flaws: list[Flaw]
    #: Whether a JSON or YAML value could be read.
    is_parsed: bool = False


def verify(
    response: Response, row: IfstructRecord, reading: str = "recommended"
) -> Findings:
    """Return all faults of a response by one reading."""
    answer = triage(response, _RULES[reading])
    if isinstance(answer, str):
        findings = _verify_answer(answer.strip(), row, reading)
    elif answer.kind in _UNREAD:
        return Findings([Flaw(_UNREAD[answer.kind], answer.reason)])
    else:
        is_open = split_thinking(response.text or "").unclosed
        findings = Findings([Flaw("thinking_unclosed" if is_open else "empty")])
    is_cut = response.finish == "length" and reading != "published"
    if is_cut and not findings.is_parsed:
        findings.flaws.insert(0, Flaw("truncated", "the budget was used up"))
    return findings


#: Tags of thinking that the published verifier knows: up to the last end, and a pair.
_PUBLISHED_TAGS: Final = tuple(
    (re.compile(rf"(?is).*{closing}"), re.compile(rf"(?is){opening}.*?{closing}"))
    for opening, closing in (("<think>", "</think>"), (r"\[THINK\]", r"\[/THINK\]"))
)
_TO_CLOSING: Final = re.compile(r"(?is)\A(?:.*?</think>|.*?\[/THINK\])")
_OPENING: Final = re.compile(r"(?i)<think>|\[THINK\]")
_CHANNELS: Final = re.compile(
    r"(?:<\|start\|>)?assistant(?:<\|channel\|>)?final(?:<\|message\|>)?"
)
_END: Final = re.compile(r"<\|(?:end|return)\|>\s*\Z")


def published_answer(text: str) -> str:
    """Return the answer of a text as the published verifier takes it out.

    Pairs of tags go, then all before a lone closing tag, then all after a lone opening
    one, then all before the last of the channels, then one end token.
    """
    for to_last, pair in _PUBLISHED_TAGS:
        # After the last closing tag no pair begins, and a search would take long.
        if closed := to_last.match(text):
            text = pair.sub("", closed[0]) + text[closed.end() :]
    text = _OPENING.split(_TO_CLOSING.sub("", text), 1)[0]
    return _END.sub("", _CHANNELS.split(text, 1)[-1]).strip()


#: A response of more characters is not read; 16,000 tokens are a twentieth of it.
MAX_LENGTH: Final = 1_000_000
_RULES: Final = {
    "recommended": TriageRules(longest=MAX_LENGTH),
    "published": TriageRules(
        longest=MAX_LENGTH, splits_thinking=False, policy=published_answer
    ),
}
#: The failures of responses whose text is not read.
_UNREAD: Final = {
    NoAnswer.FAILED: "no_answer",
    NoAnswer.REFUSED: "refused",
    NoAnswer.TOO_LARGE: "too_large",
}


def _verify_answer(answer: str, row: IfstructRecord, reading: str) -> Findings:
    is_published = reading == "published"
    layout = parse_layout(answer, row.output_format, is_published=is_published)
    value = _read_answer(layout, row, is_published=is_published)
    flaws = [*_form_flaws(layout, row, value)]
    if isinstance(value, Flaw):
        flaws.append(value)
    else:
        flaws += _value_flaws(value, row, is_published=is_published)
    counted = [flaw for flaw in flaws if flaw.failure not in NOT_COUNTED[reading]]
    counted.sort(key=lambda flaw: _ORDER[flaw.failure])
    return Findings(counted, isinstance(value, AnswerValue))


class Layout(NamedTuple):
    """An answer in its parts."""

    #: The text of the first code block, None if it is never closed; without a block all
    #: of the answer.
    content: str | None
    #: The text before the first fence and after the last one; without a block that
    #: around the outer brackets of JSON.
    before: str = ""
    after: str = ""
    #: The first word after the opening fence, in lower case; empty if it has none.
    language: str = ""
    #: The number of lines that begin with a fence.
    fences: int = 0


_MARK: Final = "\ufeff"
_BRACKET: Final = re.compile(r"[\[{]")
#: The fences of one code block.
_ONE_BLOCK: Final = 2


def parse_layout(answer: str, language: str, *, is_published: bool = False) -> Layout:
    """Return the parts of an answer.

    A fence is three backticks at the beginning of a line. The first one opens the
    block and the next one closes it, whatever else is on its line. Text around YAML
    without a block cannot be distinguished from it.

    Args:
        answer: The text without thinking, and without space around it.
        language: `json` or `yaml`.
        is_published: Whether any separator of lines that Python knows is one.
    """
    lines = answer.splitlines() if is_published else answer.split("\n")
    marks = [number for number, line in enumerate(lines) if line.startswith("```")]
    if not marks:
        opening = _BRACKET.search(answer)
        end = max(answer.rfind("]"), answer.rfind("}")) + 1
        if language == "yaml" or opening is None or not end:
            return Layout(answer)
        before = answer[: opening.start()].strip().strip(_MARK)
        return Layout(answer, before, answer[end:].strip())
    start, *ends = marks
    words = lines[start].strip().strip("`").split()
    # Text between this block and a later one is not after the answer.
    after = lines[marks[-1] + 1 :]
    if len(marks) == _ONE_BLOCK:
        after = [lines[marks[-1]].lstrip("`"), *after]
    return Layout(
        "\n".join(lines[start + 1 : ends[0]]) if ends else None,
        before="\n".join(lines[:start]).strip(),
        after="\n".join(after).strip() if ends else "",
        language=words[0].lower() if words else "",
        fences=len(marks),
    )


def _form_flaws(
    layout: Layout, row: IfstructRecord, value: AnswerValue | Flaw
) -> Iterator[Flaw]:
    """Yield the faults of the code block, or of its absence, and the text around."""
    fence = row.fence or "required" * row.require_code_block
    wish, _, language = fence.partition(":")
    if wish == "required" and (not layout.fences or layout.content is None):
        yield Flaw("missing_fence")
    if wish == "forbidden" and layout.fences:
        yield Flaw("forbidden_fence")
    if layout.fences and language not in ("", layout.language):
        detail = f"{language} is required, {layout.language or 'none'} is named"
        yield Flaw("wrong_fence_language", detail)
    if not row.require_no_commentary:
        return
    if layout.before:
        yield Flaw("commentary", shortened(layout.before, _SHOWN))
    if layout.after:
        is_broken = isinstance(value, Flaw) and value.failure != "trailing_text"
        failure = "loose_end" if is_broken and not layout.fences else "commentary"
        yield Flaw(failure, shortened(layout.after, _SHOWN))
    if layout.fences > _ONE_BLOCK:
        yield Flaw("several_fences", f"{layout.fences} lines begin with a fence")


class AnswerValue(NamedTuple):
    """The value of an answer."""

    value: UntypedJson
    #: Whether it is JSON in place of YAML.
    is_flow: bool = False


#: Languages of a code block that name the other format.
_OTHER_LANGUAGES: Final = {"json": ("yaml", "yml"), "yaml": ("json",)}


def _read_answer(
    layout: Layout, row: IfstructRecord, *, is_published: bool
) -> AnswerValue | Flaw:
    """Return the value of an answer, from its code block if it has one.

    Where commentary is allowed, JSON without a block is by the recommended reading the
    last JSON value, wherever that begins.
    """
    text = layout.content
    if text is None:
        return Flaw("unclosed_fence")
    if layout.language in _OTHER_LANGUAGES[row.output_format]:
        return Flaw("wrong_format", f"the code block names {layout.language}")
    if not text.strip():
        return Flaw("empty", "the code block is empty")
    if row.output_format == "yaml":
        return _read_yaml(text, is_published=is_published)
    text = text.strip()
    if layout.fences:
        return _read_json(text)
    if not (row.require_no_commentary or is_published):
        bracket = _BRACKET.search(text)
        starts = [bracket.start() if bracket else 0]
        starts += [start for start, _ in json_spans(text)]
        return _read_json(text, starts[-1])
    if text.startswith(("[", "{")) or _YAML.match(text):
        return _read_json(text)
    failure = "leading_text" if _BRACKET.search(text) else "invalid_json"
    return Flaw(failure, shortened(text, _SHOWN_BEGINNING))


#: Maximum levels of nesting; a row asks for five at most.
DEEPEST: Final = 100
#: The first line of YAML, as opposed to prose.
_YAML: Final = re.compile(r"- [\w\"']+:(?: |$)|-$|\w+:$", re.MULTILINE)


def _read_json(text: str, start: int | None = None) -> AnswerValue | Flaw:
    """Read JSON with Python's reader, as the published verifier does.

    It accepts NaN and infinities, of two equal names the last one counts, and a lone
    surrogate is a character.

    Args:
        text: The text.
        start: Where the JSON begins in it, with any text around; None for JSON alone.
    """
    try:
        value, end = json.JSONDecoder().raw_decode(text, start or 0)
    except json.JSONDecodeError as error:
        if _YAML.match(text):
            return Flaw("wrong_format", "YAML for JSON")
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return Flaw("invalid_json", detail)
    except (RecursionError, ValueError) as error:
        return Flaw("invalid_json", shortened(str(error)))
    # A level takes a bracket: with few of them the depth is within the limit.
    if text.count("[") + text.count("{") > DEEPEST and depth(value) > DEEPEST:
        return Flaw("invalid_json", f"over {DEEPEST} levels")
    remainder = text[end:].strip()
    if remainder and start is None:
        return Flaw("trailing_text", shortened(remainder, _SHOWN_BEGINNING))
    return AnswerValue(value)


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


def _read_yaml(text: str, *, is_published: bool) -> AnswerValue | Flaw:
    try:
        document = read_yaml(text, _YAML_OPTIONS)
        if is_published and _SCANNED_OTHERWISE.search(text):
            for _ in yaml.parse(text, Loader=yaml.SafeLoader):
                pass
    except YamlError as error:
        return Flaw("invalid_yaml", shortened(error.detail))
    except yaml.YAMLError as error:
        return Flaw("invalid_yaml", shortened(" ".join(str(error).split())))
    return AnswerValue(document.value, document.is_flow)


def _value_flaws(
    answer: AnswerValue, row: IfstructRecord, *, is_published: bool
) -> Iterator[Flaw]:
    """Yield the faults of a value: its wrapper, its number of items, its fields.

    A wrapper is an object with one member that is a list; with a second member it is
    not a wrapper.
    """
    items = answer.value
    wrapper = row.top_level_key if row.require_wrapper_key else None
    if answer.is_flow:
        yield Flaw("wrong_format", "JSON for YAML")
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
        yield Flaw("not_a_list", f"it is {_KINDS[type(items)]}")
        return
    count = row.top_level_count
    minimum, maximum = (count, count) if isinstance(count, int) else count
    if not minimum <= len(items) <= maximum:
        span = str(minimum) if minimum == maximum else f"{minimum} to {maximum}"
        yield Flaw("item_count", f"{len(items)} items, {span} are required")
    if is_published:
        # The published verifier counts a wrong number twice.
        yield from _bound_flaws(row.json_schema, len(items), _COUNTS)
    is_yaml = row.output_format == "yaml"
    flaws = schema_flaws(row.json_schema, items, is_yaml=is_yaml)
    yield from islice(flaws, _MAX_FAULTS)


#: JSON's words for the types of scalars, and of all values.
_SCALARS: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}
_KINDS: Final = {**_SCALARS, dict: "object", list: "array", type(None): "null"}


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
    kind = _KINDS[type(value)]
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
    elif isinstance(value, list):
        if path:
            yield from _bound_flaws(schema, len(value), _LENGTHS, path)
        for index, item in enumerate(value):
            inner = f"{path}[{index}]"
            yield from schema_flaws(schema.get("items"), item, inner, is_yaml=is_yaml)
    else:
        yield from _scalar_flaws(schema, value, path)


def _scalar_flaws(
    schema: Mapping[str, UntypedJson], value: UntypedJson, path: str
) -> Iterator[Flaw]:
    if "enum" in schema and value not in schema["enum"]:
        yield Flaw("not_in_enum", shortened(repr(value), 60), path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            yield Flaw("not_a_number", str(value), path)
        yield from _bound_flaws(schema, value, _BOUNDS, path)


#: Keywords of the least and the largest size, and the failures below and above.
_BOUNDS: Final = ("minimum", "maximum", "below_minimum", "above_maximum")
_LENGTHS: Final = ("minItems", "maxItems", "too_few_items", "too_many_items")
_COUNTS: Final = ("minItems", "maxItems", "item_count", "item_count")


def _bound_flaws(
    schema: Mapping[str, UntypedJson],
    size: float,
    names: tuple[str, str, str, str],
    path: str = "",
) -> Iterator[Flaw]:
    """Yield the fault of a number, or of the length of a list."""
    minimum, maximum = map(schema.get, names[:2])
    if minimum is not None and size < minimum:
        yield Flaw(names[2], f"{size} for at least {minimum}", path)
    elif maximum is not None and size > maximum:
        yield Flaw(names[3], f"{size} for at most {maximum}", path)
