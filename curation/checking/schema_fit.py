"""Judge the texts of a command line by profiles of targets, place by place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from curation.checking.report import NOTE, SchemaProblem
from curation.checking.schema_files import SchemaFile, why_no_schema
from curation.core.documents import Reason, Rejected
from curation.fit.profile import Effect, Profile
from curation.fit.verdict import (
    BROKEN,
    NOT_A_SCHEMA,
    FitFinding,
    is_taken,
    judge_fit,
    judge_request,
    untold_keywords,
)
from curation.instances.constraints.interpretations import as_schema
from curation.json.named_text import parse_named
from curation.json.positions import TextPositions
from curation.sources.tools import TOOL_FORMS
from curation.system.words import command

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.fit.relation import Comparer
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.system.progress import Progress

#: What jsonschema-rs says of a reference to a file or to the web.
_LEADS_OUT: Final = "is not present in a registry"
_LEVELS: Final = {Effect.IGNORED: "warning", Effect.ROUTED: NOTE}
#: Seconds of processor time in which safe rewrites of one schema for one target are
#: looked for, and of all in one command.
SECONDS_EACH: Final = 5.0
SECONDS_IN_ALL: Final = 60.0


class FitOutcome(StrEnum):
    """What becomes of a schema that is sent to a target."""

    TAKEN = "taken"
    """Nothing in the profile speaks against it."""
    IN_PART = "taken, in part ignored"
    """The request succeeds; a part of the schema constrains nothing."""
    REPAIRABLE = "repairable"
    """The request fails; after safe rewrites, which are named, it succeeds."""
    REMODEL = "must be remodelled"
    """No chain of safe rewrites was found that makes it succeed."""
    UNDECIDED = "undecided"
    """The deadline ended the search for one."""

    @property
    def exit_code(self) -> int:
        """What a command exits with if this is the worst outcome."""
        return _EXIT_CODES[self]


#: The worst last.
_EXIT_CODES: Final = {
    FitOutcome.TAKEN: 0,
    FitOutcome.IN_PART: 0,
    FitOutcome.REPAIRABLE: 1,
    FitOutcome.UNDECIDED: 3,
    FitOutcome.REMODEL: 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Whether safe rewrites make a target take a schema."""

    outcome: FitOutcome
    #: Names of the rewrites, in their order.
    rewrites: tuple[str, ...] = ()
    #: How the rewritten schema relates to it, or why there is none.
    sentence: str
    #: Whether it is a schema that a validator can use, and so can be rewritten.
    is_usable: bool = True


