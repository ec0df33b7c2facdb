"""Shrink a failure: the smallest schema and texts that still fail in the same way."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import jsonschema_rs

from curation.system.errors import (
    BadConfiguration,
    BadData,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.workers.process import exchange
from evaluation.core.cases import Case, InstanceResult, InstanceWalk, Result, Row
from evaluation.results.outcomes import Outcome, engine_is_wrong, outcome_of
from evaluation.setup.engine_files import FAITHFUL
from evaluation.setup.environments import install_line
from evaluation.walking.engine_worker import Bounds, EngineWorker, PendingCase
from evaluation.walking.why import VARYING, validator_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.results.reader import RecordedRun
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

_T = TypeVar("_T")
#: Members of a root that a lifted subschema may refer to, or that say what it is.
ROOT_MEMBERS: Final[tuple[str, ...]] = ("$schema", "$defs", "definitions")


def shrink(value: Json, still: Callable[[Json], bool], most: int = 300) -> Json:
    """Return a smaller value for which `still` holds, after at most `most` calls.

    `value` itself is returned if nothing smaller does.
    """
    tried = {_text(value)}
    tries = most
    again = True
    while again:
        again = False
        for candidate in _smaller(value):
            text = _text(candidate)
            if text in tried or len(text) >= len(_text(value)):
                continue
            if not tries:
                return value
            tried.add(text)
            tries -= 1
            if still(candidate):
                value, again = candidate, True
                break
    return value


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _smaller(root: Json) -> Iterator[Json]:
    """Yield what is left of a value without some part, the largest parts first."""
    places = sorted(_places(root), key=lambda part: -len(_text(part[1])))
    if isinstance(root, dict):
        base = {name: root[name] for name in ROOT_MEMBERS if name in root}
        for path, value in sorted(places, key=lambda part: len(_text(part[1]))):
            if path and isinstance(value, dict):
                yield {**base, **value}
                yield value
    for path, value in places:
        for less in _less(value):
            yield _with(root, path, less)


def _places(
    value: Json, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield every value inside, with its path; no deeper than a stack holds."""
    waiting = [(path, value)]
    while waiting:
        where, part = waiting.pop()
        yield where, part
        if isinstance(part, dict):
            waiting += [((*where, name), inner) for name, inner in part.items()]
        elif isinstance(part, list):
            waiting += [((*where, index), inner) for index, inner in enumerate(part)]


