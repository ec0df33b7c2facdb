"""Every provider runs against a fake that refuses what the real one documents."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

import csbdata
from curation.system.errors import BadUsage
from evaluation.core.records import Message, Record, TokenPrices
from evaluation.results.reader import open_run
from evaluation.runner.request import ModelOptions
from evaluation.servers.answers import ServerAnswer, read_event
from evaluation.servers.model_server import server_participants
from evaluation.servers.models import model_table
from evaluation.servers.provider import is_served, providers, split_provider
from tests.evaluation.measuring import texts_request
from tests.evaluation.servers.contracts import (
    CONTRACTS,
    KEYS,
    LONG_PROMPT,
    OUTPUT,
    PROMPT,
    THOUGHT,
)
from tests.evaluation.servers.loopback import Said, connection, loopback, text_request
from tests.evaluation.suites.coverage.written_texts import text_from_row
from tests.tables import table

if TYPE_CHECKING:
    from evaluation.servers.model_server import ModelServer
    from evaluation.suites.coverage.texts import GeneratedText


_SCHEMA = {
    "type": "object",
    "properties": {"deck": {"type": "integer"}},
    "required": ["deck"],
    "additionalProperties": False,
}
_UNANCHORED = {"type": "string", "pattern": "b"}
_OPTIONAL = {**_SCHEMA, "required": []}
#: By record: what is asked for, what a server writes, and whether that is right.
_ANSWERS: dict[str, tuple[dict[str, Any], str, bool]] = {
    **{f"ferry{n}": (_SCHEMA, f'{{"deck": {n}}}', True) for n in range(24)},
    **{f"barge{n}": (_OPTIONAL, '{"deck": 1}', True) for n in range(13)},
    **{f"wreck{n}": (_SCHEMA, '{"deck": "no"}', False) for n in range(12)},
    "whole": (
        {**_SCHEMA, "title": "\u00e9 <>"},
        '{"deck": 12345678901234567890}',
        True,
    ),
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "a-key")


def _run(
    folder: Path, provider: str, *ways: str, only: tuple[str, ...] = ()
) -> tuple[list[GeneratedText], Any]:
    contract = CONTRACTS[provider]
    names = sorted(_ANSWERS, key=len, reverse=True)

    def reply(body: dict[str, Any], _number: int) -> Said:
        words = json.dumps(body)
        name = next(it for it in names if f"the {it}." in words)
        return contract.reply(body, _ANSWERS[name][1])

    records = [
        Record(id=name, schema=json.dumps({"description": f"the {name}.", **schema}))
        for name, (schema, _, _) in _ANSWERS.items()
        if name in (only or _ANSWERS)
    ]
    with loopback(reply) as server:
        model = ModelOptions(
            model=f"{provider}:{server.base}#small",
            budget=90,
            batch=8,
            patience=0.0,
            prices=TokenPrices(prompt=1e6, output=1e6),
        )
        csbdata.run(texts_request(folder, records, model, *ways))
    return [text_from_row(row) for row in open_run(folder / "run").rows()], server


@pytest.mark.slow
@pytest.mark.parametrize("provider", CONTRACTS)
def test_fifty_records_in_every_way_to_ask(tmp_path: Path, provider: str) -> None:
    """Right outcomes in 100 %: no answer is lost, whatever a model refuses."""
    contract = CONTRACTS[provider]
    texts, server = _run(tmp_path, provider, *contract.ways)
    assert len(texts) == 50 * len(contract.ways)
    for text in texts:
        name = text.scored.record.rpartition("/")[2]
        assert text.compliant is _ANSWERS[name][2], (name, text.generation)
    assert {text.scored.label for text in texts} == {
        f"{provider} {it} small" for it in contract.ways
    }
    assert set(server.paths) == {contract.path}
    name, value = contract.key
    assert {headers[name] for headers in server.headers} == {value}
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not any(b"a-key" in path.read_bytes() for path in files)
    one = texts[0].generation
    prompt = LONG_PROMPT if provider == "ollama" else PROMPT
    assert one.prompt_tokens == prompt
    assert one.cost == prompt + OUTPUT
    if contract.counts_thought:
        assert (one.counted, one.reasoning_tokens) == (OUTPUT - THOUGHT, THOUGHT)


@pytest.mark.parametrize("provider", CONTRACTS)
def test_a_fake_refuses_what_its_profile_refuses(provider: str) -> None:
    """Else a run against it would prove nothing."""
    contract = CONTRACTS[provider]
    bad = {"type": "object", "not": {}, "oneOf": [{}]}
    bad["properties"] = {"a": _UNANCHORED, "b": {"minLength": 3000}}
    if contract.profile not in {"", "gemini", "vllm"}:
        place = contract.schemas["strict"]
        body: Any = bad
        for step in reversed(place):
            body = {step: body}
        assert contract.reply(body, "{}").status == 400
    assert contract.reply({"surprise": 1}, "{}").status == (
        400 if contract.members else 200
    )


def test_every_provider_has_a_contract() -> None:
    """A provider without a fake is one that nobody has tried."""
    assert set(providers()) == {*CONTRACTS, ""}


#: Where each provider's requests hold a level of reasoning.
_EFFORTS: dict[str, tuple[str, ...]] = {
    "openai": ("reasoning_effort",),
    "anthropic": ("output_config", "effort"),
    "gemini": ("generationConfig", "thinkingConfig", "thinkingLevel"),
    "responses": ("reasoning", "effort"),
    "ollama": ("think",),
}


@pytest.mark.slow
@pytest.mark.parametrize("provider", CONTRACTS)
def test_levels_of_reasoning_are_conditions(tmp_path: Path, provider: str) -> None:
    """Each is asked for where the vendor documents it, beside the way to ask."""
    specs = ("none@low", "strict@low", "strict@high")
    texts, server = _run(tmp_path, provider, *specs, only=("ferry1",))
    assert {text.scored.label for text in texts} == {
        f"{provider} {spec} small" for spec in specs
    }
    assert all(text.compliant for text in texts)
    levels = {
        reduce(
            lambda at, it: at[it], _EFFORTS.get(provider, ("reasoning_effort",)), body
        )
        for body in server.asked
    }
    assert levels == {"low", "high"}


def test_a_server_without_levels_of_reasoning_says_so() -> None:
    """Before anything is sent, and an effort is part of the condition's name."""
    one = connection()
    none = structs.replace(one.provider, effort={})
    with pytest.raises(BadUsage, match="no levels of reasoning"):
        server_participants(replace(one, provider=none), ["json@low"])
    (free, strict) = server_participants(one, ["none@low", "strict@low"])
    assert (free.condition, strict.condition) == ("free@low", "strict@low")
    assert free.identity != server_participants(one, ["none"])[0].identity


