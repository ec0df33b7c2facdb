"""Credentials in the rows of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.parquet as pq

from curation.verification.check import CheckItem
from curation.verification.credentials import CREDENTIALS, CredentialInRow
from tests.credential_examples import examples

if TYPE_CHECKING:
    from pathlib import Path


def test_a_credential_behind_an_escape_is_one(tmp_path: Path) -> None:
    """Of a JSON text its value is searched, of any other text the text itself."""
    token = examples()["Hugging Face token"]
    escaped = f"\\u{ord(token[0]):04x}{token[1:]}"
    texts = [f'{{"a": ["{escaped}"]}}', f"no JSON: {token}", json.dumps(7)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet")
    item = CheckItem(where="rows.parquet", group=0)
    rows = cast("list[CredentialInRow]", CREDENTIALS.work(tmp_path, item))
    assert [(each.row, each.pointer) for each in rows] == [(0, "/a/0"), (1, "")]