class _Search:
    """The search for safe rewrites of the schemas of one command.

    Nothing is imported and no child started for schemas that are taken.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._left = SECONDS_IN_ALL
        self._comparer: Comparer | None = None

    def repair(
        self, schema: CompiledSchema | Rejected, profile: Profile, *, tool: bool
    ) -> Repair:
        """Look for rewrites after which a target takes a schema."""
        from curation.fit.relation import Comparer  # noqa: PLC0415 - see above
        from curation.fit.rewriting import rewrite  # noqa: PLC0415 - see above

        if isinstance(schema, Rejected):
            return _unusable(f"{schema.reason}: {schema.detail}")
        late = f"no answer within {SECONDS_EACH:g} s, nor {SECONDS_IN_ALL:g} s for all"
        undecided = Repair(outcome=FitOutcome.UNDECIDED, sentence=late)
        if self._left <= 0:
            return undecided
        if self._comparer is None:
            self._comparer = self._stack.enter_context(Comparer())
        begun = time.thread_time() + self._comparer.spent
        fit = rewrite(
            schema,
            profile,
            self._comparer,
            tool=tool,
            prove=False,
            seconds=min(SECONDS_EACH, self._left),
        )
        self._left -= time.thread_time() + self._comparer.spent - begun
        names = tuple(step.rewrite for step in fit.steps)
        if fit.fits:
            sentence = f"after {', '.join(names)}: {fit.claim}"
            return Repair(
                outcome=FitOutcome.REPAIRABLE, rewrites=names, sentence=sentence
            )
        if fit.is_late:
            return undecided
        first = fit.failing[0]
        sentence = f"no safe rewrite for {first.pointer or '(root)'}: {first.sentence}"
        return Repair(outcome=FitOutcome.REMODEL, rewrites=names, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFit:
    """What each target does with one schema, or with all tools of a request."""

    name: str
    content: bytes
    #: The tool list that it is part of; empty for a schema by itself.
    request: str = ""
    is_json: bool = True
    #: By the name of the target.
    findings: Mapping[str, tuple[FitFinding, ...]]
    #: Keywords of which no source tells anything.
    untold: Mapping[str, tuple[str, ...]]
    #: By the name of each target that does not take it.
    repairs: Mapping[str, Repair] = field(default_factory=dict)

    def outcome(self, target: str) -> FitOutcome:
        """Return what becomes of it at a target."""
        if target in self.repairs:
            return self.repairs[target].outcome
        ignored = any(it.effect is Effect.IGNORED for it in self.findings[target])
        return FitOutcome.IN_PART if ignored else FitOutcome.TAKEN

    def is_taken_by(self, target: str) -> bool:
        """Return whether the target takes it, ignored parts or not."""
        return target not in self.repairs

    def as_json(self) -> dict[str, Json]:
        """Return the verdicts of all targets with their findings."""
        targets: dict[str, Json] = {
            target: {
                "verdict": self.outcome(target),
                "repair": {"rewrites": list(it.rewrites), "sentence": it.sentence}
                if (it := self.repairs.get(target))
                else None,
                "findings": [
                    {name: str(getattr(it, name)) for name in it.__struct_fields__}
                    for it in findings
                ],
                "not_told": list(self.untold.get(target, ())),
            }
            for target, findings in self.findings.items()
        }
        return {"name": self.name, "targets": targets}

    def problems(self) -> Iterator[SchemaProblem]:
        """Yield the findings of all targets at their places in the text."""
        if not any(self.findings.values()):
            return
        positions = TextPositions(self.content.decode("utf-8-sig", "replace"))
        for target, findings in self.findings.items():
            for finding in findings:
                line, column = positions.of(finding.pointer)
                yield SchemaProblem(
                    level=_LEVELS.get(finding.effect, "error"),
                    pointer=finding.pointer,
                    line=line,
                    column=column,
                    code=f"{target}/{finding.rule}",
                    message=f"{finding.sentence} ({cited(finding)})",
                )
        for target, repair in self.repairs.items():
            yield SchemaProblem(
                level=NOTE,
                pointer="",
                code=f"{target}/{repair.outcome.replace(' ', '-')}",
                message=f"{repair.outcome}: {repair.sentence}",
            )


def cited(finding: FitFinding) -> str:
    """Return the source of a finding, and how it is known."""
    return f"{finding.source}, {finding.evidence}"


def judge_files(
    files: Sequence[SchemaFile], profiles: Sequence[Profile], progress: Progress
) -> Iterator[SchemaFit]:
    """Yield a fit for each text, and one for each request whose tools are too many.

    Args:
        files: The texts. Those of one tool list are one request.
        profiles: The targets.
        progress: Shows how many are judged.
    """
    requests: dict[str, list[Json]] = {}
    with ExitStack() as stack:
        search = _Search(stack)
        advance = stack.enter_context(progress.bar("Judging", total=len(files)))
        for file in files:
            read = parse_named(file.name, file.content)
            value = None if isinstance(read, Rejected) else read
            own = (
                file.name.rpartition("#")[0] if file.name.startswith(TOOL_FORMS) else ""
            )
            if own:
                requests.setdefault(own, []).append(value)
            fault = _fault(read, file.name)
            schema = as_schema(None if fault else value)
            broken = fault or _broken(schema)
            faults = (broken,) if broken else ()
            then = f"mend it first: {command('check', own or file.name)} names places"
            if broken and _LEADS_OUT in broken.sentence:
                then = "bring into the schema what its references lead to"
            findings = {
                it.name: faults
                if fault
                else (*faults, *judge_fit(value, it, tool=bool(own)))
                for it in profiles
            }
            yield SchemaFit(
                name=file.name,
                content=file.content,
                request=own,
                is_json=not isinstance(read, Rejected),
                findings=findings,
                untold={}
                if fault
                else {it.name: untold_keywords(value, it) for it in profiles},
                repairs={
                    it.name: _unusable(fault.sentence if fault else then)
                    if broken
                    else search.repair(schema, it, tool=bool(own))
                    for it in profiles
                    if not is_taken(findings[it.name])
                },
            )
            advance(1)
    for name, schemas in requests.items():
        whole = {it.name: judge_request(schemas, it) for it in profiles}
        if any(whole.values()):
            yield SchemaFit(
                name=f"{name} (one request)",
                content=b"",
                request=name,
                findings=whole,
                untold={},
                repairs={
                    target: _unusable("send fewer or smaller tools in one request")
                    for target, findings in whole.items()
                    if not is_taken(findings)
                },
            )


def _unusable(sentence: str) -> Repair:
    return Repair(outcome=FitOutcome.REMODEL, sentence=sentence, is_usable=False)


def _fault(value: Json | Rejected, name: str) -> FitFinding | None:
    """Return why a text is no schema; None if it may be one."""
    why = why_no_schema(name, value)
    if why is None:
        return None
    if why.reason is Reason.NOT_A_SCHEMA:
        return replace(NOT_A_SCHEMA, sentence=why.detail)
    detail = f": {why.detail}" if why.detail else ""
    sentence = f"{why.reason.explanation}{detail}"
    return replace(NOT_A_SCHEMA, rule=why.reason, sentence=sentence)


def _broken(schema: CompiledSchema | Rejected) -> FitFinding | None:
    """Return why no validator can use a schema, so that nobody can take it as meant.

    An unknown `$schema` is no reason: what a target makes of it is its own affair.
    """
    if not isinstance(schema, Rejected):
        if not schema.fault:
            return None
        return replace(BROKEN, sentence=f"{BROKEN.sentence}: {schema.fault}")
    if schema.reason is Reason.UNSUPPORTED_DIALECT:
        return None
    return replace(
        BROKEN, rule=schema.reason, pointer=schema.pointer, sentence=schema.detail
    )
