"""The vendors' newest clients end texts as our tables know, and read our fakes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from evaluation.generation.text_generation import TextEnding
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass, read_refusal
from tests.evaluation.servers.contracts import CONTRACTS, OUTPUT, PROMPT
from tests.evaluation.servers.loopback import loopback

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.nightly, pytest.mark.enable_socket]
_WORD = re.compile(r"[\"']([A-Za-z_]+)[\"']")
#: Package, file, where a list of finish reasons begins and ends, and whose they are.
_LISTS = [
    (
        "openai",
        "openai/types/chat/chat_completion.py",
        "finish_reason: ",
        "]",
        "openai",
    ),
    ("openai", "openai/types/responses/response.py", "reason: Opt", "]", "responses"),
    ("anthropic", "anthropic/types/stop_reason.py", "StopReason: ", "\n]", "anthropic"),
    (
        "google-genai",
        "google/genai/types.py",
        "class FinishReason",
        "class H",
        "gemini",
    ),
    ("google-genai", "google/genai/types.py", "class BlockedR", "class T", "gemini"),
]
#: Listed without a meaning.
_UNTOLD = {"FINISH_REASON_UNSPECIFIED", "OTHER", "IMAGE_OTHER"}
_UNKNOWN = {*_UNTOLD, "MISSING_THOUGHT_SIGNATURE"}


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the newest clients."""
    folder = tmp_path_factory.mktemp("clients")
    names = sorted({package for package, *_ in _LISTS})
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest"]
    subprocess.run([*command, str(folder), *names], check=True)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(folder)
    return folder


@pytest.mark.parametrize(("_package", "file", "begin", "end", "provider"), _LISTS)
def test_every_finish_reason_of_a_client_has_a_line(
    clients: Path, _package: str, file: str, begin: str, end: str, provider: str
) -> None:
    """A new one is a line to add: until then it is kept as unknown."""
    text = (clients / file).read_text("utf-8").partition(begin)[2].partition(end)[0]
    names = set(_WORD.findall(text.replace('"""', "")))
    if provider == "gemini":
        names = {name for name in names if re.search(rf"{name} = '{name}'", text)}
    assert len(names) > 3
    unknown = {
        name
        for name in names
        if providers()[provider].ending(name) is TextEnding.UNKNOWN
    }
    assert unknown <= _UNKNOWN


def test_every_error_of_a_client_has_a_class(clients: Path) -> None:
    """Codes that end a run, or filter a prompt, are no refused requests."""
    errors = clients / "openai/types/responses/response_error.py"
    codes = set(_WORD.findall(errors.read_text("utf-8").partition("code: ")[2]))
    assert "invalid_prompt" in codes
    openai = providers()["openai"]
    for code in ("invalid_prompt", "bio_policy", "misalignment_policy_violation"):
        refusal = read_refusal(400, f'{{"error": {{"message": "", "code": "{code}"}}}}')
        assert openai.refusal_class(refusal) is RefusalClass.FILTERED
    limits = (clients / "anthropic/types/shared").glob("*_spend_limit_reached_error.py")
    for file in limits:
        code = file.stem.removesuffix("_error")
        refusal = read_refusal(
            429,
            f'{{"error": {{"message": "", "details": {{"error_code": "{code}"}}}}}}',
        )
        meaning = providers()["anthropic"].refusal_class(refusal)
        assert meaning is RefusalClass.EXHAUSTED


#: Asks for a text with a vendor's client; given the address, it prints the text, the
#: ending, and the tokens of prompt and answer.
_ASK = {
    "openai": """
from openai import OpenAI
asked = OpenAI(base_url=base, api_key="a-key").chat.completions.create(
    model="small", messages=[turn], stream=True, stream_options={"include_usage": True})
for each in asked:
    for choice in each.choices:
        text += choice.delta.content or ""
        finish = choice.finish_reason or finish
    if each.usage:
        tokens = each.usage.prompt_tokens, each.usage.completion_tokens
""",
    "responses": """
from openai import OpenAI
asked = OpenAI(base_url=base, api_key="a-key").responses.create(
    model="small", input=[turn], stream=True)
for each in asked:
    if each.type == "response.output_text.delta":
        text += each.delta
    if each.type == "response.completed":
        finish, usage = each.response.status, each.response.usage
        tokens = usage.input_tokens, usage.output_tokens
""",
    "anthropic": """
from anthropic import Anthropic
asked = Anthropic(base_url=root, api_key="a-key").messages.create(
    model="small", messages=[turn], max_tokens=9, stream=True)
for each in asked:
    if each.type == "message_start":
        prompt = each.message.usage.input_tokens
    if each.type == "content_block_delta" and each.delta.type == "text_delta":
        text += each.delta.text
    if each.type == "message_delta":
        finish, tokens = each.delta.stop_reason, (prompt, each.usage.output_tokens)
""",
    "gemini": """
from google.genai import Client, types
at = types.HttpOptions(base_url=root, api_version="v1")
client = Client(api_key="a-key", http_options=at)
asked = client.models.generate_content_stream(model="small", contents="Hello")
for each in asked:
    (candidate,) = each.candidates
    for part in candidate.content.parts:
        text += part.text if not part.thought else ""
    finish = candidate.finish_reason or finish
    used = each.usage_metadata
    if used and used.prompt_token_count:
        written = used.candidates_token_count + used.thoughts_token_count
        tokens = used.prompt_token_count, written
""",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the newest clients and what they need."""
    folder = tmp_path_factory.mktemp("installed")
    names = sorted({package for package, *_ in _LISTS})
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder)]
    subprocess.run([*command, *names], check=True)
    return folder


@pytest.mark.parametrize("provider", _ASK)
def test_a_vendors_client_reads_what_our_fake_streams(
    installed: Path, provider: str
) -> None:
    """Its request is taken, and text, ending and tokens are those of our client."""
    begin = """
import json, sys
base, text, finish, tokens = sys.argv[1], "", "", ()
root, turn = base.removesuffix("/v1"), {"role": "user", "content": "Hello"}
"""
    end = "print(json.dumps([text, str(finish), *tokens]))"
    contract = CONTRACTS[provider]
    with loopback(lambda body, _number: contract.reply(body, '{"deck": 2}')) as server:
        done = subprocess.run(
            [sys.executable, "-c", begin + _ASK[provider] + end, server.base],
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    text, finish, *tokens = json.loads(done.stdout)
    assert (text, tokens) == ('{"deck": 2}', [PROMPT, OUTPUT])
    name = finish.rpartition(".")[2]
    assert providers()[provider].ending(name) is TextEnding.END
    assert server.paths == [contract.path]
