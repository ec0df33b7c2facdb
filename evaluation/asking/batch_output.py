"""Responses in the output of batches, and the names of records there.

Sources: the API references of batches (platform.openai.com, platform.claude.com). The
`custom_id` is that of `csbdata suite prompts`, or the record's key.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

import msgspec

from evaluation.core.records import FREE, Response
from evaluation.generation.text_generation import FINISHES
from evaluation.servers.batches import BatchLine
from evaluation.servers.provider import providers
from evaluation.servers.responses import BrokenStream, ServerAnswer
from evaluation.servers.writer import answer_tokens, text_ending


def batch_responses(value: Any) -> list[Response]:  # noqa: ANN401 - any JSON value
    """Return the responses of one line of a batch's output, one for each choice.

    A request that failed may name no model; its response has an empty name then.

    Args:
        value: The line's JSON value, which has a `custom_id`.

    Raises:
        ValueError: it is no such line.
    """
    line = msgspec.convert(value, BatchLine)
    record, condition = names_of(line.custom_id)
    status, body, error = line.outcome()
    if error is not None:
        named = body.get("model")
        message = error.get("message") if isinstance(error, dict) else error
        response = Response(
            record=record,
            condition=condition,
            model=str(named or ""),
            error=f"HTTP {status}: {message or 'no answer'}".removeprefix("HTTP 0: "),
        )
        return [response]
    try:
        return [
            # The first one has the tokens of all.
            _of_body(record, condition, repeat, {**body, **members})
            for repeat, members in enumerate(_choices(body))
        ]
    except (BrokenStream, TypeError, AttributeError) as broken:
        raise ValueError(str(broken)) from None


def _choices(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the members by which the bodies of single choices differ."""
    first, *others = body.get("choices") or [None]
    later = [{"choices": [it], "usage": None} for it in others]
    return [{} if first is None else {"choices": [first]}, *later]


def _of_body(
    record: str, condition: str, repeat: int, body: dict[str, Any]
) -> Response:
    """Return the response of a whole body, by the provider whose form it has."""
    name = "anthropic" if "content" in body else "openai"
    answer = ServerAnswer()
    providers()[name].read(msgspec.json.encode(body), answer)
    ending = text_ending(answer)
    return Response(
        record=record,
        condition=condition,
        model=str(body.get("model") or "model"),
        repeat=repeat,
        text=answer.text or answer.refusal or None,
        reasoning=answer.reasoning,
        finish=FINISHES.get(ending, ending.value) or answer.finish,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer_tokens(answer, apart=not answer.reasoning),
        reasoning_tokens=answer.reasoning_tokens,
    )


#: What stands behind the condition in a `custom_id` of ours.
_DIGEST: Final = re.compile(r"(?P<condition>[a-z-]+)-(?P<record>[0-9a-f]{40})")


def custom_id(record: str, condition: str) -> str:
    """Return what a batch calls a record that is asked under a condition.

    Vendors take 64 letters, digits and dashes.
    """
    digest = sha256(record.encode()).hexdigest()[:40]
    return f"{condition.replace('@', '-')}-{digest}"


def names_of(custom: str) -> tuple[str, str]:
    """Return the record and the condition of a `custom_id`; of others the first."""
    match = _DIGEST.fullmatch(custom)
    if match is None:
        return custom, FREE
    return match["record"], match["condition"].replace("-", "@")
