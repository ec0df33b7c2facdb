"""Measure which providers accept the records of a build, and accept them rewritten.

Writes `fits.parquet` of an edition, a row a record and target, and what is made of it;
the records of its sample first.
Rewrites have processor time as those of `csbdata fit`; each is taken by its rule, where
that tells enough, and else proven. Killed at will, it continues after the last record.

Usage: python -m bench.edition.fits BUILD results/EDITION [--kept FILE] [--jobs N]
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import polars as pl

from bench.edition.encoding import Encoder
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables
from curation.fit.decoding import UndecodableError
from curation.fit.profile import load_profile, provider_names
from curation.fit.rewriting import Fit, Rewriting
from curation.fit.schema_fit import SECONDS_EACH
from curation.fit.verdict import Verdict, decide_verdict, judge_fit
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.packaging.rewritten_fits import DIGITS, FITS
from curation.relation.comparer import Comparer
from curation.schema.dialects import BY_NAME
from curation.system.atomic_files import atomic_file, atomic_write_bytes
from evaluation.analysis.publish_edition import fits_files
from evaluation.masks.run_folder import AppendedLines, read_lines
from evaluation.reporting.printing import print_table
from evaluation.results.edition import SAMPLE
from evaluation.results.fits import FitRow, Fits, fits_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json, UntypedJson

_COMPARER = Comparer()
_COLUMNS = ["unique_id", "json_schema", "dialect", "sha256"]
#: Witnesses that a rewrite is told.
_KNOWN = 8


@dataclass(frozen=True, slots=True)
class FitRecord:
    """A record of a build, with its instances as JSON texts."""

    name: str
    schema: str
    dialect: str
    sha256: str
    witnesses: list[str]
    near_misses: list[str]


def read_records(folder: Path) -> Iterator[FitRecord]:
    """Yield the records of a build."""
    for config in CONFIGS:
        rows = pl.concat(
            pl.read_parquet(path, columns=_COLUMNS)
            for path in sorted((folder / config).glob("*.parquet"))
        )
        texts: dict[str, tuple[list[str], list[str]]] = {}
        for path in instance_tables(folder, config):
            columns = pl.read_parquet(path, columns=["unique_id", "text", "valid"])
            for name, text, valid in columns.iter_rows():
                texts.setdefault(name, ([], []))[0 if valid else 1].append(text)
        for name, schema, dialect, digest in rows.iter_rows():
            own = texts.get(name, ([], []))
            where = f"{config}/{name}"
            yield FitRecord(where, schema, dialect, digest, *own)


def rows_of(record: FitRecord) -> list[FitRow]:
    """Return the row of each target."""
    config, _, name = record.name.partition("/")
    original = CompiledSchema(json.loads(record.schema), BY_NAME[record.dialect])
    witnesses = [json.loads(text) for text in record.witnesses]
    near_misses = [json.loads(text) for text in record.near_misses]
    rows = []
    for target in provider_names():
        profile = load_profile(target)
        row = FitRow(
            config=config,
            id=name,
            schema=record.sha256[:DIGITS],
            target=target,
            profile=profile.digest,
            taken="as it stands",
        )
        verdict = decide_verdict(judge_fit(original.value, profile))
        if verdict is Verdict.UNKNOWN:
            row = msgspec.structs.replace(row, taken="unknown")
        if verdict is Verdict.REJECTED:
            for allow, taken in _WAYS:
                fit = Rewriting(
                    original,
                    profile,
                    _COMPARER,
                    allow=allow,
                    examples=witnesses[:_KNOWN],
                    prove=False,
                    seconds=SECONDS_EACH,
                ).run()
                row = _row(row, fit, taken, witnesses, near_misses)
                if fit.fits and row.kept is not False:
                    break
        rows.append(row)
    return rows


_WAYS: tuple[tuple[Literal["safe", "any"], Fits], ...] = (
    ("safe", "after safe rewrites"),
    ("any", "after any rewrites"),
)


def _row(
    row: FitRow,
    fit: Fit,
    taken: Fits,
    witnesses: Sequence[Json],
    near_misses: Sequence[Json],
) -> FitRow:
    """Return the row of a rewritten schema; causes are those after safe rewrites."""
    if taken == "after safe rewrites":
        causes = sorted({it.cause for it in fit.failing})
        row = msgspec.structs.replace(row, in_the_way=causes, late=fit.is_late)
    if not fit.fits:
        return msgspec.structs.replace(row, taken="never", kept=None)
    meant = CompiledSchema(fit.meaning, fit.shaped.dialect)
    kept = None
    if witnesses:
        kept = any(meant.is_valid(it) and _is_sayable(fit, it) for it in witnesses)
    refused = sum(not meant.is_valid(value) for value in near_misses)
    share = refused / len(near_misses) if near_misses else None
    share = None if _says_nothing(fit.meaning) else share
    return msgspec.structs.replace(row, taken=taken, kept=kept, refused=share)


def _is_sayable(fit: Fit, value: Json) -> bool:
    try:
        Encoder(fit.shaped).encode(value)
    except UndecodableError:
        return False
    return True


def _says_nothing(schema: UntypedJson) -> bool:
    """Return whether a rewritten schema is `{}`, or an object without properties."""
    return not schema or (
        schema.get("type") == "object" and not schema.get("properties")
    )


@dataclass(frozen=True)
class _Line:
    name: str
    rows: list[FitRow]


def measure(build: Path, edition: Path, kept: Path, jobs: int) -> list[FitRow]:
    """Return the rows of all records, those of the sample first and in its order."""
    records = {it.name: it for it in read_records(build)}
    sample = dict.fromkeys((edition / SAMPLE).read_text().split())
    names = [*dict.fromkeys([*sample, *records])]
    profiles = {name: load_profile(name).digest for name in provider_names()}
    done = {
        it.name: it.rows
        for it in read_lines(kept, _Line)
        if it.name in records
        and {row.target: row.profile for row in it.rows} == profiles
        and it.rows[0].schema == records[it.name].sha256[:DIGITS]
    }
    left = [records[name] for name in names if name not in done]
    with ProcessPoolExecutor(jobs) as pool, closing(AppendedLines(kept)) as lines:
        for record, rows in zip(left, pool.map(rows_of, left), strict=True):
            lines.write(msgspec.json.encode(_Line(record.name, rows)))
            done[record.name] = rows
    return [
        msgspec.structs.replace(row, sampled=name in sample)
        for name in names
        for row in done[name]
    ]


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("edition", type=Path)
    parser.add_argument("--kept", type=Path, default=Path("build/fits.jsonl"))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    rows = measure(options.build, options.edition, options.kept, options.jobs)
    frame = pl.DataFrame(
        [msgspec.to_builtins(row) for row in rows], infer_schema_length=None
    )
    with atomic_file(options.edition / FITS) as temporary:
        frame.write_parquet(temporary, compression="zstd", compression_level=19)
    files = fits_files(rows, options.edition.resolve().name)
    for name, content in files.items():
        atomic_write_bytes(options.edition / name, content)
    print_table(fits_table(rows))


if __name__ == "__main__":
    main()
