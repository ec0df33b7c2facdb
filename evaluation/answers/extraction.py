"""Take the answer out of a response: thinking, fences, code blocks, and JSON.

Thinking is in tags, in the channels of OpenAI's harmony format
(https://cookbook.openai.com/articles/openai-harmony), or before a closing tag alone.
End tokens that a server left in the text are removed too.

Published benchmarks differ in what they remove around an answer: unclosed fences,
backticks inside strings, text around.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, TypeAlias

from curation.json.text import depth

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Response

#: Characters of a message.
_SHOWN: Final = 300
#: Endings of a response that are refusals.
_REFUSED: Final = frozenset({"refusal", "content_filter"})
#: The beginning of a text without brackets that is a refusal; a JSON string is not one.
_REFUSAL: Final = re.compile(
    r"\A[^\w\"]*(?:i['\u2019]?m (?:really |very )?sorry|i am sorry|sorry\b"
    r"|i can(?:no|['\u2019])t|i['\u2019]?m (?:unable|not able)|i am (?:unable|not able)"
    r"|i won['\u2019]t|as an ai\b|unfortunately, i|i apologi[sz]e)",
    re.IGNORECASE,
)
#: Tags around thinking, in any case: `<think>`, Seed's `<seed:think>`, `[THINK]` of
#: Mistral, `\u25c1think\u25b7` of Kimi.
_TAG: Final = (
    r"(?:<{0}(?:seed:)?(?:think|thinking|thought|reasoning)>|\[{0}think\]"
    r"|\u25c1{0}think\u25b7)"
)
_OPENING_TAG, _CLOSING_TAG, _ANY_TAG = (
    re.compile(_TAG.format(slash), re.IGNORECASE) for slash in ("", "/", "/?")
)
#: Harmony's last channel, also with the format that it is held to.
_FINAL: Final = re.compile(
    r"(.*)<\|channel\|>final(?: ?<\|constrain\|> ?\w+)?<\|message\|>", re.DOTALL
)
_CHANNEL: Final = "<|channel|>"
#: Harmony without its special tokens.
_BARE_HARMONY: Final = re.compile(
    r"\A\s*(?:analysis|commentary)(.*?)assistant\s*final", re.DOTALL
)
#: Most end tokens removed from one text.
_MAX_END_TOKENS: Final = 32
_END_TOKENS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<|end|>", "<|eom_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    *("<end_of_turn>", "<eos>", "</s>"),
)
#: Beginnings of answers, which may quote tags.
_ANSWER: Final = re.compile(r'\s*(?:\{|\[(?!/?THINK\])|"|```|- )', re.IGNORECASE)
_MARK: Final = "\ufeff"
#: A byte order mark, a space without width.
_INVISIBLE: Final = f"{_MARK}\u200b"


class AnswerParts(NamedTuple):
    """A model's text in its two parts."""

    answer: str
    thinking: str = ""
    #: Whether thinking began and never ended, which leaves no answer.
    unclosed: bool = False


def split_thinking(text: str) -> AnswerParts:
    """Return the answer of a text, and the thinking before it.

    A text that begins like an answer is one: `{"tag": "<think>"}`. Otherwise thinking
    ends at the first closing tag that something like an answer follows, or at the last
    one. After an opening tag without an end there is no answer; if nothing follows the
    thinking, the answer is before it. A byte order mark is dropped.

    Example:
        >>> split_thinking("<think>No <think> tags?</think>[2]").answer
        '[2]'
        >>> split_thinking("<think>Two?").unclosed
        True
    """
    text = _without_end_tokens(text.strip(_INVISIBLE))
    if not _ANSWER.match(text) and (harmony := _split_harmony(text)):
        return harmony
    end = 0
    while not _ANSWER.match(text, end) and (closing := _CLOSING_TAG.search(text, end)):
        end = closing.end()
    opening = None if _ANSWER.match(text, end) else _OPENING_TAG.search(text, end)
    if not end and not opening:
        return AnswerParts(answer=text)
    last = opening.start() if opening else len(text)
    answer = text[end:last].strip().removeprefix(_MARK)
    thoughts = map(str.strip, _ANY_TAG.split(text[:end] + text[last:]))
    if not answer and not opening:
        before, *thought = _OPENING_TAG.split(text, maxsplit=1)
        answer = before.strip() if thought else ""
    return AnswerParts(
        answer=answer,
        thinking="\n".join(filter(None, thoughts)),
        unclosed=opening is not None and not answer,
    )


def _without_end_tokens(text: str) -> str:
    """Return a text without the end tokens at its end, and the space around them."""
    for _ in range(_MAX_END_TOKENS):
        ended = text.rstrip()
        if not ended.endswith(_END_TOKENS):
            break
        text = ended[: ended.rindex("<")].rstrip()
    return text


def _split_harmony(text: str) -> AnswerParts | None:
    match = _FINAL.match(text)
    if match is None and text.lstrip().startswith(_CHANNEL):
        return AnswerParts(answer="", thinking=text.strip(), unclosed=True)
    match = match or _BARE_HARMONY.match(text)
    if match is None:
        return None
    return AnswerParts(answer=text[match.end() :].strip(), thinking=match[1].strip())


