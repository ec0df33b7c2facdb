"""Changes to what the manifest states."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from curation.dataset.ledger import DOCUMENTS
from curation.verification.leakage import LEAKAGE
from curation.verification.records import ROWS
from tests.curation.verification.tampering import COPIES, manifest, tampers, where

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def _member(name: str, value: UntypedJson) -> Callable[[Path], None]:
    return manifest(lambda stated: stated.update({name: value}))


def _pin(name: str, value: str) -> Callable[[Path], None]:
    return manifest(lambda stated: stated["pins"][0].update({name: value}))


MANIFEST_TAMPERS = list(
    chain(
        tampers(
            ROWS,
            ("partial", _member("partial", []), "`partial` does not"),
            ("name", _member("name", "JSONSchemaBench"), "`name` is"),
            ("rule unknown", where(DOCUMENTS, COPIES, rule="mine"), "its rule is not"),
            ("canary", _member("canary", "x" * 36), "the canary is not that"),
            ("extras", _member("extras", ["Acme"]), "`extras` is ['Acme']"),
            ("pin's commit", _pin("commit", "f" * 40), "no pin in manifest.json"),
            ("pin's source", _pin("source", "mine"), "no pin in manifest.json"),
        ),
        tampers(
            LEAKAGE, ("rule set", _member("rules", "paper"), "not that of its skeleton")
        ),
    )
)
