"""All answers to a row whose verdict is known: the right one and every broken one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.answers.reference import reference_answer
from tests.evaluation.suites.ifstruct.answers.shape_mutations import SHAPE_MUTATIONS
from tests.evaluation.suites.ifstruct.answers.syntax_mutations import SYNTAX_MUTATIONS
from tests.evaluation.suites.ifstruct.answers.text_mutations import TEXT_MUTATIONS
from tests.evaluation.suites.ifstruct.answers.unseen_mutations import UNSEEN_MUTATIONS
from tests.evaluation.suites.ifstruct.answers.value_mutations import VALUE_MUTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.rows import IfstructRecord
    from tests.evaluation.suites.ifstruct.answers.mutation import PlantedFault

#: Every kind of fault.
MUTATIONS: Final = (
    *VALUE_MUTATIONS,
    *SHAPE_MUTATIONS,
    *TEXT_MUTATIONS,
    *SYNTAX_MUTATIONS,
    *UNSEEN_MUTATIONS,
)
#: What the kind of a fault is called where no rule sees it.
UNSEEN: Final = "unseen: "


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """An answer, and the failure that it must get."""

    kind: str
    text: str
    #: None for an answer that passes: a right one, or one whose fault no rule sees.
    failure: Failure | None = None


def judged_answers(
    record: IfstructRecord, reading: RuleReading
) -> Iterator[JudgedAnswer]:
    """Yield a right answer to a row, and one for each fault that it leaves room for.

    A fault that the reading does not count is named as unseen: such an answer passes,
    and is listed as what it is.

    Args:
        record: The row.
        reading: The reading that decides.
    """
    answer = reference_answer(record)
    yield JudgedAnswer(kind="reference", text=answer.text)
    for mutation in MUTATIONS:
        broken = mutation.apply(answer)
        if broken is None:
            continue
        seen = broken.failure is not None and _is_seen(mutation, reading)
        yield JudgedAnswer(
            kind=mutation.name if seen else f"{UNSEEN}{mutation.name}",
            text=broken.text,
            failure=broken.failure if seen else None,
        )


def _is_seen(mutation: PlantedFault, reading: RuleReading) -> bool:
    if mutation.recommended_only and not reading & RuleReading.RECOMMENDED:
        return False
    return not mutation.published_only or bool(reading & RuleReading.PUBLISHED)
