"""A store of instances for schemas that come without any, made in child processes.

The key is the schema's text, its dialect, the seed and the code: after an edit only the
edited schema is processed again. Several processes use it at once; rows of other code
are kept for a week.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.instances.dataset.make_instances import BATCH_LENGTH, BATCH_SCHEMAS
from curation.instances.dataset.worker import (
    InstanceRequest,
    limits,
    program,
    read_answer,
)
from curation.system.errors import BadData, CannotCreate
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.limits import Ending, ProcessResult
from curation.workers.pool import Pool, in_batches
from evaluation.core.records import Instance, Record

if TYPE_CHECKING:
    from curation.instances.dataset.make_instances import SchemaInstances

_FILE: Final = "instances.sqlite"
_TABLE: Final = (
    "create table if not exists made "
    "(key blob primary key, content blob, code text, at integer)"
)
#: Seconds after which what another version of the code made is deleted.
_KEPT_SECONDS: Final = 7 * 24 * 3600
#: Seconds to wait for another process that writes.
_BUSY_SECONDS: Final = 60.0


class _StoredInstances(msgspec.Struct):
    """The content of a row."""

    #: The dialect in which the schema was read; empty if it could not be.
    dialect: str
    instances: tuple[Instance, ...]


def recorded_instances(instances: SchemaInstances) -> tuple[Instance, ...]:
    """Return generated instances as instances of a record."""
    return tuple(
        Instance(
            text=row.text,
            valid=row.valid,
            kind=row.kind,
            keyword=row.keyword,
            schema_pointer=row.schema_pointer,
        )
        for row in instances.instances
    )


@dataclass(slots=True)
class InstanceStore:
    """Makes instances and keeps them in a folder of the cache.

    Example:
        >>> store = InstanceStore(cache_folder, seed=0, jobs=2)
        >>> store.fill(records, advance=lambda _count: None)
        >>> [record.instances for record in store.complete((s, True) for s in records)]
    """

    folder: Path
    seed: int
    #: Number of worker processes.
    jobs: int
    _code: str = field(init=False)

    def __post_init__(self) -> None:
        """Fingerprint the code and the libraries that make instances."""
        self._code = fingerprint(code=code_digest(), versions=dict(versions()))

    def fill(self, records: Iterable[Record], advance: Callable[[int], None]) -> None:
        """Make the instances of records for which none are kept yet.

        Args:
            records: Schemas without instances.
            advance: Called with the number of further records that are done.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            CannotCreate: the cache cannot be written.
        """
        with (
            self._database() as database,
            Pool(
                program(self.seed), jobs=self.jobs, limits=limits(), attempts=1
            ) as pool,
        ):
            old = (self._code, int(time.time()) - _KEPT_SECONDS)
            database.execute("delete from made where code != ? and at < ?", old)
            database.commit()
            missing = self._missing(records, database, advance)
            failed = list(self._round(pool, missing, database, advance))
            # Retry expensive schemas for their witnesses alone.
            lean = (
                (msgspec.structs.replace(request, lean=True), outcome)
                for request, outcome in failed
            )
            for _ in self._round(pool, lean, database, advance):
                pass

    def complete(self, records: Iterable[tuple[Record, bool]]) -> Iterator[Record]:
        """Yield records, with stored instances if they lack their own.

        Args:
            records: Each with whether it lacks instances.

        Raises:
            BadData: `fill` was not called for one of them.
            CannotCreate: the stored instances are damaged.
        """
        with self._database() as database:
            for record, lacks in records:
                if not lacks:
                    yield record
                    continue
                content = _stored_content(database, self._key(_request(record)))
                if content is None:
                    name = f"{record.group}/{record.id}"
                    raise BadData("changed while it was measured", name)
                try:
                    stored = msgspec.json.decode(content, type=_StoredInstances)
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    raise CannotCreate(
                        f"the stored instances are damaged ({error})",
                        str(self.folder / _FILE),
                        "remove the file: its instances are made again",
                    ) from error
                yield msgspec.structs.replace(
                    record,
                    dialect=stored.dialect or record.dialect,
                    instances=stored.instances,
                )

    def _missing(
        self,
        records: Iterable[Record],
        database: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> Iterator[tuple[InstanceRequest, None]]:
        for record in records:
            request = _request(record)
            if _stored_content(database, self._key(request)) is None:
                yield request, None
            else:
                advance(1)

    def _round(
        self,
        pool: Pool,
        requests: Iterable[tuple[InstanceRequest, ProcessResult | None]],
        database: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> Iterator[tuple[InstanceRequest, ProcessResult]]:
        """Run requests; store the instances, yield the first-time failures."""
        sent: dict[int, Sequence[tuple[InstanceRequest, ProcessResult | None]]] = {}

        def batches() -> Iterator[list[InstanceRequest]]:
            cut = in_batches(
                requests,
                lambda pair: len(pair[0].schema),
                most=BATCH_SCHEMAS,
                heaviest=BATCH_LENGTH,
            )
            for number, batch in enumerate(cut):
                sent[number] = batch
                yield [request for request, _ in batch]

        for result in pool.run_batches(batches()):
            batch = sent.pop(result.index)
            for place, outcome in enumerate(result.results):
                request, earlier = batch[place]
                if earlier is None and outcome.ending is not Ending.OK:
                    yield request, outcome
                    continue
                tries = (outcome,) if earlier is None else (earlier, outcome)
                instances = read_answer(*tries)
                stored = _StoredInstances(
                    dialect=instances.dialect, instances=recorded_instances(instances)
                )
                content = msgspec.json.encode(stored)
                columns = (self._key(request), content, self._code, int(time.time()))
                insert = "insert or replace into made values (?, ?, ?, ?)"
                database.execute(insert, columns)
                advance(1)
            database.commit()

    def _key(self, request: InstanceRequest) -> bytes:
        text = f"{self._code}\n{self.seed}\n{request.dialect}\n{request.schema}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Open the file of the store for a while; an error in it names the file."""
        try:
            with closing(self._open()) as database:
                yield database
        except sqlite3.Error as error:
            raise self._unwritable(error) from error

    def _open(self) -> sqlite3.Connection:
        """Open the file of the store; a damaged one is deleted first."""
        path = self.folder / _FILE
        with suppress(sqlite3.DatabaseError, OSError):
            return _connect(path)
        try:
            path.unlink(missing_ok=True)
            return _connect(path)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> CannotCreate:
        return CannotCreate(
            f"cannot be written ({error})",
            str(self.folder / _FILE),
            "free space, remove it, or set CSBDATA_CACHE to another folder",
        )


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS)
    try:
        database.execute("pragma journal_mode=wal")
        database.execute("pragma synchronous=normal")
        database.execute(_TABLE)
        database.execute("select key, content, code, at from made limit 1")
        database.commit()
    except BaseException:
        database.close()
        raise
    return database


def _stored_content(database: sqlite3.Connection, key: bytes) -> bytes | None:
    row = database.execute("select content from made where key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def _request(record: Record) -> InstanceRequest:
    return InstanceRequest(schema=record.constraint, dialect=record.dialect)
