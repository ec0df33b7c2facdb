"""Are the manifest's rules those of the rule set that it names?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.documents import KEPT, Reason
from curation.core.rule import RepairKind
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.rules.sets import rule_set
from curation.system.errors import BadUsage
from curation.verification.derivations.contradiction import (
    Contradiction,
    is_of_this_version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.folder_contents import FolderContents

#: What the ledger names where no rule decided: the document could not be read, or was
#: too large or took too long.
_NO_RULES = frozenset({"parse", "limits", ""})

#: The reasons of documents for which any rule may take too much, or fail.
_OF_ANY_RULE = frozenset({Reason.TIMED_OUT, Reason.OUT_OF_MEMORY, Reason.CRASHED})


def contradictions(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield where the list of rules is not that of its set, or of the ledger.

    Rules that other packages add may stand in the list; they are noted where the
    package is not installed.
    """
    try:
        known = rule_set(facts.rules).all_rules
    except BadUsage:
        yield Contradiction(f"`rules` is {facts.rules!r}: there is no such rule set")
        return
    stated = {rule.name: rule for rule in facts.rule_list}
    certain = is_of_this_version(facts)
    for rule in known:
        note = stated.get(rule.name)
        if note is None:
            yield Contradiction(f"`rule_list` lacks {rule.name}", certain)
        elif (note.summary, note.source) != (rule.summary, rule.source):
            yield Contradiction(
                f"`rule_list` does not give {rule.name} in its own words", certain
            )
    for name in stated.keys() - {rule.name for rule in known}:
        yield Contradiction(
            f"`rule_list` has {name}, which {facts.rules} has not", certain=False
        )
    for name in sorted(_acted(contents) - stated.keys() - _NO_RULES):
        yield Contradiction(f"`rule_list` lacks {name}, of which the ledger tells")
    reasons = {rule.name: rule.reasons for rule in known}
    for name, outcome in _rejections(contents):
        if name in reasons and outcome not in {*reasons[name], *_OF_ANY_RULE}:
            yield Contradiction(
                f"the ledger has {outcome} of {name}, which never says so", certain
            )


def mechanical_rules(rules: str) -> frozenset[str]:
    """Return the names of the rules of a set that make mechanical repairs.

    Raises:
        BadUsage: there is no such rule set.
    """
    return frozenset(
        rule.name
        for rule in rule_set(rules).rules
        if rule.repair is RepairKind.MECHANICAL
    )


def sizes_by_raw_file(rules: str) -> bool:
    """Return whether a set of rules divides GitHub's schemas by their raw files.

    Raises:
        BadUsage: there is no such rule set.
    """
    return rule_set(rules).subset_by_raw_file


def _rejections(contents: FolderContents) -> list[tuple[str, str]]:
    """Return each rule that rejects in the ledger, with each of its reasons there."""
    if DOCUMENTS not in contents.tables:
        return []
    documents = pl.scan_parquet(contents.files[DOCUMENTS], glob=False)
    rejected = documents.filter(pl.col("outcome") != KEPT)
    return sorted(rejected.select("rule", "outcome").unique().collect().iter_rows())


def _acted(contents: FolderContents) -> set[str]:
    """Return the rules that the ledger names."""
    found: set[str] = set()
    for path in (DOCUMENTS, CHANGES):
        if path in contents.tables:
            table = pl.scan_parquet(contents.files[path], glob=False)
            found |= set(table.select("rule").unique().collect()["rule"])
    return found
