"""Publish runs as an edition: rows, an index, and a card."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import orjson
import polars as pl

from curation.dataset.content_digest import (
    DIGESTS,
    content_digest,
    content_rows,
    record_digests,
)
from curation.download.cache import FetchSettings
from curation.packaging.markdown import render_template
from curation.packaging.rewritten_fits import FITS
from curation.packaging.tables import CORE_LIST
from curation.system.atomic_files import atomic_file, atomic_write_bytes, refuse_foreign
from curation.system.errors import BadConfiguration, BadData
from curation.workers.fingerprint import fingerprint
from evaluation.analysis.paper_tables import PAPER_DRAFT, suite_table
from evaluation.reporting.printing import as_markdown
from evaluation.results.conditions import check_participants, differences
from evaluation.results.edition import (
    BY_CONFIG,
    COLUMNS,
    HEADLINE,
    INDEX,
    ROWS,
    SAMPLE,
    SCHEMA,
    TABLE,
    TASKS,
    DatasetEntry,
    EngineEntry,
    Index,
    Scorecard,
    TaskFigures,
    all_asked_table,
    headline_tables,
    is_cut,
    scorecards_table,
)
from evaluation.results.edition_picture import PICTURE, draw_picture, fits_picture
from evaluation.results.fits import FITS_TABLE, FitRow, fits_table, read_fits
from evaluation.results.headline import ALL, headline, outcomes_table, times_table
from evaluation.results.suite_rows import scored_run
from evaluation.results.suite_tables import reading, standings
from evaluation.tasks import task_named
from evaluation.tasks.official_suite.outcomes import SuiteFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evaluation.core.run_header import RunHeader
    from evaluation.results.edition import Line
    from evaluation.results.reader import RecordedRun

_CARD: Final = "README.md"
#: The columns that name a line.
KEY: Final = ["engine", "task", "config", "id"]
#: Digits of a digest in a line, and of a time.
_DIGEST: Final = 16
_DIGITS: Final = 3


def publish_edition(runs: Sequence[RecordedRun], out: Path) -> Index:
    """Write the folder of an edition, named after it; return its index.

    Args:
        runs: The runs, each of some engines, tasks and records, or of a suite.
        out: The folder. An edition in it is overwritten; its sample and
            `fits.parquet` stay as they are.

    Raises:
        BadConfiguration: none is of an engine, one has no time limits, or they were
            not made in the same way; the message names the difference.
        BadData: two have different rows of one case, or the data has changed.
        CannotCreate: the folder cannot be written, or holds something else.
    """
    refuse_foreign(out, ROWS, SAMPLE)
    cards = [card for run in runs for card in _scorecards(run)]
    runs = [run for run in runs if not run.suite]
    if not runs:
        raise BadConfiguration(
            "no run of an engine", str(out), "csbdata eval makes one"
        )
    _check_alike(runs)
    lines: dict[tuple[str, ...], Line] = {}
    for run in runs:
        for attempt in run.frame().iter_rows(named=True):
            line = make_line(attempt, run.header)
            key = tuple(line[name] for name in KEY)
            if lines.setdefault(key, line)["case"] != line["case"]:
                raise BadData(
                    f"another result of {'/'.join(key)} than before it",
                    str(run.folder),
                    "leave one of them out",
                )
    rows = line_table(lines.values()).sort(KEY)
    # What the index refuses leaves the rows as they were.
    with atomic_file(out / ROWS) as temporary:
        rows.write_parquet(temporary, compression="zstd", compression_level=19)
        head = next((run for run in runs if run.header.data.sha256), runs[0])
        content = read_content(head)
        index = msgspec.structs.replace(
            _index(runs, rows, out, head, content),
            scorecards=[*{(card.suite, card.model): card for card in cards}.values()],
        )
    with atomic_file(out / DIGESTS) as temporary:
        measured = content.records.join(rows, on=["config", "id"], how="semi")
        measured.write_parquet(temporary, compression="zstd", compression_level=19)
    _write(out, index, rows)
    return index


def _check_alike(runs: Sequence[RecordedRun]) -> None:
    for run in runs:
        if None in (run.header.limits.compile_seconds, run.header.limits.run_seconds):
            raise BadConfiguration(
                "no time limits of a schema", str(run.folder), "csbdata eval has them"
            )
    for reference, candidate in combinations(runs, 2):
        unlike = [
            str(difference)
            for difference in differences(reference.raw_header, candidate.raw_header)
            if difference.name != "--id"
        ]
        if unlike:
            raise BadConfiguration(
                f"not the {', '.join(unlike)} of {reference.folder}",
                str(candidate.folder),
                "rerun it in the same way",
            )
    check_participants(runs)


def make_line(attempt: Line, header: RunHeader) -> Line:
    """Return the line of an attempt, times with three digits, by its run's header."""
    compile_ns = header.limits.compile_ns if is_cut(attempt) else attempt["compile_ns"]
    detail = attempt["detail"]
    rss_bytes = attempt["rss_bytes"]
    return {
        **{name: attempt[name] for name in COLUMNS if name in attempt},
        "compile_ns": _rounded(compile_ns),
        "first_mask_ns": _rounded(attempt["first_mask_ns"]),
        "between_ns": _rounded(attempt["between_ns"]),
        "rss_mib": None if rss_bytes is None else rss_bytes >> 20,
        "message": fingerprint(detail=detail)[:_DIGEST] if detail else "",
        "case": attempt["fingerprint"][:_DIGEST],
    }


