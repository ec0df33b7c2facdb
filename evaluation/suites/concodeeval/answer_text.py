"""Read an answer of task 1: out of its fence, and as JSON, YAML or XML.

The recommended reading of YAML is version 1.2's core schema, in which every JSON text
keeps its meaning. The paper's is PyYAML's: YAML 1.1 with dates turned into strings,
where `no` is a boolean and `12:30:45` the number 45045.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from curation.core.json_types import Json, UntypedJson
from curation.json.yaml_reader import (
    YamlError,
    YamlFault,
    YamlOptions,
    finite,
    read_yaml,
    yaml_1_1_scalar,
)
from evaluation.answers.extraction import (
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
)
from evaluation.answers.json_answers import JsonProblem, code_blocks, read_json_answer
from evaluation.suites.concodeeval.settings import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    AnswerClass,
    NotRead,
    Output,
    Read,
    SuiteReading,
)
from evaluation.suites.concodeeval.xml_answer import read_xml

_FENCE: Final = "```"
_PAIR: Final = re.compile(r"```(.*?)```", re.DOTALL)
#: A first line with the name of a language alone.
_LANGUAGE: Final = re.compile(r"\A[ \t]*\.?[A-Za-z][\w+#-]*[ \t]*\r?\n")
#: Triage of free answers, and of those under an engine, which hold no thinking.
FREE_RULES: Final = TriageRules(
    refusals=Refusals.WITHOUT_TEXT, null_fails=False, longest=MAX_CHARACTERS
)
ENGINE_RULES: Final = replace(FREE_RULES, splits_thinking=False)
#: Faults of a value; the others are classes of the same name.
_NO_VALUE: Final = (JsonProblem.NOT_A_NUMBER, JsonProblem.LONE_SURROGATE)
#: All other faults are of syntax.
_YAML_FAULTS: Final[Mapping[YamlFault, AnswerClass]] = MappingProxyType(
    {
        YamlFault.TAG: AnswerClass.YAML_TAG,
        YamlFault.ALIAS: AnswerClass.YAML_ALIAS,
        YamlFault.TOO_DEEP: AnswerClass.TOO_DEEP,
        YamlFault.DUPLICATE_NAME: AnswerClass.DUPLICATE_NAME,
        YamlFault.NOT_JSON: AnswerClass.NOT_JSON,
    }
)


def fenced_answer(
    answer: str | MissingAnswer, *, continues: bool, output: Output | None = None
) -> str | NotRead:
    r"""Return the content of the block that holds the sample.

    That is the last closed block that names the format or no language, as code to check
    a sample with may follow it.

    Args:
        answer: The text without thinking.
        continues: Whether the prompt ended with an open fence, which the text
            continues. A text that opens a fence itself is read from there.
        output: The format; None for the first block, as in the published scripts.

    Example:
        >>> fenced_answer("Here it is:\n```json\n[1]\n```", continues=False)
        '[1]'
        >>> fenced_answer("[1]\n```\nThat is all.", continues=True)
        '[1]'
    """
    languages = ("", output, "yml" if output is Output.YAML else "")
    if isinstance(answer, MissingAnswer):
        return not_read(answer)
    if continues and not answer.lstrip().startswith(_FENCE):
        answer = f"{_FENCE}\n{answer}"
    content = first_fence(answer)
    for fenced in code_blocks(answer) if output is not None else ():
        if fenced.language in languages:
            content = fenced.content
    if content is None:
        detail = "unclosed fence" if _FENCE in answer else "no fence"
        return NotRead(AnswerClass.NO_FENCE, detail)
    return content or NotRead(AnswerClass.NO_ANSWER, "the fenced block is empty")


def first_fence(text: str) -> str | None:
    """Return the text between the first two marks of three backticks, if any.

    A first line with the name of a language alone is not part of it. Source: the
    published scripts.
    """
    pair = _PAIR.search(text)
    return _LANGUAGE.sub("", pair[1]).strip() if pair else None


def not_read(answer: MissingAnswer) -> NotRead:
    """Return a missing answer as unread."""
    large = answer.kind is NoAnswer.TOO_LARGE
    why = AnswerClass.TOO_LARGE if large else AnswerClass.NO_ANSWER
    return NotRead(why, answer.reason)


def read_output(
    text: str,
    output: Output,
    schema: Json,
    *,
    reading: SuiteReading = SuiteReading.RECOMMENDED,
) -> Read | NotRead:
    """Return the value of a text in one of the formats.

    Args:
        text: The text without its fence.
        output: Its format.
        schema: The schema of the value, needed for XML without types.
        reading: The reading.
    """
    if output is Output.JSON:
        return read_json(text, reading)
    if output is Output.YAML:
        return read_yaml_text(text, reading)
    return read_xml(text, schema, reading)


def read_json(
    text: str, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Read | NotRead:
    """Return the value of a JSON text (RFC 8259).

    In the paper's reading, as in Python's `json`, the last of two equal names counts.
    """
    answer = read_json_answer(text)
    if answer.problem is not None:
        in_value = answer.problem in _NO_VALUE
        why = AnswerClass.NOT_JSON if in_value else AnswerClass(answer.problem)
        return NotRead(why, answer.detail)
    if answer.duplicates and reading is not SuiteReading.PAPER:
        detail = f"the member {answer.duplicates[0][:80]!r} stands twice"
        return NotRead(AnswerClass.DUPLICATE_NAME, detail)
    return Read(answer.value)


def read_yaml_text(
    text: str, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Read | NotRead:
    """Return the value of a YAML text; aliases are not followed."""
    options = _PAPER if reading is SuiteReading.PAPER else _RECOMMENDED
    try:
        return Read(read_yaml(text, options).value)
    except YamlError as error:
        why = _YAML_FAULTS.get(error.fault, AnswerClass.SYNTAX)
        return NotRead(why, error.detail[:200])


def _json_name(_text: str, value: UntypedJson) -> str:
    """Return the name of a member as `json.dumps` writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _paper_scalar(text: str, tag: str | None = None) -> UntypedJson:
    """Return a scalar as `yaml.safe_load` and `json.dumps(default=str)` have it."""
    value = yaml_1_1_scalar(text, tag, normalize_dates=True)
    return finite(value, text) if isinstance(value, float) else value


_RECOMMENDED: Final = YamlOptions(
    name=_json_name, merge_keys=False, max_values=None, max_depth=MAX_DEPTH
)
_PAPER: Final = replace(_RECOMMENDED, scalar=_paper_scalar, unique_names=False)
