"""Both validators must be able to use a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Document, Reason, Rejected
from curation.json.text import canonical
from curation.rules.clean import validators_agree
from curation.validation import verdicts
from curation.validation.verdicts import ONE_IN, is_in_share
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    import pytest

    from curation.core.json_types import UntypedJson


def applied(schema: UntypedJson, dialect: str = "2020-12") -> Document | Rejected:
    """Return what the rule makes of a schema of this dialect."""
    return validators_agree.apply(document(schema, dialect=dialect), CONTEXT)


def test_what_both_accept_is_kept() -> None:
    """A schema that both build and resolve passes untouched."""
    given = document({"$ref": "#/$defs/a", "$defs": {"a": {}}}, dialect="2020-12")
    assert validators_agree.apply(given, CONTEXT) is given


def test_what_one_refuses_is_a_disagreement() -> None:
    """An identifier that is no URI stops only one, and both verdicts are told."""
    result = applied({"$id": "client config"}, "draft-06")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema accepts it" in result.detail
    assert "jsonschema-rs refuses it" in result.detail


def test_a_reference_that_both_lose_is_unresolved() -> None:
    """Where both find nothing, the reference is what is wrong."""
    result = applied({"$ref": "#/$defs/a"})
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNRESOLVED_REFERENCE


def test_what_both_refuse_otherwise_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The re-check finds what an earlier rule should have, under its own name."""
    monkeypatch.setattr(verdicts, "ONE_IN", 1)
    result = applied({"type": "text"})
    assert isinstance(result, Rejected)
    assert result.reason is Reason.INVALID_SCHEMA


def test_the_slow_check_sees_a_fair_share() -> None:
    """The digest of the canonical form chooses about one schema in `ONE_IN`."""
    texts = [canonical({"const": number}) for number in range(64 * ONE_IN)]
    assert 32 <= sum(map(is_in_share, texts)) <= 128


def test_a_doubtful_schema_is_always_checked_twice() -> None:
    """What the two are known to read apart never passes on the quick word alone."""
    result = applied({"enum": [2**64, float(2**64)]}, "draft-04")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema refuses it" in result.detail


def test_nothing_is_fetched() -> None:
    """References and metaschemas elsewhere are refused, not looked for."""
    for uri in ("http://127.0.0.1:9/a.json", "file:///etc/hostname"):
        result = applied({"$ref": uri})
        assert isinstance(result, Rejected)
        assert result.reason is Reason.UNRESOLVED_REFERENCE
    result = applied({"$schema": "http://127.0.0.1:9/meta.json", "type": "string"})
    assert isinstance(result, Document)
