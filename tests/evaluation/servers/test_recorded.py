"""Exchanges that other projects recorded with real servers, replayed on loopback.

Nothing of them is kept here: a night fetches the sources of the projects.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
import yaml

from curation.system.errors import CsbdataError
from evaluation.servers.client import RequestRefused, ServerClient, ServerConnection
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass
from tests.evaluation.servers.loopback import Said, loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.nightly, pytest.mark.enable_socket]
_OTEL: Final = "opentelemetry-instrumentation-"
_PROJECTS: Final = (
    *("langchain-openai", "langchain-anthropic", "langchain-groq"),
    *(f"{_OTEL}{it}" for it in ("openai", "openai-v2", "anthropic", "groq")),
    *(f"{_OTEL}{it}" for it in ("mistralai", "ollama", "google-generativeai")),
)
#: What names a format in a body, with a provider that has it.
_MARKS: Final = {
    '"chat.completion': "openai",
    '"response.created"': "responses",
    '"object":"response"': "responses",
    '"message_start"': "anthropic",
    '"type":"message"': "anthropic",
    '"candidates"': "gemini",
    '"prompt_eval_count"': "ollama",
}


class _Exchange(NamedTuple):
    name: str
    provider: str
    status: int
    body: bytes


class _Loader(yaml.CSafeLoader):
    """Reads tagged values as what they hold."""


def _untagged(loader: _Loader, _suffix: str, node: yaml.Node) -> Any:  # noqa: ANN401 (YAML)
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    raise TypeError(node)


_Loader.add_multi_constructor("", _untagged)


def _exchanges(folder: Path) -> Iterator[_Exchange]:
    """Yield what was answered in one of our formats."""
    for file in sorted(folder.glob("*.tar.gz")):
        with tarfile.open(file) as sources:
            for member in sources:
                opened = sources.extractfile(member)
                if "/cassettes/" not in member.name or opened is None:
                    continue
                content = opened.read()
                if member.name.endswith(".gz"):
                    content = gzip.decompress(content)
                if ".yaml" in member.name:
                    yield from _of_file(member.name, content)


def _of_file(name: str, content: bytes) -> Iterator[_Exchange]:
    recorded = yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe one)
    responses = recorded.get("responses") or [
        each["response"] for each in recorded["interactions"]
    ]
    for response in responses:
        body = response.get("body") or b""
        body = body.get("string") if isinstance(body, dict) else body
        body = body.encode() if isinstance(body, str) else body or b""
        body = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
        text = body.decode("utf-8", "replace").replace('": ', '":')
        marks = [provider for mark, provider in _MARKS.items() if mark in text]
        status = response["status"]
        code = status["code"] if isinstance(status, dict) else status
        if '"error":{' in text and not marks:
            marks = ["azure"]
        if marks:
            yield _Exchange(name, marks[0], int(code), body)


def _objects(body: bytes) -> list[Any]:
    """Return the JSON objects of a body: one, a line each, or an event each."""
    try:
        return [json.loads(body)]
    except ValueError:
        lines = [line.removeprefix(b"data:").strip() for line in body.splitlines()]
        return [json.loads(line) for line in lines if line.startswith(b"{")]


class _Reading(NamedTuple):
    """What was answered; None where nothing says it."""

    text: str = ""
    finish: str | None = None
    prompt: int | None = None
    output: int | None = None


def _read_openai(objects: list[Any]) -> _Reading:
    text, finish = "", None
    usage: dict[str, Any] = {}
    for each in objects:
        usage = each.get("usage") or usage
        for choice in (each.get("choices") or [])[:1]:
            part = choice.get("delta") or choice.get("message") or {}
            text += part.get("content") or ""
            finish = choice.get("finish_reason") or finish
    return _Reading(
        text, finish, usage.get("prompt_tokens"), usage.get("completion_tokens")
    )


def _read_responses(objects: list[Any]) -> _Reading:
    whole = objects[-1].get("response") or objects[-1]
    text = "".join(
        part.get("text") or ""
        for item in whole["output"]
        if item["type"] == "message"
        for part in item["content"]
    )
    reason = (whole.get("incomplete_details") or {}).get("reason")
    usage = whole.get("usage") or {}
    return _Reading(
        text,
        reason or whole["status"],
        usage.get("input_tokens"),
        usage.get("output_tokens"),
    )


def _read_anthropic(objects: list[Any]) -> _Reading:
    text, finish = "", None
    usage: dict[str, Any] = {}
    for each in objects:
        message = each.get("message") or {}
        usage |= message.get("usage") or each.get("usage") or {}
        text += "".join(it.get("text") or "" for it in each.get("content") or [])
        delta = each.get("delta") or {}
        text += delta.get("text") or ""
        finish = delta.get("stop_reason") or each.get("stop_reason") or finish
    return _Reading(text, finish, usage.get("input_tokens"), usage.get("output_tokens"))


def _read_gemini(objects: list[Any]) -> _Reading:
    text, finish = "", None
    usage: dict[str, Any] = {}
    for each in objects:
        usage = each.get("usageMetadata") or usage
        for candidate in each.get("candidates") or []:
            parts = candidate.get("content", {}).get("parts") or []
            text += "".join(it.get("text", "") for it in parts if "thought" not in it)
            finish = candidate.get("finishReason") or finish
    written = (usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount"))
    return _Reading(
        text, finish, usage.get("promptTokenCount"), sum(it or 0 for it in written)
    )


def _read_ollama(objects: list[Any]) -> _Reading:
    text = "".join((it.get("message") or {}).get("content") or "" for it in objects)
    last = objects[-1]
    return _Reading(
        text,
        last.get("done_reason"),
        last.get("prompt_eval_count"),
        last.get("eval_count"),
    )


_READERS: Final = {
    "openai": _read_openai,
    "responses": _read_responses,
    "anthropic": _read_anthropic,
    "gemini": _read_gemini,
    "ollama": _read_ollama,
}


@pytest.fixture(scope="module")
def exchanges(tmp_path_factory: pytest.TempPathFactory) -> list[_Exchange]:
    """Return what the newest sources of the projects hold."""
    folder = tmp_path_factory.mktemp("projects")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", str(folder)]
    subprocess.run([*command, *_PROJECTS], check=True)
    return [*_exchanges(folder)]


def _replay(exchange: _Exchange) -> _Reading | RefusalClass | int:
    """Return what our client reads, the class of a refusal, or a run's exit code."""
    said = Said(status=exchange.status, pieces=[exchange.body])
    with loopback(lambda _body, _number: said) as server:
        connection = ServerConnection(
            base=server.base, model="a", provider=providers()[exchange.provider]
        )
        client = ServerClient(connection)
        try:
            answer = client.ask({})
        except RequestRefused as refused:
            return refused.meaning
        except CsbdataError as ended:
            return ended.exit_code
        finally:
            client.close()
    return _Reading(
        answer.text, answer.finish, answer.prompt_tokens, answer.output_tokens
    )


def test_every_answer_is_read_as_by_another_reader(exchanges: list[_Exchange]) -> None:
    """Text, ending and tokens, of whole answers and of streams."""
    answers = [it for it in exchanges if it.status == 200 and it.provider in _READERS]
    assert len(answers) >= 700
    differing = [
        (it.name, found, expected)
        for it in answers
        if (found := _replay(it))
        != (expected := _READERS[it.provider](_objects(it.body)))
    ]
    assert not differing


def test_an_error_in_a_success_is_azures_filter(exchanges: list[_Exchange]) -> None:
    """Its body has `error`, its status is 200."""
    filtered = [it for it in exchanges if it.status == 200 and it.provider == "azure"]
    assert filtered
    assert {_replay(it) for it in filtered} == {RefusalClass.FILTERED}


def test_a_refusal_ends_the_text_or_the_run(exchanges: list[_Exchange]) -> None:
    """No recorded refusal is taken for a fault that another try may mend."""
    refused = [it for it in exchanges if it.status != 200]
    ends = {66, 69, 77, 78, *RefusalClass}
    assert refused
    assert [it.name for it in refused if _replay(it) not in ends] == []
