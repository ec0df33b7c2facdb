"""Evidence for mechanical repairs, by record and rule: `raw/lists/repairs.tsv`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from curation.core.documents import Document, Origin, RepairEvidence
from curation.system.package_data import raw_folder

#: The config of the documents that the list speaks of.
_CONFIG = "Github"


class RepairSupport(NamedTuple):
    """What supports one rule's repair of one record."""

    evidence: RepairEvidence
    #: How the published text differs; empty if it does not.
    difference: str


@cache
def listed() -> Mapping[tuple[str, str], RepairSupport]:
    """Return what supports the repairs of GitHub's records, by id and rule."""
    text = (raw_folder() / "lists" / "repairs.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line[:1] != "#")
    return MappingProxyType(
        {
            (unique_id, rule): RepairSupport(RepairEvidence(evidence), difference)
            for unique_id, rule, evidence, difference in rows
        }
    )


def counts(rule: str) -> dict[RepairEvidence, int]:
    """Return how many of GitHub's records a rule repairs by each kind of evidence."""
    kinds = [
        support.evidence for (_, name), support in listed().items() if name == rule
    ]
    return {kind: kinds.count(kind) for kind in RepairEvidence if kind in kinds}


def with_evidence(before: Document, after: Document, rule: str) -> Document:
    """Return a document whose latest changes say what supports them.

    Args:
        before: The document that a mechanical repair was given.
        after: What it returned.
        rule: The repair's name.
    """
    support = RepairSupport(RepairEvidence.REASONING, "")
    if before.config == _CONFIG and before.provenance.origin is Origin.UPSTREAM:
        support = listed().get((before.unique_id, rule), support)
    changes = after.changes[len(before.changes) :]
    supported = tuple(
        replace(
            change,
            note="; ".join(filter(None, (change.note, support.difference))),
            evidence=support.evidence.value,
        )
        for change in changes
    )
    return replace(
        after, changes=(*before.changes, *supported), repaired=(*after.repaired, rule)
    )
