"""Instances for schemas that come without: made in child processes, once, and kept.

What is made depends on the schema's text, its dialect, the seed and the code alone;
that is the key under which it is kept, so that of a folder's schemas only the edited
one is made anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import orjson

from curation.instances.dataset.build_step import BATCH_LENGTH, BATCH_SCHEMAS
from curation.instances.dataset.worker_program import (
    instances_of,
    limits,
    merged_instances,
    program,
)
from curation.system.errors import BadData, CannotCreate
from curation.workers.batches import in_batches
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from evaluation.core.cases import Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.instances.dataset.make_instances import SchemaInstances
    from curation.workers.outcomes import ProcessResult
    from evaluation.core.cases import Sample

_FILE: Final = "instances.sqlite"
_TABLE: Final = (
    "create table if not exists made "
    "(key blob primary key, content blob, code text, at integer)"
)
#: Seconds for which what other versions of the code made is left alone.
_KEPT: Final = 7 * 24 * 3600
#: Seconds to wait for another process that writes.
_PATIENCE: Final = 60.0


@dataclass(slots=True)
class InstanceStore:
    """Makes instances and keeps them in a folder of the cache."""

    folder: Path
    seed: int
    jobs: int
    _code: str = field(init=False)

    def __post_init__(self) -> None:
        """Work out what decides instances beside their schema and the seed."""
        self._code = fingerprint(code=code_digest(), versions=dict(versions()))

    def fill(self, samples: Iterable[Sample], advance: Callable[[int], None]) -> None:
        """Make what is not kept yet; `advance` is told how many more are there.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            CannotCreate: the cache cannot be written.
        """
        with (
            self._kept() as kept,
            Pool(
                program(self.seed), jobs=self.jobs, limits=limits(), attempts=1
            ) as pool,
        ):
            old = (self._code, int(time.time()) - _KEPT)
            kept.execute("delete from made where code != ? and at < ?", old)
            kept.commit()
            missing = self._missing(samples, kept, advance)
            failed = list(self._round(pool, missing, kept, advance))
            # Asked once more for what has cost too much, for its witnesses alone.
            lean = ((unit | {"lean": True}, first) for unit, first in failed)
            for _ in self._round(pool, lean, kept, advance):
                pass

    def completed(self, samples: Iterable[tuple[Sample, bool]]) -> Iterator[Sample]:
        """Yield the subjects, those that lack instances with what is kept for them.

        Raises:
            BadData: `fill` was not called for one of them.
            CannotCreate: what is kept is damaged.
        """
        with self._kept() as kept:
            for sample, lacks in samples:
                if not lacks:
                    yield sample
                    continue
                content = _found(kept, self._key(_unit(sample)))
                if content is None:
                    name = f"{sample.config}/{sample.id}"
                    raise BadData("changed while it was measured", name)
                made = orjson.loads(content)
                yield replace(
                    sample,
                    dialect=made["dialect"] or sample.dialect,
                    instances=tuple(Instance(**each) for each in made["instances"]),
                )

    def _missing(
        self,
        samples: Iterable[Sample],
        kept: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> Iterator[tuple[UntypedJson, None]]:
        for sample in samples:
            unit = _unit(sample)
            if _found(kept, self._key(unit)) is None:
                yield unit, None
            else:
                advance(1)

    def _round(
        self,
        pool: Pool,
        units: Iterable[tuple[UntypedJson, ProcessResult | None]],
        kept: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> Iterator[tuple[UntypedJson, ProcessResult]]:
        """Ask for units; keep what is made, yield what failed for the first time."""
        sent: dict[int, Sequence[tuple[UntypedJson, ProcessResult | None]]] = {}

        def batches() -> Iterator[list[UntypedJson]]:
            cut = in_batches(
                units,
                lambda each: len(each[0]["schema"]),
                most=BATCH_SCHEMAS,
                heaviest=BATCH_LENGTH,
            )
            for number, batch in enumerate(cut):
                sent[number] = batch
                yield [unit for unit, _ in batch]

        for result in pool.run_batches(batches()):
            asked = zip(sent.pop(result.index), result.results, strict=True)
            for (unit, first), outcome in asked:
                if first is None and outcome.ending is not Ending.OK:
                    yield unit, outcome
                    continue
                made = (
                    instances_of(outcome)
                    if first is None
                    else merged_instances(first, outcome)
                )
                self._keep(kept, unit, made)
                advance(1)
            kept.commit()

    def _keep(
        self, kept: sqlite3.Connection, unit: UntypedJson, made: SchemaInstances
    ) -> None:
        content = {
            "dialect": made.dialect,
            "instances": [
                {
                    "text": each.text,
                    "valid": each.valid,
                    "kind": each.kind,
                    "keyword": each.keyword,
                    "schema_pointer": each.schema_pointer,
                }
                for each in made.instances
            ],
        }
        now = int(time.time())
        row = (self._key(unit), orjson.dumps(content), self._code, now)
        kept.execute("insert or replace into made values (?, ?, ?, ?)", row)

    def _key(self, unit: UntypedJson) -> bytes:
        text = f"{self._code}\n{self.seed}\n{unit['dialect']}\n{unit['schema']}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    @contextmanager
    def _kept(self) -> Iterator[sqlite3.Connection]:
        """Open what is kept for a while; whatever happens to it names the file."""
        try:
            with closing(self._open()) as kept:
                yield kept
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def _open(self) -> sqlite3.Connection:
        """Open what is kept; a damaged file is thrown away."""
        path = self.folder / _FILE
        with suppress(sqlite3.DatabaseError, OSError):
            return _connected(path)
        try:
            path.unlink(missing_ok=True)
            return _connected(path)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> CannotCreate:
        return CannotCreate(
            f"cannot be written ({error})",
            str(self.folder / _FILE),
            "free space, remove it, or set CSBDATA_CACHE to another folder",
        )


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        kept.execute("pragma journal_mode=wal")
        kept.execute("pragma synchronous=normal")
        kept.execute(_TABLE)
        kept.execute("select key, content, code, at from made limit 1")
        kept.commit()
    except BaseException:
        kept.close()
        raise
    return kept


def _found(kept: sqlite3.Connection, key: bytes) -> bytes | None:
    row = kept.execute("select content from made where key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def _unit(sample: Sample) -> UntypedJson:
    return {"schema": sample.schema, "dialect": sample.dialect}
