"""Instances that the source of a schema says are right: does the schema accept them?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.violations import as_near_miss
from curation.instances.model import InstanceKind, Witness
from curation.json.values import identity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.instances.constraints.compiled_schema import CompiledSchema

#: Stands for the keyword where the schema cannot be used, or the text is no JSON.
UNJUDGED: Final = "cannot be judged"


def judge_examples(
    compiled: CompiledSchema, texts: Iterable[str]
) -> tuple[list[Witness], dict[str, int]]:
    """Return the examples that a schema accepts, and what refuses the others.

    Args:
        compiled: The schema.
        texts: Examples as JSON texts; equal values count once.

    Returns:
        Witnesses of kind `given`, and how many of the others fail each keyword, or
        `mixed` for several.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> compiled = CompiledSchema.from_json({"type": "integer"}, "2020-12")
        >>> judge_examples(compiled, ["1", "1.5"])
        ([Witness(kind=<InstanceKind.GIVEN: 'given'>, value=1)], {'type': 1})
    """
    accepted: list[Witness] = []
    refused: Counter[str] = Counter()
    seen: set[bytes] = set()
    for text in texts:
        try:
            value = json.loads(text)
            known = identity(value)
            if known in seen:
                continue
            seen.add(known)
            failed = as_near_miss(compiled, value)
        except (ValueError, RecursionError):
            refused[UNJUDGED] += 1
            continue
        if failed is None:
            accepted.append(Witness(kind=InstanceKind.GIVEN, value=value))
        else:
            refused[failed.keyword] += 1
    return accepted, dict(sorted(refused.items()))
