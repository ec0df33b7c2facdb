"""Profiles of targets: how a provider or a server treats a schema.

A profile is one TOML file in `curation/fit/profiles`, or a user's own. Each of its
rules names a check of `curation.fit.checks`, the effect and its source. A keyword in no
rule and not in `accepted` is unknown: nothing is guessed. A profile may extend another.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from curation.core.json_types import UntypedJson
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.registry import closest_names
from curation.system.user_files import refuse_large


class Effect(StrEnum):
    """What a target does with the part of a schema that a rule is about."""

    REFUSED = "refused"
    """The request fails."""
    LIMITED = "limited"
    """The request fails, because there is too much of it."""
    IGNORED = "ignored"
    """The request succeeds; this part constrains nothing."""
    BLOCKED = "blocked"
    """The request succeeds; some valid values cannot be written."""
    ROUTED = "routed"
    """The request succeeds, by another engine than the one asked first."""
    UNKNOWN = "unknown"
    """No source documents the behaviour."""
    ACCEPTED = "accepted"
    """The request succeeds with this part, whatever keywords are in it."""


class SourceKind(StrEnum):
    """How a rule is known."""

    DOCUMENTED = "documented"
    """The vendor's documentation or source states so."""
    SDK = "sdk"
    """The vendor's own library takes it out, or raises, before it sends a request."""
    PROBED = "probed"
    """Measured: `csbdata eval --task probe`, or a server's answers."""


class Scope(StrEnum):
    """What a rule holds for."""

    SCHEMA = "schema"
    """Every schema by itself."""
    TOOL = "tool"
    """Only a tool: its parameters, or its name."""
    REQUEST = "request"
    """All schemas of one request together: counts are summed."""


class TargetKind(StrEnum):
    """What a target is."""

    PROVIDER = "provider"
    """A service, with rules from its documents, libraries and answers."""
    SERVER = "server"
    """A program that runs a model, with the engines in it."""
    ENGINE = "engine"
    """A library for constrained decoding: run, or measured by an edition; no rules."""


class Strict(StrEnum):
    """Which schemas a target is held to: those sent with `strict`."""

    ASKED = "asked"
    """Those that the request sends with it."""
    FORMATS = "formats"
    """These, and every schema of an answer."""
    ALWAYS = "always"
    """Every schema: the target is requests with `strict`."""


class ProfileSource(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The source of a rule."""

    #: The page, or the library with its version.
    title: str
    #: Date of the version, or of reading the page.
    date: str
    evidence: SourceKind
    url: str = ""


class ProfileRule(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One fact about a target: a check, its parameters, the effect and the source."""

    #: A name in `PARAMETERS`, which is also the rule of a finding.
    check: str
    effect: Effect
    #: A key of the profile's `sources`.
    source: str
    #: The keywords, types, formats, values or regex features that it is about.
    names: tuple[str, ...] = ()
    #: The accepted values of the keywords.
    values: tuple[UntypedJson, ...] = ()
    #: Only in schemas held by these keywords; `root` is the whole.
    places: tuple[str, ...] = ()
    #: Only where one of these keywords is in the same schema.
    beside: tuple[str, ...] = ()
    #: Only in schemas whose `type` names one of these; empty: that have no `type`.
    types: tuple[str, ...] = ()
    most: int | None = None
    scope: Scope = Scope.SCHEMA
    #: Only with `strict`, or only without it.
    strict: bool | None = None
    #: What follows, for whoever reads the finding.
    note: str = ""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one target does with schemas, on one day."""

    name: str
    title: str
    #: The day for which it is true, ISO 8601.
    date: str
    kind: TargetKind = TargetKind.PROVIDER
    #: The name of the profile whose rules and sources hold here too.
    extends: str = ""
    #: The sources of that profile whose rules hold; empty: all.
    inherits: tuple[str, ...] = ()
    strict: Strict = Strict.ASKED
    #: Whether it accepts schemas of answers, and not of tools alone.
    answers: bool = True
    #: Who was compared with the rules: the service, its SDK, its documents, or nobody.
    compared: str = "nobody"
    sources: Mapping[str, ProfileSource] = {}
    rules: tuple[ProfileRule, ...] = ()
    #: Keywords that a source states are supported.
    accepted: tuple[str, ...] = ()
    #: The engines that answer.
    engines: tuple[str, ...] = ()
    #: Notes for the user, in addition to the rules.
    note: str = ""

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits of the sha256 of its rules."""
        import hashlib  # noqa: PLC0415 - takes 5 ms

        facts = self.rules, self.accepted, self.strict
        return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:12]

    def rules_for(self, *, tool: bool, strict: bool) -> Iterator[ProfileRule]:
        """Yield the rules for a schema as it is sent.

        Args:
            tool: Whether it is the schema of a tool's parameters.
            strict: Whether the request sends it with `strict`.
        """
        strict |= self.strict is Strict.ALWAYS
        strict |= self.strict is Strict.FORMATS and not tool
        for rule in self.rules:
            if rule.strict in (None, strict) and (tool or rule.scope is not Scope.TOOL):
                yield rule


