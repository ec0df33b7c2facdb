"""A response, held to the requirements of its row: everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.answers.thinking import split_thinking
from evaluation.suites.ifstruct.core.requirements import AnswerFormat, Requirements
from evaluation.suites.ifstruct.verifier.commentary import (
    check_around_block,
    check_around_json,
)
from evaluation.suites.ifstruct.verifier.extended_rules import ExtendedRules
from evaluation.suites.ifstruct.verifier.fences import check_fence, find_code_block
from evaluation.suites.ifstruct.verifier.findings import (
    Failure,
    RuleReading,
    StructureFinding,
)
from evaluation.suites.ifstruct.verifier.json_answers import read_as_json
from evaluation.suites.ifstruct.verifier.reading import LONGEST, AnswerValue
from evaluation.suites.ifstruct.verifier.schema_tree import SchemaNode, read_schema
from evaluation.suites.ifstruct.verifier.schema_walk import SchemaWalk
from evaluation.suites.ifstruct.verifier.shape import check_list, unwrap
from evaluation.suites.ifstruct.verifier.yaml_answers import read_as_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.verifier.fences import CodeBlock

_ORDER = {failure: place for place, failure in enumerate(Failure)}
_LANGUAGES = {
    AnswerFormat.JSON: frozenset({"yaml", "yml"}),
    AnswerFormat.YAML: frozenset({"json"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierOptions:
    """What may be read otherwise than the published verifier does."""

    #: Read raw JSON with text around it where commentary is allowed.
    lenient_raw: bool = False
    #: Let `1.0` count as a whole number, as in JSON Schema.
    whole_floats: bool = False
    #: Refuse a member that stands twice, whatever the row says.
    no_duplicate_keys: bool = False
    #: Refuse NaN and infinities, whatever the row says.
    no_nan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureVerdict:
    """All that was found out about one response."""

    findings: tuple[StructureFinding, ...]
    #: Whether a JSON or YAML value could be read.
    parsed: bool
    fenced: bool = False
    wrapped: bool = False
    #: Scalars that the items should have, and those without fault; 0 and 0 where no
    #: value could be read.
    fields_total: int = 0
    fields_passed: int = 0

    def counted(self, reading: RuleReading) -> tuple[StructureFinding, ...]:
        """Return what counts by a reading, the failure that names the row first.

        What the published verifier alone counts is a second booking of one fault, so
        it comes last.
        """
        counted = [found for found in self.findings if found.reading & reading]
        return tuple(sorted(counted, key=_place))

    def passed(self, reading: RuleReading) -> bool:
        """Return whether nothing counts by a reading."""
        return not any(found.reading & reading for found in self.findings)


def _place(found: StructureFinding) -> tuple[bool, int]:
    return found.reading is RuleReading.PUBLISHED, _ORDER[found.failure]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRequirements:
    """What a row asks for, with its schema read: made once a row."""

    requirements: Requirements
    tree: SchemaNode
    extended: ExtendedRules | None


def compile_requirements(requirements: Requirements) -> CompiledRequirements:
    """Return the requirements, ready to be held against responses.

    Raises:
        ValueError: the schema nests too deep, or is none.
    """
    schema = requirements.schema
    return CompiledRequirements(
        requirements=requirements,
        tree=read_schema(schema),
        extended=ExtendedRules(schema) if requirements.extended else None,
    )


def verify(
    response: str,
    compiled: CompiledRequirements,
    options: VerifierOptions | None = None,
) -> StructureVerdict:
    """Return everything that is wrong with a response.

    Args:
        response: The whole text that a model wrote.
        compiled: What its row asks for.
        options: What is read otherwise; by default nothing.
    """
    options = options or VerifierOptions()
    wanted = compiled.requirements
    if len(response) > LONGEST:
        detail = f"{len(response):,} characters, {LONGEST:,} are read"
        return _unread(StructureFinding(Failure.TOO_LARGE, detail))
    spoken = split_thinking(response)
    answer = spoken.answer
    if not answer.strip():
        empty = Failure.THINKING_UNCLOSED if spoken.unclosed else Failure.EMPTY
        return _unread(StructureFinding(empty))
    block = find_code_block(answer)
    findings = list(check_fence(block, wanted.fence))
    read = _read(answer, block, wanted, options)
    if not wanted.commentary:
        findings += _check_commentary(answer, block, wanted, read)
    if isinstance(read, StructureFinding):
        if read.failure is not Failure.UNCLOSED_FENCE:
            findings.append(read)
        return StructureVerdict(
            findings=tuple(findings), parsed=False, fenced=block is not None
        )
    return _verdict(read, compiled, options, findings, fenced=block is not None)


def _unread(finding: StructureFinding) -> StructureVerdict:
    return StructureVerdict(findings=(finding,), parsed=False)


def _read(
    answer: str,
    block: CodeBlock | None,
    wanted: Requirements,
    options: VerifierOptions,
) -> AnswerValue | StructureFinding:
    """Return the value of an answer, out of its code block where it has one."""
    text = answer
    if block is not None:
        if block.content is None:
            return StructureFinding(Failure.UNCLOSED_FENCE)
        if block.language in _LANGUAGES[wanted.format]:
            detail = f"the code block names {block.language}"
            return StructureFinding(Failure.WRONG_FORMAT, detail)
        text = block.content
        if not text.strip():
            return StructureFinding(Failure.EMPTY, "the code block is empty")
    if wanted.format is AnswerFormat.YAML:
        return read_as_yaml(text)
    return read_as_json(
        text,
        fenced=block is not None,
        lenient=options.lenient_raw and wanted.commentary,
        notice_duplicates=options.no_duplicate_keys or not wanted.duplicate_keys,
    )


def _check_commentary(
    answer: str,
    block: CodeBlock | None,
    wanted: Requirements,
    read: AnswerValue | StructureFinding,
) -> Iterator[StructureFinding]:
    if block is not None:
        return check_around_block(block)
    if wanted.format is AnswerFormat.YAML:
        return iter(())
    decoded = isinstance(read, AnswerValue) or read.failure is Failure.TRAILING_TEXT
    return check_around_json(answer, decoded=decoded)


def _verdict(
    read: AnswerValue,
    compiled: CompiledRequirements,
    options: VerifierOptions,
    findings: list[StructureFinding],
    *,
    fenced: bool,
) -> StructureVerdict:
    """Return the verdict on a value that could be read."""
    wanted, tree = compiled.requirements, compiled.tree
    findings += read.findings
    if options.no_duplicate_keys or not wanted.duplicate_keys:
        findings += [
            StructureFinding(Failure.DUPLICATE_KEY, name) for name in read.duplicates
        ]
    unwrapped = unwrap(read.value, wanted.wrapper)
    items = unwrapped.value
    findings += unwrapped.findings
    findings += check_list(items, wanted.least, wanted.most, _twice(tree, items))
    walk = SchemaWalk(
        is_yaml=wanted.format is AnswerFormat.YAML,
        whole_floats=options.whole_floats,
        non_finite=wanted.non_finite and not options.no_nan,
    )
    if isinstance(items, list):
        walk.visit(tree, items, "")
        if compiled.extended is not None:
            findings += compiled.extended.findings(items)
    return StructureVerdict(
        findings=(*findings, *walk.findings),
        parsed=True,
        fenced=fenced,
        wrapped=unwrapped.wrapped,
        fields_total=walk.fields_total,
        fields_passed=walk.fields_passed,
    )


def _twice(tree: SchemaNode, items: object) -> bool:
    """Return whether the schema of the list refuses the number of items as well."""
    if not isinstance(items, list):
        return False
    least, most = tree.min_items, tree.max_items
    return (least is not None and len(items) < least) or (
        most is not None and len(items) > most
    )
