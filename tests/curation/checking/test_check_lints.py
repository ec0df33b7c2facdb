"""Values that their own schema refuses, and sentences on unusable schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.checking import check_lints
from curation.checking.check_lints import property_faults, refused_values
from curation.checking.schema_check import check
from curation.fit import schema_fit
from curation.fit.engine_evidence import Engines
from curation.fit.profile import load_profiles
from curation.fit.schema_fit import judge_files
from curation.instances.constraints import interpretations
from curation.json import named_text
from curation.json.text import parse
from curation.references.schema import Schema
from curation.schema.dialects import DRAFT_07
from curation.sources.schema_files import SchemaFile
from curation.system.progress import make_progress
from curation.validation.metaschemas import RUST_VALIDATORS

if TYPE_CHECKING:
    from curation.core.documents import Rejected
    from curation.core.json_types import Json, UntypedJson


_URI = "http://x.test/a.json"


def _refused(schema: UntypedJson) -> list[str]:
    return [it.pointer for it in refused_values(Schema(schema, DRAFT_07))]


def test_values_of_a_converted_draft_are_judged_by_the_draft_it_is_converted_to() -> (
    None
):
    """No validator here knows draft-03; this one is valid under draft-04 as well."""
    member: UntypedJson = {"type": "string", "default": 5}
    uri = "http://json-schema.org/draft-03/schema#"
    report = check({"$schema": uri, "type": "object", "properties": {"a": member}})
    assert "refused-default" in [problem.code for problem in report.problems]


@pytest.mark.parametrize("uri", [None, "a.json", "/x/a.json", _URI, f"{_URI}#", "#a"])
def test_whatever_a_schema_calls_itself_its_values_are_judged(uri: str | None) -> None:
    """By what a pointer, and the identifier of an embedded schema, lead to."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/definitions/n", "default": 5},
            "b": {"type": "integer", "default": "x"},
            "c": {"$ref": "sub.json", "default": 5},
            "d": {"$ref": "sub.json", "default": "x"},
        },
        "definitions": {
            "n": {"type": "string"},
            "s": {"$id": "sub.json", "type": "string"},
        },
    }
    named = schema if uri is None else {"$id": uri, **schema}
    assert _refused(named) == [f"/properties/{name}/default" for name in "abc"]


def test_many_values_of_a_recursive_schema_are_judged_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A validator of each would compile all the definitions for each of them."""
    made = 0
    validator = RUST_VALIDATORS[DRAFT_07.name]

    def counted(*given: UntypedJson, **more: UntypedJson) -> UntypedJson:
        nonlocal made
        made += 1
        return validator(*given, **more)

    monkeypatch.setattr(check_lints, "RUST_VALIDATORS", {DRAFT_07.name: counted})
    definitions: UntypedJson = {
        f"d{i}": {
            "type": "object",
            "default": {} if i % 100 else 5,
            "properties": {"p": {"$ref": f"#/definitions/d{(i * 7 + 1) % 400}"}},
        }
        for i in range(400)
    }
    schema: UntypedJson = {"$ref": "#/definitions/d0", "definitions": definitions}
    refused = [f"/definitions/d{i}/default" for i in range(0, 400, 100)]
    assert sorted(_refused(schema)) == refused
    assert made == 1


def test_a_schema_among_the_required_names_is_no_name() -> None:
    """Each other name is compared with the properties all the same."""
    schema: UntypedJson = {"properties": {"ab": {}}, "required": [{}, [], 1, "abb"]}
    faults = property_faults(Schema(schema, DRAFT_07))
    assert [it.pointer for it in faults] == ["/required/3"]
    matched = schema | {"patternProperties": {"^abb": {}}}
    assert not [*property_faults(Schema(matched, DRAFT_07))]


def test_one_value_that_cannot_be_judged_hides_no_other() -> None:
    """A reference that leads nowhere makes no validator; the others have their own."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/definitions/none", "default": 5},
            "b": {"type": "integer", "default": "x"},
        }
    }
    assert _refused(schema) == ["/properties/b/default"]


@pytest.mark.parametrize(
    ("member", "remedy"),
    [
        ({"$ref": "b.json"}, "bring into the schema"),
        ({"$ref": "https://example.org/b.json"}, "bring into the schema"),
        ({"$ref": "#/$defs/none"}, "run csbdata check a.json"),
        ({"type": "strng"}, "run csbdata check a.json"),
    ],
)
def test_the_remedy_is_one_that_helps(member: Json, remedy: str) -> None:
    """A reference out of the schema is no problem to `check`, and one to a target."""
    content = json.dumps({"type": "object", "properties": {"p": member}}).encode()
    file = SchemaFile(name="a.json", content=content, path=None)
    (fit,) = judge_files(
        [file], load_profiles("anthropic"), make_progress(1), Engines()
    )
    fix = fit.fixes.get("anthropic")
    assert remedy in (fix.sentence if fix else fit.fault)


def test_a_text_is_parsed_once_for_all_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a schema that several refuse."""
    texts: list[bytes] = []

    def noted(text: bytes) -> Json | Rejected:
        texts.append(text)
        return parse(text)

    for module in (named_text, interpretations):
        monkeypatch.setattr(module, "parse", noted)
    found = schema_fit.Fix(sentence="")
    monkeypatch.setattr(schema_fit, "_fix", lambda *_: found)
    file = SchemaFile(name="a.json", content=b'{"type": "object"}', path=None)
    targets = load_profiles("anthropic,openai-strict")
    (fit,) = judge_files([file], targets, make_progress(1), Engines())
    assert {*fit.fixes} == {"anthropic", "openai-strict"}
    assert texts == [file.content]