_FOLDER: Final = Path(__file__).with_name("profiles")
_SUFFIX: Final = ".toml"
_ALWAYS: Final = frozenset({"check", "effect", "source", "note", "scope", "strict"})
_COUNT: Final = frozenset({"most"})
_NAMES: Final = frozenset({"names"})
_PLACED: Final = frozenset({"beside", "types", "places"})
_NONE: Final[frozenset[str]] = frozenset()
_ALONE: Final = (
    *("boolean-schema", "type-list", "open-object", "optional-property"),
    *("undeclared-property", "tuple", "array-without-items", "remote-reference"),
    *("recursive-reference", "required-recursion", "dangling-reference"),
    *("no-pointer", "nested-identifier", "any", "tool-name-twice"),
)
_WITH_NAMES: Final = (
    *("other-keyword", "root-type", "root-keyword", "untyped", "enum-type"),
    *("pattern", "beside-reference"),
)
_COUNTING: Final = (
    *("tools", "depth", "properties", "optional-properties", "unions"),
    *("enum-values", "characters"),
)
#: Checks of limits: a profile's replaces the limit of the profile that it extends.
COUNTED: Final = frozenset({*_COUNTING, "long-enum"})
#: The checks, and the parameters that each takes: those that it needs, and others.
PARAMETERS: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "object-without-properties": (_NONE, frozenset({"places"})),
    # `values` has the regular expression of accepted names.
    "tool-name": (frozenset({"values"}), _NONE),
    "property-key": (frozenset({"values"}), frozenset({"places"})),
    "keyword": (_NAMES, _PLACED | {"values", "most"}),
    "format": (_NAMES, frozenset({"types"})),
    # In an `enum` of more strings than `values`.
    "long-enum": (frozenset({"most", "values"}), _NONE),
    **dict.fromkeys(_ALONE, (_NONE, _NONE)),
    **dict.fromkeys(_WITH_NAMES, (_NAMES, _NONE)),
    **dict.fromkeys(_COUNTING, (_COUNT, _NONE)),
}
#: Checks whose `names` are keywords.
_OF_KEYWORDS: Final = frozenset(
    {
        *("keyword", "other-keyword", "root-keyword", "untyped", "beside-reference"),
    }
)
#: Keywords of OpenAPI and of vendors, which no draft has.
_MORE_KEYWORDS: Final = frozenset(
    {"nullable", "discriminator", "example", "propertyOrdering"}
)


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that come with csbdata, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob(f"*{_SUFFIX}")))


@cache
def provider_names() -> tuple[str, ...]:
    """Return the names of the providers to which schemas of answers are sent."""
    profiles = map(load_profile, profile_names())
    return tuple(
        profile.name
        for profile in profiles
        if profile.kind is TargetKind.PROVIDER and profile.answers
    )


def load_profile(name: str) -> Profile:
    """Return the profile of a name, or of a user's own file.

    Args:
        name: One of `profile_names`, or the path of a TOML file.

    Raises:
        BadUsage: no such profile exists.
        NoInput: no such file exists.
        BadData: the file is not a profile.
    """
    return _load(name, ())


