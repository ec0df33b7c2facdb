"""Task `probe`: one keyword at a time, in every place of a schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.run_header import TaskSettings
from evaluation.core.task import AcceptedSetting, Task, TaskInput
from evaluation.tasks.drafts import read_drafts
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import GOOD, outcome
from evaluation.tasks.probe.probe import KEYWORD_PROBES, PlacedProbe, pairs, place_probe
from evaluation.tasks.probe.report import tables

if TYPE_CHECKING:
    from curation.schema.dialects import Dialect
    from evaluation.core.records import Record

#: Probes of one keyword, in the order of the reports.
PROBES: Final = (*KEYWORD_PROBES, *pairs())


def all_placed(dialects: Sequence[Dialect] = ()) -> Iterator[PlacedProbe]:
    """Yield every probe in every context, in each of the dialects that has it.

    Without dialects, in the newest that has it.
    """
    for probe in PROBES:
        every = probe.dialects
        for dialect in (
            [dialect for dialect in every if dialect in dialects]
            if dialects
            else every[-1:]
        ):
            for context in probe.contexts:
                yield place_probe(probe, context, dialect)


def cases(_records: Iterable[Record], settings: TaskSettings) -> Iterator[Case]:
    """Yield a case for every probe in every context.

    In the dialects of the setting `drafts`; without it, each probe in the newest
    dialect that has it. Raises `BadUsage` for an unknown draft.
    """
    for placed_probe in all_placed(read_drafts(settings)):
        yield make_case(placed_probe)


def make_case(placed_probe: PlacedProbe) -> Case:
    """Return the case of one probe in one context."""
    walks = [InstanceWalk(text=_text(placed_probe.valid), valid=True)]
    walks += [
        InstanceWalk(text=_text(value), valid=False, label={"keyword": keyword})
        for keyword, value in placed_probe.violating.items()
    ]
    return Case(
        task=NAME,
        id=f"{placed_probe.probe.name} / {placed_probe.context}",
        config=placed_probe.dialect,
        schema=json.dumps(placed_probe.schema),
        walks=tuple(walks),
        label={
            "probe": placed_probe.probe.name,
            "keyword": placed_probe.probe.keyword,
            "feature": placed_probe.probe.group,
            "context": placed_probe.context,
            "texts": len(walks),
            **({"pair": True} if " + " in placed_probe.probe.name else {}),
        },
    )


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


TASK: Final = Task(
    name=NAME,
    summary="A valid and a violating value for every keyword in every context: "
    "enforced, ignored, refused or over-strict.",
    timed=False,
    input=TaskInput.OWN,
    cases=cases,
    tables=tables,
    passes=lambda row: outcome(row) in GOOD,
    settings=(AcceptedSetting("drafts", "drafts, separated by commas"),),
)
