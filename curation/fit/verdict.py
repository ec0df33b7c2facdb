"""Judge a schema by a profile: each part that a target refuses, ignores or routes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.fit.checks import CHECKS, QUIET, Found, over_limit
from curation.fit.profile import Effect, Profile, ProfileRule, Scope, SourceKind
from curation.fit.scan import Scan, scan_of
from curation.json.pointer import Tokens, pointer, tokens_of
from curation.json.values import remembered
from curation.schema.keywords import KNOWN_KEYWORDS


class FitFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a schema that a target does not take as it is meant."""

    #: JSON pointer of the schema location, with the keyword if it stands there.
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
        """The keyword, if one is refused wherever it stands, or else the rule."""
        return cause_of(self.keyword, self.rule)

    @property
    def site(self) -> Tokens:
        """The tokens of the schema object that it is about."""
        tokens = tokens_of(self.pointer)
        if self.rule == "optional-property":
            return tokens[:-2]
        if self.keyword and tokens[-1:] == (self.keyword,):
            return tokens[:-1]
        return tokens


def cause_of(keyword: str, rule: str) -> str:
    """Return the keyword, if a rule refuses it wherever it stands, or else the rule."""
    return f"`{keyword}`" if keyword and rule.endswith("keyword") else rule


#: The effects with which a request fails.
FAILING: Final = frozenset({Effect.REFUSED, Effect.LIMITED})


def is_taken(findings: Sequence[FitFinding]) -> bool:
    """Return whether the target takes the schema, ignored parts or not."""
    return all(finding.effect not in FAILING for finding in findings)


def judge_fit(
    schema: Json, profile: Profile, *, tool: bool = False
) -> tuple[FitFinding, ...]:
    """Return what a target does not take, or not as it is meant; empty if nothing.

    The last answers are cached.

    Args:
        schema: Any JSON value; it is read in the dialect that it declares.
        profile: The target.
        tool: Whether it is the schema of a tool's parameters.

    Example:
        >>> profile = load_profile("openai-strict")
        >>> [it.rule for it in judge_fit({"type": "object"}, profile)]
        ['open-object']
    """
    return _judged(schema, profile, tool)


@remembered
def _judged(schema: Json, profile: Profile, tool: bool) -> tuple[FitFinding, ...]:  # noqa: FBT001 - `remembered` has no names
    scan = scan_of(schema)
    if scan is None:
        return (NOT_A_SCHEMA,)
    return tuple(
        _finding(found, rule, profile)
        for rule in profile.rules
        if tool or rule.scope is not Scope.TOOL
        for found in CHECKS[rule.check](scan, rule)
    )


def judge_request(schemas: Iterable[Json], profile: Profile) -> tuple[FitFinding, ...]:
    """Return the limits that the schemas of one request exceed together.

    Args:
        schemas: Of all tools in it, for instance; what is no schema counts as a tool.
        profile: The target.
    """
    nothing = Scan(True)  # noqa: FBT003 - a boolean is a schema
    scans = [scan_of(schema) or nothing for schema in schemas]
    return tuple(
        _finding(found, rule, profile)
        for rule in profile.rules
        if rule.scope is Scope.REQUEST
        for found in over_limit(scans, rule)
    )


def _finding(found: Found, rule: ProfileRule, profile: Profile) -> FitFinding:
    source = profile.sources[rule.source]
    return FitFinding(
        pointer=pointer(found.tokens),
        keyword=found.keyword,
        rule=rule.check,
        effect=rule.effect,
        sentence=f"{found.sentence}{f'; {rule.note}' if rule.note else ''}",
        source=f"{source.title} ({source.date})",
        evidence=source.evidence,
    )


def untold_keywords(schema: Json, profile: Profile) -> tuple[str, ...]:
    """Return the keywords of a schema of which no source tells anything, sorted.

    Annotations constrain nothing and are left out. Nothing is said of a target whose
    profile has no list of what is taken.
    """
    scan = scan_of(schema)
    if scan is None or not profile.taken:
        return ()
    used = {name for place in scan.places for name in place.keywords}
    return tuple(sorted((used & KNOWN_KEYWORDS) - told_keywords(profile)))


#: The keywords of which a check tells something that its names do not.
_CHECKED_KEYWORDS: Final = {
    "format": ("format",),
    "pattern": ("pattern",),
    "enum-type": ("enum", "const"),
    "open-object": ("additionalProperties",),
    "optional-property": ("required",),
}


def told_keywords(profile: Profile) -> frozenset[str]:
    """Return the keywords of which a source tells something, annotations with them."""
    told = {*QUIET, *profile.taken}
    for rule in profile.rules:
        is_named = rule.check in {"keyword", "root-keyword"}
        told.update(rule.names if is_named else _CHECKED_KEYWORDS.get(rule.check, ()))
    return frozenset(told)


#: Of what no target takes.
NOT_A_SCHEMA: Final = FitFinding(
    pointer="",
    keyword="",
    rule="not-a-schema",
    effect=Effect.REFUSED,
    sentence="no JSON Schema: neither an object nor a boolean",
    source="JSON Schema core 4.3 (2020-12)",
    evidence=SourceKind.DOCUMENTED,
)
#: Of a schema without a meaning: it is invalid, or a reference or a pattern in it
#: cannot be read.
BROKEN: Final = msgspec.structs.replace(
    NOT_A_SCHEMA,
    rule="unusable",
    sentence="no validator can use the schema",
    source=f"jsonschema-rs {version('jsonschema-rs')}",
    evidence=SourceKind.PROBED,
)
