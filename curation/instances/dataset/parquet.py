"""Write instances as parquet: a config for each of schemas, and three ledgers.

`instances/<config>` has the splits of its schemas. Of the ledger's tables `instances`
has a row for every record, `missing_near_misses` for each keyword that no near miss
fails, and `disagreements` for each instance on which the two validators differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import SPLITS, InstanceKind, instances_folder
from curation.dataset.parquet import (
    SplitFiles,
    TableForm,
    make_columns,
    make_table,
    parquet_writer,
    read_required,
)
from curation.instances.model import InstanceRow

if TYPE_CHECKING:
    from curation.instances.dataset.make_instances import RecordInstances

#: Paths inside a build folder.
INSTANCE_LEDGER = "ledger/instances.parquet"
DISAGREEMENTS = "ledger/disagreements.parquet"
MISSING = "ledger/missing_near_misses.parquet"
#: Characters of instance text, and rows, after which a row group ends.
ROW_GROUP_LENGTH = 1_500_000
ROW_GROUP_ROWS = 4_000
#: The columns of every config of instances.
COLUMNS = make_columns(InstanceRow)
#: How they become files.
ROWS = TableForm(
    columns=COLUMNS,
    distinct=frozenset({"text"}),
    required=read_required(InstanceRow),
    text="text",
    most_length=ROW_GROUP_LENGTH,
    most_rows=ROW_GROUP_ROWS,
)
#: Columns of the reports that rarely repeat a value.
LEDGER_DISTINCT = frozenset({"unique_id", "text"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceLedgerRow:
    """The result of one record. Field order is column order."""

    config: str
    unique_id: str
    split: str
    #: `satisfiable`, `unsatisfiable` or `unknown`.
    answer: str
    #: Why a witness is missing; empty with one.
    reason: str
    detail: str
    #: Number of witnesses.
    witnesses: int
    #: Witnesses that both validators accept with formats on.
    agreed: int
    #: Witnesses that no validator refuses by any interpretation: formats on and off,
    #: ignored keywords applied and not.
    unrefused: int
    #: Number of near misses.
    near_misses: int
    #: Instances that both validators judged.
    judged_by_both: int
    #: Those of them on which the two differ.
    disputed: int
    #: Pairs of a place and an assertion keyword that some instance can meet; like the
    #: next ones null where no near misses were made.
    pairs: int | None
    #: Pairs with a near miss that fails that keyword alone.
    pairs_covered: int | None
    #: Pairs with a proof that the keyword cannot fail alone.
    pairs_implied: int | None
    #: Pairs that the cap on near misses lets be covered.
    pairs_possible: int | None
    #: As `pairs`, a keyword counting once for the whole schema.
    keywords: int | None
    #: As `pairs_covered`, by keyword.
    keywords_covered: int | None
    #: As `pairs_implied`, by keyword.
    keywords_implied: int | None
    #: Witnesses that the source of the schema gives.
    given: int
    #: JSON text: keyword to the number of instances that fail it, of those that the
    #: source gives for right ones; null where it gives none.
    examples_refused: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPair:
    """A keyword at a schema location that has neither a near miss nor a proof.

    Field order is column order.
    """

    config: str
    unique_id: str
    keyword: str
    #: The keyword's pointer in the record.
    schema_pointer: str
    #: `unreached`: no value was found in which it applies; `together`: whatever was
    #: tried to fail it fails another keyword too; `exhausted`: the search ended at its
    #: budget of steps.
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One instance on which the validators differ. Field order is column order."""

    config: str
    unique_id: str
    #: The instance's number among the record's.
    number: int
    dialect: str
    kind: str
    text: str
    #: The verdicts of jsonschema-rs with formats on, and of jsonschema.
    jsonschema_rs: bool
    jsonschema: bool
    #: Both verdicts without formats, as in the instance's row.
    verdicts: str


#: The rows of each report, and its columns.
LEDGER_ROWS = {
    INSTANCE_LEDGER: InstanceLedgerRow,
    MISSING: MissingPair,
    DISAGREEMENTS: Disagreement,
}
LEDGER_COLUMNS = {path: make_columns(row) for path, row in LEDGER_ROWS.items()}


