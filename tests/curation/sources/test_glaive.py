"""Glaive: rows, the definitions in them, and what becomes of each."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from curation.json import text as jsontext
from curation.sources import glaive
from curation.system.errors import BadData
from tests.curation.sources.given import Held, reading

FILE = "glaive-function-calling-v2.json"
PREFACE = "SYSTEM: You are an assistant with these functions. Use them if required -\n"


def definition(name: str, *fields: str) -> str:
    """Return the text of a definition with a parameter of each name."""
    properties = {each: {"type": "string"} for each in fields}
    parameters = {"type": "object", "properties": properties}
    return json.dumps({"name": name, "parameters": parameters}, indent=4)


def file_of(*systems: str) -> Held:
    """Return the file with a row for each `system` text."""
    rows = [{"system": PREFACE + each, "chat": "USER: {hello}"} for each in systems]
    return Held({FILE: json.dumps(rows, indent=2).encode()})


def ids(files: Held) -> list[str]:
    """Return the names in the ids, in reading order."""
    found = glaive.read(reading("glaive", files))
    return [each.unique_id.rpartition("_")[0] for each in found]


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'[{"a": 1}', b'[{"a": 1}, {"a"', b"[nonsense]", b'["\xff"]', b"  "],
)
def test_a_file_that_is_no_array_is_a_fault(content: bytes) -> None:
    """A cut or foreign file ends with one line, not with fewer rows."""
    with pytest.raises(BadData):
        glaive.rows(content)


def test_every_definition_of_a_row_is_a_document() -> None:
    """Zero, one or more stand behind the free text; the place is told."""
    two = definition("b", "x") + "\n\n" + definition("a", "x", "y")
    files = file_of("no functions here", two, definition("c"))
    found = list(glaive.read(reading("glaive", files)))
    assert [each.unique_id.rpartition("_")[0] for each in found] == ["a", "b", "c"]
    assert found[0].provenance.path == f"{FILE}#row/1/function/1"
    assert found[2].provenance.path == f"{FILE}#row/2/function/0"
    assert {each.config for each in found} == {"Glaiveai2K"}


def test_an_id_ends_in_the_digest_of_the_parameters() -> None:
    """The document is the bare `parameters`, its name is in the id only."""
    (found,) = glaive.read(reading("glaive", file_of(definition("get_x", "x"))))
    schema = jsontext.parse(found.content)
    assert schema == {"type": "object", "properties": {"x": {"type": "string"}}}
    assert found.unique_id == f"get_x_{jsontext.digest(schema)[:8]}"


def test_key_order_and_number_spelling_survive() -> None:
    """The text of the document is the author's."""
    text = '{"name": "f", "parameters": {"minimum": 1.50, "b": 1, "a": -0}}'
    (found,) = glaive.read(reading("glaive", file_of(text)))
    assert found.content == b'{"minimum": 1.50, "b": 1, "a": -0}'


def test_a_repeated_definition_is_yielded_once() -> None:
    """Repeats in spelling, key order or description add nothing; the first counts."""
    text = '{"name": "f", "parameters": {"a": 1, "b": 2}}'
    same = '{"name": "f", "description": "d", "parameters": {"b": 2.0, "a": 1}}'
    renamed = text.replace('"f"', '"g"')
    found = list(glaive.read(reading("glaive", file_of(text, same, text, renamed))))
    assert [each.content for each in found] == [b'{"a": 1, "b": 2}'] * 2
    assert ids(file_of(text, same, text, renamed)) == ["f", "g"]


def test_what_cannot_be_read_is_still_a_document() -> None:
    """The ledger gets to say why; the definitions around it are not lost."""
    broken = "{\n    'name': 'f'\n}"
    files = file_of(definition("a") + "\n" + broken + "\n" + definition("b"))
    found = list(glaive.read(reading("glaive", files)))
    assert ids(files) == ["a", "b", "unreadable"]
    assert found[2].content == broken.encode()


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"name": "f"}', b"null"),
        ('{"name": "f", "parameters": []}', b"[]"),
        ('{"name": "f", "parameters": "none"}', b'"none"'),
    ],
)
def test_a_definition_without_parameters_is_no_schema(
    text: str, content: bytes
) -> None:
    """What stands for the parameters is handed on, for the rules to reject."""
    (found,) = glaive.read(reading("glaive", file_of(text)))
    assert found.content == content


def test_duplicate_keys_are_the_rule_sets_affair() -> None:
    """`paper` lets the last one count; `clean` gets the text and refuses it."""
    text = '{"name": "f", "parameters": {"a": 1, "a": 2}}'
    (strict,) = glaive.read(reading("glaive", file_of(text)))
    (lenient,) = glaive.read(reading("glaive", file_of(text), rules="paper"))
    assert strict.content == text.encode()
    assert lenient.content == b'{"a": 2}'


def test_names_are_safe_in_paths_and_terminals() -> None:
    """Whatever stands in a name, an id is ASCII letters, digits, `_`, `.` and `-`."""
    files = file_of(
        '{"name": "../a b\\u001b[31m", "parameters": {}}',
        '{"name": 3, "parameters": {"a": 1}}',
        json.dumps({"name": "n" * 200, "parameters": {"b": 1}}),
    )
    assert ids(files) == [".._a_b_31m", "n" * 80, "unnamed"]


def test_half_a_surrogate_pair_ends_in_the_ledger() -> None:
    """It cannot be UTF-8, and must not stop the reader."""
    text = '{"name": "f", "parameters": {"title": "\ud800"}}'
    (found,) = glaive.read(reading("glaive", file_of(text)))
    assert not isinstance(jsontext.parse(found.content), dict)


def test_order_does_not_depend_on_the_rows() -> None:
    """Documents come in natural order of their ids."""
    names = ["f10", "f9", "a", "F1"]
    found = [
        each.unique_id
        for each in glaive.read(
            reading("glaive", file_of(*(definition(each, each) for each in names)))
        )
    ]
    assert [each.split("_")[0] for each in found] == ["F1", "a", "f9", "f10"]
    assert all(before != after for before, after in pairwise(found))


def test_the_quota_and_the_least_field_count_are_declared() -> None:
    """2,000 records of at least 15 fields; the choice is the build's."""
    assert (glaive.SOURCE.quota, glaive.SOURCE.least_fields) == (2000, 15)
