"""Five right answerers get every record of every suite right."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import pytest

from evaluation.suites.registry import suites
from tests.evaluation.suites.envelopes import RightAnswer, right_answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json

_ARTICLE: Final = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)


def _perfect(answer: RightAnswer) -> str:
    return answer.text


def _talkative(answer: RightAnswer) -> str:
    """Think aloud, and use every word that the prompt does not forbid."""
    text = f"Gladly!\n\n{answer.text}\n\nShall I go on?" if answer.talk else answer.text
    return f"<think>What {{is}} asked? <think>Ah.</think>\n{text}\n"


def _terse(answer: RightAnswer) -> str:
    """Write no white space, and no code block but one that is required."""
    text, content = answer.text, answer.content
    try:
        short = json.dumps(json.loads(content), separators=(",", ":"))
    except ValueError:
        return text
    return text.replace(content, short)


def _without_nulls(answer: RightAnswer) -> str:
    """Leave out each null that the schema lets one leave out."""
    schema = json.loads(answer.record.schema or "true")
    return _changed(answer, lambda value: _dropped(value, schema))


def _dropped(value: Json, schema: Json) -> Json:
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        inner, required = schema.get("properties", {}), schema.get("required", [])
        return {
            name: _dropped(member, inner.get(name))  # type: ignore[union-attr]  # properties
            for name, member in value.items()
            if member is not None or name in required  # type: ignore[operator]  # names
        }
    if isinstance(value, list):
        return [_dropped(item, schema.get("items")) for item in value]
    return value


def _without_articles(answer: RightAnswer) -> str:
    """Drop the article of each text that is not said to be copied."""
    schema = json.loads(answer.record.schema or "true")
    return _changed(answer, lambda value: _shortened(value, schema))


def _shortened(value: Json, schema: Json) -> Json:
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {
            name: _shortened(member, inner.get(name))  # type: ignore[union-attr]  # properties
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [_shortened(item, schema.get("items")) for item in value]
    is_copied = "quotation marks" in str(schema.get("description")) or "enum" in schema
    if isinstance(value, str) and not is_copied and len(value.split()) > 1:
        return _ARTICLE.sub("", value)
    return value


def _changed(answer: RightAnswer, change: Callable[[Json], Json]) -> str:
    content = answer.content
    try:
        value = json.loads(content)
    except ValueError:
        return answer.text
    return answer.text.replace(content, json.dumps(change(value), ensure_ascii=False))


@pytest.mark.parametrize(
    "write", [_perfect, _talkative, _terse, _without_nulls, _without_articles]
)
@pytest.mark.parametrize("suite", list(suites()))
def test_a_right_answerer_gets_everything_right(
    suite: str, write: Callable[[RightAnswer], str]
) -> None:
    """No prompt grants what its scorer punishes, and no truth wants what none said."""
    answers = right_answers(suite, 40)
    assert answers
    for answer in answers:
        text = write(answer)
        verdict = answer.verdict(text)
        assert verdict.passed, (answer.record.key, text, verdict.reasons)
    assert suite != "ifstruct" or any(answer.talk for answer in answers)
