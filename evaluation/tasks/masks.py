"""Task `masks`: walk every instance through the masks of its schema."""

from __future__ import annotations

import hashlib
import random
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.dataset.features import used
from curation.json.text import parse
from curation.schema.dialects import BY_NAME
from curation.system.registry import imported_late
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, Task, TaskInput
from evaluation.masks.diagnosis import Spelled, read_spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Instance, Record
    from evaluation.core.run_header import TaskSettings

#: The name of the task.
NAME: Final = "masks"


def permuted_texts(text: str, count: int, seed: int) -> Iterator[tuple[int, str]]:
    """Yield different texts up to a limit, each with its number, from 1.

    Nothing comes of a text that is not JSON, that is too deep for Python, or in which
    nothing can be moved.
    """
    if count < 1:
        return
    start = hashlib.sha256(f"{seed}:{text}".encode()).digest()
    chance = random.Random(start)  # noqa: S311 - drawn again alike, not secret
    with suppress(ValueError, RecursionError):
        value = read_spelled(text)
        texts = {value.written()}
        for _ in range(8 * count):
            permuted = value.mapped(lambda part: _shuffled(part, chance)).written()
            if permuted not in texts:
                yield len(texts), permuted
                texts.add(permuted)
            if len(texts) > count:
                return


def _shuffled(value: Spelled, chance: random.Random) -> Spelled:
    names = {member.name.decoded for member in value.members if member.name}
    if value.text != "{" or len(names) < len(value.members):
        return value
    members = list(value.members)
    chance.shuffle(members)
    return replace(value, members=tuple(members))


def cases(records: Iterable[Record], settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a record, with all its instances."""
    for record in records:
        walks = [_walk(instance) for instance in record.instances]
        for instance in record.instances:
            if instance.valid:
                walks += [
                    InstanceWalk(
                        text=text,
                        valid=True,
                        label={"kind": instance.kind, "apart": True, "order": number},
                    )
                    for number, text in permuted_texts(
                        instance.text, settings.orders, settings.seed
                    )
                ]
        yield Case(
            task=NAME,
            id=record.id,
            config=record.group,
            schema=record.constraint,
            weight=record.weight,
            walks=tuple(walks),
            label={
                "dialect": record.dialect,
                "split": record.split,
                "features": list(record.features),
                "formats": _formats(record),
                "size": len(record.constraint),
            },
        )


def _formats(record: Record) -> list[Json]:
    """Return the values of `format`; the schema is read only if it has any."""
    dialect = BY_NAME.get(record.dialect)
    if "format" not in record.features or dialect is None:
        return []
    schema = parse(record.constraint.encode("utf-8", "surrogatepass"))
    return [] if isinstance(schema, Rejected) else list(used(schema, dialect).formats)


def _walk(instance: Instance) -> InstanceWalk:
    label = {"kind": instance.kind}
    if instance.keyword:
        label["keyword"] = instance.keyword
        label["pointer"] = instance.schema_pointer
    return InstanceWalk(text=instance.text, valid=instance.valid, label=label)


TASK: Final = Task(
    name=NAME,
    summary="Walk every instance through the masks: time, coverage, over- and under-"
    "constraint by keyword.",
    timed=True,
    input=TaskInput.INSTANCES,
    cases=cases,
    tables=imported_late("evaluation.tasks.masks_report", "tables"),
    settings=(AcceptedSetting("orders", "orders of each valid instance's members"),),
)
