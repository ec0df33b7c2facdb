"""What each rule decides: one row a case in `cases/*.jsonl`.

A row has a claim, a rule (or several, in order), a schema, and what else is known of
the document: `config`, `unique_id`, `dialect`, `dialect_found`, `base_uri`, `path`,
`origin`, other `documents` by URI. Expected is `same` (the very same document),
`becomes` (with `changes` at pointers, their `texts` before and after, and `notes`),
`holds` (some of its members), `reads` (dialect and how it was found), `lints`, or
`rejected` with a `pointer` and what the detail `says`. Instances are `judged` by both
validators as the draft `judged_by` reads them, and by jsonschema alike before the rule,
as the draft `was_judged_by` reads the schema.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.documents import Document, Origin, Rejected
from curation.core.json_types import UntypedJson
from curation.core.rule import Context, RepairKind, Rule
from curation.json.text import write
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.validation.metaschemas import is_valid
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, Shelf, document

Row = dict[str, UntypedJson]

_RULES = {
    rule.name: rule for name in ("paper", "clean") for rule in rule_set(name).rules
}
_ROWS = {
    path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for path in (Path(__file__).parent / "cases").glob("*.jsonl")
}
_GIVEN = ("config", "unique_id", "dialect", "dialect_found", "base_uri")


def _document(row: Row) -> Document:
    provenance = replace(
        PROVENANCE,
        path=row.get("path", PROVENANCE.path),
        origin=Origin(row.get("origin", PROVENANCE.origin)),
    )
    given = {name: row[name] for name in _GIVEN if name in row}
    return document(row["schema"], provenance=provenance, **given)


def _rules(row: Row) -> list[Rule]:
    names = row["rule"]
    return [_RULES[name] for name in ([names] if isinstance(names, str) else names)]


def _outcome(before: Document, after: Document | Rejected) -> Row:
    """Return all that a row may expect, but for what is judged."""
    if isinstance(after, Rejected):
        return {
            "rejected": after.reason,
            "pointer": after.pointer,
            "detail": after.detail,
        }
    return {
        "same": after is before,
        "becomes": after.schema,
        "changes": [change.pointer for change in after.changes],
        "texts": [[change.before, change.after] for change in after.changes],
        "notes": [change.note for change in after.changes],
        "lints": [[lint.code, lint.pointer] for lint in after.lints],
        "reads": [after.dialect, after.dialect_found],
    }


@pytest.mark.parametrize("name", sorted(_ROWS))
def test_rules_decide_as_their_rows_say(name: str, subtests: pytest.Subtests) -> None:
    """The document that is left, or the reason to reject it, and the ledger."""
    for number, row in enumerate(_ROWS[name], 1):
        with subtests.test(row["claim"], line=number):
            _assert_decided(row)


def _assert_decided(row: Row) -> None:
    before = _document(row)
    context = Context(library=Shelf(row.get("documents", {})))
    after: Document | Rejected = before
    for rule in _rules(row):
        assert isinstance(after, Document)
        after = rule.apply(after, context)
    found = _outcome(before, after)
    expected = {name: row[name] for name in found if name in row}
    assert {name: found[name] for name in expected} == expected
    if isinstance(after, Rejected):
        assert "rejected" in row, after
        assert after.reason in rule.reasons
        assert [part for part in row.get("says", []) if part not in after.detail] == []
        return
    assert {change.rule for change in after.changes} <= {it.name for it in _rules(row)}
    if "becomes" in row:
        assert write(after.schema) == write(row["becomes"])
    for name, member in row.get("holds", {}).items():
        assert after.schema[name] == member
    for instance, verdict in row.get("judged", []):
        draft = row["judged_by"]
        assert accepts(after.schema, instance, draft) is verdict
        assert rust_accepts(after.schema, instance, draft) is verdict
        if "was_judged_by" in row:
            draft, others = row["was_judged_by"], row.get("documents")
            assert accepts(row["schema"], instance, draft, others) is verdict


def test_a_slip_is_mended_only_where_a_draft_reads_it(
    subtests: pytest.Subtests,
) -> None:
    """What comes out is valid; in an `enum`, or an unknown member, all stays."""
    draft = BY_NAME["draft-04"]
    for number, row in enumerate(_ROWS["mechanical"], 1):
        if "becomes" not in row:
            continue
        with subtests.test(line=number):
            (rule,) = _rules(row)
            assert rule.repair is RepairKind.MECHANICAL
            made = rule.apply(_document(row), CONTEXT)
            assert isinstance(made, Document)
            assert is_valid(made.schema, draft)
            slip = {it: row["schema"][it] for it in row["schema"] if it != "$schema"}
            inside = document({"$schema": draft.uri, "enum": [slip], "x-own": slip})
            assert rule.apply(inside, CONTEXT) is inside
