"""Judge the schemas of a command line by profiles of targets, place by place."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import Reason, Rejected
from curation.core.problems import NOTE, SchemaProblem
from curation.fit.profile import Effect, Profile, TargetKind
from curation.fit.scan import Scan
from curation.fit.verdict import (
    BROKEN,
    FitFinding,
    Tool,
    Verdict,
    decide_verdict,
    judge_fit,
    judge_name,
    judge_request,
    leads_out,
)
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import as_schema
from curation.json.named_text import parse_named
from curation.json.positions import placed_in_text
from curation.schema.dialects import DIALECTS
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.sources.readers import Role
from curation.sources.schema_files import (
    SchemaFile,
    why_in_words,
    why_no_schema,
)
from curation.system.words import command
from curation.validation.metaschemas import is_valid

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.fit.engine_evidence import Engines
    from curation.relation.comparer import Comparer
    from curation.system.progress import Progress

#: jsonschema-rs's message for a reference to a file or to the web.
_LEADS_OUT: Final = "is not present in a registry"
_LEVELS: Final = {
    Effect.IGNORED: "warning",
    Effect.ROUTED: NOTE,
    Effect.UNKNOWN: NOTE,
}
#: Members of a schema: one without any is empty.
_WORDS: Final = KNOWN_KEYWORDS | {"$schema", "nullable", "discriminator", "example"}
#: Seconds of processor time in which rewrites of one schema for one target are looked
#: for, and of all in one command.
SECONDS_EACH: Final = 5.0
SECONDS_IN_ALL: Final = 60.0
#: Schemas of one command for which they are looked for, once all are judged.
MAX_FIXES: Final = 30
#: The exit code of each verdict; a rejected schema that rewrites fix has the code
#: `FIXABLE`.
EXIT_CODES: Final = {
    Verdict.ACCEPTED: 0,
    Verdict.IN_PART: 0,
    Verdict.UNKNOWN: 3,
    Verdict.BLOCKS: 4,
    Verdict.REJECTED: 4,
}
FIXABLE: Final = 1


class Outcome(StrEnum):
    """What rewrites make of a rejected schema."""

    FIXABLE = "fixable"
    """The target accepts the result, parts that it ignores or not."""
    UNKNOWN = "unknown after rewrites"
    """The target does not reject the result, and parts of it are undocumented."""
    REJECTED = "rejected"
    """No rewrite was found."""


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """Whether rewrites make a target accept a rejected schema."""

    outcome: Outcome = Outcome.REJECTED
    #: How the rewritten schema relates to it; empty if no rewrite was found.
    claim: str = ""
    #: Names of the rewrites, in their order.
    rewrites: tuple[str, ...] = ()
    #: Their cost, or why they are missing.
    sentence: str
    #: Whether the deadline ended the search, or it was not begun.
    is_open: bool = False

    def as_json(self) -> dict[str, Json]:
        """Return its outcome, claim, rewrites and sentence."""
        return {
            "outcome": self.outcome,
            "claim": self.claim or None,
            "rewrites": list(self.rewrites),
            "sentence": self.sentence,
        }

    @property
    def exit_code(self) -> int:
        """What a command exits with if this is the worst."""
        if self.outcome is Outcome.FIXABLE:
            return FIXABLE
        is_unknown = self.is_open or self.outcome is Outcome.UNKNOWN
        return EXIT_CODES[Verdict.UNKNOWN if is_unknown else Verdict.REJECTED]


class SchemaFit(msgspec.Struct, kw_only=True):
    """What each target does with one schema."""

    name: str
    file: SchemaFile
    schema: CompiledSchema | Rejected
    #: The fault that makes it unusable; empty without one.
    fault: str = ""
    is_json: bool = True
    #: By the name of the target.
    findings: dict[str, tuple[FitFinding, ...]]
    #: What was measured of the engines of a target, by its name.
    measured: dict[str, tuple[str, ...]] = {}
    #: By the name of each target that rejects it.
    fixes: dict[str, Fix] = {}

    @property
    def is_tool(self) -> bool:
        """Whether it is the schema of a tool's parameters."""
        return self.file.entry.role is Role.TOOL

    @property
    def request(self) -> str:
        """The file or server whose tools it is one of; empty for no tool."""
        return self.name.rpartition("#")[0] if self.is_tool else ""

    def verdict(self, target: str) -> Verdict:
        """Return what happens to it at a target."""
        return Verdict.REJECTED if self.fault else decide_verdict(self.findings[target])

    def is_rejected_by(self, profile: Profile) -> bool:
        """Return whether rewrites may make a target accept it."""
        return not self.fault and self.verdict(profile.name) is Verdict.REJECTED

    def exit_code(self, target: str) -> int:
        """Return the exit code of a command if this is the worst."""
        if target in self.fixes:
            return self.fixes[target].exit_code
        return EXIT_CODES[self.verdict(target)]

    def as_json(self) -> dict[str, Json]:
        """Return the verdicts of all targets with their findings."""
        if self.fault:
            return {"name": self.name, "fault": self.fault, "targets": {}}
        targets: dict[str, Json] = {}
        for target, findings in self.findings.items():
            fix = self.fixes.get(target)
            targets[target] = {
                "verdict": self.verdict(target),
                "fixable": fix.as_json() if fix is not None else None,
                "findings": msgspec.to_builtins(findings),
                "measured": list(self.measured.get(target, ())),
            }
        return {"name": self.name, "targets": targets}

    def problems(self) -> tuple[SchemaProblem, ...]:
        """Return the findings of all targets at their positions in the file."""
        if self.fault:
            return (SchemaProblem("", "fault", self.fault, "error"),)
        problems = [
            SchemaProblem(
                finding.pointer,
                f"{target}/{finding.rule}",
                f"{finding.sentence} ({cited(finding)})",
                _LEVELS.get(finding.effect, "error"),
            )
            for target, findings in self.findings.items()
            for finding in findings
        ]
        for target, fix in self.fixes.items():
            code = f"{target}/{fix.outcome.partition(' ')[0]}"
            problems.append(SchemaProblem("", code, fix.sentence, NOTE))
        return self.file.placed(placed_in_text(problems, self.file.content))


