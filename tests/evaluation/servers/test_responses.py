"""What servers say against a request is read for what it is about."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.servers.responses import RefusalCause, ServerAnswer, read_refusal

_SAID: dict[str, tuple[object, RefusalCause]] = {
    "openai schema": (
        {
            "error": {
                "message": "Invalid schema for response_format 'answer': In (), "
                "'additionalProperties' is required to be supplied and to be false.",
                "type": "invalid_request_error",
                "param": "response_format",
                "code": None,
            }
        },
        RefusalCause.SCHEMA,
    ),
    "openai temperature": (
        {
            "error": {
                "message": "Unsupported value: 'temperature' does not support 0.0 with "
                "this model. Only the default (1) value is supported.",
                "type": "invalid_request_error",
                "param": "temperature",
                "code": "unsupported_value",
            }
        },
        RefusalCause.OTHER,
    ),
    "openai context": (
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. But "
                "your messages resulted in 9001 tokens.",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
        RefusalCause.CONTEXT,
    ),
    "filter": (
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering a "
                "content management policy.",
                "param": "prompt",
                "code": "content_filter",
            }
        },
        RefusalCause.FILTER,
    ),
    "vllm": (
        {
            "object": "error",
            "message": "The grammar specification contains unsupported features",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        RefusalCause.SCHEMA,
    ),
    "llama-server": (
        {"error": {"code": 400, "message": "failed to parse grammar"}},
        RefusalCause.SCHEMA,
    ),
    "llama-server context": (
        {"error": {"message": "the request exceeds the available context size"}},
        RefusalCause.CONTEXT,
    ),
    "fastapi": (
        {
            "detail": [
                {
                    "loc": ["body", "temperature"],
                    "msg": "Input should be greater than 0",
                    "input": {"response_format": {"type": "json_schema"}},
                }
            ]
        },
        RefusalCause.OTHER,
    ),
    "fastapi schema": (
        {"detail": [{"loc": ["body", "response_format", "json_schema"], "msg": "no"}]},
        RefusalCause.SCHEMA,
    ),
    "no words": ({"error": {"message": "bad request"}}, RefusalCause.UNKNOWN),
    "a string": ({"error": "unsupported keyword: not"}, RefusalCause.SCHEMA),
}


@pytest.mark.parametrize("said", _SAID)
def test_a_refusal_is_about_what_it_names(said: str) -> None:
    """A schema is blamed where it is named, and not where something else is."""
    content, cause = _SAID[said]
    assert read_refusal(json.dumps(content)).cause is cause


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "detail", "message", "loc", "msg", "param"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON.map(json.dumps) | st.text())
def test_any_body_is_read(body: str) -> None:
    """Whatever a server sends, it is one line of bounded length with some cause."""
    words = read_refusal(body)
    assert words.cause in RefusalCause
    assert len(str(words)) <= 300
    assert "\n" not in str(words)


@pytest.mark.parametrize("number", [-1, 2.0**40, float("nan"), None])
def test_a_count_that_no_server_can_mean_is_none(number: float | None) -> None:
    """Else a limit of cost would fall, or never be reached."""
    answer = ServerAnswer()
    answer.count(number, 3)
    assert (answer.prompt_tokens, answer.tokens) == (None, 3)
