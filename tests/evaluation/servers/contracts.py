"""Fakes of providers that refuse what the real ones document, and stream as they do.

What a request may hold is data with a source; which schemas are taken is told by the
profiles of `csbdata fit`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curation.fit.profile import load_profile
from curation.fit.verdict import FAILING, judge_fit
from evaluation.servers.provider import providers
from tests.evaluation.servers.loopback import Said, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Tokens that every fake counts: of the prompt, of the answer with its thought.
PROMPT, OUTPUT, THOUGHT = 7, 5, 2
#: Of a prompt where that is held against its length.
LONG_PROMPT = 7000
#: What stands for words in the body of a refusal.
_SENTENCE, _MEMBER = "<sentence>", "<member>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a provider takes, how it refuses, and how it streams a text."""

    #: Where its rules stand.
    source: str
    #: The path below the address, and the header with the key.
    path: str = "/v1/chat/completions"
    key: tuple[str, str] = ("authorization", "Bearer a-key")
    #: The profile that tells which schemas are taken; empty for any.
    profile: str = ""
    #: The members that a request may have, by the place of their object; those of an
    #: object that is not named are let through, as such a server does.
    members: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    #: Where a schema may stand, with the way to ask that puts it there.
    schemas: dict[str, tuple[str | int, ...]]
    #: The body of a refusal.
    error: dict[str, Any]
    #: Says the pieces of a text, in a call of a tool or not.
    stream: Callable[[Sequence[str], bool], list[bytes]]
    ways: tuple[str, ...] = ("none", "json", "tool", "strict")
    #: Whether answers come after a thought, and whether its tokens are counted.
    thinks: bool = True
    counts_thought: bool = True

    def refused(self, sentence: str, member: str) -> Said:
        """Return the refusal of a request for a reason, with the member to blame."""
        text = json.dumps(self.error)
        for mark, words in ((_SENTENCE, sentence), (_MEMBER, member)):
            text = text.replace(mark, json.dumps(words)[1:-1])
        return refusal(400, json.loads(text))

    def schema(self, body: dict[str, Any], way: str) -> Any:  # noqa: ANN401 (JSON)
        """Return the schema of a request in one way to ask; None if it has none."""
        return _at(body, self.schemas.get(way, ("?",)))

    def reply(self, body: dict[str, Any], text: str) -> Said:
        """Return the answer to a request."""
        for holder, allowed in self.members.items():
            for name in _at(body, holder) or {}:
                if name not in allowed:
                    return self.refused(f"{name}: unknown or unsupported", name)
        for way, place in self.schemas.items():
            schema = _at(body, place)
            for finding in self._findings(schema, tool=way == "tool"):
                return self.refused(f"Invalid schema: {finding}", str(place[0]))
        is_tool = bool(self.schema(body, "tool"))
        return Said(pieces=self.stream([text[:3], text[3:]], is_tool))

    def _findings(self, schema: Any, *, tool: bool) -> Iterator[str]:  # noqa: ANN401 (JSON)
        if schema is not None and self.profile:
            for finding in judge_fit(schema, load_profile(self.profile), tool=tool):
                if finding.effect in FAILING:
                    yield finding.sentence