@cache
def _load(
    name: str, extending: tuple[str, ...], engines: Callable[[], Iterable[str]] = tuple
) -> Profile:
    """Return a profile with the rules of those that it extends."""
    if name in extending:
        raise BadData(f"a profile that extends itself: {name}", extending[0])
    profile = _find_file(name, engines)
    if not profile.extends:
        return profile
    base = _load(profile.extends, (*extending, name))
    counts = {rule.check for rule in profile.rules if rule.most is not None}
    inherited = tuple(
        rule
        for rule in base.rules
        if (not profile.inherits or rule.source in profile.inherits)
        and not (rule.check in counts and rule.check in COUNTED)
    )
    merged = msgspec.structs.replace(
        profile,
        sources={**base.sources, **profile.sources},
        rules=(*profile.rules, *inherited),
        accepted=profile.accepted or base.accepted,
    )
    for problem in _faults(merged):
        raise BadData(problem, name)
    return merged


def _find_file(name: str, engines: Callable[[], Iterable[str]]) -> Profile:
    if name in profile_names():
        return read_profile(_FOLDER / f"{name}{_SUFFIX}")
    path = Path(name)
    if path.suffix == _SUFFIX or path.is_file():
        return read_profile(path)
    near = closest_names(name, (*profile_names(), *engines()))
    hint = f"there are {', '.join(profile_names())}, engines, or FILE.toml"
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    raise BadUsage("no such target", name, hint)


def load_profiles(
    targets: str,
    engine: Callable[[str], Profile | None] = lambda _name: None,
    engines: Callable[[], Iterable[str]] = tuple,
) -> list[Profile]:
    """Return the profiles of a list of names, with commas between; `all` for all.

    Args:
        targets: The names.
        engine: From a name without a profile to an engine's profile, or None.
        engines: Returns names of engines that a misspelt name may mean.

    Raises:
        BadUsage: it is empty, no such target exists, or two have one name.
        NoInput: no such file exists.
        BadData: a file is not a profile.
    """
    names = [name.strip() for name in targets.split(",") if name.strip()]
    if not names:
        raise BadUsage("no target", "--for", f"there are {', '.join(profile_names())}")
    if names == ["all"]:
        names = list(profile_names())
    profiles = [
        (None if name in profile_names() else engine(name)) or _load(name, (), engines)
        for name in dict.fromkeys(names)
    ]
    for name, count in Counter(profile.name for profile in profiles).items():
        if count > 1:
            hint = "give one of the files another `name`"
            raise BadUsage("two targets of one name", name, hint)
    return profiles


def read_profile(path: Path) -> Profile:
    """Return the profile in a file; every typo in it is an error.

    Raises:
        NoInput: no such file exists.
        BadData: the file is not a profile.
    """
    try:
        tables = tomllib.loads(refuse_large(path).read_text("utf-8"))
    except OSError as error:
        raise NoInput(str(error.strerror), str(path)) from error
    except (ValueError, RecursionError) as error:
        raise BadData(f"not TOML: {error}", str(path)) from error
    try:
        profile = msgspec.convert(tables, Profile)
        for problem in () if profile.extends else _faults(profile):
            raise BadData(problem, str(path))
    except msgspec.ValidationError as error:
        raise BadData(str(error), str(path)) from error
    return profile


def _meant(name: str, names: tuple[str, ...] | frozenset[str]) -> str:
    near = closest_names(name, sorted(names))
    return f": did you mean {near[0]!r}?" if near else ""


def _faults(profile: Profile) -> Iterator[str]:
    keywords = KNOWN_KEYWORDS | _MORE_KEYWORDS
    for name in profile.accepted:
        if name not in keywords:
            yield f"unknown keyword {name!r} in accepted{_meant(name, keywords)}"
    for index, rule in enumerate(profile.rules):
        where = f" in rules[{index}]"
        if rule.check not in PARAMETERS:
            near = _meant(rule.check, tuple(PARAMETERS))
            yield f"unknown check {rule.check!r}{where}{near}"
            continue
        if rule.source not in profile.sources:
            near = _meant(rule.source, tuple(profile.sources))
            yield f"unknown source {rule.source!r}{where}{near}"
        needed, optional = PARAMETERS[rule.check]
        fields = set(msgspec.structs.asdict(rule)) - _ALWAYS
        used = {name for name in fields if getattr(rule, name) not in ((), None)}
        for name in sorted(needed - used):
            yield f"{rule.check!r}{where} needs {name!r}"
        for name in sorted(used - needed - optional):
            yield f"{rule.check!r}{where} takes no {name!r}"
        words = (*(rule.names if rule.check in _OF_KEYWORDS else ()), *rule.beside)
        for name in words:
            if name not in keywords:
                yield f"unknown keyword {name!r}{where}{_meant(name, keywords)}"
