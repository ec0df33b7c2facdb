"""Requirements for tests of the verifier, and what it finds against them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.core.records import Response
from evaluation.suites.ifstruct.rows import AnswerFormat, Fence, FenceWish, Requirements
from evaluation.suites.ifstruct.scorer import verify

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.scorer import StructureVerdict
    from evaluation.suites.ifstruct.settings import Failure, RuleReading

ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "maximum": 5},
        "t": {"type": "string"},
    },
    "required": ["id"],
}
JSON = Requirements(
    format=AnswerFormat.JSON,
    wrapper=None,
    least=1,
    most=1,
    fence=Fence(FenceWish.FREE),
    commentary=True,
    schema={"type": "array", "minItems": 1, "maxItems": 1, "items": ITEM},
)
YAML = replace(JSON, format=AnswerFormat.YAML)
BAN = replace(JSON, commentary=False)
BOXED = replace(JSON, wrapper="box")
PLAIN = '[{"id": 1}]'
BLOCK = f"```json\n{PLAIN}\n```"


def judge(text: str, wanted: Requirements) -> StructureVerdict:
    """Return the verdict on an answer."""
    return verify(Response(record="a", text=text), wanted)


def failures_of(text: str, wanted: Requirements, reading: RuleReading) -> list[Failure]:
    """Return the failures of an answer that count by a reading."""
    verdict = verify(Response(record="a", text=text), wanted, reading)
    return [found.failure for found in verdict.findings]
