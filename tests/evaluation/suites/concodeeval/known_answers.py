"""Known answers to both tasks."""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.instances.dataset.make_instances import make_instances
from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.settings import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    AnswerClass,
    Output,
    SuiteReading,
    TaskName,
    fields_of,
)
from tests.evaluation.suites.known_answers import KnownAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.dataset.make_instances import SchemaInstances
    from evaluation.core.records import Record
    from evaluation.suites.concodeeval.settings import ConcodeSettings, RecordFields

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
        yield _fenced_answer(kind, broken, expected)
    reads_types = output is not Output.XML or settings.reading == "recommended"
    if settings.reading is not SuiteReading.PAPER and reads_types:
        yield _fenced_answer("member_twice", twice, AnswerClass.DUPLICATE_NAME)


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


def _fenced_answer(kind: str, text: str, expected: AnswerClass) -> KnownAnswer:
    return KnownAnswer(
        kind=kind,
        text=f"```\n{text}\n```",
        expected=expected.value,
        because=f"{expected.value}: ",
    )


#: One record in so many gets an answer that is too large.
_SELDOM: Final = 512
#: A value of each type, to stand where another one is asked for.
_OF_TYPE: Final[dict[str, Json]] = {
    "string": "amber",
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def generation_answers(
    fields: RecordFields, dialect: str, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none where no witness is found."""
    made = _instances(fields.schema, dialect)
    witnesses = [row.value for row in made.witnesses]
    if not witnesses:
        return
    schema: Json = json.loads(fields.schema)
    fullest = max(witnesses, key=lambda value: len(json.dumps(value)))
    reads_types = fields.output is not Output.XML or settings.reading == "recommended"
    if reads_types:
        yield from _right_ones(witnesses, fullest, fields, settings)
        yield from _wrong_values(schema, made, fields, settings)
    else:
        yield _paper_xml(schema, fullest)
    yield from _wrong_texts(write_sample(fullest, fields.output), settings)
    yield from hostile_answers(fullest, fields.output, settings)
    if zlib.crc32(f"{fields.cell}/{fields.schema_id}".encode()) % _SELDOM == 0:
        yield _wrong("too_large", _fenced("1" * MAX_CHARACTERS), AnswerClass.TOO_LARGE)


@lru_cache(maxsize=1_024)
def _instances(schema: str, dialect: str) -> SchemaInstances:
    """Return the instances of a schema, made once for all of its cells."""
    return make_instances(schema, dialect)


def _right_ones(
    witnesses: list[Json],
    fullest: Json,
    fields: RecordFields,
    settings: ConcodeSettings,
) -> Iterator[KnownAnswer]:
    for value in witnesses:
        text = write_sample(value, fields.output)
        yield KnownAnswer(kind="reference", text=_fenced(text))
    text = write_sample(fullest, fields.output)
    named = f"{_before(settings)}```{fields.output}\n{text}\n```\nIt is valid."
    yield KnownAnswer(kind="fence_with_language", text=named)
    if settings.reading is not SuiteReading.PAPER:
        thought = f"<think>A ```fence```?</think>\n{_fenced(text)}"
        yield KnownAnswer(kind="after_thinking", text=thought)
        yield KnownAnswer(kind="last_of_two", text=f"{_fenced('!')}\n{_fenced(text)}")
    else:
        yield KnownAnswer(kind="first_of_two", text=f"{_fenced(text)}\n{_fenced('!')}")


def _wrong_values(
    schema: Json, made: SchemaInstances, fields: RecordFields, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield values that the schema refuses, each with the keyword that does."""
    for row in made.near_misses:
        if row.keyword == "format":
            continue
        at_root = row.keyword == "type" and row.schema_pointer == "/type"
        if at_root and row.value is None and settings.reading is SuiteReading.PAPER:
            continue
        yield _wrong(
            f"breaks_{row.keyword}",
            _fenced(write_sample(row.value, fields.output)),
            AnswerClass.WRONG_ROOT if at_root else AnswerClass.VIOLATION,
            because=f"{row.keyword} at ",
        )
    root = schema.get("type") if isinstance(schema, dict) else None
    other = next(
        (name for name in _OF_TYPE if isinstance(root, str) and name != root), ""
    )
    if other:
        yield _wrong(
            "of_another_type",
            _fenced(write_sample(_OF_TYPE[other], fields.output)),
            AnswerClass.WRONG_ROOT,
            because="type at the root",
        )


def _paper_xml(schema: Json, value: Json) -> KnownAnswer:
    """Return the witness with what becomes of it where XML has no types.

    Whatever is written is read as an object with one member, `all`.
    """
    text = _fenced(write_sample(value, Output.XML))
    root = schema.get("type") if isinstance(schema, dict) else None
    if root != "object":
        return _wrong("reference", text, AnswerClass.WRONG_ROOT)
    passes = accepts_any_object(schema)
    return KnownAnswer(
        kind="reference",
        text=text,
        expected="" if passes else AnswerClass.VIOLATION.value,
    )


def accepts_any_object(schema: Json) -> bool:
    """Return whether an object schema of the families accepts any other member alone.

    Example:
        >>> accepts_any_object({"type": "object", "additionalProperties": True})
        True
    """
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and schema.get("additionalProperties", True) is True
        and not schema.get("required")
    )


def _wrong_texts(text: str, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Yield what holds no answer, whatever the format."""
    left_open = f"{_before(settings)}```\n{text}"
    yield _wrong("without_fence", text, AnswerClass.NO_FENCE)
    yield _wrong("fence_left_open", left_open, AnswerClass.NO_FENCE)
    yield _wrong("fence_in_fence", f"```\n{_fenced(text)}\n```", AnswerClass.NO_ANSWER)
    yield _wrong("empty_fence", "```\n\n```", AnswerClass.NO_ANSWER)
    yield _wrong("white_space", " \n\t", AnswerClass.NO_ANSWER)
    yield _wrong("null", None, AnswerClass.NO_ANSWER)
    if settings.reading is not SuiteReading.PAPER:
        unclosed = f"<think>{_fenced(text)}"
        yield _wrong("thinking_alone", unclosed, AnswerClass.NO_ANSWER)
    yield KnownAnswer(
        kind="server_error",
        text=None,
        error="the server answered 500",
        expected=AnswerClass.API_ERROR.value,
    )


def _before(settings: ConcodeSettings) -> str:
    """Return words before a fence; after an open fence they would be the answer."""
    return "" if settings.form == "base" else "Here is a sample:\n\n"


def _fenced(text: str) -> str:
    return f"```\n{text}\n```"


def _wrong(
    kind: str, text: str | None, expected: AnswerClass, because: str = ""
) -> KnownAnswer:
    return KnownAnswer(kind=kind, text=text, expected=expected.value, because=because)


#: Kinds of answers around the one word, fenced as every reading wants it.
_FENCED: Final[tuple[tuple[str, str], ...]] = (
    ("reference", "```\n{word}\n```"),
    ("with_capital", "```\n{Word}.\n```"),
)
#: The same without a fence, or with words around.
_RECOMMENDED: Final = (
    ("bare", "{word}"),
    ("bold", "**{Word}**"),
    ("explained", "{Word}, since that is what the schema says of it."),
    ("at_the_end", "Let me look at every member in turn.\n\n{Word}"),
    ("after_thinking", "<think>yes or no?</think>{word}"),
)
_UNCLEAR: Final = (
    ("neither", "I cannot tell."),
    ("word_inside", "Yesterday nobody noticed."),
    ("python_code", "import os; os.system('true')"),
    ("refers_to_fence", "```\nmaybe\n```"),
)
_BOTH: Final = (
    ("both", "yes or no"),
    ("both_with_slash", "Yes/No"),
    ("both_on_lines", "yes\nno"),
    ("both_in_prose", "It may be yes, it may be no."),
)


def validation_answers(
    fields: RecordFields, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield right, wrong and unclear answers to a record."""
    right, wrong = fields.label, "no" if fields.label == "yes" else "yes"
    kinds = _FENCED
    if settings.reading is not SuiteReading.PAPER:
        kinds += _RECOMMENDED
    for kind, text in kinds:
        yield KnownAnswer(kind=kind, text=_filled(text, right))
        yield KnownAnswer(
            kind=f"{kind}_wrong",
            text=_filled(text, wrong),
            expected=AnswerClass.WRONG_ANSWER.value,
            because=f"{wrong} where {right} is right",
        )
    yield from _no_answers(settings)


def _no_answers(settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    both = () if settings.reading is SuiteReading.PAPER else _BOTH
    for kind, text in (*_UNCLEAR, *both):
        yield KnownAnswer(
            kind=kind,
            text=text,
            expected=AnswerClass.UNCLEAR.value,
            because="neither yes nor no",
        )
    for kind, empty in (("white_space", " \n"), ("null", None)):
        yield KnownAnswer(kind=kind, text=empty, expected=AnswerClass.NO_ANSWER.value)
    yield KnownAnswer(
        kind="server_error",
        text=None,
        error="the server answered 500",
        expected=AnswerClass.API_ERROR.value,
    )


def _filled(text: str, word: str) -> str:
    return text.replace("{word}", word).replace("{Word}", word.capitalize())


def known_answers(record: Record, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Return right and wrong answers to one record."""
    fields = fields_of(record)
    if fields.task is TaskName.GENERATION:
        return generation_answers(fields, record.dialect, settings)
    return validation_answers(fields, settings)
