"""What a build sends its workers arrives as it was."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Origin
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    request_of,
)
from tests.curation.rules.documents_made import PROVENANCE, raw_document


@given(st.binary(), st.none() | st.just("https://schemas.example/"))
def test_a_document_arrives_with_every_byte(content: bytes, base: str | None) -> None:
    """Its bytes need not be UTF-8, and its origin is an `Origin` again."""
    provenance = replace(PROVENANCE, origin=Origin.SAMPLE)
    raw = raw_document(content, provenance=provenance, base_uri=base)
    line = msgspec.json.encode(request_of(raw, 3))
    request = msgspec.json.decode(line, type=DocumentRequest)
    assert (request.input, request.raw_document()) == (3, raw)
    assert request.provenance.origin is Origin.SAMPLE


def test_a_setup_arrives_as_it_was() -> None:
    """The rule set by name, the path of modules, and a library for each input."""
    setup = BuildSetup(
        rules="clean",
        libraries=(LibraryFiles(files="/packs/x", uris={"https://a/b": "b.json"}),),
    )
    line = msgspec.json.encode(setup)
    assert msgspec.json.decode(line, type=BuildSetup) == setup
