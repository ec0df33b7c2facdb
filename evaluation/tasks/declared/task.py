"""Task `declared`: compile every schema, and sort what is refused by keyword.

Nothing is walked: the question is what an engine takes, not what it enforces then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.dataset.features import formats
from curation.json.text import parse
from curation.schema.dialects import BY_NAME
from evaluation.core.cases import Case, Result
from evaluation.core.task import Task, TaskInput
from evaluation.tasks.declared import NAME
from evaluation.tasks.declared.report import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import Json
    from evaluation.core.cases import Sample
    from evaluation.core.task_settings import TaskSettings


def cases(samples: Iterable[Sample], _settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a sample, without texts."""
    for sample in samples:
        yield Case(
            task=NAME,
            id=sample.id,
            config=sample.config,
            schema=sample.schema,
            label={
                "dialect": sample.dialect,
                "features": list(sample.features),
                "formats": _formats(sample),
                "size": len(sample.schema),
            },
        )


def _formats(sample: Sample) -> list[Json]:
    """Return the values of `format`; the schema is read only if it has any."""
    dialect = BY_NAME.get(sample.dialect)
    if "format" not in sample.features or dialect is None:
        return []
    schema = parse(sample.schema.encode("utf-8", "surrogatepass"))
    return [] if isinstance(schema, Rejected) else list(formats(schema, dialect))


TASK: Final = Task(
    name=NAME,
    summary="Compile every schema: what is refused, and for which keyword.",
    timed=False,
    input=TaskInput.SCHEMAS,
    cases=cases,
    report=report,
    passes=lambda row: row.result is Result.OK,
)
