"""jsonschema-rs by dialect."""

from __future__ import annotations

import jsonschema_rs
import pytest

from curation.schema.dialects import DIALECTS, Dialect
from curation.validation.python_validators import PYTHON_VALIDATORS
from curation.validation.rust_validators import RUST_DRAFTS, RUST_VALIDATORS, refuse


def test_no_document_is_fetched() -> None:
    """The retriever that all validators are given refuses."""
    with pytest.raises(LookupError):
        refuse("https://x.test/")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_both_libraries_validate_by_the_draft_of_the_dialect(dialect: Dialect) -> None:
    """Their classes are named alike, and their metaschema is the dialect's."""
    rust, python = RUST_VALIDATORS[dialect.name], PYTHON_VALIDATORS[dialect.name]
    assert rust.__name__ == python.__name__
    assert python.META_SCHEMA["$schema"] == dialect.uri
    number = rust.__name__.removeprefix("Draft").removesuffix("Validator")
    assert RUST_DRAFTS[dialect.name] == getattr(jsonschema_rs, f"Draft{number}")
