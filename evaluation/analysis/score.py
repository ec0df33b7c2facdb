"""Score extractions: answers against gold documents, field by field.

Each field has a rule, which the keyword `x-eval` of its schema names, and otherwise its
type decides: docs/suites.md has a table of them.

`{"x-eval": {"rule": "number", "relative": 0.01}}` gives a rule its figures. Null is
equal to leaving a member out. An object or array with `exact` is one value.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from curation.json.pointer import at, pointer, tokens_of_fragment
from curation.json.values import identity, is_number
from curation.system.errors import BadData
from curation.system.words import shortened
from evaluation.answers.json_search import find_envelope, find_json
from evaluation.answers.judge import usable_schema
from evaluation.reporting.statistics import Interval, t_quantile
from evaluation.reporting.tables import Cell, Estimate, Rate, Table

if TYPE_CHECKING:
    from curation.core.json_types import GivenSchema, Json, UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: A path of names, with `*` for every index.
_Path: TypeAlias = tuple[str, ...]
Outcome: TypeAlias = Literal["right", "wrong", "omitted", "invented"]
_RULES: Final = ("exact", "text", "number", "date", "list", "set", "index", "ignore")
_OF_ARRAYS: Final = ("list", "set", "index")
#: How dates are written, ISO 8601 apart.
_DATES: Final = (
    *("%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d"),
)
#: Keywords whose schemas apply to the same value.
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
#: Maximum items of an array to align; longer arrays are compared index by index.
_MAX_ALIGNED: Final = 200
#: Figures in memory at a time; more have no interval.
_MAX_FIGURES: Final = 20_000_000
_NAMED: Final = 5
#: What a pair of items is worth that have nothing in common.
_ANY_PAIR: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Rule:
    """How one field is compared."""

    name: str
    tolerance: float = 0.0
    relative: float = 0.0


_EXACT, _TEXT, _DATE = Rule("exact"), Rule("text"), Rule("date")
_NUMBER, _LIST = Rule("number"), Rule("list")


class Leaf(NamedTuple):
    """The result of one leaf, with both sides."""

    path: _Path
    outcome: Outcome
    gold: Json
    answer: Json
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionScore:
    """The score of a set of answers."""

    #: The counts of outcomes for each field in each document.
    documents: Mapping[str, Mapping[str, Counter[str]]]
    #: The rule of each field.
    rules: Mapping[str, str]
    #: Leaves that are not right, each with its document.
    mistakes: Sequence[tuple[str, Leaf]]
    #: One line for each kind of problem of the input: documents are never dropped
    #: silently.
    problems: Sequence[str]
    #: Envelopes of the answers (`evaluation.answers.json_search`).
    envelopes: Counter[str] = field(default_factory=Counter)
    #: Tables of a preset.
    more: Sequence[Table] = ()

    def tables(self) -> list[Table]:
        """Return the tables: the whole, then the fields with the worst first."""
        totals: dict[str, Counter[str]] = defaultdict(Counter)
        for fields in self.documents.values():
            for name, counts in fields.items():
                totals[name] += counts
        worst = sorted(totals, key=lambda name: (_f1(totals[name]), name))
        fields_table = Table.of_records(
            "Fields, the worst first",
            (
                {
                    "field": name or "(root)",
                    "rule": self.rules.get(name, ""),
                    "F1": Estimate(_f1(totals[name])),
                    "right": self._rate(name),
                    "exact": totals[name]["exact"],
                    "wrong": totals[name]["wrong"],
                    "omitted": totals[name]["omitted"],
                    "invented": totals[name]["invented"],
                }
                for name in worst
            ),
            "right: of the gold values, with the interval by documents; exact: equal "
            "as written; omitted: gold values without an answer; invented: "
            "answers without a gold value.",
            "fields",
        )
        return [self._summary(worst), *self.more, fields_table]

    def _rate(self, field_name: str | None = None, against: str = "omitted") -> Rate:
        """Return the share that is right of gold values, or of answers."""
        rates = []
        for fields in self.documents.values():
            counters = [*fields.values()]
            if field_name is not None:
                counters = [fields.get(field_name, Counter())]
            of = sum(
                counts["right"] + counts["wrong"] + counts[against]
                for counts in counters
            )
            rates.append(Rate(sum(counts["right"] for counts in counters), of))
        return Rate.total(rates)

    def _summary(self, fields: Sequence[str]) -> Table:
        micro, macro = _intervals(self.documents, fields)
        perfect = sum(
            all(set(+counts) <= {"right", "exact"} for counts in by_field.values())
            for by_field in self.documents.values()
        )
        row: dict[str, Cell] = {
            "all right": Rate(perfect, len(self.documents)),
            "recall": self._rate(),
            "precision": self._rate(against="invented"),
            "F1 micro": micro,
            "F1 macro": macro,
        }
        words = {"fence": "in fence"}
        inside = ", ".join(
            f"{count:,} {words.get(name, name)}"
            for name, count in self.envelopes.most_common()
        )
        note = (
            "all right: documents without a mistake; micro: over all values; macro: "
            "the mean of the fields. Intervals take documents for independent. "
            f"Answers: {inside or 'values'}."
        )
        return Table.of_records("Extraction", [row], note, "extraction")


def _right_and_all(counts: Mapping[str, int]) -> tuple[int, int]:
    """Return numerator and denominator of F1."""
    right = 2 * counts["right"]
    return right, right + 2 * counts["wrong"] + counts["omitted"] + counts["invented"]


def _f1(counts: Mapping[str, int]) -> float:
    right, total = _right_and_all(counts)
    return right / total if total else 1.0


def _intervals(
    documents: Mapping[str, Mapping[str, Counter[str]]], fields: Sequence[str]
) -> Sequence[Estimate]:
    """Return F1 over all leaves, and its mean over fields.

    The intervals are by the jackknife over documents, with Student's t.
    """
    import numpy as np  # noqa: PLC0415 - heavy

    if not fields:
        return [Estimate(float("nan"))] * 2
    index = {name: column for column, name in enumerate(fields)}
    number = len(documents)
    parts = np.zeros((2, number, len(fields)))
    for row, counts_by_field in enumerate(documents.values()):
        for name, counts in counts_by_field.items():
            parts[:, row, index[name]] = _right_and_all(counts)

    def figures(rights: Any, totals: Any) -> Any:  # noqa: ANN401 - arrays
        shares = np.where(totals > 0, rights / np.maximum(totals, 1), 1.0)
        sums = totals.sum(axis=-1)
        micro = np.where(sums > 0, rights.sum(axis=-1) / np.maximum(sums, 1), 1.0)
        return np.stack([micro, shares.mean(axis=-1)])

    sums = parts.sum(axis=1)
    values = figures(*sums)
    if number == 1 or parts.size > _MAX_FIGURES:
        return [Estimate(float(value)) for value in values]
    without_each = figures(*(sums[:, None] - parts))
    spread = without_each.std(axis=1) * math.sqrt(number - 1) * t_quantile(number - 1)
    return [
        Estimate(
            float(value), Interval(max(0.0, value - reach), min(1.0, value + reach))
        )
        for value, reach in zip(values, spread, strict=True)
    ]


def score(
    schema: GivenSchema,
    gold: Mapping[str, UntypedJson] | Iterable[tuple[str, UntypedJson]],
    answers: Mapping[str, UntypedJson] | Iterable[tuple[str, UntypedJson]],
    *,
    preset: str = "",
) -> ExtractionScore:
    """Score answers against gold documents by the rules of a schema.

    Args:
        schema: A JSON Schema, its text, or a model of pydantic; `x-eval` in it names
            rules.
        gold: The right document of each id.
        answers: The answer of each id; a text is read as models write, fences and
            words around it included.
        preset: `sob` adds the seven metrics of the Structured Output Benchmark.

    Raises:
        BadData: the schema cannot be used, or no gold document.

    Example:
        >>> schema = {"properties": {"total": {"type": "number"}}}
        >>> result = score(schema, {"a": {"total": 12.5}}, {"a": "Total: 12.5"})
        >>> result.documents["a"]["/total"]["omitted"]
        1
    """
    compiled = usable_schema(schema)
    comparison = _Comparison(compiled.value)
    right, repeated_gold = _by_id(gold)
    by_id, repeated_answers = _by_id(answers)
    if not right:
        raise BadData("no document", "gold")
    values, unread, envelopes = _values(by_id, right)
    accepts = compiled.validator_without_formats.is_valid
    refused_gold = [name for name, value in right.items() if not accepts(value)]
    refused = [name for name, value in values.items() if not accepts(value)]
    problems = {
        "gold documents of an id that was there already; the first one counts": (
            repeated_gold
        ),
        "answers of an id that was there already; the first one counts": (
            repeated_answers
        ),
        "answers without gold": [name for name in by_id if name not in right],
        "gold documents without an answer, which count as omitted": [
            name for name in right if name not in by_id
        ],
        "gold documents that their own schema refuses, which count like others": (
            refused_gold
        ),
        "answers without JSON, or too long, which count as omitted": unread,
        "answers that the schema refuses, which are compared all the same": refused,
    }
    documents: dict[str, dict[str, Counter[str]]] = {}
    mistakes: list[tuple[str, Leaf]] = []
    for name, value in right.items():
        fields: dict[str, Counter[str]] = defaultdict(Counter)
        leaves = [*comparison.leaves(comparison.root, value, values.get(name))]
        if name not in values and not leaves:
            # All is null in the gold, but no answer repeats this.
            leaves = [Leaf((), "omitted", value, None, exact=False)]
        for leaf in leaves:
            where = pointer(leaf.path)
            fields[where][leaf.outcome] += 1
            fields[where]["exact"] += leaf.exact
            if leaf.outcome != "right":
                mistakes.append((name, leaf))
        documents[name] = dict(fields)
    extra_tables = _sob_tables(compiled, right, values) if preset == "sob" else ()
    return ExtractionScore(
        documents=documents,
        rules={pointer(path): rule for path, rule in comparison.rules.items()},
        mistakes=mistakes,
        problems=[
            _problem(description, names)
            for description, names in problems.items()
            if names
        ],
        envelopes=envelopes,
        more=extra_tables,
    )


def _values(
    answers: Mapping[str, Json], gold: Mapping[str, Json]
) -> tuple[dict[str, Json], list[str], Counter[str]]:
    """Return the values of answers to gold documents, and those without one."""
    values: dict[str, Json] = {}
    unread: list[str] = []
    envelopes: Counter[str] = Counter()
    for name, value in answers.items():
        if name not in gold:
            continue
        if not isinstance(value, str):
            values[name] = value
            continue
        answer = find_json(value)
        envelopes[find_envelope(value)] += 1
        if answer.problem is None and isinstance(answer.value, dict | list):
            values[name] = answer.value
        else:
            unread.append(name)
    return values, unread, envelopes


def _by_id(
    pairs: Mapping[str, Json] | Iterable[tuple[str, Json]],
) -> tuple[dict[str, Json], list[str]]:
    """Return values by id, the first of several, and the ids that come again."""
    values: dict[str, Json] = {}
    repeated: list[str] = []
    for name, value in pairs.items() if isinstance(pairs, Mapping) else pairs:
        if name in values:
            repeated.append(name)
        else:
            values[name] = value
    return values, repeated


def _problem(description: str, names: Sequence[str]) -> str:
    """Return the line of a kind of problem: how many documents have it, and a few."""
    examples = ", ".join(shortened(str(name), 60) for name in names[:_NAMED])
    line = f"{description} ({len(names):,}): {examples}"
    if len(names) > _NAMED:
        line += f" and {len(names) - _NAMED:,} more"
    return line


class _Field:
    """The schemas of one field, references and branches followed."""

    def __init__(self, root: Json, schemas: Iterable[Json], path: _Path = ()) -> None:
        self.root = root
        self.path = path
        self.schemas: list[dict[str, Any]] = []
        self.members: dict[str, _Field] = {}
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or any(
                schema is subschema for subschema in self.schemas
            ):
                continue
            self.schemas.append(schema)
            reference = schema.get("$ref")
            if isinstance(reference, str) and reference.startswith("#"):
                with suppress(LookupError, ValueError):
                    waiting.append(at(root, tokens_of_fragment(reference[1:])))
            for keyword in _BRANCHES:
                branches = schema.get(keyword)
                waiting += branches if isinstance(branches, list) else []
        self.declared = _declared_rule(self.schemas)
        self.is_listed = any(
            {"enum", "const"} & subschema.keys() for subschema in self.schemas
        )
        formats = {str(subschema.get("format")) for subschema in self.schemas}
        self.is_date = bool(formats & {"date", "date-time"})

    def member(self, name: str) -> _Field:
        """Return the field of a member, or of items for `*`."""
        if name not in self.members:
            if name == "*":
                inner = self._subschemas("items")
            else:
                inner = [
                    properties.get(name)
                    for properties in self._subschemas("properties")
                    if isinstance(properties, dict)
                ]
                if not any(inner):
                    inner = self._subschemas("additionalProperties")
            self.members[name] = _Field(self.root, inner, (*self.path, name))
        return self.members[name]

    def _subschemas(self, keyword: str) -> list[Json]:
        return [schema.get(keyword) for schema in self.schemas]

    def rule(self, value: Json) -> Rule:
        """Return the rule of a value: the declared one, otherwise its type's."""
        is_array = isinstance(value, list)
        if self.declared and (is_array or self.declared.name not in _OF_ARRAYS):
            return self.declared
        if is_array:
            return _LIST
        if isinstance(value, str):
            if self.is_listed:
                return _EXACT
            return _DATE if self.is_date else _TEXT
        return _NUMBER if is_number(value) else _EXACT


