"""No participant finds the prompts of another in a server's cache."""

from __future__ import annotations

import pytest

from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.servers.client import ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.provider import CHAT, providers
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


@pytest.mark.parametrize(
    ("provider", "said"),
    [("llama_server", "cache_prompt"), ("vllm", "cache_salt"), ("", "asked in turns")],
)
def test_the_header_says_what_is_done_about_a_cache(provider: str, said: str) -> None:
    """By the member of a request that does it, else that participants take turns."""
    kind = providers()[provider] if provider else CHAT
    connection = ServerConnection(base="http://localhost/v1", model="m", provider=kind)
    (server,) = server_participants(connection, ["none"])
    assert said in str(server.header()["prompt_cache"])
