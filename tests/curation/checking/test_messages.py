"""Answers of `csbdata check` cross a process as types."""

from __future__ import annotations

import msgspec

from curation.checking.messages import RulesAnswer
from curation.core.documents import ABSENT, Change, Lint, Reason, Rejected


def test_an_answer_keeps_its_reasons_and_places() -> None:
    """A reason is a `Reason` again, with its explanation."""
    answer = RulesAnswer(
        dialect="draft-07",
        rejected=(Rejected(reason=Reason.EMPTY, detail="{}", rule="empty"),),
        changes=(Change(rule="id", pointer="/a", before="1", after=ABSENT),),
        lints=((Lint(code="loop", pointer="/b"), "It has no end."),),
        summaries={"empty": "It constrains nothing."},
    )
    read = msgspec.json.decode(msgspec.json.encode(answer), type=RulesAnswer)
    assert read == answer
    assert read.rejected[0].reason.explanation == Reason.EMPTY.explanation
