"""The metrics of one answer against one truth.

Leaves of both are compared path by path, and every figure is from 0 to 1. Where the
paper and the authors' published code differ, `SobSettings.reading` selects one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import jsonschema_rs
import msgspec
from referencing import Registry

from curation.core.documents import Explained
from curation.core.json_types import Json, UntypedJson
from curation.json.text import plain
from curation.json.values import json_type
from curation.schema.dialects import DRAFT_2020_12, declared
from curation.validation.metaschemas import RUST_VALIDATORS, refuse
from curation.validation.python_validators import PYTHON_VALIDATORS

#: The steps to a value: names of members and indices of items. A name is never an
#: index: `("0",)` and `(0,)` are two paths.
Path: TypeAlias = "tuple[str | int, ...]"


class Metric(Explained):
    """One figure of one answer, from 0 to 1, in the order of the tables."""

    JSON_PARSE = (
        "json_parse",
        "the answer is one JSON text whose root is an object or an array",
    )
    JSON_PASS = ("json_pass", "it parses, and its schema accepts it")
    VALUE_ACCURACY = (
        "value_accuracy",
        "share of the truth's leaves whose value is met exactly; hardened and gated",
    )
    FAITHFULNESS = (
        "faithfulness",
        "mean token F1 over the truth's leaves; hardened and gated",
    )
    PATH_RECALL = (
        "path_recall",
        "share of the truth's paths that the answer has; hardened",
    )
    STRUCTURE_COVERAGE = (
        "structure_coverage",
        "F1 of the answer's paths against the truth's; hardened",
    )
    TYPE_SAFETY = (
        "type_safety",
        "share of the answer's leaves of a type that the schema expects; hardened",
    )
    PERFECT = (
        "perfect",
        (
            "the answer is the truth, whatever the order of its keys; neither "
            "hardened nor gated"
        ),
    )


#: The seven of the paper's Table 1, in the order of its Table 2, and their columns.
SEVEN: Final[Mapping[Metric, str]] = {
    Metric.VALUE_ACCURACY: "value",
    Metric.FAITHFULNESS: "faithful",
    Metric.JSON_PASS: "pass",
    Metric.PATH_RECALL: "recall",
    Metric.STRUCTURE_COVERAGE: "coverage",
    Metric.TYPE_SAFETY: "types",
    Metric.PERFECT: "perfect",
}


class SobSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one run; `--set NAME=VALUE` sets one."""

    #: Most tokens of an answer.
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 2_048
    #: The paper, or the best reading of its words; or the code that made its tables
    #: (`sob@paper`). docs/suites/sob.md lists where they differ.
    reading: Literal["recommended", "paper"] = "recommended"

    @property
    def published(self) -> bool:
        """Whether the published code decides."""
        return self.reading == "paper"


_SHOWN: Final = 200


class TargetSchema(NamedTuple):
    """A record's schema with a compiled validator."""

    schema: Json
    #: Why no answer can be judged by it; empty if it can be used.
    unusable: str
    #: Yields the errors of an instance, each with a `message`.
    errors: Callable[[Json], Iterable[Any]]

    def refusal(self, instance: Json) -> str | None:
        """Return why the schema refuses an instance; None if it accepts."""
        if self.unusable:
            return self.unusable
        try:
            failure = next(iter(self.errors(instance)), None)
        except Exception as error:  # noqa: BLE001 - of a pattern, a reference, the depth
            return _line(f"the validator failed: {error!r}")
        return _line(failure.message) if failure else None