def test_a_provider_has_an_address_of_its_own() -> None:
    """`NAME:MODEL` is at its home, `NAME:URL#MODEL` elsewhere."""
    provider, address = split_provider("anthropic:claude-sonnet-5")
    assert provider.name == "anthropic"
    assert address == "https://api.anthropic.com/v1#claude-sonnet-5"
    assert split_provider("gemini:http://h/v1#m")[1] == "http://h/v1#m"
    assert split_provider("http://h/v1#m")[0].name == ""


_READ = (
    *("text", "arguments", "reasoning", "refusal", "finish"),
    *("prompt_tokens", "output_tokens", "reasoning_tokens"),
)
_REQUEST = text_request(budget=8)


@pytest.mark.parametrize(("wire", "events", "expected"), table(__file__, "answers"))
def test_each_event_adds_what_it_says(
    wire: str, events: list[Any], expected: dict[str, Any]
) -> None:
    """Of several texts the first one; what is not told is not known."""
    answer = ServerAnswer()
    for said in events:
        read_event(json.dumps(said).encode(), providers()[wire].answer, answer)
    nothing = ServerAnswer()
    found = {name: getattr(answer, name) for name in _READ}
    assert found == {name: getattr(nothing, name) for name in _READ} | expected


def _server(provider: str, way: str = "strict", model: str = "small") -> ModelServer:
    there = replace(connection(provider), model=model)
    (server,) = server_participants(there, [way])
    return server


