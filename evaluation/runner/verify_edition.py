"""Verify a published edition: run its engines again on a sample of its lines.

A line is equal if the schema ends as before, and each wrong text goes wrong at the same
token.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import polars as pl

from curation.system.errors import BadData, Unavailable
from evaluation.analysis.publish_edition import KEY, line_table, make_line, read_content
from evaluation.core.cases import Bounds
from evaluation.reporting.tables import Rate, Ratio, Table
from evaluation.results.edition import read_index, read_rows
from evaluation.results.outcomes import Outcome
from evaluation.runner.request import RunRequest
from evaluation.runner.run import run
from evaluation.tasks import task_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.system.progress import Progress
    from evaluation.results.edition import Line

#: Minimum number of lines of each outcome in the sample, if the edition has them.
_MIN_OF_OUTCOME: Final = 20
#: The share of lines that must be equal.
REQUIRED: Final = 0.98
#: Columns that must be equal.
_COMPARED: Final = ("outcome", "phase", "valid_accepted", "invalid_blocked", "wrong")
#: Columns that are shown of a line that differs.
_SHOWN: Final = ("outcome", "phase", "wrong")
_TIMES: Final = ("compile_ns", "between_ns")


class EditionVerdict(NamedTuple):
    """The result of a verification."""

    #: Lines of the sample, each with today's line (`paired_lines`).
    pairs: pl.DataFrame
    #: Lines whose engine could not be run, and why.
    not_asked: Sequence[str]

    @property
    def holds(self) -> bool:
        """Whether enough lines are equal, of at least one."""
        count = self.pairs.height
        return count > 0 and self.pairs["equal"].sum() >= REQUIRED * count

    def tables(self) -> list[Table]:
        """Return equal lines by outcome, then each line that differs."""
        ratios = [
            (pl.col(f"{name}_now") / pl.col(name))
            .filter((pl.col(f"{name}_now") > 0) & (pl.col(name) > 0))
            .median()
            .alias(name)
            for name in _TIMES
        ]
        every = self.pairs.with_columns(outcome=pl.lit("all"))
        counts = (
            pl.concat([self.pairs.sort("outcome"), every])
            .group_by("outcome", maintain_order=True)
            .agg(pl.len(), pl.sum("equal"), *ratios)
        )
        summary = Table.of_records(
            "Published lines, asked again",
            (
                {
                    "outcome": line["outcome"],
                    "equal": Rate(line["equal"], line["len"]),
                    **{
                        f"{name} now / then": line[name] and Ratio(line[name])
                        for name in _TIMES
                    },
                }
                for line in counts.iter_rows(named=True)
            ),
            note="Equal: in outcome, phase, number of right texts, and the place of "
            "each wrong text; where a deadline ended both, of what both walked. Times: "
            "the median of the ratios of schemas.",
        )
        listed = Table.of_records(
            "Lines that differ",
            (
                {
                    "engine": line["engine"],
                    "task": line["task"],
                    "schema": f"{line['config']}/{line['id']}",
                    "then": _shown(line),
                    "now": _shown(line, "_now"),
                }
                for line in self.pairs.filter(~pl.col("equal")).iter_rows(named=True)
            ),
            note="",
        )
        return [summary, listed] if listed.rows else [summary]


def _shown(line: Line, suffix: str = "") -> str:
    return " ".join(filter(None, (line[column + suffix] for column in _SHOWN)))


def paired_lines(hint: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return published lines with today's, and whether both are equal."""
    cut = Outcome.TIMEOUT.value
    wrong, wrong_now = (
        pl.col(name).str.extract_all(r"\S+") for name in ("wrong", "wrong_now")
    )
    # How many texts there was time for is a time.
    one_within_other = pl.min_horizontal(
        wrong.list.set_difference(wrong_now).list.len(),
        wrong_now.list.set_difference(wrong).list.len(),
    )
    alike = {name: pl.col(name) == pl.col(f"{name}_now") for name in _COMPARED}
    equal = (
        pl.when(pl.col("outcome") == cut, pl.col("outcome_now") == cut)
        .then(alike["phase"] & (one_within_other == 0))
        .otherwise(pl.all_horizontal(alike.values()))
    )
    pairs = hint.join(now, on=KEY, suffix="_now", maintain_order="left")
    return pairs.with_columns(equal=equal)


