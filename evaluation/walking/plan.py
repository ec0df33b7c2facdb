"""The plan of a run through masks, its totals, and its header, `run.json`."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from curation.credentials import redacted
from curation.system.terminal import command_line
from curation.workers.fingerprint import fingerprint
from evaluation.core.run_header import MOVING_FACTS
from evaluation.setup.machine import clock_cost_ns, cpu_governor, machine
from evaluation.walking.code_digest import measuring_digest, writing_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.cases import Sample
    from evaluation.core.participant import Participant
    from evaluation.core.task import Task
    from evaluation.core.task_settings import TaskSettings
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.walking.engine_worker import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Everything that a run is about, but for who takes part."""

    tasks: Sequence[Task]
    #: Gives the samples of the shard anew at each call, in the same order.
    samples: Callable[[], Iterable[Sample]]
    tokenizer: TokenizerFiles
    settings: TaskSettings
    bounds: Bounds
    jobs: int = 1
    #: How often every case of a task whose times are results is measured, each time in
    #: a process of its own.
    repeats: int = 1
    shard: tuple[int, int] = (1, 1)
    #: Names of the only cases to run, `CONFIG/ID` or `ID`; empty for all.
    only: frozenset[str] = frozenset()

    @property
    def timed(self) -> bool:
        """Whether any task's times are results: then workers are pinned."""
        return any(task.timed for task in self.tasks)


@dataclass(slots=True, kw_only=True)
class RunTotals:
    """What a run came to."""

    #: Cases whose row was there already.
    found: int = 0
    #: Cases that were run now.
    ran: int = 0
    #: Cases at which the machine had something else to do on the core, of these.
    disturbed: int = 0
    #: Of these, texts for which a server in trouble gave no answer: their rows are
    #: there, and the next run asks again.
    unanswered: int = 0
    #: Label of an engine to why it could not be run.
    unavailable: dict[str, str] = field(default_factory=dict)
    reproducers: list[Path] = field(default_factory=list)


def header(
    participants: Sequence[Participant],
    plan: RunPlan,
    data: Mapping[str, Json],
    limit: int | None,
    models: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return what `run.json` holds.

    Its member `plan` is the fingerprint of what is asked: two runs with the same one
    have the same cases, whichever shard or number of jobs.

    Args:
        participants: Who takes part.
        plan: What is measured, and how.
        data: The header of the data.
        limit: The most samples; None for all.
        models: The header of the model that writes, for tasks in which one does.
    """
    tokenizer = plan.tokenizer
    found = {task.name: dict(task.sources()) for task in plan.tasks if task.sources}
    digests: dict[str, Json] = {
        name: source["sha256"] for name, source in found.items()
    }
    sources: dict[str, Json] = {**found}
    asked: dict[str, Json] = {
        "code": measuring_digest(),
        "writing": writing_digest() if models else None,
        "engines": [participant.identity for participant in participants],
        "labels": [participant.label for participant in participants],
        "tokenizer": tokenizer.digest,
        "data": data.get("sha256"),
        "tasks": [task.name for task in plan.tasks],
        "limits": asdict(plan.bounds),
        "settings": asdict(plan.settings),
        "limit": limit,
        "repeats": plan.repeats,
        "only": [*sorted(plan.only)],
        "models": {
            name: fact
            for name, fact in (models or {}).items()
            if name not in MOVING_FACTS
        },
        "sources": digests,
    }
    return {
        "csbdata": version("csbdata"),
        "code": measuring_digest(),
        "writing": asked["writing"],
        "plan": fingerprint(**asked),
        "shard": f"{plan.shard[0]}/{plan.shard[1]}",
        "jobs": plan.jobs,
        "command": [redacted(word) for word in command_line()],
        "engines": [participant.header() for participant in participants],
        "tokenizer": {
            "name": tokenizer.name,
            "sha256": tokenizer.digest,
            "vocab_size": tokenizer.vocab_size,
        },
        "data": dict(data),
        "sources": sources,
        "tasks": asked["tasks"],
        "limits": asked["limits"],
        "settings": asked["settings"],
        "limit": limit,
        "repeats": plan.repeats,
        "only": asked["only"],
        "models": dict(models or {}),
        "machine": machine(),
        "governor": cpu_governor(),
        "timer_ns": clock_cost_ns(),
        "finished": None,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
