"""Task `test-suite`: the official JSON Schema Test Suite, by the paper's criteria.

As in the paper (appendix D): texts are written by `json.dumps` with its defaults;
`format` and cases that need other documents are left out, which leaves 43 categories of
2020-12. Up to draft-07 `$schema` is added where possible.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from curation.schema.dialects import BY_NAME
from curation.system.errors import BadConfiguration
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, Task, TaskInput
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.report import outcome, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.core.cases import Sample
    from evaluation.core.task_settings import TaskSettings
    from evaluation.tasks.official_suite.suite import OfficialSuite, SuiteCase

#: `format` asserts nothing by default, says the specification.
_LEFT_OUT: Final = frozenset({"format"})


def cases(
    acquired: Callable[[], OfficialSuite],
    _samples: Iterable[Sample],
    settings: TaskSettings,
) -> Iterator[Case]:
    """Yield every case of the suite of `drafts` (2020-12), `optional` ones after.

    Args:
        acquired: Returns the suite; called when the drafts are known to make sense.
        settings: Has `drafts` and `optional` among its values.

    Raises:
        BadConfiguration: a draft that the suite does not have.
        Unavailable: the suite cannot be had.
    """
    from evaluation.tasks.official_suite.suite import dialect_of  # noqa: PLC0415 (not every run needs it)

    drafts = settings.values.get("drafts") or ["2020-12"]
    if not isinstance(drafts, list):
        raise BadConfiguration("drafts is not a list of drafts", "--set drafts=")
    names = [dialect_of(str(draft)).name for draft in drafts]
    suite = acquired()
    flags = [False, True] if settings.values.get("optional") else [False]
    for name in dict.fromkeys(names):
        for optional in flags:
            yield from draft_cases(suite, name, optional=optional)


def with_suite(fetch: FetchSettings, say: Callable[[str], None]) -> Task:
    """Return the task over the suite that these settings lead to.

    The suite is fetched when it is first asked for, and once.

    Args:
        fetch: Where to look for the suite.
        say: Tells people of what takes time.
    """

    @cache
    def acquired() -> OfficialSuite:
        # Packs are made of Arrow tables, which no other task needs.
        from evaluation.tasks.official_suite.suite import acquire_suite  # noqa: PLC0415 (not every run needs it)

        return acquire_suite(fetch, say)

    return replace(
        TASK,
        cases=partial(cases, acquired),
        sources=lambda: acquired().described(),
    )


def draft_cases(suite: OfficialSuite, draft: str, *, optional: bool) -> Iterator[Case]:
    """Yield what is asked of engines for one draft, mandatory or optional."""
    from evaluation.tasks.official_suite.suite import read_suite_cases  # noqa: PLC0415 (not every run needs it)

    for suite_case in read_suite_cases(suite, draft, optional=optional):
        if not suite_case.remote and suite_case.category not in _LEFT_OUT:
            yield case_of(suite_case, f"{suite.archive}@{suite.commit}")


def case_of(suite_case: SuiteCase, suite: str) -> Case:
    """Return what is asked of engines for one case of the suite.

    Args:
        suite_case: The case.
        suite: The archive that it is from, with its commit.
    """
    return Case(
        task=NAME,
        id=suite_case.id,
        config=f"{suite_case.draft}{' optional' if suite_case.optional else ''}",
        schema=json.dumps(_schema_with_draft(suite_case)),
        walks=tuple(
            InstanceWalk(
                text=json.dumps(test.data),
                valid=test.valid,
                label={"description": test.description},
            )
            for test in suite_case.tests
        ),
        label={
            "category": suite_case.category,
            "description": suite_case.description,
            "suite": suite,
            "tests": len(suite_case.tests),
            "valid": sum(test.valid for test in suite_case.tests),
        },
    )


def _schema_with_draft(suite_case: SuiteCase) -> Json:
    """Return the schema, with `$schema` where it has none and can have it."""
    if not isinstance(suite_case.schema, dict) or "$schema" in suite_case.schema:
        return suite_case.schema
    return {"$schema": BY_NAME[suite_case.draft].uri, **suite_case.schema}


TASK: Final = Task(
    name=NAME,
    summary="The official JSON Schema Test Suite, by the paper's criteria.",
    timed=False,
    input=TaskInput.OWN,
    prepare=with_suite,
    report=report,
    settings=(
        AcceptedSetting(name="drafts", meaning="drafts, separated by commas"),
        AcceptedSetting(name="optional", meaning="true: the optional tests too"),
    ),
    passes=lambda row: outcome(row).passed,
)
