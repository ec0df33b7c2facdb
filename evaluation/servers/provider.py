"""Providers: a dated table each, of its servers' requests and answers.

`--model NAME:MODEL` names one, `--model NAME:URL#MODEL` at another address; a bare URL
is a server with OpenAI's chat completions. A table begins with those of its parents,
and `shared.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.system.errors import BadConfiguration, BadUsage
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.answers import AnswerPaths
from evaluation.servers.refusals import Refusal, RefusalClass, RefusalRule

if TYPE_CHECKING:
    from curation.core.json_types import Json


#: The way in which nothing is asked for but the prompt.
PROMPT_ALONE: Final = "none"
_PACKAGE: Final = "evaluation.servers.providers"
_SHARED: Final = "shared"
_NUMBER: Final = re.compile(r"\d+")


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a table."""


class ParameterRule(_Table, frozen=True):
    """What is done where a member of a request is refused."""

    source: str
    #: What it is sent as instead; empty: it is dropped.
    name: str = ""
    #: How refusals call it; empty: by its own name.
    words: str = ""
    #: Members dropped with it.
    with_: tuple[str, ...] = msgspec.field(default=(), name="with")


class FinishRule(_Table, frozen=True):
    """Names that servers have for one ending, in small letters."""

    reasons: tuple[str, ...]
    source: str


class BackendRule(_Table, frozen=True):
    """Where a server names the library that constrains its texts."""

    pattern: str
    path: str = ""
    name: str = "{}"


class ColdRule(_Table, frozen=True):
    """Members that keep the prompts of each way out of its cache of the others'."""

    members: dict[str, Any]
    source: str
    #: The first release that heeds them.
    since: str = ""


class UnthinkingRule(_Table, frozen=True):
    """Ways to ask that a level of reasoning excludes."""

    ways: tuple[str, ...]
    source: str


class Provider(_Table, frozen=True, dict=True, kw_only=True):
    """A kind of server: address, key, request, stream, and its ways to ask."""

    #: The prefix of the model's name; empty for a bare URL.
    name: str
    #: The day on which its lines were last held against their sources.
    date: str
    #: The table that this one begins with.
    parent: str = ""
    #: The address where the user gives none.
    base: str = ""
    #: Environment variables that may hold the key; the first set one counts.
    keys: tuple[str, ...] = ()
    #: The headers that carry a key.
    headers: dict[str, str] = {}
    #: Where texts are asked for, and where models are listed, below the address.
    path: str
    models: str = "/models"
    #: Paths at which such a server describes itself, besides its list of models.
    described_at: tuple[str, ...] = ()
    #: Its ways to ask for a schema, as `--engine` calls them (`json` mode, a forced
    #: `tool`, `strict` structured outputs), to a request's members; the one that
    #: constrains most is the last.
    ways: dict[str, dict[str, Any]] = {}
    #: Members that ask for a level of reasoning; empty without such a choice.
    effort: dict[str, Any] = {}
    unthinking: UnthinkingRule = UnthinkingRule(ways=(), source="")
    #: Members of every request: `{NAME}` is replaced (`ModelServer.request`).
    members: dict[str, Any]
    #: A turn of the conversation, and its roles where they have other names.
    turn: dict[str, Any]
    roles: dict[str, str] = {}
    #: Members for the instruction, where it is not a turn of the conversation.
    system: dict[str, Any] = {}
    #: The profile of schemas that tools and strict outputs take
    #: (`curation.fit.profile`); empty: the server reports it.
    profile: str = ""
    backend: BackendRule = BackendRule(pattern="(?!)")
    cold: ColdRule = ColdRule(members={}, source="")
    refusals: tuple[RefusalRule, ...] = ()
    parameters: dict[str, ParameterRule] = {}
    finishes: dict[TextEnding, tuple[FinishRule, ...]] = {}
    answer: AnswerPaths
    #: What each event's line begins with.
    prefix: str = "data:"
    #: No prompt has fewer tokens than its bytes by this, unless it was cut; 0 if
    #: such a server cuts none.
    bytes_a_token: int = 0

    def refusal_class(self, refusal: Refusal) -> RefusalClass:
        """Return the meaning of a refusal, by the first matching line of the table."""
        return next(rule.class_ for rule in self.refusals if rule.holds(refusal))

    @cached_property
    def _endings(self) -> Mapping[str, TextEnding]:
        return {
            reason: ending
            for ending, rules in self.finishes.items()
            for rule in rules
            for reason in rule.reasons
        }

    def ending(self, finish: str) -> TextEnding:
        """Return the ending of a text, by what its server calls it."""
        if not finish:
            return TextEnding.MODEL
        return self._endings.get(finish.lower(), TextEnding.UNKNOWN)

    def backend_told(self, answers: Mapping[str, Json]) -> str:
        """Return which library constrains the text; empty if unknown.

        Args:
            answers: The server's descriptions of itself, by path.
        """
        told = answers.get(self.backend.path) if self.backend.path else {**answers}
        text = json.dumps(told).replace("\\\\", "").replace('\\"', '"')
        match = re.search(self.backend.pattern, text)
        return self.backend.name.format(match[1]) if match else ""

    def is_cold(self, answers: Mapping[str, Json]) -> bool:
        """Return whether requests can keep the prompts of each way apart.

        A server without a known release is taken for a newer one.
        """
        told = [
            answer.get("version")
            for answer in answers.values()
            if isinstance(answer, dict)
        ]
        versions = [_numbers(it) for it in told if isinstance(it, str)]
        is_older = any(version < _numbers(self.cold.since) for version in versions)
        return bool(self.cold.members) and not is_older


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(version)))


