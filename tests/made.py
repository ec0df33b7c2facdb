"""Records and ledger entries made for tests: small, legal, and all different."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import CANARY, assign_split
from curation.core.documents import ABSENT, KEPT, Change, Origin, Reason
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import LedgerRow, open_ledger, write_ledger
from curation.packaging.counts import config_figures
from curation.packaging.manifest import (
    NAME,
    PARTIAL_NAME,
    BuildFacts,
    ConfigFigures,
    Pin,
    RuleNote,
    versions_here,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson


def sha256(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def record(unique_id: str, **given: UntypedJson) -> BenchmarkRecord:
    """Return a record whose digests follow from its id, unless they are given."""
    made = BenchmarkRecord(
        json_schema=f'{{"type": "object", "title": "{unique_id}"}}',
        unique_id=unique_id,
        source="github",
        path=f"schemas/{unique_id}.json",
        commit="0" * 40,
        licence="NOASSERTION",
        origin="upstream",
        dialect="2020-12",
        dialect_found="prior",
        valid_under=("draft-07", "2020-12"),
        field_count=2,
        max_fan_out=2,
        depth=1,
        size=40,
        live=100,
        live_size="trivial",
        vacuous=True,
        features=("title", "type"),
        formats=(),
        lints=(),
        changes=(),
        repaired=(),
        sha256=sha256(f"content {unique_id}"),
        skeleton_sha256=sha256(f"skeleton {unique_id}"),
        split_key=sha256(f"shingles {unique_id}")[:16],
        cluster=sha256(f"content {unique_id}"),
    )
    return replace(made, **given)


def in_split(split: str, stem: str = "o") -> BenchmarkRecord:
    """Return a record that belongs to the split."""
    number = 0
    while assign_split(record(f"{stem}{number}").split_key) != split:
        number += 1
    return record(f"{stem}{number}")


def entry(kept: BenchmarkRecord, config: str, **given: UntypedJson) -> LedgerRow:
    """Return the ledger's entry of a kept record, unless told otherwise."""
    made = LedgerRow(
        raw_config="Github" if config.startswith("Github") else config,
        config=config,
        unique_id=kept.unique_id,
        source=kept.source,
        path=kept.path,
        commit=kept.commit,
        licence=kept.licence,
        origin=Origin(kept.origin),
        raw_sha256=sha256(f"raw {kept.unique_id}"),
        outcome=KEPT,
        sha256=kept.sha256,
        split=assign_split(kept.split_key),
    )
    return replace(made, **given)


def rejected(
    unique_id: str, config: str, reason: Reason, **given: UntypedJson
) -> LedgerRow:
    """Return the ledger's entry of a rejected document."""
    gone = {"outcome": reason.value, "split": "", "sha256": "", **given}
    return entry(record(unique_id), config, **gone)


def change(rule: str = "pattern", **given: UntypedJson) -> Change:
    """Return one edit of a rule."""
    made = Change(rule=rule, pointer="/pattern", before='"^[[]$"', after='"^[\\\\[]$"')
    return replace(made, **given)


ADDED = change("dialect", pointer="/$schema", before=ABSENT, after='"draft"')


def count_entries(entries: Sequence[LedgerRow]) -> dict[str, ConfigFigures]:
    """Return the figures of each config, counted in a ledger of these entries."""
    with TemporaryDirectory() as folder:
        write_ledger(entries, Path(folder))
        return config_figures(open_ledger(Path(folder)))


def facts(**given: UntypedJson) -> BuildFacts:
    """Return the facts of a build; a partial one has another name."""
    made = BuildFacts(
        name=PARTIAL_NAME if given.get("partial") else NAME,
        canary=CANARY,
        partial=[],
        rules="clean",
        versions=versions_here(),
        pins=[
            Pin(
                source="github",
                archive="corpus",
                origin=Origin.UPSTREAM,
                commit="0" * 40,
                sha256=sha256("archive"),
                licence="Apache-2.0",
                attribution="The authors of the schemas",
            ),
        ],
        rule_list=[
            RuleNote(name="pattern", summary="Repairs `pattern`.", source="ECMA-262"),
        ],
        extras=[],
        options=[],
    )
    return msgspec.structs.replace(made, **given)