_FENCE: Final = "```"
#: A fence and the name of a language; an answer on the same line is not one.
_OPENING: Final = re.compile(r'\A```+[ \t]*+(?:[^\s`{\["]*+(?!`))?[ \t]*+\r?\n?')

#: Takes the answer out of a text without thinking; empty if it finds none.
Policy: TypeAlias = Callable[[str], str]


def outer_fence(text: str) -> str:
    """Return the content of a fence that holds the whole text, otherwise the text.

    Only that one fence is removed: backticks inside strings stay. An unclosed fence is
    removed too: its content shows whether the answer was cut.
    """
    text = text.strip()
    opening = _OPENING.match(text)
    if opening is None:
        return text
    body = text[opening.end() :]
    return (body.rstrip("`") if body.endswith(_FENCE) else body).strip()


def strip_all_backticks(text: str) -> str:
    """Return a text that begins with a fence without any mark of three backticks.

    It damages strings with such marks. Source: the published reading of the prompted
    pass rate, which deletes every "```json" and "```".
    """
    text = text.strip()
    if not text.startswith(_FENCE):
        return text
    return text.replace(f"{_FENCE}json", "").replace(_FENCE, "").strip()


#: Every policy by its name in settings and results.
POLICIES: Final[Mapping[str, Policy]] = {
    policy.__name__: policy for policy in (outer_fence, strip_all_backticks)
}


class NoAnswer(StrEnum):
    """A reason why a response has no answer; earlier reasons take precedence."""

    FAILED = "api_error"
    """The server, the engine or the model failed."""
    REFUSED = "refusal"
    """The model or its provider refused to answer."""
    TOO_LARGE = "too_large"
    """The text is longer than the suite reads."""
    TRUNCATED = "truncated"
    """The budget of tokens was used up before there was a text."""
    EMPTY = "empty"
    """The text is missing, or only thinking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageRules:
    """The rules by which a suite reads responses."""

    #: Takes the answer out of the text without thinking; None for all of it.
    policy: Policy | None = None
    #: Whether the first words of a text without brackets can refuse too, and not only
    #: the end of its response.
    refuses_in_words: bool = False
    #: Whether thinking is removed.
    splits_thinking: bool = True
    #: Characters read; None for no limit.
    longest: int | None = None


class MissingAnswer(NamedTuple):
    """A response without an answer."""

    kind: NoAnswer
    #: In words.
    reason: str
    #: Whether thinking began in the text and never ended.
    unclosed: bool = False


def triage(response: Response, rules: TriageRules) -> str | MissingAnswer:
    """Return the answer of a response, never empty, or why it has none.

    Args:
        response: The response.
        rules: The rules of the suite.

    Example:
        >>> from evaluation.core.records import Response
        >>> triage(Response(record="a", text="<think>Hm.</think>7"), TriageRules())
        '7'
        >>> triage(Response(record="a", text=" "), TriageRules()).kind
        <NoAnswer.EMPTY: 'empty'>
    """
    if response.error:
        return MissingAnswer(NoAnswer.FAILED, response.error[:_SHOWN])
    text = response.text or ""
    has_brackets = "{" in text or "[" in text
    if response.finish in _REFUSED and not has_brackets:
        return MissingAnswer(NoAnswer.REFUSED, f"ended as {response.finish}")
    if rules.longest is not None and len(text) > rules.longest:
        reason = f"{len(text):,} characters, {rules.longest:,} are read"
        return MissingAnswer(NoAnswer.TOO_LARGE, reason)
    parts = split_thinking(text) if rules.splits_thinking else AnswerParts(answer=text)
    answer = parts.answer if rules.policy is None else rules.policy(parts.answer)
    if not answer.strip():
        thinking = parts.unclosed or parts.thinking or response.reasoning
        kind = NoAnswer.EMPTY
        reason = "thinking that never came to an answer" if thinking else "no text"
        if response.finish == "length":
            kind, reason = NoAnswer.TRUNCATED, f"{reason}; the budget was used up"
        return MissingAnswer(kind, reason, unclosed=parts.unclosed)
    if rules.refuses_in_words and not has_brackets:
        refusal = _REFUSAL.match(answer[:_SHOWN])
        if refusal is not None:
            reason = f"begins {refusal[0].strip()!r}"
            return MissingAnswer(NoAnswer.REFUSED, reason)
    return answer


#: A code block: three backticks or more, closed by as many.
CODE_BLOCK: Final = re.compile(r"(`{3,9}+)(.*?)\1", re.DOTALL)
_LANGUAGE: Final = re.compile(r"\A[ \t]*([\w+#.-]*)[ \t]*\r?\n")


class CodeBlock(NamedTuple):
    """A closed code block."""

    #: In lower case; empty if none is named.
    language: str
    content: str


def code_blocks(text: str) -> list[CodeBlock]:
    r"""Return the closed code blocks of a text.

    Example:
        >>> code_blocks("Here:\n```json\n[1]\n```")
        [CodeBlock(language='json', content='[1]')]
    """
    blocks = []
    for match in CODE_BLOCK.finditer(text):
        language = _LANGUAGE.match(match[2])
        content = match[2][language.end() :] if language else match[2]
        name = language[1].lower() if language else ""
        blocks.append(CodeBlock(name, content.strip()))
    return blocks


#: Maximum characters of an answer.
MAX_CHARACTERS: Final = 32 * 2**20
#: Levels of objects and arrays that validators can process.
MAX_LEVELS: Final = 250
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class JsonProblem(StrEnum):
    """A fault of a text that is not acceptable JSON."""

    SYNTAX = "syntax"
    """It is not JSON (RFC 8259)."""
    NOT_A_NUMBER = "not_a_number"
    """It holds NaN or an infinity, or a number that no double can hold."""
    TOO_DEEP = "too_deep"
    """It nests deeper than validators can follow."""
    TOO_LARGE = "too_large"
    """It is too long."""
    LONE_SURROGATE = "lone_surrogate"
    """A string holds half of a surrogate pair."""


class JsonAnswer(NamedTuple):
    """The result of reading one text."""

    value: Json = None
    problem: JsonProblem | None = None
    #: The fault, with its line and column.
    detail: str = ""
    #: Names repeated in one object; the last value counts, as in parsers.
    duplicates: tuple[str, ...] = ()


class _Refused(ValueError):  # noqa: N818 (named by its meaning)
    """A number that Python's parser would accept."""


