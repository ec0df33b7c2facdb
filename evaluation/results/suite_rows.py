"""Scored responses as rows of a run, and back."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.errors import BadData
from evaluation.core.cases import Result, Row
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.results.outcomes import COMPLIANT, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.core.task import RunRows

#: Options of a command that choose records and the folder.
_CHOOSING: Final = frozenset(
    {
        *("--data", "--config", "--split", "--limit", "--id"),
        "--run-dir",
    }
)
#: What ends the id of a repeated answer's row.
_REPEAT: Final = r"#\d+\Z"
#: Most characters of a reason in a row's detail.
_DETAIL: Final = 300

#: How a text was written of which nothing is recorded.
_WRITTEN: Final = {"result": "ok", "detail": "", "warnings": (), "compile_ns": None}
#: Fields of a scored response in its row's label, besides the text's class.
_LABELLED: Final = [
    field.name
    for field in fields(ScoredResponse)
    if field.name not in {"group", "weight"}
]


def answer_id(record: str, repeat: int) -> str:
    """Return the id of the row of one answer to a record, which may itself be `a#1`."""
    is_plain = not repeat and not re.search(_REPEAT, record)
    return record if is_plain else f"{record}#{repeat}"


def row_from_scored(scored: ScoredResponse, suite: str, fingerprint: str) -> Row:
    """Return the row of one scored response.

    Args:
        scored: The response with its verdicts.
        suite: The suite's name.
        fingerprint: Of everything that decides the row.
    """
    verdict = scored.verdict
    label: dict[str, Any] = {name: getattr(scored, name) for name in _LABELLED}
    label["verdicts"] = msgspec.to_builtins(scored.verdicts)
    if verdict.counted:
        label[WRITTEN] = verdict.failure_class or COMPLIANT
    name = scored.record.removeprefix(f"{scored.group}/")
    reason = verdict.reasons[0] if verdict.reasons else ""
    writing: Any = {**_WRITTEN, **(scored.writing or {})}
    result = Result(writing["result"])
    phase = ""
    if result is not Result.OK:
        phase = "compile" if writing["compile_ns"] is None else "generate"
    return Row(
        engine=scored.label,
        task=suite,
        id=answer_id(name, scored.repeat),
        config=scored.group,
        weight=scored.weight,
        result=result,
        phase=phase,
        detail=(str(writing["detail"]) or reason)[:_DETAIL],
        warnings=tuple(writing["warnings"]),
        compile_ns=writing["compile_ns"],
        label=label,
        fingerprint=fingerprint,
    )


def scored_from_row(row: Row) -> ScoredResponse:
    """Return the scored response of a row that `row_from_scored` made.

    Raises:
        msgspec.ValidationError: the row is not such a one.
    """
    columns = {"group": row.config, "weight": row.weight}
    return msgspec.convert({**row.label, **columns}, ScoredResponse)


def ask_again(
    raw_header: Mapping[str, UntypedJson], records: Path, group: str, row_id: str
) -> str:
    """Return the command that asks one record again; empty if unknown.

    Responses of a file are all scored again.

    Args:
        raw_header: The whole content of `run.json`.
        records: The run's own records.
        group: The record's group.
        row_id: The row's id: the record's, and which of its answers.
    """
    command = [str(word) for word in raw_header.get("command") or ()]
    if not command:
        return ""
    words: list[str] = []
    iterator = iter(command)
    for word in iterator:
        if word in _CHOOSING:
            next(iterator, None)
        elif word.partition("=")[0] not in _CHOOSING:
            words.append(word)
    words += ["--data", str(records.resolve())]
    if "score" not in words:
        record = re.sub(_REPEAT, "", row_id)
        words += ["--id", f"{group}/{record}" if group else record]
    return shlex.join(words)


def scored_run(run: RunRows, suite: str) -> ScoredRun:
    """Return the scored responses of one suite in a run.

    Raises:
        BadData: a row is not from a suite.
    """
    by_label: dict[str, list[ScoredResponse]] = {
        participant.engine: [] for participant in run.header.engines
    }
    for row in run.rows(suite):
        try:
            scored = scored_from_row(row)
        except msgspec.ValidationError as error:
            where = f"{row.engine}, {row.config}/{row.id}"
            raise BadData(f"no row of suite {suite} ({error})", where) from error
        by_label.setdefault(row.engine, []).append(scored)
    return ScoredRun(
        facts=run.suite,
        by_label={
            label: responses for label, responses in by_label.items() if responses
        },
    )


def passing_less(run: RunRows, percent: float) -> list[str]:
    """Return the labels that pass less than a share of their responses, with figures.

    Args:
        run: A run of a suite.
        percent: The minimum share of counted responses that must pass.
    """
    under = []
    for label, scored in scored_run(run, str(run.suite.get("name"))).by_label.items():
        counted = [response.verdict for response in scored if response.verdict.counted]
        passed = sum(verdict.passed for verdict in counted)
        if 100 * passed < percent * len(counted) or not counted:
            under.append(f"{label} passes {passed:,} of {len(counted):,}")
    return under
