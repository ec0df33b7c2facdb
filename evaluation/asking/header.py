"""Make the header of a run: everything needed to repeat it, and to compare it."""

from __future__ import annotations

import datetime
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.credentials import redacted_words
from curation.system.terminal import command_line
from curation.workers.fingerprint import fingerprint
from evaluation.asking.records import digest_of
from evaluation.core.run_header import MOVING_FACTS, Participant
from evaluation.data.find_data import partial_data
from evaluation.results.suite_rows import SUITE
from evaluation.setup.machine import clock_cost_ns, cpu_governor, machine
from evaluation.walking.code_digest import measuring_digest, writing_digest
from evaluation.walking.rerun import absolute_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.asking.request import SuiteChoice
    from evaluation.core.suite import RecordSet
    from evaluation.walking.run import RunPlan


def header(
    participants: Sequence[Participant],
    plan: RunPlan,
    data: Mapping[str, Json],
    limit: int | None,
    models: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return the content of `run.json` for tasks.

    Two runs with the same member `plan` have the same cases, with any number of jobs.

    Args:
        participants: The engines of the run.
        plan: The tasks, and their limits.
        data: The header of the data.
        limit: The most records; None for all.
        models: The header of the model that writes, for tasks in which one does.
    """
    tokenizer = plan.tokenizer
    sources: dict[str, dict[str, Json]] = {
        task.name: dict(task.sources()) for task in plan.tasks if task.sources
    }
    tasks: list[Json] = [task.name for task in plan.tasks]
    only: list[Json] = [*sorted(plan.only)]
    fixed = {
        name: fact for name, fact in (models or {}).items() if name not in MOVING_FACTS
    }
    head = _head([participant.header() for participant in participants], tasks)
    return {
        **head,
        "code": measuring_digest(),
        "writing": writing_digest() if models else None,
        "plan": fingerprint(
            code=measuring_digest(),
            writing=writing_digest() if models else None,
            engines=[participant.identity for participant in participants],
            labels=[participant.label for participant in participants],
            tokenizer=tokenizer.digest,
            data=data.get("sha256"),
            tasks=tasks,
            limits=asdict(plan.bounds),
            settings=asdict(plan.settings),
            limit=limit,
            repeats=plan.repeats,
            only=only,
            models=fixed,
            sources={name: facts["sha256"] for name, facts in sources.items()},
        ),
        "jobs": plan.jobs,
        "tokenizer": {
            "name": tokenizer.name,
            "sha256": tokenizer.digest,
            "vocab_size": tokenizer.vocab_size,
        },
        "data": dict(data),
        "sources": {**sources},
        "limits": asdict(plan.bounds),
        "settings": asdict(plan.settings),
        "limit": limit,
        "repeats": plan.repeats,
        "only": only,
        "models": dict(models or {}),
        "timer_ns": clock_cost_ns(),
    }


def suite_header(
    choice: SuiteChoice,
    records: RecordSet,
    participants: Sequence[Mapping[str, Json]],
    facts: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the content of `run.json` for a suite.

    Scoring settings are part of its member `plan`, so that a folder holds the rows of
    one reading, and so is the first prompt, as a file or a suite of yours may change.

    Args:
        choice: The suite, with its settings.
        records: The records of the run.
        participants: An entry for each model and condition, its label as `engine`.
        facts: What else decides the responses: seed, repairs, ...
    """
    digest, count = digest_of(records.records), len(records.records)
    groups = {record.group for record in records.records}
    suite: dict[str, Json] = {**choice.header(), **facts}
    if choice.suite.facts is not None:
        suite |= choice.suite.facts(choice.settings)
    return {
        **_head(participants, [choice.suite.name]),
        "code": writing_digest(),
        "plan": fingerprint(
            code=writing_digest(),
            suite=suite,
            records=digest,
            engines=[dict(participant) for participant in participants],
            asked=[
                [turn.role, turn.content]
                for record in records.records[:1]
                for turn in choice.prompt(record).messages
            ],
        ),
        "data": {
            "name": records.name,
            "origin": records.origin,
            "sha256": digest,
            "records": count,
            "partial": [*partial_data(Path(records.name), records.origin, groups)],
        },
        "settings": {"seed": facts.get("seed", 0)},
        SUITE: {
            **suite,
            "data": records.name,
            "origin": records.origin,
            "records": count,
        },
    }


def _head(
    participants: Sequence[Mapping[str, Json]], tasks: Sequence[Json]
) -> dict[str, Json]:
    """Return the members that every header has."""
    return {
        "csbdata": version("csbdata"),
        "command": [*redacted_words(absolute_words(command_line()))],
        "engines": [dict(participant) for participant in participants],
        "tasks": [*tasks],
        "machine": machine(),
        "governor": cpu_governor(),
        "finished": None,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
