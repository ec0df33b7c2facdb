"""One row: the ten columns that were published, and what ours adds.

Published files hold `seed` to `output_format`. `fence` says what `require_code_block`
cannot: that a code block is forbidden, or that it must name a language. `spec` holds
the choices that were drawn; `presentation` and `voice` are two of them, as columns.
"""

from __future__ import annotations

import msgspec

from curation.core.json_types import UntypedJson
from evaluation.suites.ifstruct.core.requirements import (
    AnswerFormat,
    Fence,
    FenceWish,
    Requirements,
)
from evaluation.suites.ifstruct.core.row_spec import RowSpec


class IfstructRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One row of an IFStruct file."""

    #: Tells the rows of a file apart, and orders them.
    seed: int
    #: The kind of thing; `test__` stands before the kinds of the test taxonomy.
    entity_type: str
    prompt: str
    #: The JSON Schema of the list.
    json_schema: dict[str, UntypedJson]
    #: The exact number of items, or the least and the most.
    top_level_count: int | tuple[int, int]
    #: The key of the object around the list, None where the list stands bare.
    top_level_key: str | None
    require_wrapper_key: bool
    require_code_block: bool
    require_no_commentary: bool
    output_format: AnswerFormat
    #: `required`, `required:json`, `required:yaml`, `forbidden` or `free`; empty in a
    #: published file, where only `require_code_block` is known.
    fence: str = ""
    presentation: str = ""
    voice: str = ""
    spec: RowSpec | None = None

    @property
    def id(self) -> str:
        """What a response file calls the row: its seed."""
        return str(self.seed)

    @property
    def requirements(self) -> Requirements:
        """What the answer is held to."""
        count = self.top_level_count
        least, most = (count, count) if isinstance(count, int) else count
        extended = self.spec is not None and self.spec.extended
        plain = FenceWish.REQUIRED if self.require_code_block else FenceWish.FREE
        return Requirements(
            format=self.output_format,
            wrapper=self.top_level_key if self.require_wrapper_key else None,
            least=least,
            most=most,
            fence=Fence.parse(self.fence) if self.fence else Fence(plain),
            commentary=not self.require_no_commentary,
            schema=self.json_schema,
            extended=extended,
            duplicate_keys=not extended,
            non_finite=not extended,
        )


def record_of(seed: int, spec: RowSpec, prompt: str) -> IfstructRecord:
    """Return the row that asks for what was drawn."""
    wanted = spec.requirements
    same = spec.least == spec.most
    return IfstructRecord(
        seed=seed,
        entity_type=spec.entity,
        prompt=prompt,
        json_schema=wanted.schema,
        top_level_count=spec.least if same else (spec.least, spec.most),
        top_level_key=spec.wrapper,
        require_wrapper_key=spec.wrapper is not None,
        require_code_block=wanted.fence.wish is FenceWish.REQUIRED,
        require_no_commentary=not spec.commentary,
        output_format=spec.format,
        fence=spec.fence,
        presentation=str(spec.presentation),
        voice=spec.voice,
        spec=spec,
    )
