"""Providers: how a kind of server is asked for a text, and how its stream is read.

`--model NAME:MODEL` names one, `--model NAME:URL#MODEL` at another address; a bare URL
is a server with OpenAI's chat completions (`CHAT`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.registry import Registry
from evaluation.servers.responses import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest


#: The way in which nothing is asked for but the prompt.
PROMPT_ALONE: Final = "none"
#: What requests call the schema; servers want a name for it.
ANSWER: Final = "answer"


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A kind of server: address, key, request, stream, and its ways to ask."""

    #: What stands before the model's name; empty for a bare URL.
    name: str
    #: The address where the user gives none.
    base: str = ""
    #: Environment variables that may hold the key; the first one that is set counts.
    keys: tuple[str, ...] = ("OPENAI_API_KEY",)
    #: The headers that carry a key.
    headers: Callable[[str], Mapping[str, str]] = _bearer
    #: Where texts are asked for, and where models are listed, below the address.
    path: str = "/chat/completions"
    models: str = "/models"
    #: The request for a text of a model, without a schema.
    body: Callable[[str, GenerationRequest], dict[str, Json]]
    #: Adds an event of the stream to the answer.
    read: Callable[[bytes, ServerAnswer], None]
    #: Parameters that a model may refuse, as `Parameters` takes them.
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: Its ways to ask for a schema, as `--engine` calls them (`json` mode, a forced
    #: `tool`, `strict` structured outputs), to a request's members.
    ways: Mapping[str, Callable[[Json], Mapping[str, Json]]]
    #: The profile of schemas that tools and strict outputs take
    #: (`curation.fit.profile`); empty: the server tells itself.
    profile: str = ""
    #: Paths at which such a server describes itself, beside its list of models.
    described_at: tuple[str, ...] = ()
    #: Takes what it answers there, by path; returns which library constrains the
    #: text, empty where that is not told.
    backend: Callable[[Mapping[str, Json]], str] = lambda _answers: ""
    #: Members that keep the prompts of each way out of its cache of the others'.
    uncached: Callable[[str], Mapping[str, Json]] = lambda _way: {}

    #: The vendor whose interface of batches it has; empty: it has none.
    batches: str = ""
    #: Members that ask for a level of reasoning; None if there is no such choice.
    effort: Callable[[str], Mapping[str, Json]] | None = None
    #: The lowest level at which models reason.
    least_effort: str = "low"

    def request(
        self,
        model: str,
        request: GenerationRequest,
        way: str,
        schema: str | None,
        effort: str = "",
    ) -> dict[str, Json]:
        """Return the request for a text.

        Args:
            model: The model's name.
            request: What is wanted.
            way: The way in which the schema is asked for.
            schema: The schema's text; None sends none.
            effort: The level of reasoning; empty for the server's own.
        """
        body = {**self.body(model, request), **self.uncached(way)}
        more = [] if self.effort is None or not effort else [self.effort(effort)]
        if schema is not None and way != PROMPT_ALONE:
            more.append(self.ways[way](json.loads(schema)))
        for members in more:
            for name, value in members.items():
                own = body.get(name)
                if isinstance(own, dict) and isinstance(value, dict):
                    body[name] = {**own, **value}
                else:
                    body[name] = value
        return body


def system_of(request: GenerationRequest) -> str:
    """Return the system turns of a request; empty if it has none."""
    own = (it.content for it in request.messages if it.role == "system")
    return "\n\n".join(own)


def turns(request: GenerationRequest, without: str = "") -> list[Json]:
    """Return the conversation of a request, each turn with `role` and `content`."""
    return [
        {"role": message.role, "content": message.content}
        for message in request.messages
        if message.role != without
    ]


def _chat_body(model: str, request: GenerationRequest) -> dict[str, Json]:
    return {
        "model": model,
        "messages": turns(request),
        "max_tokens": request.budget,
        "temperature": request.temperature,
        "seed": request.seed % 2**31,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


class _Function(msgspec.Struct):
    """A piece of the arguments with which a tool is called."""

    arguments: str | None = None


class _Call(msgspec.Struct):
    """A call of a tool."""

    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    """What one event adds to the answer."""

    content: str | None = None
    #: How a model refuses, where its server has a place of its own for that.
    refusal: str | None = None
    #: What a reasoning model thinks, by either of the names that servers use.
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    """One of the answers that are written at the same time; we ask for one."""

    delta: _Delta | None = None
    #: The whole answer of a server that does not stream.
    message: _Delta | None = None
    finish_reason: str | None = None


class _UsageDetails(msgspec.Struct):
    """What the tokens of an answer are made of."""

    reasoning_tokens: float | None = None


class _Usage(msgspec.Struct):
    """The tokens that the server counted."""

    prompt_tokens: float | None = None
    #: Those of the reasoning are among them.
    completion_tokens: float | None = None
    completion_tokens_details: _UsageDetails | None = None
    #: SGLang's place for them; its 0 may be untold.
    reasoning_tokens: float | None = None


class _Event(StreamEvent):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


def _read_chat(data: bytes, answer: ServerAnswer) -> None:
    event = decode_event(data, _Event)
    if event.usage is not None and event.usage != _Usage():
        details = event.usage.completion_tokens_details or _UsageDetails()
        answer.count(
            event.usage.prompt_tokens,
            event.usage.completion_tokens,
            event.usage.reasoning_tokens or details.reasoning_tokens,
        )
    for choice in (event.choices or [])[:1]:
        delta = choice.delta or choice.message or _Delta()
        # A server that knows both names says the same under both.
        answer.reasoning += delta.reasoning_content or delta.reasoning or ""
        answer.refusal += delta.refusal or ""
        answer.write(delta.content or "")
        for call in delta.tool_calls or ():
            answer.write(call.function.arguments or "")
        answer.finish = choice.finish_reason or answer.finish


def json_mode(_schema: Json) -> Mapping[str, Json]:
    """Ask for any JSON object, as OpenAI's API does."""
    return {"response_format": {"type": "json_object"}}


def response_format(schema: Json, *, strict: bool = True) -> Mapping[str, Json]:
    """Ask for a schema by `response_format`, as OpenAI's API does."""
    about: Json = {"name": ANSWER, "strict": strict, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": about}}


def forced_tool(schema: Json) -> Mapping[str, Json]:
    """Ask for a call of a tool with these parameters, as OpenAI's API does."""
    tool: Json = {"name": ANSWER, "strict": True, "parameters": schema}
    return {
        "tools": [{"type": "function", "function": tool}],
        "tool_choice": {"type": "function", "function": {"name": ANSWER}},
    }


#: A server with OpenAI's chat completions.
CHAT: Final = Provider(
    name="",
    body=_chat_body,
    read=_read_chat,
    parameters={
        "max_tokens": "max_completion_tokens",
        "temperature": "",
        "seed": "",
        "stream_options": "",
        "reasoning_effort": "",
    },
    effort=lambda level: {"reasoning_effort": level},
    ways={
        "json": json_mode,
        "tool": forced_tool,
        "strict": partial(response_format, strict=False),
    },
    described_at=("/version",),
)
_REGISTRY = Registry[Provider](
    noun="provider",
    classes=(Provider,),
    attribute="PROVIDER",
    package="evaluation.servers.providers",
)


@cache
def providers() -> Mapping[str, Provider]:
    """Return every provider by name.

    Raises:
        BadConfiguration: two have one name.
    """
    return MappingProxyType(_REGISTRY.by_name())


def is_served(model: str) -> bool:
    """Return whether `--model` names a model behind a server.

    Example:
        >>> is_served("anthropic:claude-sonnet-5"), is_served("smollm2")
        (True, False)
    """
    name, colon, _ = model.partition(":")
    return bool(colon) and (name in {"http", "https"} or name in providers())


def split_provider(model: str) -> tuple[Provider, str]:
    """Return the provider of a model behind a server, and its address with the model.

    Example:
        >>> split_provider("anthropic:claude-sonnet-5")[1]
        'https://api.anthropic.com/v1#claude-sonnet-5'
    """
    name, _, rest = model.partition(":")
    if name not in providers():
        return CHAT, model
    provider = providers()[name]
    if rest.startswith(("http://", "https://")):
        return provider, rest
    return provider, f"{provider.base}#{rest}"