def line_table(lines: Iterable[Line]) -> pl.DataFrame:
    """Return lines as the table that an edition publishes."""
    return pl.DataFrame([*lines], schema=SCHEMA)


def _rounded(ns: float | None) -> int | None:
    """Return a time with three digits."""
    return None if ns is None else int(float(f"{ns:.{_DIGITS}g}"))


def _index(
    runs: Sequence[RecordedRun],
    rows: pl.DataFrame,
    out: Path,
    head: RecordedRun,
    content: MeasuredContent,
) -> Index:
    data = head.header.data
    raw = head.raw_header
    without_data = [task for task in TASKS if not task_named(task).needs_data]
    sample = out / SAMPLE
    fits = read_fits(out)
    days = [run.header.started[:10] for run in runs]
    masks = rows.filter(task="masks")
    common = masks.filter(pl.len().over("config", "id") == masks["engine"].n_unique())
    passing = dict(common.group_by("engine").agg(pl.sum("passed")).iter_rows())
    undecided = {key for run in runs for key in run.undecided}
    undecided -= {*rows.select(KEY).iter_rows()}
    parts = rows.partition_by("engine", "task", as_dict=True)
    heads = {engine.engine: engine for run in runs for engine in run.header.engines}
    return Index(
        edition=out.resolve().name,
        dataset=DatasetEntry(
            name=Path(data.name or "").name,
            content=content.digest,
            rows=content.rows,
            sha256=data.sha256 or "",
            asked=_records(rows.filter(~pl.col("task").is_in(without_data))),
            common=_records(common),
            sample=len(sample.read_text().split()) if sample.exists() else None,
        ),
        sources={
            task: source.sha256
            for run in runs
            for task, source in run.header.sources.items()
        },
        tokenizer=dict(raw.get("tokenizer") or {}),
        limits=dict(raw.get("limits") or {}),
        machine=dict(raw.get("machine") or {}),
        csbdata=head.header.csbdata,
        code=str(raw.get("code")),
        days=(min(days), max(days)),
        rows={ROWS: rows.height, **({FITS: len(fits)} if fits else {})},
        engines=[
            EngineEntry(
                engine=label,
                name=heads[label].name or label,
                version=heads[label].version or "",
                preset=heads[label].preset or "",
                spec=heads[label].spec or "",
                options=heads[label].options or {},
                assigned=heads[label].assigned or {},
                tasks={
                    task: TaskFigures.of_rows(
                        parts[label, task].to_dicts(),
                        sum(key[:2] == (label, task) for key in undecided),
                    )
                    if (label, task) in parts
                    else "not run"
                    for task in TASKS
                },
            )
            for label in sorted(heads, key=lambda label: -passing.get(label, 0))
        ],
    )


def _records(rows: pl.DataFrame) -> int:
    return rows.select("config", "id").n_unique()


def _scorecards(run: RecordedRun) -> Iterator[Scorecard]:
    """Yield the standings of a suite's run, a model each; of another run nothing."""
    for suite in run.tasks if run.suite else ():
        scored = scored_run(run, suite)
        table = standings(scored)
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            rate: Any = cells["passed"]
            yield Scorecard(
                suite=suite,
                records=reading(scored.facts),
                model=str(cells["model"]),
                passed=rate.count,
                of=rate.of,
                independent=rate.parts()["independent"],
                fails_most=str(cells["fails most"]),
            )


class MeasuredContent(NamedTuple):
    """What engines were asked."""

    digest: str
    #: Records and instances.
    rows: int
    #: `config`, `id` and `digest` of each record; none for other data.
    records: pl.DataFrame