def ledger_row(record: RecordInstances) -> InstanceLedgerRow:
    """Return the row of a record."""
    task, result = record.task, record.result
    witnesses = [row for row in result.instances if row.kind != InstanceKind.NEAR_MISS]
    judged = [row for row in result.instances if _python_verdict(row) is not None]
    covered = result.coverage
    return InstanceLedgerRow(
        config=task.config,
        unique_id=task.unique_id,
        split=task.split,
        answer=result.answer.value,
        reason=result.reason,
        detail=result.detail,
        witnesses=len(witnesses),
        agreed=sum(row.valid and _python_verdict(row) is True for row in witnesses),
        unrefused=sum("false" not in row.verdicts for row in witnesses),
        near_misses=len(result.instances) - len(witnesses),
        judged_by_both=len(judged),
        disputed=sum(_python_verdict(row) != row.valid for row in judged),
        pairs=getattr(covered, "pairs", None),
        pairs_covered=getattr(covered, "covered", None),
        pairs_implied=getattr(covered, "implied", None),
        pairs_possible=getattr(covered, "possible", None),
        keywords=getattr(covered, "keywords", None),
        keywords_covered=getattr(covered, "keywords_covered", None),
        keywords_implied=getattr(covered, "keywords_implied", None),
        given=sum(row.kind == InstanceKind.GIVEN for row in witnesses),
        examples_refused=None
        if result.examples_refused is None
        else json.dumps(dict(result.examples_refused)),
    )


def _python_verdict(instance: InstanceRow) -> bool | None:
    """Return jsonschema's verdict with formats on; None if it has none."""
    verdict: bool | None = json.loads(instance.verdicts)["jsonschema"][0]
    return verdict


def disagreements(record: RecordInstances) -> Iterator[Disagreement]:
    """Yield the record's instances on which the two validators differ."""
    task = record.task
    for row in record.result.instances:
        python_verdict = _python_verdict(row)
        if python_verdict not in (None, row.valid):
            yield Disagreement(
                config=task.config,
                unique_id=task.unique_id,
                number=row.number,
                dialect=task.dialect,
                kind=row.kind,
                text=row.text,
                jsonschema_rs=row.valid,
                jsonschema=bool(python_verdict),
                verdicts=row.verdicts,
            )


def missing_pairs(record: RecordInstances) -> Iterator[MissingPair]:
    """Yield the record's pairs that have neither a near miss nor a proof."""
    covered = record.result.coverage
    for keyword, where, reason in () if covered is None else covered.missing:
        yield MissingPair(
            config=record.task.config,
            unique_id=record.task.unique_id,
            keyword=keyword,
            schema_pointer=where,
            reason=reason.value,
        )


def write_instances(folder: Path, records: Iterable[RecordInstances]) -> None:
    """Write the configs of instances and the reports into a build folder.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / "ledger").mkdir(parents=True, exist_ok=True)
    ledger: list[InstanceLedgerRow] = []
    differing: list[Disagreement] = []
    missing: list[MissingPair] = []
    for config, members in groupby(records, key=lambda record: record.task.config):
        inside = instances_folder(config)
        (folder / inside).mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            files = {
                split: opened.enter_context(SplitFiles(folder, inside, split, ROWS))
                for split in SPLITS
            }
            for record in members:
                ledger.append(ledger_row(record))
                differing.extend(disagreements(record))
                missing.extend(missing_pairs(record))
                for row in record.result.instances:
                    files[record.task.split].add(
                        replace(row, unique_id=record.task.unique_id)
                    )
    _write(folder / INSTANCE_LEDGER, InstanceLedgerRow, ledger)
    _write(folder / DISAGREEMENTS, Disagreement, differing)
    _write(folder / MISSING, MissingPair, missing)


def _write(path: Path, row_type: type, rows: Iterable[object]) -> None:
    """Write a table, unless it has no rows: `datasets` cannot open one without."""
    table = make_table(rows, make_columns(row_type))
    if len(table):
        with parquet_writer(path, table.schema, distinct=LEDGER_DISTINCT) as writer:
            writer.write_table(table)
