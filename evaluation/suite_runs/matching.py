"""Responses matched to records: nothing counts twice, nothing is dropped silently."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from evaluation.core.suite_records import FREE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.core.suite_records import SuiteRecord, SuiteResponse

    #: One answer: record key, repeat, model, condition.
    AnswerKey: TypeAlias = tuple[str, int, str, str]


@dataclass(slots=True, kw_only=True)
class MatchedResponses:
    """Every response with its record, and what could not be matched."""

    #: By record in the records' order, then by model, condition, repeat and attempt.
    pairs: list[tuple[SuiteRecord, SuiteResponse]] = field(default_factory=list)
    #: One line for each kind of trouble.
    problems: list[str] = field(default_factory=list)
    #: Responses to records that there are not, and second responses to the same.
    unknown: int = 0
    repeated: int = 0
    #: Label of model and condition to the records that it has not answered.
    unanswered: dict[str, int] = field(default_factory=dict)


def match_responses(
    records: Sequence[SuiteRecord], responses: Iterable[SuiteResponse]
) -> MatchedResponses:
    """Return the responses with their records.

    A response names its record by key, or by id where only one record has it. Of two
    responses that answer the same record by the same model, condition, repeat and
    attempt the first one counts; but one that has an answer counts before one that
    only says that a server was in trouble, as a run that goes on asks again.
    """
    found = MatchedResponses()
    by_name = _names(records)
    by_record: dict[str, dict[tuple[str, str, int, int], SuiteResponse]] = defaultdict(
        dict
    )
    unknown: list[str] = []
    repeated: list[str] = []
    labels: dict[tuple[str, str], set[str]] = {}
    for response in responses:
        record = by_name.get(response.record)
        if record is None:
            unknown.append(response.record)
            continue
        key = (response.model, response.condition, response.repeat, response.attempt)
        own = by_record[record.key]
        if key in own and own[key].error and not own[key].fingerprint:
            own[key] = response
            continue
        if key in own:
            repeated.append(f"{record.key} ({response.label})")
            continue
        own[key] = response
        answered = labels.setdefault((response.label, response.condition), set())
        answered.add(record.key)
    for record in records:
        own = by_record.get(record.key, {})
        found.pairs += [(record, own[key]) for key in sorted(own)]
    found.unknown, found.repeated = len(unknown), len(repeated)
    # Nothing constrains an answer to a record without a schema: it is asked free alone.
    found.unanswered = {
        label: sum(
            record.key not in keys and (condition == FREE or record.schema is not None)
            for record in records
        )
        for (label, condition), keys in labels.items()
    }
    if unknown:
        found.problems.append(_line(unknown, "for no record of this set"))
    if repeated:
        found.problems.append(
            _line(repeated, "for what was answered already; the first one counts")
        )
    return found


def _names(records: Sequence[SuiteRecord]) -> dict[str, SuiteRecord]:
    """Return records by key, and by id where only one has it."""
    by_id: dict[str, list[SuiteRecord]] = defaultdict(list)
    for record in records:
        by_id[record.id].append(record)
    names = {name: same[0] for name, same in by_id.items() if len(same) == 1}
    return {**names, **{record.key: record for record in records}}


def _line(names: Sequence[str], what: str) -> str:
    shown = ", ".join(dict.fromkeys(names[:5]))
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""  # noqa: PLR2004 (those above)
    number = "1 response" if len(names) == 1 else f"{len(names):,} responses"
    return f"{number} {what}: {shown}{more}"
