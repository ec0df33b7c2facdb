"""The golden vectors of the rules: what passes, what fails, and where."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.suites.ifstruct.settings import (
    LOST_REQUIREMENTS,
    PUBLISHED_CLASSES,
    Failure,
    RuleReading,
)
from tests.evaluation.suites.ifstruct.judged import (
    BAN,
    BLOCK,
    BOXED,
    ITEM,
    JSON,
    PLAIN,
    YAML,
    failures_of,
    judge,
)

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import Requirements


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PLAIN, JSON),
        (BLOCK, JSON),
        (f"Here:\n{BLOCK}", JSON),
        (f"{BLOCK}\nHope it helps!", JSON),
        ('[{"id": 1, "id": 2}]', JSON),
        ('[{"id": 1, "t": "a ``` b"}]', JSON),
        ('[{"id": 1, "t": "```"}]', JSON),
        ('\r\n[{"id":\r\n1}]\r\n', JSON),
        (BLOCK.replace("\n", "\r\n"), BAN),
        (f"<think>hm {{[</think>{PLAIN}", BAN),
        (f"so I begin</think>\n{PLAIN}<|end|>", BAN),
        (f"<|start|>assistant<|channel|>final<|message|>{PLAIN}<|return|>", BAN),
        (f" {BLOCK}", BAN),
        ('{"box": [{"id": 1}]}', BOXED),
        ("- id: 1", YAML),
        ("- id: 1\n  t: 2024-01-01", YAML),
        ("---\n- id: 1\n...", YAML),
        ("```yaml\n- id: 1\n```", YAML),
        ("```\n- id: 1\n```", YAML),
        ('- id: 1\n  t: "no"', YAML),
        ("- &a\n  id: 1", YAML),
        ("- id: 1\n  t: |\n    ```\n    code\n    ```", YAML),
    ],
)
def test_what_passes(text: str, wanted: Requirements) -> None:
    """Each of these answers keeps every rule, by both readings."""
    assert judge(text, wanted).findings == ()


@pytest.mark.parametrize(
    ("text", "wanted", "published"),
    [
        (f"```\n{PLAIN} done\n```", JSON, [Failure.TRAILING_TEXT]),
        (f"{BLOCK} Hope it helps!", BAN, [Failure.COMMENTARY]),
        (f"Here:\n{BLOCK}", BAN, [Failure.COMMENTARY]),
        (f"Here: {PLAIN}", BAN, [Failure.COMMENTARY, Failure.LEADING_TEXT]),
        ('[{"id": 1.0}]', JSON, [Failure.WRONG_TYPE]),
        ('[{"id": true}]', JSON, [Failure.WRONG_TYPE]),
        ('{"x": [{"id": 1}]}', JSON, [Failure.WRAPPED]),
        ('{"x": [{"id": 1}]}', BOXED, [Failure.WRONG_WRAPPER_KEY]),
        (PLAIN, BOXED, [Failure.NOT_WRAPPED]),
        ('{"box": [{"id": 1}], "n": 1}', BOXED, [Failure.NOT_A_LIST]),
        ('{"box": {"id": 1}}', BOXED, [Failure.NOT_A_LIST]),
        ('[{"id": 1, "x": 1}]', JSON, [Failure.UNKNOWN_FIELD]),
        ('[{"id": 1, "t": null}]', JSON, [Failure.WRONG_TYPE]),
        ('[{"t": "a"}]', JSON, [Failure.MISSING_FIELD]),
        ('[{"id": 6}]', JSON, [Failure.ABOVE_MAXIMUM]),
        ('[{"id": 0}]', JSON, [Failure.BELOW_MINIMUM]),
        (
            '[{"id": 1}, {"id": 2}, {"id": 3}]',
            JSON,
            [Failure.ITEM_COUNT, Failure.ITEM_COUNT],
        ),
        ("```json\n[{", JSON, [Failure.UNCLOSED_FENCE]),
        ("```json [1]```", JSON, [Failure.UNCLOSED_FENCE]),
        ("```yaml\n[]\n```", JSON, [Failure.WRONG_FORMAT]),
        ("- id: 1", JSON, [Failure.WRONG_FORMAT]),
        ('[{"id": 1,}]', JSON, [Failure.INVALID_JSON]),
        ("I cannot help with that.", JSON, [Failure.INVALID_JSON]),
        ("", JSON, [Failure.EMPTY]),
        (" \n\t", YAML, [Failure.EMPTY]),
        ("```json\n\n```", JSON, [Failure.EMPTY]),
        (f"<think>{PLAIN}", JSON, [Failure.THINKING_UNCLOSED]),
        (f"<think>{PLAIN}", YAML, [Failure.THINKING_UNCLOSED]),
        ("[1, 2", JSON, [Failure.INVALID_JSON]),
        ("text", JSON, [Failure.INVALID_JSON]),
        (PLAIN, YAML, [Failure.WRONG_FORMAT]),
        ("- {id: 1}", YAML, [Failure.WRONG_FORMAT]),
        ("```yaml\n- {id: 1}\n```", YAML, [Failure.WRONG_FORMAT]),
        (BLOCK, YAML, [Failure.WRONG_FORMAT]),
        ("- id: 1\n  t: no", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 1.10", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 012", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 1:30", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: ~", YAML, [Failure.COERCED_SCALAR]),
        ("- id: .inf", YAML, [Failure.WRONG_TYPE]),
        ("- id: 012", YAML, [Failure.ABOVE_MAXIMUM]),
        ("- id: 1\n\tt: a", YAML, [Failure.YAML_TAB]),
        ("- id: 1\n  t: a: b", YAML, [Failure.INVALID_YAML]),
        ("- id: 1\n---\n- id: 1", YAML, [Failure.INVALID_YAML]),
        ("- *a", YAML, [Failure.INVALID_YAML]),
        ("# nothing", YAML, [Failure.INVALID_YAML]),
        ("- id: 1\n  ? [a]\n  : b", YAML, [Failure.INVALID_YAML]),
        ("just words", YAML, [Failure.NOT_A_LIST]),
    ],
)
def test_what_fails_and_why(
    text: str, wanted: Requirements, published: list[Failure]
) -> None:
    """Each of these answers has the failures that are named, and passes by no reading.

    The recommended reading books a wrong number of items once.
    """
    assert failures_of(text, wanted, RuleReading.PUBLISHED) == published
    recommended = list(dict.fromkeys(published))
    assert failures_of(text, wanted, RuleReading.RECOMMENDED) == recommended


def test_scalars_are_counted() -> None:
    """A missing list counts with the scalars that it would have held."""
    nested = {"type": "array", "minItems": 2, "items": ITEM}
    schema = {
        "items": {
            "properties": {"a": {"type": "string"}, "b": nested},
            "required": ["a", "b"],
        }
    }
    wanted = replace(JSON, schema=schema)
    good = '[{"a": "x", "b": [{"id": 1, "t": "y"}, {"id": 9, "t": "z"}]}]'
    verdict = judge(good, wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (4, 5)
    verdict = judge('[{"a": "x"}]', wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (1, 5)
    verdict = judge('[{"a": "x", "b": [{"id": 1, "t": "y"}]}]', wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (3, 5)


def test_a_place_is_a_path() -> None:
    """A finding says where in the list it is."""
    (found,) = judge('[{"id": "one"}]', JSON).findings
    assert (found.place, found.detail) == ("[0].id", "string for integer")


def test_json_of_another_reader_is_the_same() -> None:
    """What `json` reads, the verifier reads."""
    text = json.dumps([{"id": 1, "t": "æ\u2028\n"}])
    assert judge(text, JSON).findings == ()


def test_every_failure_is_explained_and_belongs_to_a_requirement() -> None:
    """No class lacks its sentence."""
    for failure in Failure:
        assert failure.explanation
        assert PUBLISHED_CLASSES.get(failure, "") or failure in LOST_REQUIREMENTS
