"""Models of the Hub: out of its cache, for every tokenizer class, and refusals."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from curation.download.acquire import FetchSettings
from curation.system.errors import NoInput, NotPermitted
from evaluation.core.records import Message
from evaluation.models.loading import LoadOptions, load_model
from evaluation.tokenizers import get_tokenizer
from tests.evaluation.small_model import small_model
from tests.publishing import connected
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fake_hub import FakeHub

_NAME = "tester/model"
_COMMIT = "1234567890abcdef1234567890abcdef12345678"
_FP32 = LoadOptions(device="cpu", dtype="fp32")
_CLASSES = (
    "PreTrainedTokenizerFast",
    "TokenizersBackend",
    "LlamaTokenizer",
    "GPT2Tokenizer",
    "Qwen2Tokenizer",
    "GPTNeoXTokenizer",
    "CohereTokenizer",
)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A Hub on loopback that the client is turned to."""
    with connected(monkeypatch, tmp_path / "home") as connection:
        yield connection.hub


def _cached(home: Path, folder: Path) -> Path:
    """Put a folder's files where the Hub's client keeps a model; return the place."""
    cache = home / "hub" / "models--tester--model"
    snapshot = cache / "snapshots" / _COMMIT
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(_COMMIT)
    shutil.copytree(folder, snapshot)
    return snapshot


def _with_class(folder: Path, name: str) -> Path:
    """Declare the tokenizer's class, with the files that this class is kept in."""
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "tokenizer_class": name}))
    if name == "GPT2Tokenizer":
        # As the oldest repositories: no tokenizer.json at all.
        model = json.loads((folder / "tokenizer.json").read_text())["model"]
        (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
        merges = "\n".join(" ".join(pair) for pair in model["merges"])
        (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n")
        (folder / "tokenizer.json").unlink()
    return folder


@pytest.mark.parametrize("name", first_fast(2, _CLASSES))
def test_a_cached_model_is_loaded_whatever_its_tokenizer_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`owner/name` is found in the Hub's cache; engines get the same tokens."""
    home = tmp_path / "home"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    _cached(home, _with_class(small_model(tmp_path / "made"), name))
    model = load_model(_NAME, _FP32)
    assert model.facts()["revision"] == _COMMIT
    asked = [Message(role="user", content='{"name": "a person"}')]
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")
    files = get_tokenizer(str(model.tokenizer_folder), settings)
    contents = files.token_bytes()
    spelled = b"".join(contents[token] or b"" for token in model.prompt(asked))
    assert b'{"name": "a person"}' in spelled
    assert model.open().admit(model.prompt(asked)).logits.of.shape == (
        1,
        model.vocab_size,
    )


def test_a_model_comes_from_the_hub_with_its_weights(
    hub: FakeHub, tmp_path: Path
) -> None:
    """What is missing is fetched, and nothing that is not needed."""
    folder = small_model(tmp_path / "made")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.store.put(_NAME, {**files, "pytorch_model.bin": b"w", "notes.pdf": b"n"})
    assert load_model(_NAME, _FP32).vocab_size
    asked = " ".join(one.path for one in hub.asked)
    assert "model.safetensors" in asked
    assert "pytorch_model.bin" not in asked
    assert "notes.pdf" not in asked


def test_a_gated_model_says_what_to_do(hub: FakeHub) -> None:
    """Who has not accepted its terms is told where; nothing is a traceback."""
    hub.store.put(_NAME, {"config.json": b"{}"})
    hub.repository(_NAME).gated = True
    hub.store.tokens.clear()
    with pytest.raises(NotPermitted, match=_NAME) as caught:
        load_model(_NAME, _FP32)
    assert caught.value.then


@pytest.mark.parametrize("name", ["tester/none", "no-such-folder", "tester/model@v9"])
def test_a_missing_model_is_one_line(hub: FakeHub, name: str) -> None:
    """No such model, no such folder and no such revision are told."""
    hub.store.put(_NAME, {"config.json": b"{}"})
    where, _, revision = name.partition("@")
    with pytest.raises((NoInput, NotPermitted), match=where):
        load_model(where, LoadOptions(device="cpu", revision=revision or None))