def _at(value: Any, place: tuple[str | int, ...]) -> Any:  # noqa: ANN401 (JSON)
    for step in place:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _members(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _events(*events: dict[str, Any], named: bool = False) -> list[bytes]:
    return [
        (f"event: {event['type']}\n" if named else "").encode()
        + b"data: %b\n\n" % json.dumps(event).encode()
        for event in events
    ]


def _chat_stream(
    reasoning: str, **usage: object
) -> Callable[[Sequence[str], bool], list[bytes]]:
    """Return the stream of a server whose thoughts have a name, or are not told."""
    counted = {"prompt_tokens": PROMPT, "completion_tokens": OUTPUT, **usage}

    def choice(finish: str | None = None, **delta: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def stream(pieces: Sequence[str], is_tool: bool) -> list[bytes]:  # noqa: FBT001 (as the contract has it)
        def delta(piece: str) -> dict[str, Any]:
            call = {"index": 0, "type": "function", "function": {"arguments": piece}}
            return choice(tool_calls=[call]) if is_tool else choice(content=piece)

        thought = [choice(**{reasoning: "Hm."})] if reasoning else []
        return [
            *_events(choice(role="assistant", content=None), *thought),
            *_events(*map(delta, pieces), choice("tool_calls" if is_tool else "stop")),
            *_events({"choices": [], "usage": counted}),
            b"data: [DONE]\n\n",
        ]

    return stream


def _responses_stream(pieces: Sequence[str], is_tool: bool) -> list[bytes]:  # noqa: FBT001 (as the contract has it)
    kind = "function_call_arguments" if is_tool else "output_text"
    usage = {
        "input_tokens": PROMPT,
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": THOUGHT},
    }
    item: dict[str, Any] = {"type": "message", "content": [{"text": "".join(pieces)}]}
    if is_tool:
        item = {"type": "function_call", "arguments": "".join(pieces)}
    whole = {"status": "completed", "output": [item], "usage": usage}
    return _events(
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        *({"type": f"response.{kind}.delta", "delta": piece} for piece in pieces),
        {"type": "response.completed", "response": whole},
        named=True,
    )


def _ollama_stream(pieces: Sequence[str], _is_tool: bool) -> list[bytes]:  # noqa: FBT001 (as the contract has it)
    counted = {"prompt_eval_count": LONG_PROMPT, "eval_count": OUTPUT}
    lines: list[dict[str, Any]] = [
        {"message": {"role": "assistant", "content": "", "thinking": "Hm."}},
        *({"message": {"role": "assistant", "content": piece}} for piece in pieces),
        {"message": {"content": ""}, "done": True, "done_reason": "stop", **counted},
    ]
    return [json.dumps({"model": "small", **line}).encode() + b"\n" for line in lines]


def _anthropic_stream(pieces: Sequence[str], is_tool: bool) -> list[bytes]:  # noqa: FBT001 (as the contract has it)
    def delta(piece: str) -> dict[str, Any]:
        if is_tool:
            return {"type": "input_json_delta", "partial_json": piece}
        return {"type": "text_delta", "text": piece}

    thought = {"type": "thinking_delta", "thinking": "Hm."}
    details = {"thinking_tokens": THOUGHT}
    return _events(
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": PROMPT, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {}},
        {"type": "content_block_delta", "index": 0, "delta": thought},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 1, "delta": delta(piece)}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {
                "stop_reason": "tool_use" if is_tool else "end_turn",
                "stop_sequence": None,
            },
            "usage": {"output_tokens": OUTPUT, "output_tokens_details": details},
        },
        {"type": "message_stop"},
        named=True,
    )


def _gemini_stream(pieces: Sequence[str], is_tool: bool) -> list[bytes]:  # noqa: FBT001 (as the contract has it)
    def candidate(part: dict[str, Any], **more: str) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [part]}, "index": 0, **more}]}

    usage = {
        "promptTokenCount": PROMPT,
        "candidatesTokenCount": OUTPUT - THOUGHT,
        "thoughtsTokenCount": THOUGHT,
    }
    parts: list[dict[str, Any]] = [{"text": piece} for piece in pieces]
    if is_tool:
        call = {"name": "answer", "args": json.loads("".join(pieces))}
        parts = [{"functionCall": call}]
    return _events(
        candidate({"text": "Hm.", "thought": True}),
        *map(candidate, parts),
        {**candidate({"text": ""}, finishReason="STOP"), "usageMetadata": usage},
    )


