"""Judge a schema by a profile: rejected, ignored and undocumented parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from curation.core.json_types import Json
from curation.fit.checks import (
    CHECKS,
    DONE,
    QUIET,
    is_name,
    over_limit,
    quoted,
)
from curation.fit.profile import Effect, Profile, ProfileRule, Scope, SourceKind
from curation.fit.scan import Match, Scan, scan_schema
from curation.json.pointer import Tokens, parse_tokens, pointer
from curation.json.values import remembered
from curation.schema.keywords import KNOWN_KEYWORDS


class FitFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a schema that a target does not hold, or is not known to."""

    #: JSON pointer of the schema location, with the keyword if present.
    pointer: str
    #: Empty if the finding is about no single keyword.
    keyword: str
    #: The name of the check: a key of `curation.fit.profile.PARAMETERS`.
    rule: str
    effect: Effect
    sentence: str
    #: Title and date of the source.
    source: str
    evidence: SourceKind

    @property
    def cause(self) -> str:
        """What `list_causes` calls it."""
        return _cause(self.rule, self.keyword)

    @property
    def site(self) -> Tokens:
        """The tokens of the schema object that it is about."""
        tokens = parse_tokens(self.pointer)
        if self.rule == "optional-property":
            return tokens[:-2]
        if self.keyword and tokens[-1:] == (self.keyword,):
            return tokens[:-1]
        return tokens


#: The effects with which a request fails.
FAILING: Final = frozenset({Effect.REFUSED, Effect.LIMITED})
#: The rule of findings about keywords of which no source states anything.
UNDOCUMENTED: Final = "undocumented"


class Verdict(StrEnum):
    """What happens to a request with a schema, as far as it is known."""

    ACCEPTED = "accepted"
    """A source states so of every keyword that constrains something."""
    IN_PART = "ignored in part"
    """The request succeeds; the named parts constrain nothing."""
    UNKNOWN = "unknown"
    """No source documents what happens to the named parts."""
    BLOCKS = "blocks valid values"
    """The request succeeds; some valid values cannot be written."""
    REJECTED = "rejected"
    """The request fails."""


def decide_verdict(findings: Iterable[FitFinding]) -> Verdict:
    """Return the verdict that findings amount to."""
    effects = {finding.effect for finding in findings}
    if effects & FAILING:
        return Verdict.REJECTED
    if Effect.BLOCKED in effects:
        return Verdict.BLOCKS
    if Effect.UNKNOWN in effects:
        return Verdict.UNKNOWN
    return Verdict.IN_PART if Effect.IGNORED in effects else Verdict.ACCEPTED


def _cause(rule: str, keyword: str) -> str:
    """Return the keyword, if one is refused wherever it is, otherwise the rule."""
    return f"`{keyword}`" if keyword and rule.endswith("keyword") else rule


def list_causes(schema: Json, profile: Profile) -> set[str]:
    """Return causes for which a target rejects the schema of an answer.

    After the second one the search ends.
    """
    scan = scan_schema(schema)
    if scan is None:
        return {NOT_A_SCHEMA.rule}
    causes: set[str] = set()
    for rule in profile.rules_for(tool=False, strict=False):
        if rule.effect not in FAILING or len(causes) > 1:
            continue
        key = _key(rule)
        if key not in scan.causes:
            # A rule's first two: no further match is worked out.
            rule_causes = scan.causes[key] = set()
            for match in CHECKS[rule.check](scan, rule):
                rule_causes.add(_cause(rule.check, match.keyword))
                if len(rule_causes) > 1 or rule.check in rule_causes:
                    break
        causes |= scan.causes[key]
    return causes


def is_sendable(findings: Iterable[FitFinding]) -> bool:
    """Return whether no finding states that the request fails."""
    return all(finding.effect not in FAILING for finding in findings)


def judge_fit(
    schema: Json, profile: Profile, *, tool: bool = False, strict: bool = False
) -> tuple[FitFinding, ...]:
    """Return findings: rejected, ignored and undocumented parts of a schema.

    The last answers are cached.

    Args:
        schema: Any JSON value; it is read in the dialect that it declares.
        profile: The target.
        tool: Whether it is the schema of a tool's parameters.
        strict: Whether the request sends it with `strict`.

    Example:
        >>> profile = load_profile("openai-strict")
        >>> [it.rule for it in judge_fit({"type": "object"}, profile)]
        ['open-object', 'object-without-properties']
    """
    return _judged(schema, profile, tool, strict)


@remembered
def _judged(
    schema: Json,
    profile: Profile,
    tool: bool,  # noqa: FBT001 - `remembered` has no names
    strict: bool,  # noqa: FBT001 - as above
) -> tuple[FitFinding, ...]:
    scan = scan_schema(schema)
    if scan is None:
        return (NOT_A_SCHEMA,)
    rules = tuple(profile.rules_for(tool=tool, strict=strict))
    findings = [
        _finding(match, rule, profile)
        for rule in rules
        if rule.effect is not Effect.ACCEPTED
        for match in _found_by(scan, rule)
    ]
    untold = KNOWN_KEYWORDS & scan.keywords.keys() - _told_keywords(profile, rules)
    if not untold:
        return tuple(findings)
    pointers = {finding.pointer for finding in findings}
    findings += [
        replace(_UNDOCUMENTED, pointer=where, keyword=name, sentence=sentence)
        for location in scan.having(untold)
        for name in location.keywords
        if name in untold
        for where in [pointer((*location.tokens, name))]
        for sentence in [f"no source says what happens to `{name}`"]
        if where not in pointers
    ]
    return tuple(findings)


