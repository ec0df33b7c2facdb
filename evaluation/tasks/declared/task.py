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
from evaluation.core.task import Settings, Task
from evaluation.tasks.declared.report import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Sample

NAME: Final = "declared"


def units(subjects: Iterable[Sample], _settings: Settings) -> Iterator[Case]:
    """Yield one unit a subject, without texts."""
    for subject in subjects:
        yield Case(
            task=NAME,
            id=subject.id,
            config=subject.config,
            schema=subject.schema,
            label={
                "dialect": subject.dialect,
                "features": list(subject.features),
                "formats": _formats(subject),
                "size": len(subject.schema),
            },
        )


def _formats(subject: Sample) -> list[UntypedJson]:
    """Return the values of `format`; the schema is read only if it has any."""
    dialect = BY_NAME.get(subject.dialect)
    if "format" not in subject.features or dialect is None:
        return []
    schema = parse(subject.schema.encode("utf-8", "surrogatepass"))
    return [] if isinstance(schema, Rejected) else list(formats(schema, dialect))


TASK: Final = Task(
    name=NAME,
    summary="Compile every schema: what is refused, and for which keyword.",
    timed=False,
    needs_data=True,
    units=units,
    report=report,
    passes=lambda row: row.result is Result.OK,
    needs_instances=False,
)
