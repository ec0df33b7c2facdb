"""What a stranger writes is read or refused; nothing is made, fetched or expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.answers.extraction import triage
from evaluation.core.records import Response
from evaluation.suites.concodeeval.answer_text import (
    FREE_RULES,
    fenced_answer,
    read_json,
    read_yaml_text,
)
from evaluation.suites.concodeeval.settings import (
    MAX_CHARACTERS,
    AnswerClass,
    NotRead,
    Read,
    SuiteReading,
)
from evaluation.suites.concodeeval.xml_answer import read_xml

if TYPE_CHECKING:
    from curation.core.json_types import Json


def _why(found: Read | NotRead) -> AnswerClass | None:
    return found.why if isinstance(found, NotRead) else None


def _fenced(text: str, *, continues: bool) -> str | NotRead:
    answer = triage(Response(record="a", text=text), FREE_RULES)
    return fenced_answer(answer, continues=continues)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("!!python/object/apply:os.system ['true']", AnswerClass.YAML_TAG),
        ("!!python/name:os.system ''", AnswerClass.YAML_TAG),
        ("!mine {a: 1}", AnswerClass.YAML_TAG),
        ("!!binary aGk=", AnswerClass.YAML_TAG),
        ("- &a [1]\n- *a", AnswerClass.YAML_ALIAS),
        ("a: 1\na: 2", AnswerClass.DUPLICATE_NAME),
        ("{1: a, '1': b}", AnswerClass.DUPLICATE_NAME),
        ("? [1]\n: 2", AnswerClass.NOT_JSON),
        ("[.inf]", AnswerClass.NOT_JSON),
        ("1e999", AnswerClass.NOT_JSON),
        ("[" * 100_000, AnswerClass.TOO_DEEP),
        ("- " * 100_000, AnswerClass.TOO_DEEP),
        ("a:\n\t- 1", AnswerClass.SYNTAX),
        ("1\n---\n2", AnswerClass.SYNTAX),
        ("%YAML 9.9\n---\n1", AnswerClass.SYNTAX),
        ("\x00", AnswerClass.SYNTAX),
        ("", AnswerClass.SYNTAX),
        ("9" * 5_000, AnswerClass.SYNTAX),
    ],
)
def test_yaml_that_means_harm_has_its_class(text: str, why: AnswerClass) -> None:
    """No tag makes an object, no alias is followed, no depth ends the interpreter."""
    assert _why(read_yaml_text(text)) is why


def test_yaml_is_read_as_1_2_or_as_pyyaml_does() -> None:
    """`no`, times and dates are texts in the core schema, and something else in 1.1."""
    text = "a: no\nb: 12:30:45\nc: 2024-01-01\nd: 1e3\ne: 0o7\nf:\n1: yes"
    core: Json = {
        "a": "no",
        "b": "12:30:45",
        "c": "2024-01-01",
        "d": 1000.0,
        "e": 7,
        "f": None,
        "1": "yes",
    }
    pyyaml: Json = {
        "a": False,
        "b": 45045,
        "c": "2024-01-01",
        "d": "1e3",
        "e": "0o7",
        "f": None,
        "1": True,
    }
    assert read_yaml_text(text) == Read(core)
    assert read_yaml_text(text, SuiteReading.PAPER) == Read(pyyaml)


_BOMB = (
    '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>'
)
_FILE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_BOMB, AnswerClass.XML_DOCTYPE),
        (_FILE, AnswerClass.XML_DOCTYPE),
        ('<!DOCTYPE a SYSTEM "https://example.org/a"><a/>', AnswerClass.XML_DOCTYPE),
        ("<a>&amber;</a>", AnswerClass.SYNTAX),
        ("<1a/>", AnswerClass.SYNTAX),
        ("<a><b></a></b>", AnswerClass.SYNTAX),
        ("<a/><b/>", AnswerClass.SYNTAX),
        ("<a>\x01</a>", AnswerClass.SYNTAX),
        ("<a>\ud800</a>", AnswerClass.SYNTAX),
        ('<a b="1" b="2"/>', AnswerClass.SYNTAX),
        ("", AnswerClass.SYNTAX),
        ("plain", AnswerClass.SYNTAX),
        ("<a>" * 10_000, AnswerClass.TOO_DEEP),
        ('<a type="float">1e999</a>', AnswerClass.NOT_JSON),
        ('<a escaped="true">\\</a>', AnswerClass.NOT_JSON),
        (
            '<all type="dict"><a type="int">1</a><a type="int">2</a></all>',
            AnswerClass.DUPLICATE_NAME,
        ),
    ],
)
def test_xml_that_means_harm_has_its_class(text: str, why: AnswerClass) -> None:
    """No entity is expanded and nothing external read; a bad name is bad syntax."""
    assert _why(read_xml(text, {}, SuiteReading.RECOMMENDED)) is why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', AnswerClass.DUPLICATE_NAME),
        ("[NaN]", AnswerClass.NOT_JSON),
        ("[" * 10_000, AnswerClass.TOO_DEEP),
        ("{'a': 1}", AnswerClass.SYNTAX),
        ("__import__('os').system('true')", AnswerClass.SYNTAX),
    ],
)
def test_json_that_is_none_has_its_class(text: str, why: AnswerClass) -> None:
    """What Python's reader would let pass, or fall over, is named."""
    assert _why(read_json(text)) is why


def test_of_two_members_the_last_counts_in_the_papers_reading() -> None:
    """That is what Python's `json` does."""
    assert read_json('{"a": 1, "a": 2}', SuiteReading.PAPER) == Read({"a": 2})


def test_an_answer_of_ten_megabytes_is_not_read() -> None:
    """Its length is looked at first."""
    text = "1" * 10_000_000
    fenced = _fenced(f"```\n{text}\n```", continues=False)
    assert isinstance(fenced, NotRead)
    assert fenced.why is AnswerClass.TOO_LARGE
    assert len(text) > MAX_CHARACTERS


@pytest.mark.parametrize(
    ("text", "continues", "expected"),
    [
        ("```json\n[1]\n```", False, "[1]"),
        ("Here:\n```\n[1]\n```\n```\n[2]\n```", False, "[1]"),
        ("[1]\n```", True, "[1]"),
        ("```yaml\n- 1\n```", True, "- 1"),
        ("<think>```\n[2]\n```</think>```\n[1]\n```", False, "[1]"),
        ("[1]", False, AnswerClass.NO_FENCE),
        ("[1]", True, AnswerClass.NO_FENCE),
        ("```\n[1]", False, AnswerClass.NO_FENCE),
        ("```\n```json\n[1]\n```\n```", False, AnswerClass.NO_ANSWER),
        ("```\n\n```", False, AnswerClass.NO_ANSWER),
        ("<think>so", False, AnswerClass.NO_ANSWER),
    ],
)
def test_the_first_closed_fence_holds_the_answer(
    text: str,
    continues: bool,  # noqa: FBT001 (a parameter of the test)
    expected: str | AnswerClass,
) -> None:
    """Unclosed and nested fences have their classes; an open one is gone on from."""
    found = _fenced(text, continues=continues)
    assert (found.why if isinstance(found, NotRead) else found) == expected
