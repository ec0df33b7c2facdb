"""Read an answer: its code block, the text around, and its JSON or YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import yaml

from curation.core.json_types import UntypedJson
from curation.json.text import depth
from curation.json.yaml_reader import (
    YamlError,
    YamlFault,
    YamlOptions,
    read_yaml,
    yaml_1_1_scalar,
)
from curation.system.words import shortened
from evaluation.answers.extraction import MissingAnswer, NoAnswer
from evaluation.answers.json_answers import json_spans
from evaluation.suites.ifstruct.rows import AnswerFormat, Fence, FenceWish, Requirements
from evaluation.suites.ifstruct.settings import Failure, RuleReading

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


@dataclass(frozen=True, slots=True)
class Flaw:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerValue:
    """The value of an answer, with the remarks of its reader."""

    value: UntypedJson
    #: Faults of a text whose value could be read.
    findings: tuple[Flaw, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
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
