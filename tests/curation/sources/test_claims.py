"""Which document claims which URI."""

from __future__ import annotations

import pytest

from curation.sources.claims import claimed_uri, claimed_uris
from tests.curation.sources.given import held

URI = "https://example.com/a.json"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"$id": "https://example.com/a.json"}', URI),
        (b'{"id"\n:"https://example.com/a.json#"}', URI),
        (b'{"id": "https://example.com/b", "$id": "https://example.com/a.json"}', URI),
        (b'{"$id": "https://example.com/a.json#part"}', None),
        (b'{"$id": "a.json"}', None),
        (b'{"$id": "https:///a.json"}', None),
        (b'{"properties": {"id": "https://example.com/a.json"}}', None),
        (b'{"properties": {"id": {"$id": "https://example.com/a.json"}}}', None),
        (b'{"$id": 3, "default": {"id": "https://example.com/a.json"}}', None),
        (b'[{"$id": "https://example.com/a.json"}]', None),
        (b'{"$id": "https://example.com/a.json"', None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_a_document_claims_by_the_id_at_its_root(
    content: bytes, expected: str | None
) -> None:
    """Only an absolute URI without a fragment, at the root, is a claim."""
    assert claimed_uri(content) == expected


def test_a_uri_that_two_documents_claim_leads_nowhere() -> None:
    """Equal copies count as one; different claimants cancel each other out."""
    claim = {"$id": URI}
    other = {"$id": "https://example.com/b.json"}
    files = held(a=claim, b=claim, c=other, d={**other, "type": "object"}, e={})
    assert claimed_uris(files.read, files.paths) == {URI: "a"}
