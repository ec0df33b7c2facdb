"""Write what engines did with the real schemas of an edition, by their features.

A schema fails for one of its features or more; which, is learnt greedily: the feature
of which the largest share fails is doubtful, and its schemas are taken away, until no
feature is left of which more than one in fifty fail.

Usage: python -m bench.edition.engines BUILD results/EDITION
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from curation.fit.engine_evidence import (
    ENGINES,
    MIN_RECORDS,
    MIN_RIGHT,
    FeatureSet,
    Head,
    LearntFeatures,
    features_of_schema,
)
from curation.packaging.derived_files import VERDICTS
from curation.system.atomic_files import atomic_write_bytes
from evaluation.reporting.printing import as_markdown
from evaluation.reporting.tables import Rate, Table
from evaluation.setup.engine_files import FAITHFUL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.reporting.tables import Cell

#: The features of one schema, by their places, and an engine's outcome with it.
Row = tuple[list[int], str]
_RIGHT, _REJECTED = "passed", "compile_error"
#: Share of schemas that may fail for no doubtful feature. Right schemas are assumed
#: beside those of each feature, so that one schema alone makes none the first.
_FAILING: Final = 0.02
_ASSUMED: Final = 3
#: Schemas without doubt that make a feature sure, and rejected ones a rejection.
_SURE: Final = 5
_ALL_REJECTED: Final = 10
#: A tenth is left out in turn.
_PARTS: Final = 10


def newest_versions(engines: Sequence[str]) -> list[str]:
    """Return those of `NAME VERSION PRESET` of which there is no newer version.

    >>> newest_versions(["a 0.9 faithful", "a 0.10 faithful", "a 0.9 vendor", "none"])
    ['a 0.10 faithful', 'a 0.9 vendor', 'none']
    """
    newest: dict[tuple[str, ...], str] = {}
    for engine in sorted(
        engines,
        key=lambda it: [int(n) for n in re.findall(r"\d+", "".join(it.split()[1:2]))],
    ):
        name, *rest = engine.split(" ")
        newest[name, *rest[1:]] = engine
    return [engine for engine in engines if engine in newest.values()]


def doubtful_features(
    rows: Sequence[Row],
) -> tuple[dict[int, tuple[int, int]], Counter[int]]:
    """Return the doubtful features, and how many schemas without any have the others.

    Args:
        rows: Schemas and outcomes.

    Returns:
        How many schemas failed, of how many, by doubtful feature; how many are left.
    """
    total, failed = Counter[int](), Counter[int]()
    holding: dict[int, set[int]] = defaultdict(set)
    for number, (features, outcome) in enumerate(rows):
        for feature in features:
            total[feature] += 1
            failed[feature] += outcome != _RIGHT
            holding[feature].add(number)
    doubtful: dict[int, tuple[int, int]] = {}
    gone: set[int] = set()
    while True:
        shares = {it: failed[it] / (total[it] + _ASSUMED) for it in sorted(total)}
        worst = max(shares, key=lambda it: shares[it], default=-1)
        if worst < 0 or shares[worst] <= _FAILING:
            return doubtful, total
        doubtful[worst] = failed[worst], total[worst]
        for number in holding[worst] - gone:
            features, outcome = rows[number]
            for feature in features:
                total[feature] -= 1
                failed[feature] -= outcome != _RIGHT
        gone |= holding[worst]


def rejected_features(rows: Iterable[Row]) -> dict[int, int]:
    """Return the features of which all schemas were rejected, with their number."""
    outcomes: dict[int, Counter[str]] = defaultdict(Counter)
    for features, outcome in rows:
        for feature in features:
            outcomes[feature][outcome] += 1
    return {
        feature: counts.total()
        for feature, counts in sorted(outcomes.items())
        if counts[_REJECTED] == counts.total() >= _ALL_REJECTED
    }


def learn(rows: Sequence[Row]) -> LearntFeatures:
    """Return what schemas and outcomes of one engine tell of features.

    How far it holds is measured on each tenth, by what the other nine tell.
    """
    mixed = random.Random(0).sample(rows, len(rows))  # noqa: S311 - no secret
    accepted, rejected = Counter[bool](), Counter[bool]()
    for part in range(_PARTS):
        rest = [row for at, row in enumerate(mixed) if at % _PARTS != part]
        doubtful, left = doubtful_features(rest)
        refusing = rejected_features(rest)
        for features, outcome in mixed[part::_PARTS]:
            if refusing.keys() & {*features}:
                rejected[outcome == _REJECTED] += 1
            elif all(it not in doubtful and left[it] >= _SURE for it in features):
                accepted[outcome == _RIGHT] += 1
    doubtful, left = doubtful_features(rows)
    outcomes = Counter(outcome for _, outcome in rows)
    return LearntFeatures(
        sure=sorted(it for it in left if it not in doubtful and left[it] >= _SURE),
        doubtful=doubtful,
        rejected=rejected_features(rows),
        accepted_right=(accepted[True], accepted.total(), outcomes[_RIGHT]),
        rejected_right=(rejected[True], rejected.total(), outcomes[_REJECTED]),
    )


def verdicts_table(head: Head) -> Table:
    """Return how often the verdicts of an edition's evidence are right, by engine."""
    rows: list[tuple[Cell, ...]] = []
    for engine, learnt in zip(head.engines, head.learnt, strict=True):
        shares = [
            Rate(right, whole)
            for right, *wholes in (learnt.accepted_right, learnt.rejected_right)
            for whole in wholes
        ]
        rows.append((engine, *shares))
    return Table(
        title="What an edition tells of schemas that it did not measure",
        columns=(
            *("engine", "called accepted: right", "right: called accepted"),
            *("called rejected: rejected", "rejected: called rejected"),
        ),
        rows=tuple(rows),
        note="By the features of schemas, a tenth of which is left out in turn. Where "
        f"fewer than {100 * MIN_RIGHT:.0f} % of {MIN_RECORDS} or more are right, "
        "`csbdata fit` calls none so.",
    )