def cited(finding: FitFinding) -> str:
    """Return the source of a finding, and how it is known."""
    return f"{finding.source}, {finding.evidence}"


def judge_files(
    files: Sequence[SchemaFile],
    profiles: Sequence[Profile],
    progress: Progress,
    engines: Engines,
) -> list[SchemaFit]:
    """Return the verdicts of each schema; fixes of the first rejected ones.

    Args:
        files: The texts; results of tools are sent to nobody and skipped.
        profiles: The targets.
        progress: Shows how many are judged.
        engines: Those among the targets.
    """
    sent = [file for file in files if file.entry.role is not Role.RESULT]
    fits = []
    with progress.bar("Judging", total=len(sent)) as advance:
        for file in sent:
            fits.append(judge_schema(file, profiles, engines))
            advance(1)
    have_rules = [it for it in profiles if it.kind is not TargetKind.ENGINE]
    rejected = [fit for fit in fits if any(map(fit.is_rejected_by, have_rules))]
    if not rejected:
        return fits
    from curation.relation.comparer import Comparer  # noqa: PLC0415 - takes time

    remaining = SECONDS_IN_ALL
    with Comparer(forked=True) as comparer:
        for fit in rejected[:MAX_FIXES]:
            for profile in filter(fit.is_rejected_by, have_rules):
                start = time.thread_time() + comparer.spent
                fit.fixes[profile.name] = _fix(fit, profile, comparer, remaining)
                remaining -= time.thread_time() + comparer.spent - start
    return fits


def judge_schema(
    file: SchemaFile, profiles: Sequence[Profile], engines: Engines
) -> SchemaFit:
    """Return the verdicts of one schema, without its fixes."""
    read = parse_named(file.name, file.content)
    why = why_no_schema(read)
    value = None if isinstance(read, Rejected) else read
    schema = as_schema(None if why else value)
    fit = SchemaFit(
        name=file.name,
        file=file,
        schema=schema,
        is_json=not isinstance(read, Rejected),
        findings={},
    )
    if why is not None:
        fit.fault = why_in_words(why, file.content)
        return fit
    if lacks_keywords(value):
        fit.fault = "not a schema: it has no keyword of JSON Schema"
        return fit
    broken = _broken(schema)
    invalid = "" if _LEADS_OUT in broken else broken
    # The newest drafts are asked in the least time.
    drafts = reversed(DIALECTS)
    if not (invalid or any(is_valid(value, draft) for draft in drafts)):
        invalid = "no draft since draft-04 accepts it"
    if invalid:
        hint = f"run {command('check', file.name)}"
        fit.fault = f"not a valid schema: {invalid}; {hint}"
        return fit
    strict, is_tool = file.entry.strict, fit.is_tool
    for profile in profiles:
        findings: list[FitFinding] = []
        is_engine = profile.kind is TargetKind.ENGINE
        if is_tool:
            findings += judge_name(Tool(file.entry.name, value, strict), profile)
        if broken:
            findings += leads_out(Scan(value))
        if not is_engine:
            findings += judge_fit(value, profile, tool=is_tool, strict=strict)
        if not broken and (is_engine or profile.engines):
            judgement = engines.judge(value, profile)
            findings += judgement.findings
            fit.measured[profile.name] = judgement.measured
        fit.findings[profile.name] = tuple(findings)
    return fit


def lacks_keywords(value: Json) -> bool:
    """Return whether an object has members, and no keyword of JSON Schema."""
    return isinstance(value, dict) and bool(value) and value.keys().isdisjoint(_WORDS)