@pytest.mark.parametrize(("length", "size"), [(16_368, 8192), (16_370, 16_384)])
def test_ollama_makes_room_in_steps(length: int, size: int) -> None:
    """For half as many tokens as the prompt has bytes, and the answer."""
    message = Message(role="user", content="x" * length)
    request = replace(_REQUEST, messages=(message,))
    assert f'"num_ctx": {size}' in json.dumps(_server("ollama").request(request, "{}"))


@pytest.mark.parametrize("provider", ["vllm", "sglang"])
def test_a_salt_keeps_the_prompts_of_each_way_apart(provider: str) -> None:
    """Texts of one way share what they begin with, as they do in use."""
    salts = [
        _server(provider, way).request(_REQUEST, "{}")["cache_salt"]
        for way in ("strict", "strict", "json")
    ]
    assert salts[0] == salts[1] != salts[2]


@pytest.mark.parametrize(
    ("provider", "version", "said"),
    [
        ("llama_server", "", "cache_prompt"),
        ("vllm", "", "cache_salt"),
        ("vllm", "0.9.0", "cache_salt"),
        ("vllm", "0.8.5.post1", "asked in turns"),
        ("sglang", "0.5.11", "cache_salt"),
        ("sglang", "0.5.10", "asked in turns"),
        ("", "", "asked in turns"),
    ],
)
def test_the_header_says_what_is_done_about_a_cache(
    provider: str, version: str, said: str
) -> None:
    """By the member of a request that does it from a release on, else by turns."""
    server = _server(provider, "none")
    server = replace(
        server, about={"/version": {"version": version}} if version else {}
    )
    assert said in str(server.header()["prompt_cache"])
    sent = said in server.request(_REQUEST, "{}")
    assert sent is (said != "asked in turns")


@pytest.mark.parametrize("way", ["tool@low", "tool@max"])
def test_thinking_and_a_forced_tool_are_refused_before_anything_is_sent(
    way: str,
) -> None:
    """Anthropic refuses them together for every schema: it would be a row of 0 %."""
    with pytest.raises(BadUsage, match="does not think where 'tool' is forced") as it:
        server_participants(connection("anthropic"), ["strict@low", way])
    assert "strict@" in it.value.hint


@pytest.mark.parametrize("provider", model_table().models)
def test_what_a_model_lacks_is_not_sent(provider: str) -> None:
    """Every line of the table: an effort or a temperature, and a tool is refused."""
    for name, facts in model_table().models[provider].items():
        server = _server(provider, "strict@low", name)
        sent = json.dumps(server.request(_REQUEST, "{}"))
        has_effort = facts.efforts is None or "low" in facts.efforts
        assert ('"low"' in sent) is has_effort, name
        assert ("emperature" in sent) is facts.sampling, name
        assert len(server.lacks) == (not has_effort) + (not facts.sampling), name
        if not facts.forced_tool:
            with pytest.raises(BadUsage, match="cannot be forced to call a tool"):
                _server(provider, "tool", name)


_ROOT = Path(csbdata.__file__).parent
_NAMED = re.compile(
    r"\b(?:gpt-[0-9][\w.-]*\w|claude-[\w.-]*[0-9]|gemini-[0-9][\w.-]*\w)"
)


def test_docs_and_help_name_only_models_that_exist() -> None:
    """On the day of the table none of them is shut down, or about to be."""
    table = model_table()
    soon = str(date.fromisoformat(table.date) + timedelta(days=30))
    texts = [
        *_ROOT.glob("docs/*.md"),
        *_ROOT.glob("evaluation/commands/*.py"),
        _ROOT / "README.md",
    ]
    named = {name for path in texts for name in _NAMED.findall(path.read_text("utf-8"))}
    known = {
        name: it for models in table.models.values() for name, it in models.items()
    }
    assert named
    for name in named:
        assert name in known, name
        assert not known[name].end or known[name].end > soon, (name, known[name].end)


@pytest.mark.parametrize(
    ("model", "served"),
    [
        *(("http://host/v1", True), ("anthropic:claude", True)),
        *(("anthropic", False), ("https", False), ("smollm2", False)),
        *((":claude", False), ("c:/models/small", False)),
    ],
)
def test_a_served_model_is_an_address_or_of_a_provider(
    model: str, *, served: bool
) -> None:
    """A name alone is one of the Hub, or a folder."""
    assert is_served(model) is served
