"""Tables of task `masks`: queries on its attempts and their texts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import polars as pl

from evaluation.core.cases import WalkVerdict
from evaluation.reporting.tables import Cell, Rate, Table
from evaluation.results.headline import firsts
from evaluation.results.headline import tables as tables_of_any
from evaluation.results.outcomes import FAULTS
from evaluation.tasks.masks import NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.task import RunRows

_MAX_KEYWORDS: Final = 30
#: Maximum number of places in a line of the table of classes.
_PLACES: Final = 2
_SCHEMA: Final = pl.concat_str("config", "id", separator="/")


def tables(run: RunRows) -> Iterator[Table]:
    """Yield the tables of a run."""
    attempts = run.attempts(NAME)
    if not attempts.height:
        return
    cases = firsts(attempts)
    texts = run.walks(NAME)
    coverage, *details = tables_of_any(attempts)
    yield coverage
    together = texts.filter(~pl.col("apart"))
    yield why_table(cases, together)
    yield from details[:2]
    yield keywords(together.filter(~pl.col("valid")))
    yield instances(cases, texts)
    yield from details[2:]


def instances(cases: pl.DataFrame, texts: pl.DataFrame) -> Table:
    """Count the verdicts on texts, and the tokens that an engine offers as forced."""
    rows: list[dict[str, Cell]] = []
    for engine in cases["engine"].unique(maintain_order=True):
        texts_of_engine = texts.filter(engine=engine)
        verdicts = Counter(texts_of_engine.filter(~pl.col("apart"))["verdict"])
        forced = texts_of_engine.filter(
            "valid", pl.col("masks") > 0, pl.col("forced").is_not_null()
        )
        shares = [Rate(*pair) for pair in forced.select("forced", "masks").iter_rows()]
        rows.append(
            {
                "engine": engine,
                "walked": verdicts.total() - verdicts[WalkVerdict.NOT_RUN],
                "not run": verdicts[WalkVerdict.NOT_RUN],
                "lied about": verdicts[WalkVerdict.LIED],
                "mask gaps": verdicts[WalkVerdict.MASK_GAP],
                "contradicted": verdicts[WalkVerdict.CONTRADICTED],
                "engine errors": verdicts[WalkVerdict.ENGINE_ERROR],
                "tokens forced": Rate.total(shares) if shares else None,
            }
        )
    return Table.of_records(
        "Instances",
        rows,
        name="masks-instances",
        note="not run: the schema did not compile, or the engine died before. lied "
        "about: mask and commit disagree about a token. mask gaps: a valid text is "
        "blocked at a token that commit takes. contradicted: a token was "
        "blocked which after the same tokens was let through in another text of the "
        "schema. engine errors: the engine raised, or reported a failure, as at "
        "one of its limits; these are not blocks. tokens forced: the engine "
        "offers the token as the only way on, of the tokens of each schema's first "
        "valid instance.",
    )


def keywords(invalid: pl.DataFrame) -> Table:
    """Return how many near misses are blocked, by keyword and engine."""
    judged = invalid.drop_nulls("right").with_columns(
        pl.col("keyword").replace("", "(unknown)")
    )
    schemas = judged.group_by("engine", "keyword", "config", "id").agg(
        right=pl.col("right").sum(), all=pl.len()
    )
    engines = [*invalid["engine"].unique(maintain_order=True)]
    counts = judged["keyword"].value_counts(sort=True).head(_MAX_KEYWORDS)
    rows: list[tuple[Cell, ...]] = []
    for keyword in counts["keyword"]:
        rates = []
        for engine in engines:
            cells = schemas.filter(engine=engine, keyword=keyword).select(
                "right", "all"
            )
            rates.append(Rate.total(Rate(*pair) for pair in cells.iter_rows()))
        rows.append((keyword, *(rate if rate.of else None for rate in rates)))
    return Table(
        title="Near misses blocked, by the keyword that they violate",
        name="masks-keywords",
        columns=("keyword", *engines),
        rows=tuple(rows),
        note="Of the near misses walked to a verdict, in schemas that compile; what "
        "is not blocked was accepted: the engine does not enforce the keyword there. "
        f"The {_MAX_KEYWORDS} keywords with most near misses.",
    )


def why_table(cases: pl.DataFrame, texts: pl.DataFrame) -> Table:
    """Return every class of wrong texts, by engine, the most frequent first."""
    totals = Counter(cases["engine"])
    cause = ["engine", "valid", "stands", "governor", "setting"]
    is_fault = pl.col("verdict").is_in([*FAULTS])
    wrong = texts.drop_nulls("stands").with_columns(
        schema=_SCHEMA,
        size=pl.col("size") + pl.col("tokens"),
        fault=is_fault,
        # Faults are of one class under all texts.
        valid=pl.col("valid") & ~is_fault,
        of_engine=pl.len().over("engine"),
    )
    # A failure of an earlier text may be the reason of a later one of its schema.
    wrong = wrong.with_columns(
        shown=~is_fault | pl.struct(*cause, "schema").is_first_distinct()
    )
    smallest = pl.col("size").filter("shown").arg_min()
    classes = wrong.group_by(cause, maintain_order=True).agg(
        pl.col("fault", "of_engine").first(),
        walks=pl.len(),
        schemas=pl.col("schema").n_unique(),
        contexts=pl.col("context"),
        smallest=pl.col("schema").filter("shown").get(smallest),
    )
    ordered = classes.sort(
        pl.col("engine").replace_strict([*totals], range(len(totals)), default=None),
        -pl.col("walks").cast(pl.Int64),
        "stands",
        "governor",
    )
    return Table.of_records(
        "Why walks go wrong",
        (
            {
                "engine": line["engine"],
                "fault": "engine at odds with itself"
                if line["fault"]
                else "valid blocked"
                if line["valid"]
                else "invalid accepted",
                "what stands there": line["stands"],
                "keyword": line["governor"] or None,
                "setting": line["setting"] or None,
                "walks": line["walks"],
                "% of wrong walks": 100 * line["walks"] / line["of_engine"],
                "schemas": Rate(line["schemas"], totals[line["engine"]]),
                "places": _places(line["contexts"]),
                "smallest": line["smallest"],
            }
            for line in ordered.iter_rows(named=True)
        ),
        name="why",
        note="Each wrong walk once. what stands there: at the byte that is "
        "refused. keyword: the first that governs the value there; of an invalid "
        "text the one that it violates. setting: what about its schema may "
        "matter. schemas: that have the class, of all that the engine was asked. "
        "csbdata results shrink makes the smallest one smaller.",
    )


def _places(contexts: Iterable[str]) -> str:
    """Return where the governing schemas are, the most frequent first."""
    counts = Counter(filter(None, contexts))
    parts = [f"{name} {count:,}" for name, count in counts.most_common(_PLACES)]
    return ", ".join([*parts, "..."] if len(counts) > _PLACES else parts)
