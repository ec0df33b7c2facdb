"""Measure rewrites for targets over the records of a build.

Judge of every claim is jsonschema-rs: a record contradicts where a witness is lost by
what is called equal or wider, or a near miss or a fresh answer let through by what is
called equal or narrower. `kept` counts records that fit and of which at least one
witness can be said. Records without instances count in `records` alone.

Each record has a line of `--fit-kept`, if that is named: a run that ended goes on
from there. `oneOf` read as `anyOf` is measured over records that have the word.

With `--fit-ajv` (a folder `node_modules` with ajv, ajv-formats and ajv-draft-04) AJV
judges the fresh answers, too: `ajv_refuses` lists records with a decoded answer that
it refuses and jsonschema-rs accepts; a schema that it does not compile is counted.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import polars as pl

from bench.builds import clean_build
from bench.data.value_stream import stream
from bench.edition.encoding import Encoder
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables
from curation.fit.decoding import UndecodableError
from curation.fit.edits import Claim
from curation.fit.equal_edits import one_of_as_any_of
from curation.fit.profile import load_profile
from curation.fit.rewriting import SAFE_CLAIMS, Fit, Rewriting
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.values import identity
from curation.relation.comparer import Comparer
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import edited

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from curation.core.json_types import Json, UntypedJson
    from curation.json.pointer import Tokens

_TARGETS: Final = ("openai-strict", "anthropic", "gemini")
_RUNS: Final[list[tuple[str, Literal["safe", "any"]]]] = [
    *((target, "safe") for target in _TARGETS),
    *((target, "any") for target in _TARGETS[:2]),
]
_ONE_OF: Final = "one of as any of"
#: Witnesses that a rewrite is told, and fresh answers that are judged.
_KNOWN, _FRESH = 8, 50
_COLUMNS: Final = ["unique_id", "json_schema", "dialect", "sha256"]


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the size of the sample."""
    group.add_argument("--fit-records", type=int, default=200, help="0 for all")
    group.add_argument("--fit-one-of", type=int, default=200, help="0 for all")
    group.add_argument("--fit-kept", type=Path, help="lines of an earlier run")
    group.add_argument("--fit-jobs", type=int, default=1)
    group.add_argument("--fit-ajv", type=Path, help="node_modules with ajv")


#: Reads `[dialect, schema, values]` a line; writes null for a schema that it does not
#: compile, else whether it accepts each value.
_AJV: Final = """
const root = process.argv[1] + "/";
const formats = require(root + "ajv-formats");
const classes = {"2019-09": "ajv/dist/2019", "2020-12": "ajv/dist/2020",
                 "draft-04": "ajv-draft-04"};
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [dialect, schema, values] = JSON.parse(line);
  try {
    const Ajv = require(root + (classes[dialect] || "ajv"));
    const ajv = new (Ajv.default || Ajv)({ strict: false, logger: false });
    if (dialect == "draft-06")
      ajv.addMetaSchema(require(root + "ajv/dist/refs/json-schema-draft-06.json"));
    (formats.default || formats)(ajv);
    const judge = ajv.compile(schema);
    console.log(JSON.stringify(values.map((value) => judge(value))));
  } catch (error) {
    console.log("null");
  }
});
"""


@cache
def _ajv(folder: Path) -> subprocess.Popen[str]:
    command = ["node", "-e", _AJV, str(folder.resolve())]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def _by_ajv(fit: Fit, values: list[Json], folder: Path) -> list[bool] | None:
    """Return whether AJV accepts values of the original; None if it compiles it not."""
    child = _ajv(folder)
    assert child.stdin  # noqa: S101 - both are pipes
    assert child.stdout  # noqa: S101 - a pipe was asked for
    request = [fit.original.dialect.name, fit.original.value, values]
    child.stdin.write(json.dumps(request) + "\n")
    child.stdin.flush()
    verdicts: list[bool] | None = json.loads(child.stdout.readline())
    return verdicts


