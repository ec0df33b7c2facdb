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
from evaluation.core.records import GENERATED, RecordRequest, RecordSet
from evaluation.data import open_data
from evaluation.suites.concodeeval.python_code import InexpressibleError
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.schemas import generate_schemas
from evaluation.suites.concodeeval.settings import (
    ConcodeSettings,
    Output,
    RecordFields,
    TaskName,
    named_choices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    choices = named_choices(
        "representations", settings.representations, list(REPRESENTATIONS)
    )
    labelled = LabelledSamples(settings.samples, settings.yes_share, seed)
    for record in records:
        yield from _records_of_schema(record, choices, labelled, settings)


def _records_of_schema(
    record: Record,
    representations: list[str],
    labelled: LabelledSamples,
    settings: ConcodeSettings,
) -> Iterator[Record]:
    schema = parse(record.constraint.encode("utf-8", "surrogatepass"))
    if isinstance(schema, Rejected):
        return
    schema = plain(schema)
    validates = TaskName.VALIDATION in settings.chosen_tasks
    instances = [*labelled.of(record)] if validates else []
    for name in representations:
        try:
            text = REPRESENTATIONS[name].write(schema)
        except InexpressibleError:
            continue
        fields = RecordFields(
            task=TaskName.GENERATION,
            representation=name,
            output=Output.JSON,
            family=record.group,
            schema_id=record.id,
            schema=record.constraint,
            length=len(text.split()),
        )
        for output in settings.chosen_outputs:
            of_output = msgspec.structs.replace(fields, output=output)
            if TaskName.GENERATION in settings.chosen_tasks:
                yield of_output.record(record.id, record.dialect)
            for number, instance in enumerate(instances, start=1):
                yield msgspec.structs.replace(
                    of_output,
                    task=TaskName.VALIDATION,
                    sample=instance.text,
                    label="yes" if instance.valid else "no",
                    keyword=instance.keyword,
                ).record(f"{number}_{record.id}", record.dialect)


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
