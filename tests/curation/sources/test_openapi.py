"""GitHub's REST bodies, in the layout of the npm package."""

from __future__ import annotations

import json

import pytest

from curation.sources import openapi
from curation.system.errors import BadData
from tests.curation.sources.given import Held, reading

FILE = "generated/api.github.com.json"


def test_bodies_are_documents() -> None:
    """Named by operation, each with its place in the file."""
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    operation = {"operationId": "repos/create", "requestBody": body}
    document = {"openapi": "3.0.3", "paths": {"/repos": {"post": operation}}}
    files = Held({FILE: json.dumps(document).encode(), "LICENSE": b"MIT"})
    (found,) = openapi.read(reading("octokit-openapi", files))
    assert found.unique_id == "repos_create.request"
    assert found.provenance.path == f"{FILE}#repos/create.request"
    assert json.loads(found.content)["type"] == "object"
    assert openapi.SOURCE.extra


def test_what_is_no_description_is_named() -> None:
    """Broken JSON, and JSON of another kind."""
    for content in (b"{", b"[]"):
        with pytest.raises(BadData, match="no OpenAPI description"):
            list(openapi.read(reading("octokit-openapi", Held({FILE: content}))))
