"""Witnesses and near misses of one schema: the library's entry to instances."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.instances.dataset.worker_messages import DEFAULT_COUNT, InstanceUnit
from curation.instances.dataset.worker_program import instances_of, limits, program
from curation.schema.dialects import BY_NAME
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.instances.dataset.make_instances import SchemaInstances


def witnesses(
    schema: Mapping[str, object] | bool | str,  # noqa: FBT001 (a boolean is a schema)
    *,
    dialect: str | None = None,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
) -> SchemaInstances:
    """Return instances that a schema accepts, and near misses that it refuses.

    They are made in a process of their own, within 5 s and 512 MiB, and judged by two
    validators. Nothing is fetched. Equal arguments give equal instances.

    Args:
        schema: The schema, or its JSON text.
        dialect: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`; None to
            decide by `$schema`, as the rule set `clean` does.
        count: Most witnesses that are looked for: the smallest one, then the
            fullest, then drawn ones. Equal ones count once.
        seed: What the drawn ones are drawn with.

    Returns:
        The instances with what both validators say of each; or, where no witness was
        found, the reason, and whether there is a proof that there is none. A schema
        that cannot be read or used is no error: its reason says so.

    Example:
        >>> found = witnesses({"type": "integer", "minimum": 3, "maximum": 3})
        >>> [row.value for row in found.witnesses]
        [3]
        >>> [(row.value, row.keyword) for row in found.near_misses]
        [({}, 'type'), (2, 'minimum'), (4, 'maximum')]

    Raises:
        ValueError: there is no such dialect, or `count` is below 1.
        WorkerDidNotStart: the process cannot be started.
    """
    if dialect and dialect not in BY_NAME:
        raise ValueError(f"no dialect {dialect!r}; there are {', '.join(BY_NAME)}")
    if count < 1:
        raise ValueError(f"count is {count}, and must be 1 or more")
    text = schema if isinstance(schema, str) else _text_of(schema)
    unit = InstanceUnit(schema=text, dialect=dialect or "", count=count)
    with Worker(program(seed), limits()) as worker:
        return instances_of(worker.ask(unit.to_json()))


def _text_of(schema: Mapping[str, object] | bool) -> str:  # noqa: FBT001 (as above)
    return json.dumps(schema if isinstance(schema, bool) else dict(schema))
