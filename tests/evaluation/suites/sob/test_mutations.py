"""Every mutation lowers exactly the metrics that it should: the table is the test."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest

from evaluation.core.records import Response
from evaluation.suites.sob.metrics import PUBLISHED, RECOMMENDED, Metric
from evaluation.suites.sob.records import suite_record
from evaluation.suites.sob.scorer import Mistake, PreparedRecord, judge
from evaluation.suites.sob.suite import SobSettings, known_answers
from tests.evaluation.suites.sob.all_mutations import MUTATIONS, answers_known, mutated
from tests.evaluation.suites.sob.mutations import NOTHING, Mutation
from tests.evaluation.suites.sob.stored import stored_records


@cache
def _prepared() -> list[PreparedRecord]:
    return [PreparedRecord.of(record, RECOMMENDED) for record in stored_records()[:27]]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_lowers_its_metrics_and_no_other(mutation: Mutation) -> None:
    """On every record that it fits, and it fits some; its class is the one intended."""
    fits = 0
    for prepared in _prepared():
        found = mutated(prepared.record, mutation)
        if found is None:
            continue
        fits += 1
        verdict = judge(prepared, Response(record="r", text=found.text))
        lowered = {metric for metric in Metric if verdict.scores[metric] < 1}
        assert lowered == mutation.lowers, (prepared.record.family, found.text)
        assert verdict.failure_class == (mutation.mistake or "")
        assert verdict.passed is (mutation.mistake is None)
        assert any(found.because in reason for reason in verdict.reasons) or (
            not found.because
        )
    assert fits


def test_there_are_many_kinds_and_every_metric_is_lowered_by_some() -> None:
    """At least 20 kinds spoil an answer; no metric is beyond their reach."""
    spoiling = [mutation for mutation in MUTATIONS if mutation.lowers != NOTHING]
    assert len(spoiling) >= 20
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
    by_metric = defaultdict(set)
    for mutation in MUTATIONS:
        for metric in mutation.lowers:
            by_metric[metric].add(mutation.name)
    assert by_metric.keys() == set(Metric)
    # No two metrics but the whole ones, and JSON pass and Type Safety, are lowered by
    # the same mutations.
    kinds = {frozenset(names) for names in by_metric.values()}
    assert len(kinds) == len(Metric) - 2


def test_the_published_reading_gives_the_same_classes() -> None:
    """But for what the two readings disagree about, which is left out."""
    for record in stored_records()[:6]:
        prepared = PreparedRecord.of(record, PUBLISHED)
        for known in answers_known(record, published=True):
            verdict = judge(prepared, Response(record="r", text=known.text))
            assert verdict.failure_class == known.expected, (known.kind, known.text)


def test_the_self_test_has_answers_of_every_class() -> None:
    """Each has its class in both readings; only an unusable schema cannot occur."""
    classes = set()
    for record in stored_records()[:18]:
        for rules in (RECOMMENDED, PUBLISHED):
            prepared = PreparedRecord.of(record, rules)
            for known in known_answers(suite_record(record), SobSettings()):
                verdict = judge(prepared, Response(record="r", text=known.text))
                assert verdict.failure_class == known.expected, known.kind
                assert known.because in " ".join(verdict.reasons), known.kind
                classes.add(known.expected)
    assert classes == {"", *Mistake} - {Mistake.UNUSABLE_SCHEMA}
