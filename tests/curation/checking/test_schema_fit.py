"""Sentences of `judge_files` on schemas that no validator can use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.checking import schema_fit
from curation.checking.schema_files import SchemaFile
from curation.checking.schema_fit import judge_files
from curation.fit.profile import load_profiles
from curation.instances.constraints import interpretations
from curation.json import named_text
from curation.json.text import parse
from curation.system.progress import progress_of

if TYPE_CHECKING:
    from curation.core.documents import Rejected
    from curation.core.json_types import Json


@pytest.mark.parametrize(
    ("member", "remedy"),
    [
        ({"$ref": "b.json"}, "bring into the schema"),
        ({"$ref": "https://example.org/b.json"}, "bring into the schema"),
        ({"$ref": "#/$defs/none"}, "csbdata check a.json names places"),
        ({"type": "strng"}, "csbdata check a.json names places"),
    ],
)
def test_the_remedy_is_one_that_helps(member: Json, remedy: str) -> None:
    """A reference out of the schema is no problem to `check`, and one to a target."""
    content = json.dumps({"type": "object", "properties": {"p": member}}).encode()
    file = SchemaFile(name="a.json", content=content, path=None)
    (fit,) = judge_files([file], load_profiles("anthropic"), progress_of(1))
    assert remedy in fit.repairs["anthropic"].sentence


def test_a_text_is_parsed_once_for_all_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a schema that several refuse."""
    texts: list[bytes] = []

    def noted(text: bytes) -> Json | Rejected:
        texts.append(text)
        return parse(text)

    for module in (named_text, interpretations):
        monkeypatch.setattr(module, "parse", noted)
    found = schema_fit.Repair(outcome=schema_fit.FitOutcome.REMODEL, sentence="")
    monkeypatch.setattr(schema_fit._Search, "repair", lambda *_, **__: found)
    file = SchemaFile(name="a.json", content=b'{"type": "object"}', path=None)
    targets = load_profiles("anthropic,openai-strict")
    (fit,) = judge_files([file], targets, progress_of(1))
    assert {*fit.repairs} == {"anthropic", "openai-strict"}
    assert texts == [file.content]
