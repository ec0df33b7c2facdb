"""Records: a schema in one representation, a format of samples, and a task.

A record's group is the family of its schema, or the config of a real one. Its id begins
with its cell, such as `generation-python-yaml`: the task, the representation of the
schema, and the format of the sample.

The samples of task 2 are witnesses and near misses, a set share of them valid. A label
is the verdict of the validators. An instance on which they differ, or whose verdict
depends on whether formats are asserted, is not shown.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import read_schema
from curation.instances.judging.validators import verdicts
from curation.json.text import parse, plain
from curation.system.errors import BadUsage
from evaluation.core.records import GENERATED, RecordRequest, RecordSet
from evaluation.data import open_data
from evaluation.suites.concodeeval.python_code import InexpressibleError
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.schemas import generate_schemas
from evaluation.suites.concodeeval.suite import (
    OUTPUTS,
    ConcodeSettings,
    Output,
    RecordFields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.records import Instance, Record


def records(request: RecordRequest, settings: ConcodeSettings) -> RecordSet:
    """Return the records of the suite's own schemas, or of those that `--data` names.

    Raises:
        BadConfiguration: a representation or a format does not exist.
        CsbdataError: the data cannot be read or fetched.
    """
    if request.data is None:
        generated = _own_records(settings.count, request.seed, settings)
        return RecordSet(
            name="concodeeval", origin=GENERATED, records=generated, generated=True
        )
    data = open_data(
        request.data,
        selection=replace(request, limit=settings.count, ids=frozenset()),
        settings=request.fetch,
    )
    return RecordSet(
        name=data.name,
        origin=data.origin,
        records=list(records_of(data.records(), request.seed, settings)),
    )


def generate(count: int, seed: int, settings: ConcodeSettings) -> Iterator[Record]:
    """Yield the records of a number of the suite's own schemas."""
    schemas = generate_schemas(count, seed, settings.reading)
    return records_of(schemas, seed, settings)


@lru_cache(maxsize=2)
def _own_records(
    count: int, seed: int, settings: ConcodeSettings
) -> tuple[Record, ...]:
    """Return the suite's own records, cached."""
    return tuple(generate(count, seed, settings))


def records_of(
    records: Iterable[Record], seed: int, settings: ConcodeSettings
) -> Iterator[Record]:
    """Yield the records of schemas, all cells of one schema together.

    A schema that a representation cannot express has no record there.

    Args:
        records: Schemas with their instances.
        seed: Seed of the choice of instances in task 2.
        settings: The tasks, representations and formats.
    """
    names = _choices("representations", settings.representations, [*REPRESENTATIONS])
    outputs = msgspec.convert(
        _choices("outputs", settings.outputs, [*OUTPUTS]), list[Output]
    )
    labelled = LabelledSamples(settings.samples, settings.yes_share, seed)
    for record in records:
        parsed = parse(record.constraint.encode("utf-8", "surrogatepass"))
        if isinstance(parsed, Rejected):
            continue
        schema = plain(parsed)
        instances = [*labelled.of(record)] if settings.task != "generation" else []
        for name in names:
            try:
                text = REPRESENTATIONS[name].write(schema)
            except InexpressibleError:
                continue
            for output in outputs:
                fields = RecordFields(
                    task="generation",
                    representation=name,
                    output=output,
                    family=record.group,
                    schema_id=record.id,
                    schema=record.constraint,
                    length=len(text.split()),
                )
                if settings.task != "validation":
                    yield fields.record(record.id, record.dialect)
                yield from _validation_records(record, fields, instances)


def _validation_records(
    record: Record, fields: RecordFields, instances: Sequence[Instance]
) -> Iterator[Record]:
    for number, instance in enumerate(instances, start=1):
        yield msgspec.structs.replace(
            fields,
            task="validation",
            sample=instance.text,
            label="yes" if instance.valid else "no",
            keyword=instance.keyword,
        ).record(f"{number}_{record.id}", record.dialect)


def _choices(setting: str, text: str, choices: list[str]) -> list[str]:
    """Return the comma-separated names of a setting, each once.

    Raises:
        BadUsage: one does not exist, or none is named.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    unknown = [name for name in names if name not in choices]
    if unknown or not names:
        message = f"{setting} has no {unknown[0]!r}" if unknown else f"no {setting}"
        raise BadUsage(f"--set {message}", then=f"choose from {', '.join(choices)}")
    return names


#: Characters of the longest sample.
LONGEST_SAMPLE: Final = 4_000


class LabelledSamples:
    """Chooses samples schema by schema, and keeps to the share of valid ones.

    Example:
        >>> chosen = LabelledSamples(per_schema=5, yes_share=0.55, seed=0)
        >>> [sample.valid for sample in chosen.of(schema)]
        [True, False, True, True, False]
    """

    def __init__(self, per_schema: int, yes_share: float, seed: int) -> None:
        """Take the number of samples a schema, and the share of valid ones."""
        self._per_schema = per_schema
        self._share = yes_share
        self._seed = seed
        self._yes = self._count = 0

    def of(self, record: Record) -> Iterator[Instance]:
        """Yield the samples of one schema, in their order.

        A schema with too few distinct instances has fewer; the next schemas make up
        for the share, not for the number.
        """
        compiled = read_schema(record.constraint, record.dialect)
        if isinstance(compiled, Rejected):
            return
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{self._seed}/{record.id}")  # noqa: S311 - no secret
        pool = rng.sample(record.instances, len(record.instances))
        for _ in range(self._per_schema):
            due = self._yes < self._share * (self._count + 1) - 0.5
            certain = (
                instance
                for instance in pool
                if instance.valid is due and is_certain(compiled, instance)
            )
            sample = next(certain, None)
            if sample is None:
                return
            pool.remove(sample)
            self._count += 1
            self._yes += due
            yield sample


def is_certain(compiled: CompiledSchema, instance: Instance) -> bool:
    """Return whether the label of a short instance is beyond doubt."""
    if len(instance.text) > LONGEST_SAMPLE:
        return False
    checked = verdicts(compiled, json.loads(instance.text), ask_jsonschema=True)
    opinions = {
        checked.jsonschema_rs,
        checked.jsonschema_rs_plain,
        checked.jsonschema,
        checked.jsonschema_plain,
    }
    return not checked.error and opinions == {instance.valid}
