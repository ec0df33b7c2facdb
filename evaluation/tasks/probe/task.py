"""Task `probe`: is every keyword enforced, in every place that it can stand?

A case is one probe in one context (`evaluation.tasks.probe.probes`): its schema, and
the two values, of which one must be possible to generate and the other not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curation.schema.dialects import BY_NAME, DIALECTS
from curation.system.errors import BadConfiguration, BadUsage
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, Task, TaskInput
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import GOOD, outcome
from evaluation.tasks.probe.probes.base import NOTHING
from evaluation.tasks.probe.probes.registry import all_placed
from evaluation.tasks.probe.report import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.schema.dialects import Dialect
    from evaluation.core.cases import Sample
    from evaluation.core.task_settings import TaskSettings
    from evaluation.tasks.probe.probes.base import PlacedProbe


def cases(_samples: Iterable[Sample], settings: TaskSettings) -> Iterator[Case]:
    """Yield a case for every probe in every context.

    In the dialects of the setting `drafts`; without it, each probe in the newest
    dialect that has it. Raises `BadConfiguration` for a draft that is none.
    """
    drafts = settings.values.get("drafts") or []
    if not isinstance(drafts, list):
        raise BadConfiguration("drafts is not a list of drafts", "--draft")
    for placed_probe in all_placed([_dialect(str(name)) for name in drafts]):
        yield case_of(placed_probe)


def case_of(placed_probe: PlacedProbe) -> Case:
    """Return the case of one probe in one context."""
    walks = [InstanceWalk(text=_text(placed_probe.valid), valid=True)]
    if placed_probe.violating is not NOTHING:
        label = {"keyword": placed_probe.probe.keyword}
        walks.append(
            InstanceWalk(text=_text(placed_probe.violating), valid=False, label=label)
        )
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
        },
    )


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dialect(name: str) -> Dialect:
    for known in (name, f"draft-{name}", f"draft-0{name}"):
        if known in BY_NAME and BY_NAME[known] in DIALECTS:
            return BY_NAME[known]
    names = ", ".join(dialect.name for dialect in DIALECTS)
    raise BadUsage(f"there is no draft {name!r}", then=f"choose of {names}")


TASK: Final = Task(
    name=NAME,
    summary="A valid and a violating value for every keyword in every context: "
    "enforced, ignored, refused or over-strict.",
    timed=False,
    input=TaskInput.OWN,
    cases=cases,
    report=report,
    passes=lambda row: outcome(row) in GOOD,
    settings=(AcceptedSetting(name="drafts", meaning="a list of drafts; --draft"),),
)
