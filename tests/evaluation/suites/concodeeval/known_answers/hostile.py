"""Answers that mean harm, or are no text of their format: each has its class.

Every one holds a right sample, so that it is as long as answers are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.core.suite import KnownAnswer
from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.settings import (
    MAX_DEPTH,
    AnswerClass,
    Output,
    SuiteReading,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.suites.concodeeval.settings import ConcodeSettings

    #: What is done, the text, and the class that it must get.
    Damaged = Iterator[tuple[str, str, AnswerClass]]

_DEEP: Final = MAX_DEPTH + 1
_YAML_BOMB: Final = """\
b: &b [x, x, x, x, x, x, x, x]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c]
e: [*d, *d, *d, *d, *d, *d, *d, *d]"""
_XML_BOMB: Final = (
    '<!DOCTYPE all [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;&b;"><!ENTITY d "&c;&c;">]>'
)
_XML_FILE: Final = '<!DOCTYPE all [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
_XML_FETCH: Final = '<!DOCTYPE all SYSTEM "https://example.org/all.dtd">'


def hostile_answers(
    value: Json, output: Output, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield answers that no value comes of.

    Args:
        value: A value that is right, to be damaged.
        output: The format asked for.
        settings: In the paper's reading two equal names are no fault.
    """
    text = write_sample(value, output)
    match output:
        case Output.JSON:
            damaged, twice = _json(text, value), f'{{"amber": {text}, "amber": 2}}'
        case Output.YAML:
            text = write_sample({"amber": value}, output)
            damaged, twice = _yaml(text), f"{text}\namber: 2"
        case Output.XML:
            element = text.partition("\n")[2]
            twice = f'<all type="dict">{element}{element}</all>'
            damaged = _xml(element, value)
    for kind, broken, expected in damaged:
        yield _fenced(kind, broken, expected)
    reads_types = output is not Output.XML or settings.xml == "typed"
    if settings.reading is not SuiteReading.PAPER and reads_types:
        yield _fenced("member_twice", twice, AnswerClass.DUPLICATE_NAME)


def _json(text: str, value: Json) -> Damaged:
    yield "python_code", f"__import__('os').system({text})", AnswerClass.SYNTAX
    yield "single_quotes", f"{{'amber': {text}}}", AnswerClass.SYNTAX
    yield "trailing_comma", f"[{text},]", AnswerClass.SYNTAX
    yield "comment", f"{text} // all of it", AnswerClass.SYNTAX
    yield "cut_short", f"[{text}", AnswerClass.SYNTAX
    yield "in_another_format", write_sample(value, Output.XML), AnswerClass.SYNTAX
    yield "not_a_number", f"[{text}, NaN]", AnswerClass.NOT_JSON
    yield "beyond_double", f"[{text}, 1e999]", AnswerClass.NOT_JSON
    yield "nested_too_deep", _nested("[", text, "]"), AnswerClass.TOO_DEEP


def _yaml(text: str) -> Damaged:
    """Damage a text that holds a mapping."""
    for kind, added, expected in (
        ("object_tag", "b: !!python/object/apply:os.system [a]", AnswerClass.YAML_TAG),
        ("tag_of_scalar", "b: !!python/name:os.system ''", AnswerClass.YAML_TAG),
        ("alias", "b: &b [1]\nc: *b", AnswerClass.YAML_ALIAS),
        ("alias_bomb", _YAML_BOMB, AnswerClass.YAML_ALIAS),
        ("tab_indent", "b:\n\t- 1", AnswerClass.SYNTAX),
        ("two_documents", "---\n2", AnswerClass.SYNTAX),
        ("left_open", "b: [1, 2", AnswerClass.SYNTAX),
        ("not_a_number", "b: .nan", AnswerClass.NOT_JSON),
        ("collection_as_name", "? [1, 2]\n: 3", AnswerClass.NOT_JSON),
        ("nested_too_deep", f"b: {_nested('[', '1', ']')}", AnswerClass.TOO_DEEP),
        ("block_too_deep", f"b:\n  {'- ' * _DEEP}1", AnswerClass.TOO_DEEP),
    ):
        yield kind, f"{text}\n{added}", expected


def _xml(element: str, value: Json) -> Damaged:
    yield "entity_bomb", f"{_XML_BOMB}{element}", AnswerClass.XML_DOCTYPE
    yield "external_entity", f"{_XML_FILE}{element}", AnswerClass.XML_DOCTYPE
    yield "external_doctype", f"{_XML_FETCH}{element}", AnswerClass.XML_DOCTYPE
    yield "unknown_entity", f"<all>{element}&amber;</all>", AnswerClass.SYNTAX
    yield "bad_name", f"<1a>{element}</1a>", AnswerClass.SYNTAX
    yield "crossed_tags", f"<a><b>{element}</a></b>", AnswerClass.SYNTAX
    yield "two_roots", f"{element}{element}", AnswerClass.SYNTAX
    yield "control_character", f"<all>{element}\x01</all>", AnswerClass.SYNTAX
    yield "cut_short", element[:-1], AnswerClass.SYNTAX
    yield "in_another_format", json.dumps(value, indent=4), AnswerClass.SYNTAX
    yield "nested_too_deep", _nested("<a>", element, "</a>"), AnswerClass.TOO_DEEP


def _nested(opening: str, text: str, closing: str) -> str:
    return opening * _DEEP + text + closing * _DEEP


def _fenced(kind: str, text: str, expected: AnswerClass) -> KnownAnswer:
    return KnownAnswer(
        kind=kind,
        text=f"```\n{text}\n```",
        expected=expected.value,
        because=f"{expected.value}: ",
    )
