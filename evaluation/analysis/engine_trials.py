"""Run engines on a user's schema, or ask a service, for `csbdata fit`.

Engines compile it and are walked through its witnesses and near misses
(`csbdata.witnesses`), byte by byte: no tokenizer is fetched.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Final

from curation.core.engine_trials import EngineTrial, KnownEngine, PassedValue
from curation.download.cache import FetchSettings
from curation.instances.dataset.worker import InstanceRequest, witnesses_of_each
from curation.system.errors import BadConfiguration, TemporarilyUnavailable
from curation.system.terminal import log
from evaluation.analysis.recorded_cases import open_engine
from evaluation.core.cases import Bounds, Case, InstanceWalk, Result, Row
from evaluation.core.records import Record
from evaluation.data.instance_store import recorded_instances
from evaluation.results.outcomes import FAULTS, engine_is_right
from evaluation.servers.provider import is_served
from evaluation.setup.engine_files import FAITHFUL, UNCONSTRAINED, install_line
from evaluation.setup.selected_engines import EngineUnderTest, select_engines
from evaluation.tasks.masks import NAME
from evaluation.tasks.probe.acceptance import REJECTED, UNKNOWN, ask_records
from evaluation.tokenizers import BYTES, get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import Json
    from curation.instances.dataset.make_instances import SchemaInstances

#: A user waits: longer is too slow.
_BOUNDS: Final = Bounds(compile_seconds=10.0, run_seconds=10.0)
#: With the four of a build, values of another seed would find seven faults more of
#: XGrammar in 236 schemas that it is right with by these; with sixteen hardly any.
_WITNESSES: Final = 16
_SLOW: Final = "too slow: no answer within 10 s of processor time"


class EngineTrials:
    """A runner of engines (`curation.core.engine_trials.EngineRunner`)."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._open = ExitStack()
        self._settings = FetchSettings.from_environment()
        self._asking: dict[str, Callable[[Case], Row]] = {}
        self._text = ""
        self._made = witnesses_of_each(self._requests())
        self._case = cache(self._make_case)

    def close(self) -> None:
        """End the processes of the engines and of the values."""
        self._open.close()
        self._made.close()

    def _requests(self) -> Iterator[InstanceRequest]:
        while True:
            yield InstanceRequest(schema=self._text, dialect="", count=_WITNESSES)

    def _make_case(self, text: str) -> Case:
        self._text = text
        return case_of_values(text, next(self._made))

    def engine(self, spec: str) -> KnownEngine | None:
        """Return the engine or served model of a spec; None for no such thing."""
        if is_served(spec):
            return KnownEngine(spec)
        try:
            engine = self._selected(spec)
        except BadConfiguration:
            return None
        if engine.file.name == UNCONSTRAINED:
            return None
        label = engine.label
        why = engine.unavailable
        return KnownEngine(label, why, install_line(engine.file) if why else "")

    def _selected(self, spec: str) -> EngineUnderTest:
        return select_engines(self._settings.cache, [spec], FAITHFUL, [])[0]

    def run(self, spec: str, schema: Json) -> EngineTrial:
        """Compile a schema and walk its values; see `read_trial` for the outcome.

        Raises:
            Unavailable: the engine is not installed.
            WorkerDidNotStart: it cannot be loaded.
            CsbdataError: a server does not answer, or knows neither key nor model.
        """
        if is_served(spec):
            record = Record(id="schema", schema=json.dumps(schema))
            # The maximum cost is printed before.
            (line,) = ask_records(spec, [record], None, log)
            is_known = line.verdict != UNKNOWN
            return EngineTrial(
                engine=line.model,
                answered=is_known,
                refusal=line.message if line.verdict == REJECTED else "",
                late="" if is_known else line.message,
            )
        engine = self._selected(spec)
        if spec not in self._asking:
            tokenizer = get_tokenizer(BYTES, self._settings)
            opened = open_engine(engine, tokenizer, _BOUNDS)
            self._asking[spec] = self._open.enter_context(opened)
        case = self._case(json.dumps(schema))
        try:
            row = self._asking[spec](case)
        except TemporarilyUnavailable as error:
            return EngineTrial(engine=engine.label, late=error.message)
        return read_trial(case, row)


def case_of_values(text: str, instances: SchemaInstances) -> Case:
    """Return the case of a schema with generated values."""
    walks = tuple(
        InstanceWalk(
            text=instance.text,
            valid=instance.valid,
            label={"pointer": instance.schema_pointer, "keyword": instance.keyword},
        )
        for instance in recorded_instances(instances)
    )
    return Case(task=NAME, id="schema", config="fit", schema=text, walks=walks)


def read_trial(case: Case, row: Row) -> EngineTrial:
    """Return the findings on an engine from the row of a case."""
    if row.result is Result.COMPILE_ERROR:
        return EngineTrial(engine=row.engine, refusal=row.detail)
    if row.result is Result.TIMEOUT:
        return EngineTrial(engine=row.engine, late=_SLOW)
    if row.result is not Result.OK:
        failure = f"{row.result.replace('_', ' ')}: {row.detail}"
        return EngineTrial(engine=row.engine, refusal=failure)
    blocked = []
    passed = []
    for walk, walked in zip(case.walks, row.walks, strict=True):
        if walked.verdict in FAULTS:
            detail = f"it contradicts itself: {walked.detail or walked.verdict}"
            return EngineTrial(engine=row.engine, refusal=detail)
        if engine_is_right(walked) is False and walk.valid:
            blocked.append(walk.text)
        elif engine_is_right(walked) is False:
            label = walk.label
            location = str(label["pointer"]), str(label["keyword"])
            passed.append(PassedValue(*location, walk.text))
    valid = sum(walk.valid for walk in case.walks)
    return EngineTrial(
        engine=row.engine,
        valid=valid,
        invalid=len(case.walks) - valid,
        blocked=tuple(blocked),
        passed=tuple(passed),
    )
