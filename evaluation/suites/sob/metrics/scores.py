"""One answer against one truth: every metric, and what it was multiplied by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.suites.sob.metrics.compliance import TargetSchema, compile_schema
from evaluation.suites.sob.metrics.equality import same_leaf, same_leaves
from evaluation.suites.sob.metrics.expected_types import (
    PublishedTypes,
    ResolvedTypes,
)
from evaluation.suites.sob.metrics.gates import coverage_gate, f1
from evaluation.suites.sob.metrics.leaves import (
    Path,
    all_leaves,
    compared_leaves,
)
from evaluation.suites.sob.metrics.names import GATED, Metric
from evaluation.suites.sob.metrics.required_keys import (
    required_paths,
    required_recall,
)
from evaluation.suites.sob.metrics.token_f1 import token_f1

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A record's truth and schema, read once and compared with many answers."""

    rules: ScoringRules
    #: `text`, `image` or `audio`: decides the coverage gate.
    source: str
    truth: Json
    target: TargetSchema
    #: Every leaf of the truth, empty objects and arrays among them.
    leaves: dict[Path, Json]
    #: Those that the metrics compare.
    compared: dict[Path, Json]
    types: ResolvedTypes | PublishedTypes
    required: frozenset[tuple[str, ...]]

    @classmethod
    def of(
        cls, truth: Json, schema: Json, source: str, rules: ScoringRules
    ) -> Expectation:
        """Read a truth and compile its schema under one reading."""
        leaves = all_leaves(truth)
        lookup = ResolvedTypes if rules.resolved_types else PublishedTypes
        return cls(
            rules=rules,
            source=source,
            truth=truth,
            target=compile_schema(schema, rules),
            leaves=leaves,
            compared=compared_leaves(leaves, rules),
            types=lookup(schema),
            required=required_paths(schema),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordScores:
    """What one answer amounts to."""

    #: Every metric, hardened and gated as its definition says.
    values: Mapping[Metric, float]
    #: 1 if the answer parses and its schema accepts it, else 0.
    hardening: float
    #: The coverage gate, from 0 to 1.
    gate: float
    #: Structure Coverage before hardening, which the gate is made of.
    raw_coverage: float
    #: Why the schema refuses the answer, or cannot be used; empty if it accepts.
    refusal: str = ""


def nothing_scored(refusal: str = "") -> RecordScores:
    """Return the scores of an answer that is no JSON object or array: all are 0."""
    return RecordScores(
        values=dict.fromkeys(Metric, 0.0),
        hardening=0.0,
        gate=0.0,
        raw_coverage=0.0,
        refusal=refusal,
    )


def score_answer(
    answer: Json,
    expected: Expectation,
    leaves: dict[Path, Json] | None = None,
) -> RecordScores:
    """Return every metric of one answer.

    Args:
        answer: The value that the response was parsed to; a scalar or null counts as
            not parsed, since the root must be an object or an array.
        expected: The record's truth and schema.
        leaves: `all_leaves(answer)`, where they are known already.
    """
    if not isinstance(answer, dict | list):
        return nothing_scored()
    rules = expected.rules
    leaves = all_leaves(answer) if leaves is None else leaves
    refusal = expected.target.refusal(answer)
    hardening = float(refusal is None)
    compared = compared_leaves(leaves, rules)
    common = len(expected.compared.keys() & compared.keys())
    coverage = f1(common, len(compared), len(expected.compared))
    perfect = float(same_leaves(expected.leaves, leaves, rules))
    recall = _share(common, len(expected.compared))
    values = {
        Metric.JSON_PARSE: 1.0,
        Metric.JSON_PASS: hardening,
        **gated_values(expected, compared, hardening),
        Metric.PATH_RECALL: hardening * recall,
        Metric.STRUCTURE_COVERAGE: hardening * coverage,
        Metric.TYPE_SAFETY: hardening * _type_safety(expected, leaves),
        Metric.PERFECT: perfect,
        Metric.PERFECT_AND_VALID: perfect * hardening,
        Metric.REQUIRED_KEYS: required_recall(expected.required, answer),
    }
    gate = coverage_gate(coverage, expected.source, rules)
    return RecordScores(
        values=values,
        hardening=hardening,
        gate=gate,
        raw_coverage=coverage,
        refusal=refusal or "",
    )


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0


def gated_values(
    expected: Expectation, found: dict[Path, Json], hardening: float
) -> dict[Metric, float]:
    """Return Value Accuracy and Faithfulness of an answer's compared leaves.

    Args:
        expected: The record's truth and schema.
        found: The leaves of the answer, as `leaves.compared_leaves` gives them.
        hardening: 1 if the answer passes its schema, else 0.
    """
    rules = expected.rules
    of = len(expected.compared)
    common = len(expected.compared.keys() & found.keys())
    gate = coverage_gate(f1(common, len(found), of), expected.source, rules)
    if not of or not hardening * gate:
        return dict.fromkeys(sorted(GATED), 0.0)
    exact = 0
    words = 0.0
    same_words = rules.json_equality and rules.canonical_numbers
    for path, value in expected.compared.items():
        if path in found:
            other = found[path]
            is_same = same_leaf(value, other, rules)
            exact += is_same
            # Where equality is JSON's and numbers have one spelling, so have words.
            words += 1.0 if is_same and same_words else token_f1(value, other, rules)
        elif not rules.missing_is_zero:
            words += token_f1(value, None, rules)
    return {
        Metric.VALUE_ACCURACY: gate * exact / of,
        Metric.FAITHFULNESS: gate * words / of,
    }


def _type_safety(expected: Expectation, leaves: dict[Path, Json]) -> float:
    """Return the share of the answer's leaves of an expected type, not hardened."""
    right = of = 0
    for path, value in leaves.items():
        if isinstance(value, dict | list) and not expected.rules.empty_leaves:
            continue
        of += 1
        right += expected.types.accepts(path, value)
    return _share(right, of)
