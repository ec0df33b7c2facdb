"""Reading: what is sent to the workers, and what is decided without them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason
from curation.dataset.ledger import open_ledger
from curation.pipeline.build import build
from curation.pipeline.inputs import ExtraSource
from curation.pipeline.process_document import LIMITS
from curation.system.progress import Quiet
from tests.curation.pipeline.test_build import request_for

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_file_beyond_all_limits_is_refused_alone(tmp_path: Path) -> None:
    """80 MB, more than a worker may take: it is `too_large`, and all others stay."""
    own = tmp_path / "own"
    own.mkdir()
    for number in range(4):
        schema = {"type": "object", "properties": {f"p{number}": {"maxLength": 77123}}}
        (own / f"a{number}.json").write_text(json.dumps(schema))
    (own / "b.json").write_bytes(b'"' + b"x" * 5 * LIMITS.document_bytes + b'"')
    (own / "c.json").write_text('{"type": "string", "maxLength": 77124}')
    extra = ExtraSource(source=str(own), config="Acme")
    request = replace(request_for(tmp_path), extras=(extra,))
    figures = build(request, Quiet()).manifest.configs["Acme"]
    assert (figures.kept, figures.rejected) == (5, {Reason.TOO_LARGE: 1})
    (row,) = open_ledger(request.out).entries(config="Acme", unique_id="b")
    assert (row.outcome, row.rule) == ("too_large", "limits")
