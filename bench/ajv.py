"""Ask AJV, a third validator, about the instances of a build.

AJV (npm, pinned in `bench/peers.py`) goes to `build/peers`; where npm is not there the
part is "not run". Every n-th record of each config is asked. A disagreement is a
witness that AJV refuses, or a near miss that it accepts; each has the cause that an
experiment shows: with that one thing changed, AJV agrees.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import polars

from bench.builds import clean_build
from bench.generator_process import ROOT
from bench.peers import Absent, ajv_judge
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from bench.generator_process import Command

_OLD: Final = frozenset({"draft-04", "draft-06", "draft-07"})
#: Keywords that AJV knows under draft-04, which has not got them.
_NEWER: Final = frozenset({"const", "contains", "propertyNames", "if"})
_UNEXPLAINED: Final = "unexplained"


class Asked(NamedTuple):
    """One record with its instances."""

    name: str
    dialect: str
    schema: str
    #: Each a text, and whether jsonschema-rs accepts it.
    instances: list[tuple[str, bool]]


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
    ) -> list[bool] | None:
        """Return what AJV says of each text; None where it does not compile."""
        question = {
            "dialect": dialect,
            "schema": schema,
            "texts": texts,
            "formats": formats,
        }
        if self._process.stdin is None or self._process.stdout is None:
            return None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, list[bool]] = json.loads(self._process.stdout.readline())
        return answer.get("verdicts")


def without_siblings(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema in which nothing stands beside a `$ref` but definitions."""
    if isinstance(schema, list):
        return [without_siblings(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    hides = isinstance(schema.get("$ref"), str)
    kept = ("$ref", "definitions", "id", "$id")
    return {
        name: without_siblings(member)
        for name, member in schema.items()
        if not hides or name in kept
    }


def without_newer(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without the keywords that draft-04 does not know."""
    if isinstance(schema, list):
        return [without_newer(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: without_newer(member)
        for name, member in schema.items()
        if name not in _NEWER
    }


def cause_of(ajv: Ajv, record: Asked, text: str, *, accepted: bool) -> str:
    """Return why AJV differs, as an experiment shows.

    Args:
        ajv: The judge.
        record: Whose instance it is.
        text: The instance.
        accepted: Whether jsonschema-rs accepts it.
    """
    edits: list[tuple[str, Callable[[Any], Any]]] = []
    if record.dialect in _OLD:
        edits.append(("siblings of $ref", without_siblings))
    if record.dialect == "draft-04":
        edits.append(("a keyword newer than the draft", without_newer))
    for cause, edit in edits:
        changed = json.dumps(edit(json.loads(record.schema)))
        if ajv.verdicts(record.dialect, changed, [text]) == [accepted]:
            return cause
    plain = ajv.verdicts(record.dialect, record.schema, [text], formats=False)
    if plain == [accepted]:
        return "a format that one of them does not assert"
    if json.loads(text) != json.loads(text, parse_int=float):
        return "an integer that no double holds"
    return _UNEXPLAINED


def _records(folder: Path, every: int) -> Iterator[Asked]:
    for config in CONFIGS:
        files = instance_tables(folder, config)
        if not files:
            continue
        texts: dict[str, list[tuple[str, bool]]] = {}
        for file in files:
            columns = ["unique_id", "text", "valid"]
            for unique_id, text, valid in polars.read_parquet(
                file, columns=columns
            ).iter_rows():
                texts.setdefault(unique_id, []).append((text, valid))
        for file in sorted((folder / config).glob("*.parquet")):
            columns = ["unique_id", "dialect", "json_schema"]
            rows = polars.read_parquet(file, columns=columns).iter_rows()
            for number, (unique_id, dialect, schema) in enumerate(rows):
                if number % every == 0 and unique_id in texts:
                    name = f"{config}/{unique_id}"
                    yield Asked(name, dialect, schema, texts[unique_id])


def compared(ajv: Ajv, records: Iterator[Asked]) -> dict[str, Any]:
    """Return how often AJV differs, on what, and why."""
    counts = Counter[str]()
    causes: dict[str, Counter[str]] = {"witness": Counter(), "near miss": Counter()}
    examples: list[dict[str, str]] = []
    for record in records:
        texts = [text for text, _ in record.instances]
        verdicts = ajv.verdicts(record.dialect, record.schema, texts)
        counts["records"] += 1
        if verdicts is None:
            counts["not_compiled"] += 1
            continue
        for (text, valid), verdict in zip(record.instances, verdicts, strict=True):
            kind = "witness" if valid else "near miss"
            counts[kind] += 1
            if verdict != valid:
                cause = cause_of(ajv, record, text, accepted=valid)
                causes[kind][cause] += 1
                examples.append({"record": record.name, "kind": kind, "cause": cause})
    return {
        **dict(counts),
        "disagreements": {
            kind: {"total": found.total(), **found} for kind, found in causes.items()
        },
        "where": examples,
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
        return {"not run": command.reason}
    with clean_build(options.build, "--instances") as build, Ajv(command) as ajv:
        print("ajv: asking", file=sys.stderr)
        found = compared(ajv, _records(build.folder, options.ajv_every))
    return {"measured": build.name, "every": options.ajv_every, **found}
