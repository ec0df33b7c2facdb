"""Measure our generator of instances against its peers.

Every generator gets the same schemas, drawn by digest from a clean build (the local
one if there is one, else one of the embedded sample), and the same seconds for each.
Two figures each: the share of schemas for which it made a valid instance, and the
distinct valid instances per second of generation.

What was chosen, so that it is fair:

- Valid is what jsonschema-rs accepts, formats on, in the record's dialect. Distinct
  are JSON values: 1 is 1.0, the order of keys does not matter.
- Each generator runs in a process of its own, warmed up, without a network. Its
  clock runs from the parsed schema to the last value: reading the schema in whatever
  way it needs is generating; start-up, writing the values and judging are not.
- A value that is not done when the time is up does not count, nor does time beyond.
  One that ends early, since it knows no other value, is charged what it took. One
  that raises may try again 20 times in a row; what it made before counts. One that
  hangs is killed 10 s later: no instance, and the whole time.
- Schema by schema, one generator after the other, so that what else the machine does
  meets them all alike; one works at a time.
- Every library keeps its own defaults. Schemas are handed over as they are, and each
  library reads `$schema` as it does; ours alone is told the dialect of the record.
  hypothesis-jsonschema says that it knows draft-04, -06 and -07 only: see
  `with_valid_by_dialect`. No generator is judged while it generates; ours asks
  jsonschema-rs about the variants that it makes of a value, and pays for the time.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from bench.builds import clean_build
from bench.generators.generator_process import ROOT, Command, DiedError, Generator
from bench.generators.instance_figures import (
    OURS,
    Drawn,
    Figures,
    Score,
    drawn,
    not_run,
    ratios,
    summarised,
)
from bench.generators.peers import Absent, installed
from curation.core.benchmark import CONFIGS
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.json.values import identity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

_COLUMNS = ("unique_id", "json_schema", "dialect", "sha256")
_OURS = Command(words=(sys.executable, "-m", "bench.generators.generate_ours"))
_EVERY = 25


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _rows(build: Path) -> Iterator[Drawn]:
    for config in CONFIGS:
        for file in sorted((build / config).glob("*.parquet")):
            frame = polars.read_parquet(file, columns=list(_COLUMNS))
            yield from (Drawn(**row) for row in frame.iter_rows(named=True))


def _distinct_valid(compiled: CompiledSchema, texts: Sequence[str]) -> int:
    """Return how many distinct values jsonschema-rs accepts."""
    found = set()
    for text in texts:
        try:
            value = json.loads(text)
            if compiled.is_valid(value):
                found.add(identity(value))
        except (ValueError, OverflowError, RecursionError):
            continue
    return len(found)


def _score(
    generator: Generator, row: Drawn, compiled: CompiledSchema, budget: float
) -> Score:
    answer = generator.ask(json.loads(row.json_schema), row.dialect, budget)
    return Score(
        dialect=row.dialect,
        made=len(answer["values"]),
        valid=_distinct_valid(compiled, answer["values"]),
        seconds=answer["seconds"],
        ended=answer["ended"],
    )


def _measured(
    commands: dict[str, Command | Absent], rows: Sequence[Drawn], budget: float
) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    scores: dict[str, list[Score]] = {}
    with ExitStack() as stack:
        running: dict[str, Generator] = {}
        for name, command in commands.items():
            if isinstance(command, Absent):
                found[name] = not_run(command.reason)
                continue
            try:
                running[name] = stack.enter_context(Generator(command))
            except DiedError:
                found[name] = not_run("it does not start")
        for number, row in enumerate(rows):
            if number % _EVERY == 0:
                _say(f"instances: schema {number} of {len(rows)}")
            compiled = CompiledSchema.from_json(
                json.loads(row.json_schema), row.dialect
            )
            for name, generator in running.items():
                score = _score(generator, row, compiled, budget)
                scores.setdefault(name, []).append(score)
        for name, generator in running.items():
            found[name] = summarised(scores.get(name, ()), generator.version)
    return {name: found[name] for name in commands}


def report(build: Path | None, schemas: int, budget: float) -> dict[str, Any]:
    """Return the figures of every generator, and ours over each peer's.

    Raises:
        SystemExit: the folder asked for is no clean build.
    """
    with clean_build(build) as chosen:
        rows = drawn(_rows(chosen.folder), schemas)
    peers = installed(ROOT / "build" / "peers", Path(__file__).parent)
    generators = _measured({OURS: _OURS, **peers}, rows, budget)
    return {
        "drawn_from": chosen.name,
        "schemas": len(rows),
        "seconds_a_schema": budget,
        "generators": generators,
        "ratios": ratios(generators),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--schemas", type=int, default=300, help="schemas to draw")
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="for each schema and generator"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every generator."""
    return report(options.build, options.schemas, options.seconds)
