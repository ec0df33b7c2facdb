"""No participant finds the prompts of another in a server's cache."""

from __future__ import annotations

from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.servers.providers import llama_server, vllm

_REQUEST = GenerationRequest(
    record=Record(id="r", group="g", schema="{}"),
    messages=(Message(role="user", content="Hello"),),
    budget=8,
)


def test_llama_cpp_keeps_no_prompt() -> None:
    """It would read the prompt of whoever is asked second from its cache."""
    body = llama_server.PROVIDER.request("m", _REQUEST, "strict", "{}")
    assert body["cache_prompt"] is False


def test_vllm_keeps_the_prompts_of_each_way_apart() -> None:
    """Texts of one way share what they begin with, as they do in use."""
    salts = [
        vllm.PROVIDER.request("m", _REQUEST, way, "{}")["cache_salt"]
        for way in ("strict", "strict", "json")
    ]
    assert salts[0] == salts[1] != salts[2]