def _found_by(scan: Scan, rule: ProfileRule) -> Sequence[Match]:
    """Return a rule's matches; profiles that share the rule compute them once."""
    key = _key(rule)
    if key not in scan.found:
        scan.found[key] = tuple(CHECKS[rule.check](scan, rule))
    return scan.found[key]


def _key(rule: ProfileRule) -> str:
    """Return what two rules share that match alike."""
    key = f"{rule.check} {rule.effect} {rule.scope} {rule.names} {rule.values}"
    return f"{key} {rule.places} {rule.beside} {rule.types} {rule.most}"


class Tool(NamedTuple):
    """A tool of a request: its name, the schema of its parameters, and `strict`.

    The name is empty for a tool of the service itself.
    """

    name: str
    schema: Json
    strict: bool = False


def judge_name(tool: Tool, profile: Profile) -> tuple[FitFinding, ...]:
    """Return why a target rejects the name of a tool, by its first rule; or nothing."""
    return tuple(
        _finding(Match((), "", f"{sentence} (not `{rule.values[0]}`)"), rule, profile)
        for rule in profile.rules_for(tool=True, strict=tool.strict)
        if rule.check == "tool-name" and not is_name(tool.name, rule)
        for sentence in [f"the name {quoted(tool.name)} is {DONE[rule.effect]}"]
    )[:1]


def judge_request(tools: Sequence[Tool], profile: Profile) -> tuple[FitFinding, ...]:
    """Return the findings about the tools of one request together.

    Args:
        tools: All tools in it; one without a valid schema counts as a tool.
        profile: The target.
    """
    nothing = Scan(True)  # noqa: FBT003 - a boolean is a schema
    findings = []
    for rule in profile.rules:
        concerned = [
            tool
            for tool in tools
            if rule in profile.rules_for(tool=True, strict=tool.strict)
        ]
        if rule.check == "tool-name-twice":
            counts: defaultdict[str, int] = defaultdict(int)
            for tool in concerned:
                counts[tool.name] += 1
            matches = [
                Match((), "", f"{count} tools have the name {quoted(name)}")
                for name, count in counts.items()
                if name and count > 1
            ]
        elif rule.scope is Scope.REQUEST:
            scans = [scan_schema(tool.schema) or nothing for tool in concerned]
            matches = list(over_limit(scans, rule))
        else:
            continue
        findings += [_finding(match, rule, profile) for match in matches]
    return tuple(findings)


def _finding(match: Match, rule: ProfileRule, profile: Profile) -> FitFinding:
    source = profile.sources[rule.source]
    return FitFinding(
        pointer=pointer(match.tokens),
        keyword=match.keyword,
        rule=rule.check,
        effect=rule.effect,
        sentence=f"{match.sentence}{f'; {rule.note}' if rule.note else ''}",
        source=f"{source.title} ({source.date})",
        evidence=source.evidence,
    )


def _told_keywords(profile: Profile, rules: Iterable[ProfileRule]) -> frozenset[str]:
    """Return the keywords of which a source states something, and annotations."""
    keywords = {*QUIET, *profile.accepted}
    for rule in rules:
        if rule.check == "any":
            return KNOWN_KEYWORDS
        if rule.check == "keyword" and not (rule.beside or rule.types or rule.places):
            keywords.update(rule.names if rule.most is None else ())
    return frozenset(keywords)


#: The finding for a value that no target accepts.
NOT_A_SCHEMA: Final = FitFinding(
    pointer="",
    keyword="",
    rule="not-a-schema",
    effect=Effect.REFUSED,
    sentence="no JSON Schema: neither an object nor a boolean",
    source="JSON Schema core 4.3 (2020-12)",
    evidence=SourceKind.DOCUMENTED,
)
#: The finding for an unusable schema: it is invalid, or a reference or a pattern in it
#: cannot be read.
BROKEN: Final = replace(
    NOT_A_SCHEMA,
    rule="unusable",
    sentence="no validator can use the schema",
    source="jsonschema-rs, installed here",
    evidence=SourceKind.PROBED,
)


def leads_out(scan: Scan) -> list[FitFinding]:
    """Return findings for all targets: references to schemas outside."""
    return [
        replace(
            BROKEN,
            pointer=pointer((*reference.tokens, reference.keyword)),
            sentence=f"{BROKEN.sentence}: {reference.text} leads out of it",
        )
        for reference in scan.references
        if scan.targets[reference.tokens] is None and not reference.text.startswith("#")
    ]


_UNDOCUMENTED: Final = FitFinding(
    pointer="",
    keyword="",
    rule=UNDOCUMENTED,
    effect=Effect.UNKNOWN,
    sentence="",
    source="no source",
    evidence=SourceKind.DOCUMENTED,
)
