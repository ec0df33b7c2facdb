"""Rules of set `clean` that look at one schema: roots, words, patterns, dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Document, Reason, Rejected
from curation.json.text import canonical
from curation.references import verdicts
from curation.references.verdicts import ONE_IN, is_in_share
from curation.rules.clean import (
    decide_dialect,
    is_uri_reference,
    usable,
    validators_agree,
    wrap,
)
from curation.schema.dialects import BY_NAME, DRAFT_2020_12
from curation.schema.drafts import StatementKind, statement
from curation.validation.metaschemas import is_valid
from tests.curation.judges import rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _wrapped(schema: UntypedJson) -> UntypedJson:
    result = wrap.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    return result.schema


def test_hostile_names_survive_wrapping() -> None:
    """Names with slashes, tildes, quotes, spaces or nothing at all are escaped."""
    names = ["a/b", "a~b", 'a"b', "a b", "", "__proto__", "\u202e", "%41", "x" * 10_000]
    root = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {name: {"const": name} for name in names},
    }
    wrapped = _wrapped(root)
    for name in names:
        assert rust_accepts(wrapped, {name: name}, "draft-07")
        assert not rust_accepts(wrapped, {name: 1}, "draft-07")


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.sampled_from([{"type": "null"}, {}, {"x": {"const": 1}}]),
    )
)
def test_a_wrap_is_typed_satisfiable_and_final(definitions: UntypedJson) -> None:
    """Whatever the library holds, `{}` satisfies its wrap, and wrapping ends."""
    root = {"type": "object", "definitions": definitions}
    wrapped = _wrapped(root)
    assert wrapped["type"] == "object"
    assert rust_accepts(wrapped, {}, "draft-07")
    assert _wrapped(wrapped) == wrapped


_REFERENCES = (
    "# #name a/b ../a?b#c //host/a http://user@host:80/a http://[::1]/a urn:made:a "
    "/properties/a a%20b"
)


@pytest.mark.parametrize("text", ["", *_REFERENCES.split()])
def test_a_uri_reference_is_left_alone(text: str) -> None:
    """All the forms of RFC 3986."""
    assert is_uri_reference(text)
    assert usable(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b", "a%20b"),
        ("{host}/x", "%7Bhost%7D/x"),
        ("POST /a", "POST%20/a"),
        ("50%", "50%25"),
        ("a[0]", "a%5B0%5D"),
        ("\u00e9", "%C3%A9"),
        ("a\\b", "a%5Cb"),
    ],
)
def test_what_a_uri_cannot_hold_is_escaped(before: str, after: str) -> None:
    """The identifier stays readable, and validators accept it."""
    assert usable(before) == after
    schema = {"$id": after, "items": {"$ref": "#/x"}, "x": {"type": "null"}}
    assert rust_accepts(schema, [None], "draft-07")


@pytest.mark.parametrize("text", ["1a:b", "a b:c", "#a#b", "http://a:b/"])
def test_what_escaping_cannot_save_is_hopeless(text: str) -> None:
    """A first segment with a colon, two fragments, a port of letters."""
    assert usable(text) is None


@given(st.text(max_size=20))
def test_escaping_is_idempotent(text: str) -> None:
    """Whatever the text, the result is a URI reference or there is none."""
    result = usable(text)
    assert result is None or (is_uri_reference(result) and usable(result) == result)


SITE = "http://json-schema.org"


words = st.fixed_dictionaries(
    {},
    optional={
        "$schema": st.sampled_from(
            [each.uri for each in BY_NAME.values()]
            + [
                "",
                f"{SITE}/schema#",
                "draft-06",
                "http://json-schema-org/draft-07/schema",
            ]
        ),
        "id": st.just("http://a.example/b"),
        "$id": st.sampled_from(["http://a.example/b", "#c"]),
        "const": st.integers(),
        "items": st.sampled_from([{}, [{}], [{"required": True}]]),
        "dependencies": st.sampled_from([{"a": ["b"]}, {"a": "b"}]),
        "required": st.sampled_from([["a"], [], True]),
        "extends": st.sampled_from([{}, [{"type": "any"}]]),
        "type": st.sampled_from(["string", "any", "text"]),
        "$ref": st.just("#"),
        "properties": st.sampled_from([{"a": {"required": True}}, {"$schema": {}}]),
        "exclusiveMinimum": st.sampled_from([True, 1]),
        "minimum": st.just(0),
    },
)


@given(words)
def test_what_is_kept_says_its_dialect(schema: UntypedJson) -> None:
    """A record has a dialect, and validators read the same one off its `$schema`."""
    result = decide_dialect.apply(document(schema), CONTEXT)
    if isinstance(result, Rejected):
        return
    assert result.dialect is not None
    said = statement(result.schema)
    if said.kind is StatementKind.SILENT:
        assert "$schema" not in result.schema
        assert result.dialect == DRAFT_2020_12.name
    else:
        assert said.kind is StatementKind.EXACT
        assert said.dialect is BY_NAME[result.dialect]
    if result.dialect_found in {"words", "prior", "mixed"}:
        assert is_valid(result.schema, BY_NAME[result.dialect])


@given(words)
def test_deciding_twice_changes_nothing(schema: UntypedJson) -> None:
    """What the rule wrote, it reads back as declared, or silent, and leaves alone."""
    once = decide_dialect.apply(document(schema), CONTEXT)
    if isinstance(once, Rejected):
        return
    twice = decide_dialect.apply(document(once.schema), CONTEXT)
    assert isinstance(twice, Document)
    assert twice.schema is once.schema
    assert twice.dialect == once.dialect


def agreed(schema: UntypedJson, dialect: str = "2020-12") -> Document | Rejected:
    """Return what the rule makes of a schema of this dialect."""
    return validators_agree.apply(document(schema, dialect=dialect), CONTEXT)


def test_what_both_refuse_otherwise_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The re-check finds what an earlier rule should have, under its own name."""
    monkeypatch.setattr(verdicts, "ONE_IN", 1)
    result = agreed({"type": "text"})
    assert isinstance(result, Rejected)
    assert result.reason is Reason.INVALID_SCHEMA


def test_the_slow_check_sees_a_fair_share() -> None:
    """The digest of the canonical form chooses about one schema in `ONE_IN`."""
    texts = [canonical({"const": number}) for number in range(64 * ONE_IN)]
    assert 32 <= sum(map(is_in_share, texts)) <= 128
