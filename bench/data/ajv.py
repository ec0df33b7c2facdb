"""Ask AJV, a third validator, about the instances of a build.

AJV (npm, pinned in `peers.py`) goes to `build/peers`; where npm is not there the
part is "not run". Every n-th record of each config is asked. A disagreement is a
witness that AJV refuses, or a near miss that it accepts. The build's ledger names those
that are known, with their cause (`ledger/ajv.pq`): what AJV differs on and the ledger
does not name is `unexplained`, and what the ledger names and AJV agrees on is told too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import polars

from bench.builds import clean_build
from bench.generators.generator_process import ROOT
from bench.generators.peers import Absent, ajv_judge
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables
from curation.instances.dataset.parquet import AJV

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from bench.generators.generator_process import Command

_UNEXPLAINED: Final = "unexplained"
#: Where what a message says of one schema alone begins.
_SPECIFIC: Final = re.compile(r'["#/:]')


class Asked(NamedTuple):
    """One record with its instances."""

    name: str
    dialect: str
    schema: str
    #: Each a text, and whether jsonschema-rs accepts it; by its number.
    instances: dict[int, tuple[str, bool]]
    #: Why AJV judges an instance otherwise, as the ledger says: by its number.
    stated: dict[int, str]


class NotCompiled(NamedTuple):
    """A schema that AJV does not compile."""

    #: What it says.
    message: str

    @property
    def reason(self) -> str:
        """The message as far as it is the same for many schemas."""
        return _SPECIFIC.split(self.message)[0].strip()


class Ajv:
    """AJV in a process of its own."""

    def __init__(self, command: Command) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.communicate()

    def verdicts(
        self, dialect: str, schema: str, texts: list[str], *, formats: bool = True
    ) -> list[bool] | NotCompiled:
        """Return what AJV says of each text, or why it does not compile the schema."""
        question = {
            "dialect": dialect,
            "schema": schema,
            "texts": texts,
            "formats": formats,
        }
        if self._process.stdin is None or self._process.stdout is None:
            return NotCompiled("it was not started with pipes")
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        if "error" in answer:
            return NotCompiled(answer["error"])
        verdicts: list[bool] = answer["verdicts"]
        return verdicts


def _records(folder: Path, every: int) -> Iterator[Asked]:
    """Yield every n-th record of each config, with what the ledger says of AJV."""
    stated: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    columns = ["config", "unique_id", "number", "cause"]
    for config, unique_id, number, cause in polars.read_parquet(
        folder / AJV, columns=columns, glob=False
    ).iter_rows():
        stated[config, unique_id][number] = cause
    for config in CONFIGS:
        texts: defaultdict[str, dict[int, tuple[str, bool]]] = defaultdict(dict)
        for file in instance_tables(folder, config):
            columns = ["unique_id", "number", "text", "valid"]
            for unique_id, number, text, valid in polars.read_parquet(
                file, columns=columns, glob=False
            ).iter_rows():
                texts[unique_id][number] = (text, valid)
        for file in sorted((folder / config).glob("*.parquet")):
            columns = ["unique_id", "dialect", "json_schema"]
            rows = polars.read_parquet(file, columns=columns).iter_rows()
            for position, (unique_id, dialect, schema) in enumerate(rows):
                if position % every == 0 and unique_id in texts:
                    yield Asked(
                        name=f"{config}/{unique_id}",
                        dialect=dialect,
                        schema=schema,
                        instances=texts[unique_id],
                        stated=stated[config, unique_id],
                    )


def compared(ajv: Ajv, records: Iterable[Asked]) -> dict[str, Any]:
    """Return how often AJV differs, on what, and why."""
    counts = Counter[str]()
    causes: dict[str, Counter[str]] = {"witness": Counter(), "near miss": Counter()}
    differing: list[dict[str, Any]] = []
    agreeing: list[dict[str, Any]] = []
    not_compiled: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        texts = [text for text, _ in record.instances.values()]
        verdicts = ajv.verdicts(record.dialect, record.schema, texts)
        counts["records"] += 1
        if isinstance(verdicts, NotCompiled):
            not_compiled[verdicts.reason].append(record.name)
            continue
        for (number, (_, valid)), verdict in zip(
            record.instances.items(), verdicts, strict=True
        ):
            kind = "witness" if valid else "near miss"
            counts[kind] += 1
            place = {"record": record.name, "number": number, "kind": kind}
            if verdict != valid:
                cause = record.stated.get(number, _UNEXPLAINED)
                causes[kind][cause] += 1
                differing.append({**place, "cause": cause})
            elif number in record.stated:
                agreeing.append({**place, "cause": record.stated[number]})
    return {
        **dict(counts),
        "not_compiled": {
            "total": sum(map(len, not_compiled.values())),
            **{why: sorted(names) for why, names in sorted(not_compiled.items())},
        },
        "disagreements": {
            kind: {"total": found.total(), **found} for kind, found in causes.items()
        },
        "where": differing,
        "stated_but_agreed_on": agreeing,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument(
        "--ajv-every", type=int, default=1, help="ask about every n-th record only"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return where AJV differs, or why it was not asked."""
    command = ajv_judge(ROOT / "build" / "peers", Path(__file__).parent)
    if isinstance(command, Absent):
        return {"not_run": command.reason}
    with clean_build(options.build, "--instances") as build, Ajv(command) as ajv:
        print("ajv: asking", file=sys.stderr)
        found = compared(ajv, _records(build.folder, options.ajv_every))
    return {"measured": build.name, "every": options.ajv_every, **found}
