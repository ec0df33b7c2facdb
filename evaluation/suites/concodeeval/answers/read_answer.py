"""What a model wrote, read: out of its fence, and in the format asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from evaluation.answers.extraction import first_fence, split_thinking
from evaluation.suites.concodeeval.answers.json_answer import read_json
from evaluation.suites.concodeeval.answers.model import (
    MAX_CHARACTERS,
    NotRead,
    Read,
    Unreadable,
)
from evaluation.suites.concodeeval.answers.xml_answer import read_xml
from evaluation.suites.concodeeval.answers.yaml_answer import read_yaml
from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    from curation.core.json_types import Json

_FENCE = "```"


class Output(StrEnum):
    """The formats in which samples are written."""

    JSON = "json"
    YAML = "yaml"
    XML = "xml"


def fenced_answer(text: str, *, continues: bool) -> str | NotRead:
    r"""Return what stands in the first fenced block.

    Args:
        text: What a model wrote, its thinking among it.
        continues: Whether the prompt ended with an open fence that the text goes on
            from. A text that opens a fence of its own is read from there.

    Example:
        >>> fenced_answer("Here it is:\n```json\n[1]\n```", continues=False)
        '[1]'
        >>> fenced_answer("[1]\n```\nThat is all.", continues=True)
        '[1]'
    """
    if len(text) > MAX_CHARACTERS:
        return NotRead(Unreadable.TOO_LARGE, f"{len(text):,} characters")
    thought = split_thinking(text)
    answer = thought.answer
    if thought.unclosed or not answer.strip():
        why = "it ends inside of its thinking" if thought.unclosed else ""
        return NotRead(Unreadable.NO_ANSWER, why)
    if continues and not answer.lstrip().startswith(_FENCE):
        answer = f"{_FENCE}\n{answer}"
    found = first_fence(answer)
    if found.text is None:
        return NotRead(Unreadable.NO_FENCE, found.problem.replace("_", " "))
    if not found.text:
        return NotRead(Unreadable.NO_ANSWER, "the fenced block is empty")
    return found.text


def read_output(
    text: str,
    output: Output,
    schema: Json,
    *,
    reading: SuiteReading = SuiteReading.RECOMMENDED,
    xml: SuiteReading = SuiteReading.RECOMMENDED,
) -> Read | NotRead:
    """Return the value of a text in one of the formats.

    Args:
        text: The text alone, without a fence.
        output: Its format.
        schema: What the value is meant to satisfy; XML without types needs it.
        reading: How JSON and YAML are read.
        xml: How XML is read.
    """
    if len(text) > MAX_CHARACTERS:
        return NotRead(Unreadable.TOO_LARGE, f"{len(text):,} characters")
    match output:
        case Output.JSON:
            return read_json(text, reading)
        case Output.YAML:
            return read_yaml(text, reading)
    return read_xml(text, schema, xml)