class RequestFit(msgspec.Struct, frozen=True, kw_only=True):
    """What each target does with the tools of one request."""

    name: str
    tools: Sequence[SchemaFit]
    #: Names of further tools in it, which have no schema; empty for a service's tool.
    lacking: tuple[str, ...] = ()
    #: What is wrong with all together, by the name of the target.
    findings: Mapping[str, tuple[FitFinding, ...]]

    @property
    def count(self) -> int:
        """The number of its tools."""
        return len(self.tools) + len(self.lacking)

    def verdict(self, target: str) -> Verdict:
        """Return what happens to the request: one bad tool ends it."""
        verdicts = [tool.verdict(target) for tool in self.tools]
        verdicts.append(self.verdict_together(target))
        return max(verdicts, key=[*EXIT_CODES].index)

    def verdict_together(self, target: str) -> Verdict:
        """Return what happens to the tools together, whatever each is."""
        return decide_verdict(self.findings[target])

    def as_json(self) -> dict[str, Json]:
        """Return the verdict of each target, and the faults of all together."""
        targets: dict[str, Json] = {
            target: {
                "verdict": self.verdict(target),
                "findings": msgspec.to_builtins(findings),
            }
            for target, findings in self.findings.items()
        }
        return {
            "name": self.name,
            "tools": self.count,
            "without_schema": list(self.lacking),
            "targets": targets,
        }


def build_requests(
    fits: Sequence[SchemaFit], profiles: Sequence[Profile]
) -> list[RequestFit]:
    """Return the requests that the tools among some schemas are sent in."""
    requests = []
    for name in dict.fromkeys(fit.request for fit in fits if fit.is_tool):
        members = [fit for fit in fits if fit.request == name]
        lacking = members[0].file.entry.lacking
        bare = [Tool(tool, True) for tool in lacking]  # noqa: FBT003 - any arguments
        tools = [*bare]
        for fit in members:
            value = True if isinstance(fit.schema, Rejected) else fit.schema.value
            tools.append(Tool(fit.file.entry.name, value, fit.file.entry.strict))
        findings = {
            profile.name: judge_request(tools, profile)
            + tuple(
                finding
                for tool in bare
                if tool.name
                for finding in judge_name(tool, profile)
            )
            for profile in profiles
        }
        requests.append(
            RequestFit(name=name, tools=members, lacking=lacking, findings=findings)
        )
    return requests


def _fix(fit: SchemaFit, profile: Profile, comparer: Comparer, remaining: float) -> Fix:
    """Return whether rewrites make a target accept a schema.

    Args:
        fit: The schema.
        profile: The target.
        comparer: Decides how steps change it.
        remaining: Seconds of processor time until the command's deadline.
    """
    if any(finding.rule == "tool-name" for finding in fit.findings[profile.name]):
        return Fix(sentence="not fixable: give the tool another name")
    if isinstance(fit.schema, Rejected) or fit.schema.fault:
        sentence = "bring into the schema what its references lead to"
        return Fix(sentence=f"not fixable: {sentence}")
    late = f"not decided within {SECONDS_EACH:g} s, or {SECONDS_IN_ALL:g} s for all"
    if remaining <= 0:
        return Fix(sentence=late, is_open=True)
    from curation.fit.rewriting import Rewriting  # noqa: PLC0415 - takes time

    result = Rewriting(
        fit.schema,
        profile,
        comparer,
        allow="any",
        tool=fit.is_tool,
        strict=fit.file.entry.strict,
        prove=False,
        seconds=min(SECONDS_EACH, remaining),
    ).run()
    names = tuple(step.rewrite for step in result.steps)
    if result.fits:
        cost = _COSTS.get(result.claim, result.claim)
        sentence = f"fixable: {', '.join(names)} ({cost})"
        outcome = Outcome.FIXABLE
        if result.verdict is Verdict.UNKNOWN:
            outcome = Outcome.UNKNOWN
            undocumented = [
                f"`{remark.keyword}`" if remark.keyword else remark.sentence
                for remark in result.remarks
                if remark.effect is Effect.UNKNOWN
            ]
            words = ", ".join(dict.fromkeys(undocumented))
            sentence = f"{', '.join(names)} ({cost}); after the fix: unknown: {words}"
        return Fix(
            outcome=outcome, claim=result.claim, rewrites=names, sentence=sentence
        )
    if result.is_late:
        return Fix(sentence=late, is_open=True)
    failing = result.failing[0]
    sentence = f"not fixable: {failing.pointer or '(root)'}: {failing.sentence}"
    return Fix(rewrites=names, sentence=sentence)


#: What each claim costs, for people.
_COSTS: Final = {
    "equal": "equal: accepts the same values",
    "narrower": "narrower: accepts fewer values",
    "wider": "wider: accepts more values, so validate answers",
    "differs": "differs: accepts fewer values of some kinds, more of others",
    "unknown": "unknown how the values change, so validate answers",
}


def _broken(schema: CompiledSchema | Rejected) -> str:
    """Return why no validator can use a schema; empty if one can.

    An unknown `$schema` does not matter: each target treats it in its way.
    """
    if not isinstance(schema, Rejected):
        return schema.fault and f"{BROKEN.sentence}: {schema.fault}"
    if schema.reason is Reason.UNSUPPORTED_DIALECT:
        return ""
    return f"{schema.detail} at {schema.pointer or '(root)'}"