def read_content(run: RecordedRun) -> MeasuredContent:
    """Return the content of a run's data, if it is as it was.

    Raises:
        BadConfiguration: no task of the run reads data.
        BadData: it has changed since the run.
    """
    from evaluation.data import open_data  # noqa: PLC0415 (reads tables)

    data = run.header.data
    if not data.sha256:
        raise BadConfiguration(
            "its tasks read no data", str(run.folder), "publish a run of task masks too"
        )
    where = data.place or data.name
    if (
        open_data(where, settings=FetchSettings.from_environment()).sha256
        != data.sha256
    ):
        raise BadData("changed since the run", str(where), "rerun it")
    folder = Path(str(where))
    rows = content_rows(folder) if folder.is_dir() else 0
    if not rows:
        records = pl.DataFrame(schema=dict.fromkeys(("config", "id"), pl.String))
        return MeasuredContent(str(data.sha256), data.schemas or 0, records)
    records = record_digests(folder)
    return MeasuredContent(content_digest(records), rows, records)


def _paper_tables(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the paper's tables of the official suite, with the printed figures."""
    outcome = pl.col("outcome")
    passed = pl.col("passed")
    is_refused = outcome == SuiteFailure.COMPILE_ERROR
    failures = {
        SuiteFailure.COMPILE_ERROR: is_refused & ~passed,
        SuiteFailure.OVER_CONSTRAINED: ~is_refused
        & (pl.col("valid_accepted") < pl.col("valid")),
        SuiteFailure.UNDER_CONSTRAINED: ~is_refused
        & (pl.col("invalid_blocked") < pl.col("invalid")),
        # Whatever else it was, the tables have no column for it.
        SuiteFailure.DIED: ~passed,
    }
    cases = rows.filter(task="test-suite", config=PAPER_DRAFT).select(
        "engine",
        category=pl.col("id").str.split("/").list.first(),
        failures=pl.concat_list(
            pl.when(failed).then(pl.lit(kind.value))
            for kind, failed in failures.items()
        ).list.drop_nulls(),
    )
    for number in (5, 6) if cases.height else ():
        yield as_markdown(suite_table(number, cases))


def _write(out: Path, index: Index, rows: pl.DataFrame) -> None:
    contents = {"schema/index.schema.json": _json(msgspec.json.schema(Index))}
    contents |= headline_files(index, rows)
    if fits := read_fits(out):
        contents |= fits_files(fits, index.edition)
    values = {
        "index": index,
        "table": contents[TABLE].decode(),
        "by_config": BY_CONFIG,
        "headline": HEADLINE,
        "all_asked": as_markdown(all_asked_table(index, rows)),
        "paper": [*_paper_tables(rows)],
        "fits": contents.get(FITS_TABLE, b"").decode(),
        "suites": as_markdown(scorecards_table(index)) if index.scorecards else "",
        "columns": {name: meaning for name, (_, meaning) in COLUMNS.items()},
        "rows": ROWS,
        "sample": SAMPLE,
        "core": CORE_LIST if (out / CORE_LIST).exists() else "",
    }
    contents[_CARD] = render_template("edition.md.j2", values).encode()
    # The last of all: where it is missing an edition begins.
    contents[INDEX] = _json(index)
    for name, content in contents.items():
        atomic_write_bytes(out / name, content)


def headline_files(index: Index, rows: pl.DataFrame) -> dict[str, bytes]:
    """Return the headline of an edition, by the names of its files."""
    lines = headline(rows.filter(task="masks"))
    by_config = lines.filter(pl.col("config") != ALL)
    return {
        HEADLINE: lines.write_csv().encode(),
        TABLE: "\n".join(map(as_markdown, headline_tables(index, lines))).encode(),
        PICTURE: draw_picture(index, lines).encode(),
        BY_CONFIG: "\n".join(
            as_markdown(table)
            for table in (
                outcomes_table(by_config, f"Results {index.edition} by config"),
                times_table(by_config),
            )
        ).encode(),
    }


def fits_files(fits: Sequence[FitRow], edition: str) -> dict[str, bytes]:
    """Return an edition's files made from `fits.parquet`, by name."""
    return {
        "schema/fits.schema.json": _json(msgspec.json.schema(FitRow)),
        FITS_TABLE: as_markdown(fits_table(fits)).encode(),
        "fits.svg": fits_picture(fits, edition).encode(),
    }


def _json(value: object) -> bytes:
    content = msgspec.to_builtins(value)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
