"""Grading files of instances: reading them, asking the workers, counting.

A file is MaskBench's (or a folder of them), or JSON Lines: `unique_id` (with
`config` where two configs share it) or `json_schema`, then `text` or `data`, and
`valid` if it is known. Rows written by `csbdata build --instances` are such lines.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from curation.core.json_types import Json
from curation.instances.dataset.records import Records, paths_of, read_file
from curation.instances.dataset.worker import InstanceRequest, limits, program
from curation.instances.grading import Grade, Graded
from curation.system.errors import BadData, NoInput
from curation.system.user_files import refuse_large
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.pool import Pool

#: Schemas asked at a time.
_BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenInstance:
    """An instance that was not made here, with its label."""

    text: str
    #: The label: whether the schema is said to accept it; None without a label.
    valid: bool | None
    description: str = ""


@dataclass(slots=True, kw_only=True)
class SchemaToGrade:
    """One schema and the instances given for it."""

    config: str
    unique_id: str
    schema: str
    #: Name of its dialect; empty where it is still to be decided.
    dialect: str = ""
    instances: list[GivenInstance] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedSchema:
    """One schema's instances with their grades."""

    schema: SchemaToGrade
    graded: Graded

    def differing(self) -> Iterator[tuple[GivenInstance, Grade]]:
        """Yield the instances that jsonschema-rs judges otherwise than labelled."""
        for instance, grade in zip(
            self.schema.instances, self.graded.grades, strict=False
        ):
            verdict = grade.jsonschema_rs
            if None not in (instance.valid, verdict) and instance.valid != verdict:
                yield instance, grade


def read_schemas_to_grade(path: Path, records: Records) -> list[SchemaToGrade]:
    """Return the schemas of a file or a folder, each with the instances to grade.

    Raises:
        NoInput: it cannot be read, or names a record that the build does not have.
        BadData: it is neither of the formats.
    """
    if path.is_dir() or _is_maskbench(path):
        return [_read_maskbench(file) for file in paths_of(path)]
    return list(_read_lines(path, records))


def _is_maskbench(path: Path) -> bool:
    try:
        content = json.loads(refuse_large(path).read_bytes())
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "tests" in content


def _read_maskbench(path: Path) -> SchemaToGrade:
    file = read_file(path)
    return SchemaToGrade(
        config=file.split,
        unique_id=file.unique_id,
        schema=json.dumps(file.schema),
        instances=[
            GivenInstance(
                text=json.dumps(test.data),
                valid=test.valid,
                description=str(test.description),
            )
            for test in file.tests
        ],
    )


def _read_lines(path: Path, records: Records) -> Iterator[SchemaToGrade]:
    schemas: dict[tuple[str, str, str], SchemaToGrade] = {}
    with refuse_large(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                place = f"{path}:{number}"
                row = _row(line, place)
                key = _key_of(row, place)
                if key not in schemas:
                    schemas[key] = _schema_of(*key, records)
                schemas[key].instances.append(_instance_of(row, place))
    yield from schemas.values()


def _row(line: bytes, place: str) -> dict[str, Json]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON ({error})", place, "one JSON object a line") from error
    if not isinstance(row, dict):
        raise BadData("not a JSON object", place)
    return row


def _key_of(row: dict[str, Json], place: str) -> tuple[str, str, str]:
    """Return config, id and schema of a row, empty where it has none."""
    config, unique_id, schema = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value)
        for value in map(row.get, ("config", "unique_id", "json_schema"))
    )
    if not unique_id and not schema:
        raise BadData("neither unique_id nor json_schema", place)
    return config, unique_id, schema


def _instance_of(row: dict[str, Json], place: str) -> GivenInstance:
    valid = row.get("valid")
    if valid is not None and not isinstance(valid, bool):
        raise BadData("valid is neither true nor false", place)
    text = row.get("text")
    if isinstance(text, str):
        return GivenInstance(text=text, valid=valid)
    if "data" in row:
        return GivenInstance(text=json.dumps(row["data"]), valid=valid)
    raise BadData("neither text nor data", place)


def _schema_of(
    config: str, unique_id: str, schema: str, records: Records
) -> SchemaToGrade:
    if schema:
        return SchemaToGrade(config=config, unique_id=unique_id, schema=schema)
    record = records.one(f"{config}/{unique_id}" if config else unique_id)
    return SchemaToGrade(
        config=record.config,
        unique_id=record.unique_id,
        schema=record.schema,
        dialect=record.dialect,
    )


def grade_all(
    schemas: Sequence[SchemaToGrade],
    *,
    jobs: int,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[GradedSchema]:
    """Return the grades of all instances, schema by schema, in the given order.

    Args:
        schemas: What is to be graded.
        jobs: Worker processes.
        progress: Called with the number of schemas graded since the last call.
    """
    starts = range(0, len(schemas), _BATCH)
    batches = [schemas[start : start + _BATCH] for start in starts]
    answers: dict[int, list[GradedSchema]] = {}
    with Pool(program(), jobs=jobs, limits=limits()) as pool:
        requests = ([_request(schema) for schema in batch] for batch in batches)
        for result in pool.run_batches(requests):
            answers[result.index] = [
                GradedSchema(schema=graded_schema, graded=_graded(outcome))
                for graded_schema, outcome in zip(
                    batches[result.index], result.results, strict=True
                )
            ]
            progress(len(result.results))
    return [schema for index in sorted(answers) for schema in answers[index]]


def _request(schema: SchemaToGrade) -> InstanceRequest:
    return InstanceRequest(
        schema=schema.schema,
        dialect=schema.dialect,
        instances=tuple(instance.text for instance in schema.instances),
    )


def _graded(outcome: ProcessResult) -> Graded:
    if outcome.ending is Ending.OK:
        return msgspec.convert(outcome.answer, Graded)
    return Graded(error=f"{outcome.ending}: {outcome.detail}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingFigures:
    """The figures of a check; each rate has its denominator beside it."""

    schemas: int
    instances: int
    #: Schemas that cannot be read in any dialect, or not judged in time.
    unusable: int = 0
    #: Instances that carry a label and got a verdict of jsonschema-rs.
    labelled: int = 0
    agreeing: int = 0
    #: Instances that both validators judged, formats on, and where they differ.
    judged_by_both: int = 0
    disputed: int = 0
    #: Schemas with an instance that both validators accept.
    with_valid: int = 0
    #: Refused instances, and those that fail one keyword alone.
    refused: int = 0
    single: int = 0

    @property
    def agreement(self) -> float | None:
        """The share of labels that the verdict agrees with."""
        return self.agreeing / self.labelled if self.labelled else None


def count_grades(schemas: Sequence[GradedSchema]) -> GradingFigures:
    """Return the figures of graded schemas."""
    count: Counter[str] = Counter()
    for schema in schemas:
        count["unusable"] += bool(schema.graded.error)
        grades = schema.graded.grades
        count["with_valid"] += any(
            grade.jsonschema_rs and grade.jsonschema is not False for grade in grades
        )
        for instance, grade in zip(schema.schema.instances, grades, strict=False):
            verdict = grade.jsonschema_rs
            count["labelled"] += None not in (instance.valid, verdict)
            count["agreeing"] += verdict is not None and instance.valid == verdict
            count["judged_by_both"] += None not in (verdict, grade.jsonschema)
            count["disputed"] += grade.disputed
            count["refused"] += verdict is False
            count["single"] += verdict is False and grade.keyword != "mixed"
    return GradingFigures(
        schemas=len(schemas),
        instances=sum(len(schema.schema.instances) for schema in schemas),
        **count,
    )
