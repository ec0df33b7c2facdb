"""Changes that only a signature contradicts, and changes to the signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.signature import FILE as SIGNATURE
from curation.verification.files import signature_check
from tests.curation.verification.tampering import (
    RECORDS,
    all_of,
    both,
    rewrite,
    schema,
    tampers,
)
from tests.signing import PUBLIC_KEY, sign

if TYPE_CHECKING:
    from pathlib import Path

#: The check of who trusts the key of the test run.
SIGNED = signature_check(PUBLIC_KEY)


def _with_another_comment(folder: Path) -> None:
    """Say another version in the comment that is signed too."""
    path = folder / SIGNATURE
    path.write_bytes(path.read_bytes().replace(b"version:", b"revision:"))


SIGNATURE_TAMPERS = tampers(
    SIGNED,
    (
        "schema and ledger row, signed",
        all_of(sign, both(**schema({"type": "null"}))),
        "not the key's signature",
    ),
    (
        "record taken out, signed",
        all_of(sign, rewrite(RECORDS, lambda rows: rows.slice(1))),
        "not the key's signature",
    ),
    (
        "signature removed",
        all_of(sign, lambda folder: (folder / SIGNATURE).unlink()),
        "not signed",
    ),
    (
        "signature's comment",
        all_of(sign, _with_another_comment),
        "not the key's signature",
    ),
)