def read_dialect(schema: Json) -> str:
    """Return the name of the dialect that a schema declares, by default 2020-12."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    return (declared(uri) or DRAFT_2020_12).name


def compile_schema(schema: Json, settings: SobSettings) -> TargetSchema:
    """Compile a schema; formats are annotations, as in the paper.

    No validator ever fetches a reference. The published code validates by jsonschema
    under draft-07. Otherwise jsonschema-rs does under the declared dialect, and
    jsonschema if only that accepts the schema.
    """
    value: UntypedJson = plain(schema)
    dialect = "draft-07" if settings.published else read_dialect(schema)
    if not settings.published:
        with suppress(
            *(KeyError, ValueError),
            *(jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError),
        ):
            compiled = RUST_VALIDATORS[dialect](
                value, validate_formats=False, retriever=refuse
            )
            return TargetSchema(schema, "", compiled.iter_errors)
    validator_class: Any = PYTHON_VALIDATORS[dialect]
    unusable = ""
    if not isinstance(value, dict | bool):
        unusable, value = "the schema is no object and no boolean", False
    try:
        validator_class.check_schema(value)
    except Exception as error:  # noqa: BLE001 - a schema can make the library raise anything
        unusable = _line(f"the schema is invalid: {error!r}")
    validator = validator_class(value, registry=Registry())
    return TargetSchema(schema, unusable, validator.iter_errors)


def _line(message: str) -> str:
    return " ".join(message.split())[:_SHOWN]


def all_leaves(value: Json) -> dict[Path, Json]:
    """Return every leaf by its path, empty objects and arrays among them.

    They come in document order. A scalar root is not a leaf, as the paper compares
    structured answers only; an empty root is one, at the path of no steps.

    Example:
        >>> all_leaves({"a": [1, {"b": None}], "c": {}})
        {('a', 0): 1, ('a', 1, 'b'): None, ('c',): {}}
    """
    leaves: dict[Path, Json] = {}
    if not isinstance(value, dict | list):
        return leaves
    stack: list[tuple[Path, Json]] = [((), value)]
    while stack:
        path, inner = stack.pop()
        members: list[tuple[str | int, Json]] = []
        if isinstance(inner, dict):
            members += inner.items()
        elif isinstance(inner, list):
            members += enumerate(inner)
        stack += [((*path, step), member) for step, member in reversed(members)]
        if not members:
            leaves[path] = inner
    return leaves


def _compared(leaves: dict[Path, Json], settings: SobSettings) -> dict[Path, Json]:
    """Return the leaves that the metrics compare, under the paths of a reading."""
    leaves = {
        path: value
        for path, value in leaves.items()
        if not isinstance(value, dict | list)
    }
    if not settings.published:
        return leaves
    # Two paths may have one text: the later leaf takes the place of the earlier.
    joined = {(path_text(path),): value for path, value in leaves.items()}
    return {path: value for path, value in joined.items() if path != ("",)}


def path_text(path: Path) -> str:
    """Return a path as the authors write it: `items[0].name`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def same_leaf(value: Json, answered: Json, settings: SobSettings) -> bool:
    """Return whether two leaves hold the same value.

    Under JSON's equality 1 and 1.0 are the same and 1 and true are not (JSON Schema
    2020-12 core, section 4.2.2); under Python's all three are. NaN equals nothing.
    """
    if value != answered:
        return False
    return settings.published or isinstance(value, bool) is isinstance(answered, bool)


_PUNCTUATION: Final = re.compile(r"[^\w\s]")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """Return a text's words: lower case, no punctuation, no English articles.

    Example:
        >>> words("The co-founder, U.S.")
        ('co', 'founder', 'u', 's')
    """
    split = _PUNCTUATION.sub(" ", text.lower()).split()
    return tuple(word for word in split if word not in _ARTICLES)


def text_of_leaf(value: Json, settings: SobSettings) -> str:
    """Return a leaf as the text whose words are compared."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not settings.published and value.is_integer():
        return str(int(value))
    return str(value)


def _token_f1(truth: Json, answer: Json, settings: SobSettings) -> float:
    """Return the F1 of two leaves' words, repeated words counted (equation 10).

    Two leaves of no words match; one of no words and another do not.
    """
    true_words = words(text_of_leaf(truth, settings))
    answer_words = words(text_of_leaf(answer, settings))
    if true_words == answer_words:
        return 1.0
    common = (Counter(true_words) & Counter(answer_words)).total()
    return 2 * common / (len(true_words) + len(answer_words))


#: The coverage gates: values of texts count nothing below the first; those of images
#: and audio by the square of the quotient below the second.
_TEXT_FLOOR, _SOFT_FLOOR = 0.95, 0.90


def _coverage_gate(coverage: float, source: str) -> float:
    """Return the factor of an answer's values (section 4.2 and appendix C.1).

    Args:
        coverage: Structure Coverage before hardening.
        source: Text has a hard gate; every other source a soft one.
    """
    if source == "text":
        return 1.0 if coverage >= _TEXT_FLOOR else 0.0
    return min(1.0, (coverage / _SOFT_FLOOR) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A record's truth and schema, read once and compared with many answers."""

    settings: SobSettings
    #: `text`, `image` or `audio`: decides the coverage gate.
    source: str
    truth: Json
    target: TargetSchema
    #: Every leaf of the truth, empty objects and arrays among them.
    leaves: dict[Path, Json]
    #: Those that the metrics compare.
    compared: dict[Path, Json]

    @classmethod
    def of(
        cls, truth: Json, target: TargetSchema, source: str, settings: SobSettings
    ) -> Expectation:
        """Read a truth under one reading."""
        leaves = all_leaves(truth)
        return cls(
            settings=settings,
            source=source,
            truth=truth,
            target=target,
            leaves=leaves,
            compared=_compared(leaves, settings),
        )


