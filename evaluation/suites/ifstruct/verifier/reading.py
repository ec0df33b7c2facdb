"""What reading an answer gives: a value, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.verifier.findings import StructureFinding

#: Characters of a response that are read: 16,000 tokens, the most a model may write,
#: are a twentieth of it.
LONGEST: Final = 1_000_000
#: Nesting that is read; a row asks for five levels at most.
DEEPEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerValue:
    """A value that was read, with what its reader noticed."""

    value: UntypedJson
    #: Names that stand twice in one object, in the order in which they do.
    duplicates: tuple[str, ...] = ()
    #: What is wrong although a value could be read.
    findings: tuple[StructureFinding, ...] = ()