def draw_lines(lines: Sequence[Line], count: int, seed: int) -> list[Line]:
    """Return lines drawn by a seed: 20 of each outcome at least, if there are."""
    ranked = sorted(
        lines,
        key=lambda line: sha256(
            "/".join([str(seed), *(line[name] for name in KEY)]).encode()
        ).digest(),
    )
    seen: Counter[str] = Counter()
    first: list[Line] = []
    rest: list[Line] = []
    for line in ranked:
        seen[line["outcome"]] += 1
        (first if seen[line["outcome"]] <= _MIN_OF_OUTCOME else rest).append(line)
    return [*first, *rest[: max(0, count - len(first))]]


def verify_edition(  # noqa: PLR0913 (data, sample and folder)
    folder: Path,
    data: str | None,
    work: Path,
    *,
    count: int,
    seed: int,
    progress: Progress,
) -> EditionVerdict:
    """Run the engines of an edition again on a sample of its lines.

    Args:
        folder: The edition.
        data: The dataset, as `--data` names it.
        work: The folder of the new runs.
        count: Minimum number of lines in the sample.
        seed: Seed of the sample.
        progress: Shows what takes long.

    Raises:
        BadData: the edition cannot be read, rows are of an engine that it does not
            describe, or the dataset is another one.
        NoInput: no edition, or no such dataset.
    """
    index = read_index(folder)
    engines = {entry.engine: entry for entry in index.engines}
    drawn = line_table(draw_lines(read_rows(folder).to_dicts(), count, seed))
    lines = drawn.sort("engine", "task", maintain_order=True)
    now: list[Line] = []
    not_asked: list[str] = []
    content = ""
    parts = lines.group_by("engine", "task", maintain_order=True)
    for number, ((label, task), part) in enumerate(parts, start=1):
        engine = engines.get(str(label))
        if engine is None:
            message = f"rows of {label}, which the index does not describe"
            raise BadData(message, str(folder))
        # An engine's name may select another version tomorrow.
        named = engine.spec.partition("@")[0] == engine.name and engine.version
        spec = f"{engine.name}=={engine.version}" if named else engine.spec
        needs_data = task_named(str(task)).needs_data
        names = [
            f"{config}/{id_}" for config, id_ in part.select("config", "id").rows()
        ]
        request = RunRequest(
            engines=[spec.partition("@")[0]],
            preset=engine.preset,
            options=[f"{name}={text}" for name, text in engine.assigned.items()],
            tasks=[str(task)],
            data=data if needs_data else None,
            only=names,
            tokenizer=str(index.tokenizer.get("name")),
            bounds=msgspec.convert(index.limits, Bounds),
            run_dir=work / f"{number:03}",
        )
        try:
            asked = run(request, progress).open()
        except Unavailable as error:
            not_asked += [f"{label} {task} {name}: {error}" for name in names]
            continue
        if needs_data and not content:
            content = read_content(asked).digest
            if content != (measured := index.dataset.content):
                message = f"content {content[:16]}, measured was {measured[:16]}"
                raise BadData(message, str(data), "say which --data was measured")
        rows = {
            f"{row['config']}/{row['id']}": row
            for row in asked.frame().filter(engine=label).iter_rows(named=True)
        }
        now += [make_line(rows[name], asked.header) for name in names if name in rows]
        not_asked += [
            f"{label} {task} {name}: the run has no such row"
            for name in names
            if name not in rows
        ]
    return EditionVerdict(
        pairs=paired_lines(lines, line_table(now)), not_asked=not_asked
    )