class _Comparison:
    """Comparison by the rules of one schema."""

    def __init__(self, schema: Json) -> None:
        self.root = _Field(schema, [schema])
        #: The rule of every compared field.
        self.rules: dict[_Path, str] = {}

    def leaves(
        self,
        field: _Field,
        gold: Any,  # noqa: ANN401 - any JSON
        answer: Any,  # noqa: ANN401 - any JSON
    ) -> Iterator[Leaf]:
        """Yield the outcome of every leaf of two values of a field."""
        rule = field.rule(answer if gold is None else gold)
        kinds = {type(gold), type(answer)} - {type(None)}
        if rule.name == "ignore" or not kinds:
            return
        if kinds == {dict} and field.declared is None:
            gold, answer = gold or {}, answer or {}
            for name in dict.fromkeys((*gold, *answer)):
                member = field.member(name)
                yield from self.leaves(member, gold.get(name), answer.get(name))
        elif kinds == {list} and rule.name in _OF_ARRAYS:
            inner = field.member("*")
            for pair in self._aligned(inner, rule, gold or [], answer or []):
                yield from self.leaves(inner, *pair)
        elif kinds & {dict, list} and len(kinds) > 1:
            yield from self.leaves(field, gold, None)
            yield from self.leaves(field, None, answer)
        else:
            self.rules.setdefault(field.path, rule.name)
            yield _leaf(rule, gold, answer, field.path)

    def _aligned(
        self, inner: _Field, rule: Rule, gold: list[Json], answer: list[Json]
    ) -> list[tuple[Json, Json]]:
        """Return pairs of items; None for an item without a counterpart."""
        size = max(len(gold), len(answer))
        by_index = [*zip_longest(gold, answer)]
        if rule.name == "index" or size > _MAX_ALIGNED or gold == answer:
            return by_index
        similarity = [
            [self._similarity(inner, gold_item, answer_item) for answer_item in answer]
            for gold_item in gold
        ]
        pairs = (_assignment if rule.name == "set" else _in_order)(similarity)
        if len(gold) == len(answer) and not pairs:
            return by_index
        gold_left = dict(enumerate(gold))
        answers_left = dict(enumerate(answer))
        return [
            *((gold_left.pop(row), answers_left.pop(column)) for row, column in pairs),
            *((item, None) for item in gold_left.values()),
            *((None, item) for item in answers_left.values()),
        ]

    def _similarity(self, inner: _Field, gold: Json, answer: Json) -> float:
        """Return the share of right leaves of two items."""
        rights = [leaf.outcome == "right" for leaf in self.leaves(inner, gold, answer)]
        return fmean(rights) if rights else 1.0


