"""The ways of csbdata whose cost is measured, each as work that is prepared first.

What a worker process does is called in this process, and deadlines in time are
lifted, so that all of it is counted and nothing turns on the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final, TypeAlias
from unittest.mock import patch

import msgspec

from curation.checking import check_worker
from curation.checking.report import CheckQuestion
from curation.core.documents import NOWHERE, Document, RawDocument, Rejected
from curation.core.rule import Context
from curation.dataset.edition_statistics import EditionStatistics
from curation.fit.profile import load_profile
from curation.fit.rewriting import Rewriting
from curation.fit.verdict import judge_fit
from curation.instances.constraints.interpretations import as_schema
from curation.instances.dataset.make_instances import make_instances
from curation.packaging.derived_files import write_derived
from curation.pipeline.process_document import apply_rules, make_record
from curation.references.closure import NO_LIBRARY
from curation.relation import worker as relation_worker
from curation.relation.comparer import Comparer
from curation.relation.questions import AlgebraQuestion, Question, SchemaQuestion
from curation.rules.sets import rule_set
from curation.schema.dialects import DRAFT_2020_12
from curation.verification.check import open_folder
from curation.verification.run import CHECKS
from curation.workers.limits import Ending, ProcessResult
from evaluation.analysis.compare_runs import compare_runs
from evaluation.results.reader import open_run
from tests.builds import write_build
from tests.evaluation.made_runs import many, write_run
from tests.growth.families import FAMILIES
from tests.made import record

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: What is measured.
Work: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One thing that csbdata does, for families of input."""

    #: From an input of a family to the work on it.
    prepare: Callable[[UntypedJson], Work]
    families: Mapping[str, Callable[[int], UntypedJson]] = field(
        default_factory=lambda: FAMILIES
    )
    #: The smallest n at which events are counted.
    events_n: int = 2
    #: Whether it searches under a budget: only its whole cost is held.
    searches: bool = False
    #: By family: why its cost grows faster, and which budget ends it.
    by_nature: Mapping[str, str] = field(default_factory=dict)


class _InProcess(Comparer):
    """A comparer that answers in this process, without a deadline.

    The algebra of jsonschema-rs, exponential by nature, has no answer: it is one that
    `PROOF_SECONDS` has ended.
    """

    def _result(self, question: Question, seconds: float) -> ProcessResult:
        del seconds
        if type(question) is AlgebraQuestion:
            return ProcessResult(ending=Ending.TIMEOUT, detail="no answer within 0 s")
        if isinstance(question, SchemaQuestion) and question.wanted == "form":
            return ProcessResult(ending=Ending.TIMEOUT)
        answer = relation_worker.start(None)(msgspec.to_builtins(question))
        return ProcessResult(ending=Ending.OK, text=msgspec.json.encode(answer))


def _rules(name: str, schema: UntypedJson) -> Work:
    raw = RawDocument(
        config="local",
        unique_id="o1",
        provenance=NOWHERE,
        content=json.dumps(schema).encode(),
    )
    return partial(apply_rules, raw, rule_set(name), Context(library=NO_LIBRARY))


def _check(schema: UntypedJson) -> Work:
    handle = check_worker.start({})
    question = CheckQuestion(content=json.dumps(schema), base_uri=None)
    return lambda: handle(msgspec.to_builtins(question))


def _record_columns(schema: UntypedJson) -> Work:
    document = Document(
        config="local", unique_id="o1", provenance=NOWHERE, schema=schema
    )
    return partial(make_record, document)


def _judged(schema: UntypedJson) -> Work:
    profiles = [load_profile(name) for name in ("openai-strict", "vllm")]
    return lambda: [judge_fit(schema, it) for it in profiles]


def _rewritten(schema: UntypedJson) -> Work:
    def work() -> object:
        compiled = as_schema(schema)
        if isinstance(compiled, Rejected) or compiled.fault:
            return None
        profile = load_profile("openai-strict")
        return Rewriting(
            compiled, profile, _InProcess(), examples=(), prove=False, seconds=inf
        ).run()

    return work


def _diff(schema: UntypedJson) -> Work:
    other = {**schema, "minProperties": 1}
    return partial(_InProcess().relation, schema, other, DRAFT_2020_12)


def _instances(schema: UntypedJson) -> Work:
    return partial(make_instances, json.dumps(schema))


def _build(count: int) -> Path:
    rows = [("Github_easy", record(f"o{i}")) for i in range(count)]
    return write_build(Path(mkdtemp()), rows, ())


def _derive(folder: Path) -> object:
    # Matplotlib's events are not ours.
    drawing = "curation.packaging.derived_files.compute_statistics"
    with patch(drawing, lambda _edition: EditionStatistics()):
        return write_derived(folder, folder)


#: These are the work of others: `datasets`, and what draws plots.
_OTHERS_WORK: Final = ("loading", "derived")


def _verify(count: int) -> Work:
    folder = _build(count)
    _derive(folder)

    def result(answer: object) -> ProcessResult:
        return ProcessResult(ending=Ending.OK, text=msgspec.json.encode(answer))

    def work() -> object:
        contents = open_folder(folder)
        return [
            check.conclude(
                contents,
                [
                    (item, result(check.work(folder, item)))
                    for batch in check.batches(contents)
                    for item in batch
                ],
            )
            for check in CHECKS
            if check.name not in _OTHERS_WORK
        ]

    return work


def _compare(count: int) -> Work:
    folder = Path(mkdtemp())
    write_run(folder, many("alpha 1.0", count))

    def work() -> object:
        before, now = open_run(folder), open_run(folder)
        return compare_runs(run=now, baseline=before)

    return work


_RECORDS: Final = {"records": lambda n: n}
_DEEP: Final = {
    "deep": "a pointer is as long as its place is deep: a parser's limit of nesting"
}
_INSTANCES: Final = {
    "allOf of if": "each condition is tried with each: `DEADLINE` of instances",
    "patternProperties": "each name is held against each pattern: the same",
}
#: By name, in the order in which they are measured.
WAYS: Final[Mapping[str, Way]] = {
    "rules clean": Way(prepare=partial(_rules, "clean")),
    "rules paper": Way(prepare=partial(_rules, "paper")),
    "record columns": Way(prepare=_record_columns),
    "check": Way(prepare=_check),
    "fit, judged": Way(prepare=_judged, by_nature=_DEEP),
    # At 2 and at 8, some of its functions have hardly begun to run.
    "fit, rewritten": Way(prepare=_rewritten, events_n=3, by_nature=_DEEP),
    "diff": Way(
        prepare=_diff,
        families={it: FAMILIES[it] for it in ("wide", "fan of $ref", "anyOf", "enum")},
        searches=True,
    ),
    "instances": Way(prepare=_instances, searches=True, by_nature=_INSTANCES),
    "card": Way(prepare=lambda n: partial(_derive, _build(n)), families=_RECORDS),
    "verify": Way(prepare=_verify, families=_RECORDS),
    "results compared": Way(prepare=_compare, families=_RECORDS),
}
