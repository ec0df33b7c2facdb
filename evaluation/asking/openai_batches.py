"""Output of OpenAI's batch interface as responses: chat completions, and responses.

Source: the API reference of the batch object, of chat completions and of responses
(platform.openai.com/docs/api-reference). `custom_id` is the record's key.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from evaluation.core.suite_records import SuiteResponse

#: What finish reasons of either interface are called here.
_FINISH: Final = {"max_output_tokens": "length", "completed": "stop"}


class _Details(msgspec.Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    """Tokens, by the names of both interfaces."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    completion_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message = _Message()
    index: int = 0
    finish_reason: str | None = None


class _Part(msgspec.Struct, frozen=True):
    """A part of a message, or of a reasoning item, of the responses interface."""

    type: str = ""
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct, frozen=True):
    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None


class _Incomplete(msgspec.Struct, frozen=True):
    reason: str = ""


class _Body(msgspec.Struct, frozen=True):
    model: str = "model"
    choices: list[_Choice] = []
    output: list[_Item] = []
    status: str = ""
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    response: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


def batch_responses(value: Any) -> list[SuiteResponse]:  # noqa: ANN401 - any JSON value
    """Return the responses of one line of a batch's output, one for each choice.

    Args:
        value: The line's JSON value, which has a `custom_id`.

    Raises:
        ValueError: it is no such line.
    """
    line = msgspec.convert(value, _Line)
    status = (line.response or {}).get("status_code", 200)
    body = (line.response or {}).get("body") or {}
    if line.error or status != 200 or line.response is None:  # noqa: PLR2004 (success)
        model = body.get("model") if isinstance(body, dict) else None
        return [
            SuiteResponse(
                record=line.custom_id,
                model=str(model or "model"),
                error=_error(line.error or body.get("error") or {}, status),
            )
        ]
    answer = msgspec.convert(body, _Body)
    if answer.choices:
        return [_of_choice(line.custom_id, answer, choice) for choice in answer.choices]
    return [_of_items(line.custom_id, answer)]


def _error(error: Any, status: Any) -> str:  # noqa: ANN401 - any JSON value
    message = error.get("message") if isinstance(error, dict) else error
    return f"HTTP {status}: {message or 'no answer'}"


def _of_choice(record: str, answer: _Body, choice: _Choice) -> SuiteResponse:
    """Return one choice as a response; the first one has the tokens of all."""
    message = choice.message
    usage = answer.usage if choice.index == 0 else None
    refused = message.refusal is not None and not message.content
    return SuiteResponse(
        record=record,
        model=answer.model,
        repeat=choice.index,
        text=message.refusal if refused else message.content,
        reasoning=message.reasoning_content or message.reasoning or "",
        finish="refusal" if refused else choice.finish_reason or "",
        prompt_tokens=_prompt(usage),
        output_tokens=_output(usage),
        reasoning_tokens=_thinking(usage),
    )


def _of_items(record: str, answer: _Body) -> SuiteResponse:
    """Return the items of the responses interface as one response."""
    parts = [
        part
        for item in answer.output
        if item.type == "message"
        for part in item.content or ()
    ]
    thoughts = [
        part.text
        for item in answer.output
        if item.type == "reasoning"
        for part in (*(item.content or ()), *(item.summary or ()))
    ]
    refusal = "".join(part.refusal for part in parts)
    ended = answer.incomplete_details.reason if answer.incomplete_details else ""
    return SuiteResponse(
        record=record,
        model=answer.model,
        text="".join(part.text for part in parts) or refusal or None,
        reasoning="\n".join(thoughts),
        finish="refusal" if refusal else _FINISH.get(ended or answer.status, ended),
        prompt_tokens=_prompt(answer.usage),
        output_tokens=_output(answer.usage),
        reasoning_tokens=_thinking(answer.usage),
    )


def _prompt(usage: _Usage | None) -> int | None:
    if usage is None:
        return None
    chat = usage.prompt_tokens
    return usage.input_tokens if chat is None else chat


def _output(usage: _Usage | None) -> int | None:
    if usage is None:
        return None
    chat = usage.completion_tokens
    return usage.output_tokens if chat is None else chat


def _thinking(usage: _Usage | None) -> int | None:
    if usage is None:
        return None
    details = usage.completion_tokens_details or usage.output_tokens_details
    return details.reasoning_tokens if details else None