class RecordScores(NamedTuple):
    """The scores of one answer."""

    #: Every metric, hardened and gated by its definition.
    values: Mapping[Metric, float]
    #: Every leaf of the answer.
    leaves: dict[Path, Json]
    #: Why the schema refuses the answer, or cannot be used; empty if it accepts.
    refusal: str = ""


#: The scores of an answer that is not a JSON object or array.
ZERO: Final = RecordScores(dict.fromkeys(Metric, 0.0), leaves={})


def score_answer(answer: Json, expected: Expectation) -> RecordScores:
    """Return every metric of one answer.

    Args:
        answer: The value of the parsed response; a scalar or null counts as not
            parsed, since the root must be an object or an array.
        expected: The record's truth and schema.
    """
    if not isinstance(answer, dict | list):
        return ZERO
    settings = expected.settings
    leaves = all_leaves(answer)
    refusal = expected.target.refusal(answer)
    hardening = float(refusal is None)
    compared = _compared(leaves, settings)
    of = len(expected.compared)
    common = len(expected.compared.keys() & compared.keys())
    # F1 of two sets by their sizes: 2 * P * R / (P + R).
    coverage = 2 * common / (len(compared) + of) if common else 0.0
    gate = _coverage_gate(coverage, expected.source)
    exact, faithful = _met_values(expected, compared) if hardening * gate else (0, 0.0)
    recall = common / of if of else 0.0
    perfect = float(_is_perfect(answer, expected, leaves))
    values = {
        Metric.JSON_PARSE: 1.0,
        Metric.JSON_PASS: hardening,
        Metric.VALUE_ACCURACY: gate * exact / of if of else 0.0,
        Metric.FAITHFULNESS: gate * faithful / of if of else 0.0,
        Metric.PATH_RECALL: hardening * recall,
        Metric.STRUCTURE_COVERAGE: hardening * coverage,
        Metric.TYPE_SAFETY: hardening * _type_safety(expected, compared),
        Metric.PERFECT: perfect,
    }
    return RecordScores(values, leaves, refusal or "")


def _is_perfect(answer: Json, expected: Expectation, leaves: dict[Path, Json]) -> bool:
    """Return whether an answer is the truth; the published code compares texts."""
    if expected.settings.published:
        published = json.dumps(expected.truth, sort_keys=True)
        return json.dumps(answer, sort_keys=True) == published
    return expected.leaves.keys() == leaves.keys() and all(
        same_leaf(value, leaves[path], expected.settings)
        for path, value in expected.leaves.items()
    )


def _met_values(expected: Expectation, answer: dict[Path, Json]) -> tuple[int, float]:
    """Return how many compared leaves are met exactly, and the sum of token F1s."""
    settings = expected.settings
    exact = 0
    faithful = 0.0
    for path, value in expected.compared.items():
        if path in answer:
            answered = answer[path]
            is_same = same_leaf(value, answered, settings)
            exact += is_same
            # Where equality is JSON's and numbers have one spelling, so have words.
            if is_same and not settings.published:
                faithful += 1.0
            else:
                faithful += _token_f1(value, answered, settings)
        elif settings.published:
            # A missing leaf counts as null: leaving out a null of the truth is right.
            faithful += _token_f1(value, None, settings)
    return exact, faithful


def _type_safety(expected: Expectation, leaves: dict[Path, Json]) -> float:
    """Return the share of an accepted answer's leaves of an expected type."""
    if not expected.settings.published or not leaves:
        return float(bool(leaves))
    right = sum(
        _has_published_type(expected.target.schema, str(path[0]), value)
        for path, value in leaves.items()
    )
    return right / len(leaves)


_INDEX: Final = re.compile(r"\[(-?\d+)\]")


def _has_published_type(schema: Json, path: str, value: Json) -> bool:
    """Return whether a leaf has the type that the published code finds for its path.

    Paths are texts, read back into steps. Each object on the way has only
    `type: object`, each array `type: array`. In a list of types the one that is not
    null is expected, so that null is wrong even if it is allowed; with a reference, a
    union, or two such types nothing is expected, and every value wrong. A float is
    never an integer, 1.0 included.
    """
    expected = _published_type(schema, path)
    if isinstance(value, float):
        return expected == "number"
    kind = json_type(value)
    return kind == expected or (kind == "integer" and expected == "number")


def _published_type(schema: Json, path: str) -> str | None:
    for index, part in enumerate(_INDEX.split(path)):
        for step in filter(None, (part,) if index % 2 else part.split(".")):
            holder = "array" if index % 2 else "object"
            if not isinstance(schema, dict) or schema.get("type") != holder:
                return None
            schema = schema.get("items" if index % 2 else "properties")
            if not index % 2:
                schema = schema.get(step) if isinstance(schema, dict) else None
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        names = [name for name in kind if name != "null"]
        kind = names[0] if len(names) == 1 else None
    return kind if isinstance(kind, str) else None