def read_json_answer(text: str) -> JsonAnswer:
    """Return the value of an answer, or its fault; it never raises.

    Example:
        >>> read_json_answer('{"a": 1, "a": 2}')
        JsonAnswer(value={'a': 2}, problem=None, detail='', ...)
        >>> read_json_answer('{"a": NaN}').problem
        <JsonProblem.NOT_A_NUMBER: 'not_a_number'>
    """
    if len(text) > MAX_CHARACTERS:
        detail = f"{len(text):,} characters, over {MAX_CHARACTERS:,}"
        return JsonAnswer(problem=JsonProblem.TOO_LARGE, detail=detail)
    duplicates: list[str] = []

    def build(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            duplicates.extend(name for name in members if counts[name] > 1)
        return members

    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=build,
            parse_float=_read_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return JsonAnswer(problem=JsonProblem.SYNTAX, detail=detail)
    except _Refused as error:
        return JsonAnswer(problem=JsonProblem.NOT_A_NUMBER, detail=str(error))
    except RecursionError:
        return _too_deep()
    except ValueError:
        detail = "an integer of more than 4,300 digits"
        return JsonAnswer(problem=JsonProblem.NOT_A_NUMBER, detail=detail)
    brackets = text.count("{") + text.count("[")
    if brackets > MAX_LEVELS and depth(value) > MAX_LEVELS:
        return _too_deep()
    if _has_lone_surrogate(text, value):
        detail = "half of a surrogate pair in a string"
        return JsonAnswer(problem=JsonProblem.LONE_SURROGATE, detail=detail)
    return JsonAnswer(value=value, duplicates=tuple(dict.fromkeys(duplicates)))


def _too_deep() -> JsonAnswer:
    detail = f"nested over {MAX_LEVELS} levels"
    return JsonAnswer(problem=JsonProblem.TOO_DEEP, detail=detail)


def _read_float(spelling: str) -> float:
    value = float(spelling)
    if value in {float("inf"), float("-inf")}:
        raise _Refused(f"the number {spelling[:40]} is too large for a double")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not JSON")


def _has_lone_surrogate(text: str, value: Json) -> bool:
    if _ESCAPED_SURROGATE.search(text) is None and text.isascii():
        return False
    return bool(_SURROGATE.search(json.dumps(value, ensure_ascii=False)))


def is_trivial(value: Json, schema: str) -> bool:
    """Return whether a value is trivial, given its schema.

    That is `null`, `true`, `false`, `[]`, `{}`, a bare string that the schema itself
    spells out in an `enum` or a `const`, and an object of nothing but members that are
    required at the root, where the schema knows others.

    Args:
        value: What a model wrote.
        schema: The schema's text.
    """
    if value is None or isinstance(value, bool) or value in ([], {}):
        return True
    root: Json = json.loads(schema.removeprefix("\ufeff"))
    if isinstance(value, str):
        return value in _spelt_out(root)
    if not isinstance(value, dict) or not isinstance(root, dict):
        return False
    required = root.get("required")
    properties = root.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return False
    names = {name for name in required if isinstance(name, str)}
    return set(value) <= names and not set(properties) <= names


def _spelt_out(schema: Json) -> Iterator[str]:
    """Yield the strings of every `enum` and `const` of a schema."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            enum = part.get("enum")
            const = part.get("const")
            values = [*enum, const] if isinstance(enum, list) else [const]
            yield from (value for value in values if isinstance(value, str))
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