def _merged(tables: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return a table with the lines of its parents after its own."""
    table = tables[name]
    if name == _SHARED:
        return table
    inherited = _merged(tables, table.get("parent", _SHARED))
    merged = {**inherited, "name": name, **table}
    for member in ("members", "ways", "parameters", "finishes"):
        lines = {**inherited.get(member, {}), **table.get(member, {})}
        # An empty one takes its parent's away.
        merged[member] = {name: it for name, it in lines.items() if it not in ("", {})}
    merged["refusals"] = [*table.get("refusals", ()), *inherited.get("refusals", ())]
    return merged


@cache
def providers() -> Mapping[str, Provider]:
    """Return every provider by name; the bare URL's has none.

    Raises:
        BadConfiguration: two have one name, or a table has another form.
    """
    files: dict[str, Path] = {}
    for folder in import_module(_PACKAGE).__path__:
        for file in sorted(Path(folder).glob("*.toml")):
            if file.stem in files:
                what = f"a second provider named {file.stem!r}"
                raise BadConfiguration(what, f"{files[file.stem]} and {file}")
            files[file.stem] = file
    tables: dict[str, dict[str, Any]] = {}
    found: dict[str, Provider] = {}
    try:
        for stem, file in files.items():
            tables[stem] = tomllib.loads(file.read_text("utf-8"))
        for stem in files:
            if stem != _SHARED:
                provider = msgspec.convert(_merged(tables, stem), Provider)
                found[provider.name] = provider
    except ValueError as error:
        raise BadConfiguration(str(error), str(files[stem])) from error
    return MappingProxyType(found)


def is_served(model: str) -> bool:
    """Return whether `--model` names a server's model.

    Example:
        >>> is_served("anthropic:claude-sonnet-5"), is_served("smollm2")
        (True, False)
    """
    name, colon, _ = model.partition(":")
    return bool(colon and name) and (name in {"http", "https"} or name in providers())


def split_provider(model: str) -> tuple[Provider, str]:
    """Return the provider of a server's model, and its address with the model.

    Example:
        >>> split_provider("anthropic:claude-sonnet-5")[1]
        'https://api.anthropic.com/v1#claude-sonnet-5'

    Raises:
        BadUsage: the provider has no address, and none is given.
    """
    name, _, rest = model.partition(":")
    if not name or name not in providers():
        return providers()[""], model
    provider = providers()[name]
    if rest.startswith(("http://", "https://")):
        return provider, rest
    if not provider.base:
        hint = f"say --model {name}:URL#MODEL"
        raise BadUsage(f"{name} has no address of its own", model, hint)
    return provider, f"{provider.base}#{rest}"