@dataclass(frozen=True, slots=True)
class FitRecord:
    """A record of a build, with its instances as JSON texts."""

    name: str
    schema: str
    dialect: str
    sha256: str
    witnesses: list[str]
    near_misses: list[str]


@dataclass(slots=True)
class _Tally:
    #: A counter; read from a line, the same as a dictionary.
    counts: dict[str, int] = field(default_factory=Counter)
    #: The share of near misses that the rewritten schema of a record refuses.
    refused: list[float] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    ajv_refuses: list[str] = field(default_factory=list)

    def add(self, other: _Tally) -> None:
        self.counts.update(other.counts)
        self.refused += other.refused
        self.contradictions += other.contradictions
        self.ajv_refuses += other.ajv_refuses

    def figures(self) -> dict[str, Any]:
        shares = sorted(self.refused)
        return {
            **dict(sorted(self.counts.items())),
            "near_misses_refused_mean": round(mean(shares), 4) if shares else None,
            "near_misses_refused_p10": shares[len(shares) // 10] if shares else None,
            "contradictions": self.contradictions,
            "ajv_refuses": self.ajv_refuses,
        }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each target, by safe rewrites and by any."""
    tallies = {run: _Tally() for run in (_ONE_OF, *map(" ".join, _RUNS))}
    kept = _kept(options.fit_kept)
    with (
        clean_build(options.build, "--instances") as build,
        ProcessPoolExecutor(options.fit_jobs) as pool,
    ):
        records = list(read_records(build.folder))
        with_word = [record for record in records if '"oneOf"' in record.schema]
        drawn = _drawn(records, options.fit_records)
        both = ((_targets, drawn), (_one_of, _drawn(with_word, options.fit_one_of)))
        for job, own in both:
            done = [kept[name] for it in own if (name := _key(job, it)) in kept]
            left = [it for it in own if _key(job, it) not in kept]
            results = pool.map(partial(job, ajv=options.fit_ajv), left)
            for record, result in zip(left, results, strict=True):
                done.append(result)
                if options.fit_kept:
                    line = msgspec.json.encode([_key(job, record), result])
                    with options.fit_kept.open("ab") as file:
                        file.write(line + b"\n")
            for result in done:
                for run, tally in result.items():
                    tallies[run].add(tally)
    return {
        "build": build.name,
        "records": len(drawn),
        **{run: tally.figures() for run, tally in tallies.items()},
    }


_Job = Callable[..., dict[str, _Tally]]


def _kept(path: Path | None) -> dict[str, dict[str, _Tally]]:
    lines = path.read_bytes().splitlines() if path and path.exists() else []
    kind = tuple[str, dict[str, _Tally]]
    return dict(msgspec.json.decode(line, type=kind) for line in lines)


def _key(job: _Job, record: FitRecord) -> str:
    return f"{job.__name__} {record.name}"


def _drawn(records: list[FitRecord], count: int) -> list[FitRecord]:
    sample = random.Random(0)  # noqa: S311 - no secret
    return sample.sample(records, min(count or len(records), len(records)))


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


_COMPARER = Comparer()


def _targets(record: FitRecord, ajv: Path | None) -> dict[str, _Tally]:
    return {" ".join(run): _tally(record, *run, ajv) for run in _RUNS}


def _one_of(
    record: FitRecord,
    ajv: Path | None,  # noqa: ARG001 - as `_targets` has it
) -> dict[str, _Tally]:
    """Return whether `oneOf` of a record may be `anyOf`, by proof or by a value."""
    tally = _Tally()
    schema: Json = json.loads(record.schema)
    dialect = BY_NAME[record.dialect]

    def as_any_of(_tokens: Tokens, part: Json) -> Json:
        return one_of_as_any_of(part, frozenset()) if isinstance(part, dict) else part

    changed = edited(schema, dialect, as_any_of)
    if changed is not schema:
        given = [*record.witnesses, *record.near_misses]
        relation = _COMPARER.relation(schema, changed, dialect, given=given)
        tally.counts["records"] += 1
        tally.counts[relation.kind] += 1
    return {_ONE_OF: tally}


def _tally(
    record: FitRecord, target: str, allow: Literal["safe", "any"], ajv: Path | None
) -> _Tally:
    tally = _Tally()
    counts = tally.counts
    witnesses = [json.loads(text) for text in record.witnesses]
    fit = Rewriting(
        CompiledSchema(json.loads(record.schema), BY_NAME[record.dialect]),
        load_profile(target),
        _COMPARER,
        allow=allow,
        examples=witnesses[:_KNOWN],
    ).run()
    counts["fits"] += fit.fits
    counts["late"] += fit.is_late
    counts["fits_as_it_stands"] += fit.fits and not fit.steps
    for step in fit.steps:
        counts["steps"] += 1
        counts[f"steps_{step.evidence.partition(',')[0].replace(' ', '_')}"] += 1
    fresh = _judge(record, fit, witnesses, tally)
    verdicts = _by_ajv(fit, fresh, ajv) if fresh and ajv else []
    counts["ajv_does_not_compile"] += verdicts is None
    if not all(verdicts or ()):
        tally.ajv_refuses.append(record.name)
    return tally


def _judge(
    record: FitRecord, fit: Fit, witnesses: list[Any], tally: _Tally
) -> list[Json]:
    """Hold what a fit claims against values; return fresh ones of a safe fit."""
    meant = CompiledSchema(fit.meaning, fit.shaped.dialect)
    rewritten = _without_ignored(fit)
    kept = _judge_witnesses(record, fit, witnesses, meant, tally)
    tally.counts["kept"] += bool(fit.fits and kept)
    near_misses = [json.loads(text) for text in record.near_misses]
    refused = sum(not meant.is_valid(value) for value in near_misses)
    if fit.fits and near_misses and not says_nothing(fit.meaning):
        tally.refused.append(refused / len(near_misses))
    if rewritten not in SAFE_CLAIMS:
        return []
    if refused < len(near_misses):
        tally.contradictions.append(f"{record.name}: a near miss is let through")
    sent = CompiledSchema(fit.schema, fit.shaped.dialect)
    values: list[Json] = []
    for fresh in filter(sent.is_valid, islice(stream(sent), _FRESH)):
        tally.counts["fresh_answers"] += 1
        values.append(fit.codec.decode(fresh))
        if not fit.original.is_valid(values[-1]):
            tally.contradictions.append(f"{record.name}: a fresh answer is invalid")
            return []
    return values


def _judge_witnesses(
    record: FitRecord,
    fit: Fit,
    witnesses: list[Any],
    meant: CompiledSchema,
    tally: _Tally,
) -> int:
    """Return how many witnesses can be said."""
    kept, encoder = 0, Encoder(fit.shaped)
    rewritten = _without_ignored(fit)
    for witness in witnesses:
        if not meant.is_valid(witness):
            if rewritten in (Claim.EQUAL, Claim.WIDER):
                tally.contradictions.append(f"{record.name}: a witness is lost")
            continue
        try:
            answer = encoder.encode(witness)
        except UndecodableError:
            tally.counts["witnesses_mute"] += 1
            continue
        kept += 1
        if identity(fit.codec.decode(answer)) != identity(witness):
            tally.contradictions.append(f"{record.name}: a round trip differs")
    return kept


def _without_ignored(fit: Fit) -> Claim:
    """Return the claim of the steps alone: what is ignored is in the schema still."""
    claims = {step.claim for step in fit.steps} - {Claim.EQUAL}
    if len(claims) > 1:
        return Claim.UNKNOWN
    return claims.pop() if claims else Claim.EQUAL


def says_nothing(schema: UntypedJson) -> bool:
    """Return whether a rewritten schema is `{}`, or an object without properties."""
    return not schema or (
        schema.get("type") == "object" and not schema.get("properties")
    )
