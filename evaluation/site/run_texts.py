"""The texts of a run's worst failures: prompt, answer, and where one was blocked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.download.acquire import FetchSettings
from curation.system.errors import CsbdataError
from evaluation.analysis.recorded_cases import cases_of
from evaluation.asking.request import choose_suite
from evaluation.asking.response_files import RESPONSES, read_responses
from evaluation.asking.scoring import match_responses
from evaluation.core.records import Message, Record
from evaluation.results.outcomes import engine_is_wrong
from evaluation.results.suite_rows import SUITE, answer_id, is_suite_run
from evaluation.suites.registry import recorded_suite
from evaluation.walking.run_folder import RECORDS, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.analysis.failures import FailedCase
    from evaluation.core.cases import Case, Row
    from evaluation.results.reader import RecordedRun

#: Failures whose texts are shown, and characters of one text.
_FAILURES: Final = 20
_LONGEST: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongText:
    """A text that an engine or a model got wrong."""

    failure: FailedCase
    schema: str = ""
    prompt: Sequence[Message] = ()
    #: What was taken, and what stands behind the place where it was blocked.
    taken: str = ""
    rest: str = ""
    #: Whether the text was cut for the page.
    cut: bool = False


def wrong_texts(
    run: RecordedRun, worst: Sequence[FailedCase]
) -> tuple[list[WrongText], str]:
    """Return the texts of the worst failures, and why some are missing."""
    try:
        if is_suite_run(run.raw_header):
            return list(_answers(run, worst[:_FAILURES])), ""
        return list(_walked(run, worst[:_FAILURES])), ""
    except CsbdataError as error:
        return [], f"Their texts are not here: {error}"


def _answers(run: RecordedRun, worst: Sequence[FailedCase]) -> Iterator[WrongText]:
    """Yield prompts and answers out of a suite's run folder."""
    if not (run.folder / RESPONSES).is_file() or not worst:
        return
    facts = run.raw_header[SUITE]
    recorded_suite(facts["spec"])
    choice = choose_suite(facts["spec"], facts["settings"], facts["compat"])
    records = list(read_lines(run.folder / RECORDS, Record))
    responses = read_responses(run.folder / RESPONSES).responses
    # The last attempt at an answer counts, as in every table.
    judged = {
        (it.label, record.group, answer_id(record.id, it.repeat)): (record, it)
        for record, it in match_responses(records, responses).pairs
    }
    for failure in worst:
        key = failure.engine, failure.config, failure.id
        if key not in judged:
            continue
        record, answer = judged[key]
        text = answer.text or answer.error
        yield WrongText(
            failure=failure,
            schema=(record.schema or "")[:_LONGEST],
            prompt=choice.prompt(record).messages,
            taken=text[:_LONGEST],
            cut=len(text) > _LONGEST,
        )


def _walked(run: RecordedRun, worst: Sequence[FailedCase]) -> Iterator[WrongText]:
    """Yield the shortest wrong text of each failure, made again from the run's data."""
    place = run.header.data.place or ""
    if not worst or not Path(place).exists():
        return
    wanted = {(each.engine, each.task, each.config, each.id): each for each in worst}
    rows = {
        key: row
        for row in run.rows()
        if (key := (row.engine, row.task, row.config, row.id)) in wanted
    }
    cases: dict[tuple[str, str], Case] = {}
    for task in dict.fromkeys(each.task for each in worst):
        names = {f"{each.config}/{each.id}" for each in worst if each.task == task}
        fetch = FetchSettings.from_environment()
        for name, case in cases_of(run, task, names, fetch).items():
            cases[task, name] = case
    for key, failure in wanted.items():
        case = cases[failure.task, f"{failure.config}/{failure.id}"]
        yield _of_case(failure, rows[key], case)


def _of_case(failure: FailedCase, row: Row, case: Case) -> WrongText:
    """Return the shortest wrong text of a row, parted where it was blocked."""
    wrong = [number for number, walk in enumerate(row.walks) if engine_is_wrong(walk)]
    schema = case.schema[:_LONGEST]
    if not wrong:
        return WrongText(failure=failure, schema=schema)
    number = min(wrong, key=lambda each: row.walks[each].tokens)
    text = case.walks[number].text.encode()
    at = row.walks[number].byte
    taken, rest = (text, b"") if at is None else (text[:at], text[at:])
    return WrongText(
        failure=failure,
        schema=schema,
        taken=taken.decode(errors="replace")[-_LONGEST:],
        rest=rest.decode(errors="replace")[:_LONGEST],
        cut=max(len(taken), len(rest)) > _LONGEST,
    )