def _leaf(rule: Rule, gold: Json, answer: Json, path: _Path) -> Leaf:
    exact = gold == answer and isinstance(gold, bool) is isinstance(answer, bool)
    if isinstance(gold, dict | list):
        exact = identity(gold) == identity(answer)
    if exact or (
        gold is not None and answer is not None and _matches(rule, gold, answer)
    ):
        outcome: Outcome = "right"
    elif answer is None:
        outcome = "omitted"
    elif gold is None:
        outcome = "invented"
    else:
        outcome = "wrong"
    return Leaf(path, outcome, gold, answer, exact)


def _declared_rule(schemas: Iterable[dict[str, Any]]) -> Rule | None:
    """Return the rule that `x-eval` declares.

    Raises:
        BadData: it declares none of the rules.
    """
    declared = next(
        (schema["x-eval"] for schema in schemas if "x-eval" in schema), None
    )
    if declared is None:
        return None
    options = declared if isinstance(declared, dict) else {"rule": declared}
    figures = [options.get(name, 0) for name in ("tolerance", "relative")]
    if options.get("rule") not in _RULES or not all(map(is_number, figures)):
        hint = f"choose one of {', '.join(_RULES)}; tolerance and relative are numbers"
        raise BadData(f"x-eval {json.dumps(declared)} is no rule", hint=hint)
    return Rule(options["rule"], *figures)


