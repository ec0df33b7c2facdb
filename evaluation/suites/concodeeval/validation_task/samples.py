"""The samples of task 2: witnesses and near misses, a required share of them valid.

A label is what the validators say, never what was intended. An instance on which they
differ, or whose verdict depends on whether formats are asserted, is not shown.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.judging.two_validators import verdicts

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.cases import Instance, Sample

#: Characters of the longest sample shown.
LONGEST_SAMPLE: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSample:
    """A sample with what the validators say of it."""

    #: JSON text.
    text: str
    #: `yes` or `no`.
    label: str
    #: What refuses it; empty for a valid one.
    keyword: str = ""
    schema_pointer: str = ""


class LabelledSamples:
    """Chooses samples schema by schema, so that the share of valid ones is kept.

    Example:
        >>> chosen = LabelledSamples(per_schema=5, yes_share=0.55, seed=0)
        >>> [sample.label for sample in chosen.of(schema)]
        ['yes', 'no', 'yes', 'yes', 'no']
    """

    def __init__(self, per_schema: int, yes_share: float, seed: int) -> None:
        """Take how many are wanted of each schema, and which share of them is valid.

        Raises:
            ValueError: fewer than one, or a share that is none.
        """
        if per_schema < 1 or not 0 <= yes_share <= 1:
            raise ValueError("samples is 1 or more, and yes_share from 0 to 1")
        self._per_schema, self._share, self._seed = per_schema, yes_share, seed
        self._yes = self._shown = 0

    def of(self, sample: Sample) -> tuple[LabelledSample, ...]:
        """Return the samples of one schema, in the order in which they are shown.

        Fewer than wanted where there are fewer distinct ones: the next schemas make
        up for the share, not for the number.
        """
        compiled = read_schema(sample.schema, sample.dialect)
        if isinstance(compiled, Rejected):
            return ()
        # A text as seed is hashed the same on every machine.
        rng = random.Random(f"{self._seed}/{sample.id}")  # noqa: S311 - no secret
        pool = list(sample.instances)
        rng.shuffle(pool)
        chosen: list[LabelledSample] = []
        by_label = {
            "yes": [instance for instance in pool if instance.valid],
            "no": [instance for instance in pool if not instance.valid],
        }
        while len(chosen) < self._per_schema:
            found = self._next(compiled, by_label)
            if found is None:
                break
            chosen.append(found)
        return tuple(chosen)

    def _next(
        self, compiled: CompiledSchema, by_label: dict[str, list[Instance]]
    ) -> LabelledSample | None:
        """Return a sample of the label that is wanted; None if there is no more."""
        wanted = "yes" if self._yes < self._share * (self._shown + 1) - 0.5 else "no"
        left = by_label[wanted]
        while left:
            found = labelled(compiled, left.pop())
            if found is not None:
                self._shown += 1
                self._yes += found.label == "yes"
                return found
        return None


def labelled(compiled: CompiledSchema, instance: Instance) -> LabelledSample | None:
    """Return an instance with its label; None if it has no label beyond doubt."""
    if len(instance.text) > LONGEST_SAMPLE:
        return None
    said = verdicts(compiled, json.loads(instance.text), ask_jsonschema=True)
    opinions = {
        said.jsonschema_rs,
        said.jsonschema_rs_plain,
        said.jsonschema,
        said.jsonschema_plain,
    }
    if said.error or len(opinions) != 1:
        return None
    return LabelledSample(
        text=instance.text,
        label="yes" if said.jsonschema_rs else "no",
        keyword=instance.keyword,
        schema_pointer=instance.schema_pointer,
    )