def rows_of(likes: Iterable[FeatureSet], engine: int) -> list[Row]:
    """Return the schemas that an engine was measured on, with its outcomes."""
    return [
        (like.features, outcome)
        for like in likes
        for outcome, count in like.outcomes.get(engine, {}).items()
        for _ in range(count)
    ]


def main() -> None:
    """Count, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("edition", type=Path)
    options = parser.parse_args()
    rows = pl.read_parquet(options.edition / "rows.parquet").filter(
        pl.col("engine").str.ends_with(f" {FAITHFUL}"), task="masks"
    )
    engines = newest_versions(rows["engine"].unique().sort().to_list())
    rows = rows.filter(pl.col("engine").is_in(engines))
    texts = pl.concat(
        pl.read_parquet(path, columns=["unique_id", "json_schema"]).select(
            pl.lit(path.parent.name).alias("config"),
            pl.col("unique_id").alias("id"),
            "json_schema",
        )
        for path in sorted(options.build.glob("[A-Z]*/*.parquet"))
        if "json_schema" in pl.read_parquet_schema(path)
    )
    outcomes: dict[tuple[str, ...], dict[int, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    features: dict[str, tuple[str, ...]] = {}
    joined = rows.join(texts.unique(["config", "id"]), on=["config", "id"])
    for engine, outcome, text in joined.select(
        "engine", "outcome", "json_schema"
    ).iter_rows():
        if text not in features:
            features[text] = tuple(sorted(features_of_schema(json.loads(text))))
        outcomes[features[text]][engines.index(engine)][outcome] += 1
    names = sorted({name for own in outcomes for name in own})
    places = {name: at for at, name in enumerate(names)}
    lines = [
        FeatureSet(
            [places[name] for name in own], {at: {**by} for at, by in found.items()}
        )
        for own, found in sorted(outcomes.items())
    ]
    learnt = [learn(rows_of(lines, engine)) for engine in range(len(engines))]
    head = Head(options.edition.resolve().name, engines, names, learnt)
    content = b"\n".join(map(msgspec.json.encode, [head, *lines]))
    atomic_write_bytes(options.edition / ENGINES, gzip.compress(content, 9, mtime=0))
    table = as_markdown(verdicts_table(head))
    atomic_write_bytes(options.edition / VERDICTS, table.encode())


if __name__ == "__main__":
    main()