def _matches(rule: Rule, gold: Json, answer: Json) -> bool:
    if rule.name == "number" and is_number(gold) and is_number(answer):
        limit = max(rule.tolerance, rule.relative * abs(gold))
        return abs(gold - answer) <= limit
    if not isinstance(gold, str) or not isinstance(answer, str):
        return False
    if rule.name == "date":
        return _moment(gold) == _moment(answer)
    return rule.name == "text" and _normalised(gold) == _normalised(answer)


def _normalised(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", folded).strip()


def _moment(text: str) -> datetime | str:
    """Return a date or a date with a time; other texts normalised."""
    text = " ".join(text.split())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        for form in _DATES:
            try:
                return datetime.strptime(text, form).replace(tzinfo=UTC)
            except ValueError:
                continue
        return _normalised(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _assignment(similarity: list[list[float]]) -> list[tuple[int, int]]:
    """Return the pairs of the largest sum (the Hungarian algorithm)."""
    if not similarity or not similarity[0]:
        return []
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - heavy

    rows, columns = linear_sum_assignment(similarity, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(row, column) for row, column in pairs if similarity[row][column]]


def _in_order(similarity: list[list[float]]) -> list[tuple[int, int]]:
    """Return the pairs of the largest sum that keep the order of both sides.

    Items without anything in common are paired if nothing better is.
    """
    columns = len(similarity[0]) if similarity else 0
    values = [[value + _ANY_PAIR for value in row] for row in similarity]
    best = [[0.0] * (columns + 1)]
    for row in values:
        line = [0.0]
        above = best[-1]
        for column, value in enumerate(row):
            line.append(max(above[column] + value, above[column + 1], line[column]))
        best.append(line)
    pairs: list[tuple[int, int]] = []
    gold_end = len(values)
    answer_end = columns
    while gold_end and answer_end:
        if best[gold_end][answer_end] == best[gold_end][answer_end - 1]:
            answer_end -= 1
        elif best[gold_end][answer_end] == best[gold_end - 1][answer_end]:
            gold_end -= 1
        else:
            gold_end, answer_end = gold_end - 1, answer_end - 1
            pairs.append((gold_end, answer_end))
    return pairs[::-1]


def _sob_tables(
    compiled: CompiledSchema, gold: Mapping[str, Json], values: Mapping[str, Json]
) -> list[Table]:
    """Return the seven metrics of SOB, each document a text of weight one."""
    import numpy as np  # noqa: PLC0415 - heavy

    from evaluation.reporting.bootstrap import bootstrap_means  # noqa: PLC0415 - heavy
    from evaluation.suites.sob.metrics import (  # noqa: PLC0415 - of this preset alone
        SEVEN,
        Expectation,
        SobSettings,
        compile_schema,
        score_answer,
    )

    settings = SobSettings()
    target = compile_schema(compiled.value, settings)
    rows = []
    for name, truth in gold.items():
        expected = Expectation.of(truth, target, "text", settings)
        scores = score_answer(values.get(name), expected)
        rows.append([scores.values[metric] for metric in SEVEN])
    figures = np.array(rows)
    intervals = bootstrap_means(figures, np.ones(len(rows)))
    table = Table(
        title="SOB",
        columns=("metric", "mean", "is"),
        rows=tuple(
            (
                str(metric),
                Estimate(float(figures[:, index].mean()), intervals[index]),
                metric.explanation,
            )
            for index, metric in enumerate(SEVEN)
        ),
        note="The metrics of the Structured Output Benchmark (docs/suites/sob.md).",
    )
    return [table]
