"""The vendors' newest clients end texts as our tables know; what they list is read."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from evaluation.generation.text_generation import TextEnding
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass, read_refusal

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
