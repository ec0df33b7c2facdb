"""What in a text is a credential, or may lead to a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.verification.check import CheckItem
from curation.verification.texts import TEXTS, TextsOfGroup, personal_data
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
    found = cast("TextsOfGroup", TEXTS.work(tmp_path, item))
    assert [each[:2] for each in found.credentials] == [
        (0, "text at /a/0"),
        (1, "text"),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to jane.roe+lists@mail.uni.edu.", "e-mail address"),
        ("call +41 21 693 11 11 now", "telephone number"),
        ("host 8.8.8.8", "IP address"),
        ("2001:4860:4860:0:0:0:0:8888", "IP address"),
        ("ftp://jane:secret@files.uni.edu/x", "URL with a password"),
    ],
)
def test_what_leads_to_someone_is_found(text: str, kind: str) -> None:
    """Each kind by an example of it."""
    assert personal_data(text)[kind] == 1


@pytest.mark.parametrize(
    "text",
    [
        "jane@example.com, joe@mail.example.org, x@y.test, a@b.invalid",
        "10.0.0.1 127.0.0.1 192.168.1.1 192.0.2.7 version 1.2.3 999.1.1.1",
        "@types/node @angular/core user@ @host",
        "https://example.org/a:b@c",
        "+1 and 2 + 3",
    ],
)
def test_what_is_reserved_or_no_address_is_not(text: str) -> None:
    """Names and numbers for examples, private networks, packages, sums."""
    assert not personal_data(text)


def test_one_that_stands_twice_counts_once() -> None:
    """Distinct ones are counted."""
    text = "a@uni.edu a@uni.edu b@uni.edu"
    assert personal_data(text)["e-mail address"] == 2


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    """Nothing that may stand in a text makes it fail."""
    assert all(count > 0 for count in personal_data(text).values())
