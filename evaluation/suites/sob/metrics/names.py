"""The metrics and the categories by name, in the order in which tables show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained

if TYPE_CHECKING:
    from collections.abc import Mapping


class Metric(Explained):
    """One figure of one answer, from 0 to 1."""

    JSON_PARSE = (
        "json_parse",
        "the answer is one JSON text whose root is an object or an array",
    )
    JSON_PASS = (
        "json_pass",
        "it parses, and its schema accepts it",
    )
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
    PERFECT_AND_VALID = (
        "perfect_and_valid",
        "perfect, and accepted by the schema",
    )
    REQUIRED_KEYS = (
        "required_keys",
        (
            "share of the schema's required paths that the answer has, indices left "
            "out; neither hardened nor gated"
        ),
    )


#: What tables call a metric.
TITLES: Final[Mapping[Metric, str]] = {
    Metric.JSON_PARSE: "Parse",
    Metric.JSON_PASS: "JSON pass",
    Metric.VALUE_ACCURACY: "Value acc.",
    Metric.FAITHFULNESS: "Faithful",
    Metric.PATH_RECALL: "Path recall",
    Metric.STRUCTURE_COVERAGE: "Coverage",
    Metric.TYPE_SAFETY: "Type safety",
    Metric.PERFECT: "Perfect",
    Metric.PERFECT_AND_VALID: "Perfect and valid",
    Metric.REQUIRED_KEYS: "Required keys",
}
#: The key of a metric in the authors' result files.
PUBLISHED_KEYS: Final[Mapping[Metric, str]] = {
    Metric.JSON_PARSE: "json_parse_success",
    Metric.JSON_PASS: "schema_compliance",
    Metric.VALUE_ACCURACY: "leaf_value_em",
    Metric.FAITHFULNESS: "value_token_f1",
    Metric.PATH_RECALL: "hier_path_recall",
    Metric.STRUCTURE_COVERAGE: "path_set_f1",
    Metric.TYPE_SAFETY: "type_precision",
    Metric.PERFECT: "strict_json_em",
    Metric.REQUIRED_KEYS: "required_key_recall",
}
#: The seven of the paper's Table 1, in the order of its Table 2.
SEVEN: Final = (
    Metric.VALUE_ACCURACY,
    Metric.FAITHFULNESS,
    Metric.JSON_PASS,
    Metric.PATH_RECALL,
    Metric.STRUCTURE_COVERAGE,
    Metric.TYPE_SAFETY,
    Metric.PERFECT,
)
#: The metrics that the coverage gate multiplies, beside hardening, which multiplies
#: all of the seven but JSON Pass and Perfect (the paper's equations 14 to 18; Type
#: Safety by the published code alone, and so in every table of the paper).
GATED: Final = frozenset({Metric.VALUE_ACCURACY, Metric.FAITHFULNESS})


class Category(Explained):
    """A mean of some metrics of one record (the paper's Table 11)."""

    LONG_CONTEXT = (
        "Long Context Extraction",
        "are the right values found in a long context?",
    )
    COMPLEX_SCHEMA = (
        "Complex Schema Handling",
        "is a nested schema met, with the right types?",
    )
    MULTI_CONTEXT = (
        "Multi-Context Linking",
        "are facts of several passages brought together?",
    )
    OUTPUT_CONTRACT = (
        "Output Contract Reliability",
        "is the output usable at all?",
    )
    STRICT_PRECISION = ("Strict Precision", "is the whole answer right?")


#: What each category is the mean of.
CATEGORIES: Final[Mapping[Category, tuple[Metric, ...]]] = {
    Category.LONG_CONTEXT: (
        Metric.VALUE_ACCURACY,
        Metric.FAITHFULNESS,
        Metric.PATH_RECALL,
    ),
    Category.COMPLEX_SCHEMA: (
        Metric.JSON_PASS,
        Metric.STRUCTURE_COVERAGE,
        Metric.TYPE_SAFETY,
    ),
    Category.MULTI_CONTEXT: (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS),
    Category.OUTPUT_CONTRACT: (
        Metric.JSON_PARSE,
        Metric.JSON_PASS,
        Metric.TYPE_SAFETY,
    ),
    Category.STRICT_PRECISION: (Metric.PERFECT,),
}


def category_score(category: Category, values: Mapping[Metric, float]) -> float:
    """Return the mean of a category's metrics, of one record (appendix G)."""
    metrics = CATEGORIES[category]
    return sum(map(values.__getitem__, metrics)) / len(metrics)