_OPENAI_ERROR = {
    "message": _SENTENCE,
    "type": "invalid_request_error",
    "param": _MEMBER,
    "code": "unsupported_parameter",
}
_CHAT_SCHEMAS: dict[str, tuple[str | int, ...]] = {
    "strict": ("response_format", "json_schema", "schema"),
    "tool": ("tools", 0, "function", "parameters"),
}
CONTRACTS = {
    # Reasoning models: `max_tokens` and `temperature` are refused.
    "openai": Contract(
        source="openai 3.57.0 (PyPI), types/chat/completion_create_params.py",
        profile="openai-strict",
        members={
            (): _members(
                "model messages stream stream_options seed "
                "max_completion_tokens response_format tools tool_choice "
                "reasoning_effort"
            )
        },
        schemas=_CHAT_SCHEMAS,
        error={"error": _OPENAI_ERROR},
        stream=_chat_stream(
            "", completion_tokens_details={"reasoning_tokens": THOUGHT}
        ),
    ),
    "responses": Contract(
        source="openai 3.57.0 (PyPI), types/responses/response_create_params.py",
        path="/v1/responses",
        profile="openai-strict",
        members={
            (): _members(
                "model input max_output_tokens store stream text tools "
                "tool_choice reasoning"
            )
        },
        schemas={
            "strict": ("text", "format", "schema"),
            "tool": ("tools", 0, "parameters"),
        },
        error={"error": _OPENAI_ERROR},
        stream=_responses_stream,
    ),
    "ollama": Contract(
        source="ollama/ollama, docs/api.md: POST /api/chat",
        path="/v1/chat",
        schemas={"strict": ("format",)},
        error={"error": _SENTENCE},
        stream=_ollama_stream,
        ways=("none", "json", "strict"),
        counts_thought=False,
    ),
    "anthropic": Contract(
        source="anthropic 2.14.0 (PyPI), types/message_create_params.py",
        path="/v1/messages",
        key=("x-api-key", "a-key"),
        profile="anthropic",
        members={
            (): _members(
                "model messages max_tokens stream system tools tool_choice "
                "output_config thinking metadata stop_sequences service_tier"
            ),
            ("output_config",): _members("effort format"),
        },
        schemas={
            "strict": ("output_config", "format", "schema"),
            "tool": ("tools", 0, "input_schema"),
        },
        error={
            "type": "error",
            "error": {"type": "invalid_request_error", "message": _SENTENCE},
        },
        stream=_anthropic_stream,
        ways=("none", "tool", "strict"),
    ),
    # As a model that takes no seed.
    "gemini": Contract(
        source="google-genai 3.6.1 (PyPI), types.py: GenerationConfig",
        path="/v1/models/small:streamGenerateContent?alt=sse",
        key=("x-goog-api-key", "a-key"),
        profile="gemini",
        members={
            (): _members(
                "contents systemInstruction generationConfig tools toolConfig "
                "safetySettings cachedContent"
            ),
            ("generationConfig",): _members(
                "maxOutputTokens temperature responseMimeType "
                "responseJsonSchema thinkingConfig topP topK"
            ),
        },
        schemas={
            "strict": ("generationConfig", "responseJsonSchema"),
            "tool": ("tools", 0, "functionDeclarations", 0, "parametersJsonSchema"),
        },
        error={
            "error": {
                "code": 400,
                "message": f'Unknown name "{_MEMBER}": {_SENTENCE}',
                "status": "INVALID_ARGUMENT",
            }
        },
        stream=_gemini_stream,
    ),
    # These three let through what they do not know. vLLM counts no reasoning tokens.
    "vllm": Contract(
        source="vllm/entrypoints/openai/engine/protocol.py at 040a2cc2, November 2026",
        profile="vllm",
        schemas={
            "strict": ("structured_outputs", "json"),
            "tool": ("tools", 0, "function", "parameters"),
        },
        error={"error": {**_OPENAI_ERROR, "type": "BadRequestError", "code": 400}},
        stream=_chat_stream("reasoning"),
        counts_thought=False,
    ),
    "sglang": Contract(
        source="python/sglang/srt/entrypoints/openai/protocol.py at 004c82e0",
        profile="sglang",
        schemas=_CHAT_SCHEMAS,
        error={"object": "error", "message": _SENTENCE, "param": None, "code": 400},
        stream=_chat_stream("reasoning_content", reasoning_tokens=THOUGHT),
    ),
    "llama_server": Contract(
        source="ggml-org/llama.cpp, tools/server/README.md at 25d5b0c5",
        profile="llama.cpp",
        schemas={"strict": ("response_format", "schema")},
        error={"error": {"code": 400, "message": _SENTENCE}},
        stream=_chat_stream("reasoning_content"),
        ways=("none", "json", "strict"),
        counts_thought=False,
    ),
}
CONTRACTS |= {
    name: replace(
        CONTRACTS["openai"],
        source=source,
        profile="",
        members={},
        stream=_chat_stream("reasoning", reasoning_tokens=THOUGHT),
    )
    for name, source in (
        ("groq", "console.groq.com/docs"),
        ("mistral", "docs.mistral.ai/api"),
        ("openrouter", "openrouter.ai/docs"),
    )
}
CONTRACTS["azure"] = replace(
    CONTRACTS["groq"],
    source="learn.microsoft.com: v1 API",
    key=("api-key", "a-key"),
    profile="openai-strict",
)
#: Where keys are taken from.
KEYS = sorted({name for it in providers().values() for name in it.keys})


def ended(provider: str, text: str, finish: str) -> Said:
    """Return a whole answer that ended for a reason, which may be in no list."""
    paths = providers()[provider].answer
    forms: dict[str, dict[str, Any]] = {
        "": {"choices": [{"message": {"content": text}, "finish_reason": finish}]},
        "anthropic": {"content": [{"text": text}], "stop_reason": finish},
        "gemini": {
            "candidates": [
                {"content": {"parts": [{"text": text}]}, "finishReason": finish}
            ]
        },
        "responses": {
            "status": "incomplete",
            "incomplete_details": {"reason": finish},
            "output": [{"type": "message", "content": [{"text": text}]}],
        },
        "ollama": {"message": {"content": text}, "done": True, "done_reason": finish},
    }
    whole = next(it for name, it in forms.items() if providers()[name].answer == paths)
    if finish.startswith("blocked_"):
        whole = {"promptFeedback": {"blockReason": finish.removeprefix("blocked_")}}
    if finish in {"completed", "failed", "cancelled"}:
        whole["status"] = finish
    return Said(pieces=[json.dumps(whole).encode()])
