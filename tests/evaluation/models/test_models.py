"""Models by their names: the embedded one, folders, and what is not there."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest
import torch

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, BadUsage, NoInput, Unavailable
from evaluation.asking.request import ModelOptions, choose_suite
from evaluation.commands.options import split_revision
from evaluation.core.records import Message
from evaluation.generation.text_generation import LoopOptions
from evaluation.models import hardware as memory
from evaluation.models.known.smollm2 import NAME
from evaluation.models.loading import (
    LoadOptions,
    choose_device,
    choose_dtype,
    load_model,
)
from evaluation.models.store import get_model
from evaluation.suites.coverage.suite import CoverageSettings
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_the_embedded_model_writes_what_makes_sense() -> None:
    """SmolLM2 is loaded from what was converted once, and answers a question."""
    settings = FetchSettings.from_environment(offline=True)
    try:
        model = get_model("smollm2", LoadOptions(device="cpu", dtype="fp32"), settings)
    except Unavailable as fault:
        pytest.skip(f"{fault}; csbdata eval --task coverage fetches it")
    assert model.name == NAME
    assert model.vocab_size == 49152
    question = Message(role="user", content="What is the capital of France?")
    decoding = model.open()
    logits = decoding.admit(model.prompt([question])).logits.tensor()
    written: list[int] = []
    while len(written) < 12 and (token := int(logits.argmax())):
        if token in model.end_tokens:
            break
        written.append(token)
        logits = decoding.feed([[token]]).logits[0]
    assert "Paris" in model.text(written)


def test_logits_may_be_wider_than_the_vocabulary(tmp_path: Path) -> None:
    """A model's padding is part of its logits, and of what a mask must cover."""
    model = load_model(
        small_model(tmp_path, padding=29), LoadOptions(device="cpu", dtype="fp32")
    )
    logits = model.open().admit((1, 2, 3)).logits.tensor()
    assert logits.shape == (model.vocab_size,)
    assert logits.dtype == torch.float32


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    """An empty folder, an unknown device and number type are one line each."""
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(tmp_path, LoadOptions(device="cpu"))
    with pytest.raises(BadConfiguration, match="no such number type"):
        load_model(tmp_path, LoadOptions(device="cpu", dtype="int4"))
    with pytest.raises(BadConfiguration, match="no such device"):
        choose_device("abacus")
    # Names that torch knows, of what is not here.
    for name in ("mps", "xpu", "meta"):
        with pytest.raises(BadConfiguration, match="no such device"):
            choose_device(name)


def test_weights_that_do_not_fit_their_config_are_told(tmp_path: Path) -> None:
    """A copy that was cut off, and the config of another size: one line each."""
    folder = small_model(tmp_path)
    (weights,), config = folder.glob("*.safetensors"), folder / "config.json"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(folder, LoadOptions(device="cpu"))
    weights.write_bytes(whole)
    other = {**json.loads(config.read_text("utf-8")), "intermediate_size": 64}
    config.write_text(json.dumps(other), "utf-8")
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(folder, LoadOptions(device="cpu"))


def test_half_precision_is_for_devices_that_compute_with_it() -> None:
    """Nothing said: fp32 on a CPU, bf16 on a GPU; what is said holds on both."""
    cpu, gpu = torch.device("cpu"), torch.device("cuda", 0)
    assert choose_dtype("auto", cpu) is torch.float32
    assert choose_dtype("auto", gpu) is torch.bfloat16
    for device in (cpu, gpu):
        assert choose_dtype("fp16", device) is torch.float16


def test_a_revision_follows_an_at_sign(tmp_path: Path) -> None:
    """Only a name of the Hub has one: neither a URL nor a path that exists."""
    assert split_revision("owner/name@v1") == ("owner/name", "v1")
    assert split_revision("owner/name") == ("owner/name", None)
    assert split_revision("http://me@host/v1#m") == ("http://me@host/v1#m", None)
    path = tmp_path / "a@b"
    path.mkdir()
    assert split_revision(str(path)) == (str(path), None)


def test_a_provider_that_there_is_not_is_told_the_others() -> None:
    """Not the want of an engine, or of a folder, which nobody meant."""
    with pytest.raises(BadUsage, match="no provider 'mistral'") as caught:
        split_revision("mistral:large")
    assert "URL#MODEL, or one of anthropic, " in caught.value.then


def test_as_the_paper_means_everything_it_says() -> None:
    """Model, prompt, limits and dialect are the paper's, whatever was asked."""
    paper = ModelOptions(temperature=1.0, samples=4).as_paper()
    chosen = choose_suite("coverage", compat="paper")
    assert paper.model == "meta-llama/Llama-3.2-1B-Instruct"
    assert (paper.temperature, paper.samples) == (0.0, 1)
    assert chosen.settings == CoverageSettings(
        prompt="sections", shots=2, dialect="2020-12"
    )
    assert paper.options.compile_seconds == paper.options.run_seconds == 40.0
    assert paper.forced_as_paper


def test_what_was_said_beside_the_paper_holds() -> None:
    """Options of the command line win, the model among them, even the default's."""
    asked = ModelOptions(
        model="smollm2",
        budget=32,
        options=LoopOptions(compile_seconds=7.0, forced=True),
    )
    given = {"model", "budget", "compile_seconds", "forced"}
    paper = asked.as_paper(given)
    assert (paper.model, paper.budget) == ("smollm2", 32)
    chosen = choose_suite("coverage", {"prompt": "chat"}, "paper")
    assert chosen.settings == CoverageSettings(
        prompt="chat", shots=2, dialect="2020-12"
    )
    assert paper.options.compile_seconds == 7.0
    assert paper.options.run_seconds == 40.0
    assert paper.options.forced
    assert not paper.forced_as_paper


def test_a_gpu_that_is_not_there_is_told_with_the_reason_of_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No GPU, a driver that is too old, or fewer GPUs than the number says."""

    def too_old() -> bool:
        warnings.warn("The NVIDIA driver on your system is too old.", stacklevel=1)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadConfiguration, match="sees no GPU here: say --device cpu"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", too_old)
    with pytest.raises(BadConfiguration, match="driver on your system is too old"):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(BadConfiguration, match=r"cuda:2: torch .* sees 2 of them"):
        choose_device("cuda:2")


def test_a_model_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has both sizes; half as wide numbers may fit where others do not."""
    model_folder = small_model(tmp_path)
    (weights,) = model_folder.glob("*.safetensors")
    size = weights.stat().st_size
    weights.unlink()
    monkeypatch.setattr(memory, "free_memory", lambda _device: size // 2 + 1024)
    with pytest.raises(BadConfiguration, match=r"take .* GiB, and cpu has .* GiB free"):
        load_model(model_folder, LoadOptions(device="cpu", dtype="fp32"))
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(model_folder, LoadOptions(device="cpu", dtype="bf16"))


def test_attention_is_computed_as_asked(tmp_path: Path) -> None:
    """The header says which; what transformers does not know is one line."""
    model_folder = small_model(tmp_path)
    options = LoadOptions(device="cpu", dtype="fp32", attention="eager")
    assert load_model(model_folder, options).facts()["attention"] == "eager"
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(model_folder, LoadOptions(device="cpu", attention="abacus"))