def _less(value: Json) -> Iterator[Json]:
    """Yield what is left of one value: without halves, then without single parts."""
    if isinstance(value, dict):
        names = list(value)
        for gone in _parts(names):
            yield {name: member for name, member in value.items() if name not in gone}
    elif isinstance(value, list):
        for left_out in _parts(range(len(value))):
            yield [item for index, item in enumerate(value) if index not in left_out]
    elif isinstance(value, int) and not isinstance(value, bool):
        yield 1
        yield value // 10 if value > 0 else -(-value // 10)
    elif isinstance(value, str) and len(value) > _LONG:
        yield from (value[:1], value[: len(value) // 2])


#: Characters of a string that is made shorter: no type has so many.
_LONG: Final = 8


def _parts(items: Sequence[_T]) -> Iterator[set[_T]]:
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            yield set(items[start : start + size])
        size //= 2
    if len(items) == 1:
        yield set(items)


def _with(root: Json, path: tuple[str | int, ...], value: Json) -> Json:
    """Return the root with another value at a path; the root itself stays as it is."""
    if not path:
        return value
    step, *tail = path
    if isinstance(root, list) and isinstance(step, int):
        items = list(root)
        items[step] = _with(root[step], tuple(tail), value)
        return items
    if isinstance(root, dict) and isinstance(step, str):
        return {**root, step: _with(root[step], tuple(tail), value)}
    raise TypeError(path)


#: How many texts are tried alone, the shortest first.
_ALONE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTexts:
    """Texts with which a case fails, and how that is seen."""

    case: Case
    #: Which text shows the failure; None where the row as a whole does.
    culprit: int | None
    #: How the case ended, with these texts or with more.
    row: Row
    #: What came of the text that shows the failure.
    walked: InstanceResult | None = None

    def fails_alike(self, row: Row) -> bool:
        """Return whether a row of these texts, under any schema, fails in this way.

        The text that shows the failure must fail at the same token, too: the texts
        stay as they are, so another token is another place, and another fault.
        """
        if (row.result, row.phase) != (self.row.result, self.row.phase):
            return False
        if self.culprit is None or self.walked is None:
            return VARYING.sub("", row.detail) == VARYING.sub("", self.row.detail)
        return _failure_of(row.walks[self.culprit]) == _failure_of(self.walked)

    def violates_alike(self, schema: str) -> bool:
        """Return whether an invalid text violates no more of a schema than before.

        By keyword and place in the text, so that an accepted text is not accepted
        for another reason.
        """
        if self.culprit is None or self.case.walks[self.culprit].valid:
            return True
        text = self.case.walks[self.culprit].text
        return _violations(schema, text) <= _violations(self.case.schema, text)

    def with_texts(self, indices: Sequence[int]) -> FailingTexts:
        """Return the same failure, to be seen with some of the texts."""
        walks = tuple(self.case.walks[index] for index in indices)
        return replace(
            self,
            case=replace(self.case, walks=walks),
            culprit=None if self.culprit is None else indices.index(self.culprit),
        )


def _failure_of(walked: InstanceResult) -> tuple[object, ...]:
    return walked.verdict, walked.at, VARYING.sub("", walked.detail)


def _violations(schema: str, text: str) -> set[tuple[str, tuple[str | int, ...]]]:
    errors = validator_of(schema).iter_errors(json.loads(text))
    return {(error.kind.name, tuple(error.instance_path)) for error in errors}


def see_failure(case: Case, row: Row) -> FailingTexts:
    """Return the failure of a case with all its texts."""
    culprit = next(iter(_wrong_texts(case, row)), None)
    walked = None if culprit is None else row.walks[culprit]
    return FailingTexts(case=case, culprit=culprit, row=row, walked=walked)


def needed_texts(
    case: Case, row: Row, ask: Callable[[Case], Row], most: int
) -> FailingTexts:
    """Return the failure of a case with no more texts than it needs.

    Args:
        case: The case.
        row: How it ended, when all texts were walked.
        ask: Puts a case to the engine.
        most: How many sets of texts are tried at most.
    """
    whole = see_failure(case, row)

    def fails(smaller: FailingTexts) -> bool:
        return smaller.fails_alike(ask(smaller.case))

    for index in _wrong_texts(case, row)[:_ALONE]:
        failure = replace(whole, culprit=index, walked=row.walks[index])
        alone = failure.with_texts([index])
        if fails(alone):
            return alone
    if whole.culprit is None:
        nothing = whole.with_texts([])
        if fails(nothing):
            return nothing
    return _reduce(whole, fails, most)


def _wrong_texts(case: Case, row: Row) -> list[int]:
    wrong = [
        index
        for index, walked in enumerate(row.walks[: len(case.walks)])
        if engine_is_wrong(walked)
    ]
    return sorted(wrong, key=lambda index: len(case.walks[index].text))


def _reduce(
    whole: FailingTexts, fails: Callable[[FailingTexts], bool], most: int
) -> FailingTexts:
    indices = list(range(len(whole.case.walks)))
    size = len(indices) // 2
    while size and most:
        place = 0
        while place < len(indices) and most:
            gone = set(indices[place : place + size]) - {whole.culprit}
            fewer = [index for index in indices if index not in gone]
            most -= bool(gone)
            if gone and fails(whole.with_texts(fewer)):
                indices = fewer
            else:
                place += size
        size //= 2
    return whole.with_texts(indices)


_QUIETER: Final = "try again when the machine is quieter"
#: Outcomes in which nothing fails.
_WELL: Final = frozenset({Outcome.PASSED, Outcome.UNTESTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkFailure:
    """A failure before and after."""

    schema: str
    walks: Sequence[InstanceWalk]
    before: int
    after: int
    row: Row

    def as_json(self, description: str) -> Json:
        """Return it as a file in MaskBench's form."""
        tests = [
            {"valid": walk.valid, "text": walk.text, "data": json.loads(walk.text)}
            for walk in self.walks
        ]
        detailed = f"{description} {self.row.detail}".strip()
        return {
            "description": detailed,
            "schema": json.loads(self.schema),
            "tests": tests,
        }


@contextmanager
def open_engine(
    participant: EngineUnderTest, tokenizer: TokenizerFiles, bounds: Bounds
) -> Iterator[Callable[[Case], Row]]:
    """Open a worker; the context is a function that puts one case to the engine.

    Raises:
        Unavailable: the engine cannot be used here.
        TemporarilyUnavailable: the machine is too busy to tell.
    """
    if participant.unavailable:
        then = install_line(participant.file)
        raise Unavailable(participant.unavailable, participant.label, then)
    encode = tokenizer.encoder()
    with EngineWorker(participant, tokenizer, bounds, ()) as worker:

        def ask(case: Case) -> Row:
            tokens = encode([walk.text for walk in case.walks])
            worker.give([PendingCase(case=case, tokens=tokens, fingerprint="")])
            while True:
                exchange([worker.child] if worker.child else [], worker.patience())
                for _, row in worker.collect():
                    if row.result is Result.UNDECIDED:
                        raise TemporarilyUnavailable(
                            f"undecided: {row.detail}", participant.label, _QUIETER
                        )
                    return row

        yield ask


def ask_in_new_process(
    participant: EngineUnderTest, tokenizer: TokenizerFiles, bounds: Bounds
) -> Callable[[Case], Row]:
    """Return a function that puts one case to the engine, each in a new process."""

    def ask(case: Case) -> Row:
        with open_engine(participant, tokenizer, bounds) as ask_once:
            return ask_once(case)

    return ask


def shrink_failure(
    case: Case,
    ask: Callable[[Case], Row],
    most: int,
    ask_afresh: Callable[[Case], Row] | None = None,
) -> ShrunkFailure:
    """Return the smallest schema that fails as the case's does.

    The texts that the failure needs are kept in order; under each smaller schema they
    must be as valid as before (jsonschema-rs, formats on). The result has failed once
    more, in a new process.

    Args:
        case: The case that fails.
        ask: Puts a case to the engine; see `open_engine`.
        most: How many schemas are tried at most, and how many sets of texts.
        ask_afresh: Puts a case to the engine in a new process; `ask` by default.

    Raises:
        NoInput: the case does not fail (any more), or only sometimes.
    """
    ask_afresh = ask_afresh or ask
    row = ask(case)
    if outcome_of(row) in _WELL:
        raise NoInput(
            f"{outcome_of(row)}: nothing fails here", f"{case.config}/{case.id}"
        )
    small = needed_texts(case, row, ask, most)

    def fails_alike(schema: Json) -> bool:
        if not stays_judged(schema, small.case.walks):
            return False
        smaller = replace(small.case, schema=json.dumps(schema))
        alike = small.violates_alike(smaller.schema)
        return alike and small.fails_alike(ask(smaller))

    smallest_schema = json.dumps(shrink(json.loads(case.schema), fails_alike, most))
    smallest = replace(small.case, schema=smallest_schema)
    whole = see_failure(case, row)
    for failure, candidate in ((small, smallest), (small, small.case), (whole, case)):
        last = ask_afresh(candidate)
        if failure.fails_alike(last):
            return ShrunkFailure(
                schema=candidate.schema,
                walks=candidate.walks,
                before=len(case.schema),
                after=len(candidate.schema),
                row=last,
            )
    raise NoInput(
        f"{outcome_of(row)}, but not when it was asked again in a new process",
        f"{case.config}/{case.id}",
        "csbdata results show RUN --failures has the command for the whole run",
    )


def stays_judged(schema: Json, walks: Sequence[InstanceWalk]) -> bool:
    """Return whether it is a schema under which texts are as valid as they are said.

    By jsonschema-rs, formats on.
    """
    if not isinstance(schema, dict | bool):
        return False
    try:
        validator = validator_of(schema)
        return all(
            validator.is_valid(json.loads(walk.text)) is walk.valid for walk in walks
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False


def case_of(run: RecordedRun, task: str, name: str, fetch: FetchSettings) -> Case:
    """Return a case of a run, made again from its data; see `cases_of`."""
    return cases_of(run, task, {name}, fetch)[name]


def cases_of(
    run: RecordedRun, task: str, names: AbstractSet[str], fetch: FetchSettings
) -> dict[str, Case]:
    """Return cases of a run by name, made again from its data.

    Raises:
        NoInput: the run's data has one of them no more.
        BadData: the data changed since.
        CsbdataError: the data cannot be had.
    """
    from evaluation.data import open_data  # noqa: PLC0415 (reads tables)
    from evaluation.tasks.registry import task_named  # noqa: PLC0415 (imports tasks)

    kind = task_named(task).prepared(fetch, lambda _message: None)
    recorded = run.header.data
    where = recorded.place or recorded.name
    data = open_data(where, settings=fetch) if kind.needs_data else None
    source = run.header.sources.get(task, recorded)
    today = data.sha256 if data else kind.sources()["sha256"] if kind.sources else None
    if today and source.sha256 not in (None, today):
        raise BadData(
            "changed since the run",
            str(where) if data else task,
            "csbdata eval measures it anew",
        )
    records = data.records() if data else ()
    matching = (record for record in records if record.key in names)
    found = {
        name: case
        for case in kind.cases(matching, run.header.settings)
        if (name := f"{case.config}/{case.id}") in names
    }
    for name in sorted(names - found.keys()):
        raise NoInput(f"no case {name} of task {task}", str(where))
    return found


def engine_of_failure(
    run: RecordedRun, label: str | None, name: str, task: str, cache: Path
) -> EngineUnderTest:
    """Return the engine of a run that failed on a case, as it took part.

    Raises:
        BadConfiguration: there are several, and none is named.
        NoInput: the run has no such row.
    """
    names = run.header.names()
    labels = [
        row.engine
        for row in run.rows()
        if row.task == task and f"{row.config}/{row.id}" == name
        if label in (None, row.engine, names.get(row.engine))
    ]
    if not labels:
        raise NoInput(f"no row of {name} in task {task}", str(run.folder))
    if len(labels) > 1:
        raise BadConfiguration("which engine?", "--engine", f"one of {labels}")
    return participant_of(run, labels[0], cache)


def participant_of(run: RecordedRun, label: str, cache: Path) -> EngineUnderTest:
    """Return an engine of a run as it took part."""
    from evaluation.setup.selected_engines import select_engines  # noqa: PLC0415 (reads every engine's file)

    participant = run.header.participant(label)
    options = [f"{name}={text}" for name, text in (participant.assigned or {}).items()]
    spec, preset = participant.spec or label, participant.preset or FAITHFUL
    return select_engines(cache, [spec], preset, options)[0]
