"""Models by their names: the embedded one, folders, and what is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, NoInput, Unavailable
from evaluation.core.messages import Message
from evaluation.generation.model_options import ModelOptions, as_paper, split_revision
from evaluation.generation.text_generation import LoopOptions
from evaluation.models.loading import (
    LoadOptions,
    choose_device,
    choose_dtype,
    load_model,
)
from evaluation.models.prefixes import shared_length
from evaluation.models.smollm2 import NAME
from evaluation.models.store import get_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from pathlib import Path


@given(
    st.lists(st.integers(0, 2), max_size=6),
    st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=4),
)
def test_what_rows_share_is_a_prefix_of_each_and_no_longer(
    head: list[int], tails: list[list[int]]
) -> None:
    """The shared length is where the first row differs, or ends."""
    rows = [head + tail for tail in tails]
    length = shared_length(rows)
    assert length >= len(head)
    assert len({tuple(row[:length]) for row in rows}) == 1
    longer = {tuple(row[: length + 1]) for row in rows}
    assert len(longer) > 1 or any(len(row) == length for row in rows)


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
    logits = decoding.admit(model.prompt([question])).logits
    written: list[int] = []
    while len(written) < 12 and (token := int(logits.argmax())):
        if token in model.end_tokens:
            break
        written.append(token)
        logits = decoding.feed([[token]])[0]
    assert "Paris" in model.text(written)


def test_logits_may_be_wider_than_the_vocabulary(tmp_path: Path) -> None:
    """A model's padding is part of its logits, and of what a mask must cover."""
    model = load_model(
        small_model(tmp_path, padding=29), LoadOptions(device="cpu", dtype="fp32")
    )
    logits = model.open().admit((1, 2, 3)).logits
    assert logits.shape == (model.vocab_size,)
    assert logits.dtype == np.float32


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    """An empty folder, an unknown device and number type are one line each."""
    with pytest.raises(NoInput, match="cannot be loaded"):
        load_model(tmp_path, LoadOptions(device="cpu"))
    with pytest.raises(BadConfiguration, match="no such number type"):
        load_model(tmp_path, LoadOptions(device="cpu", dtype="int4"))
    with pytest.raises(BadConfiguration, match="no such device"):
        choose_device("abacus")


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


def test_as_the_paper_means_everything_it_says() -> None:
    """Model, prompt, limits and dialect are the paper's, whatever was asked."""
    paper = as_paper(ModelOptions(prompt="chat", shots=0, temperature=1.0, samples=4))
    assert paper.model == "meta-llama/Llama-3.2-1B-Instruct"
    assert (paper.prompt, paper.shots, paper.samples) == ("sections", 2, 1)
    assert (paper.temperature, paper.dialect) == (0.0, "2020-12")
    assert paper.options.compile_seconds == paper.options.run_seconds == 40.0
    assert paper.forced_as_paper


def test_what_was_said_beside_the_paper_holds() -> None:
    """Options of the command line win, the model among them, even the default's."""
    asked = ModelOptions(
        model="smollm2",
        budget=32,
        prompt="chat",
        options=LoopOptions(compile_seconds=7.0, forced=True),
    )
    given = {"model", "budget", "prompt", "compile_seconds", "forced"}
    paper = as_paper(asked, given)
    assert (paper.model, paper.budget, paper.prompt) == ("smollm2", 32, "chat")
    assert (paper.shots, paper.dialect) == (2, "2020-12")
    assert paper.options.compile_seconds == 7.0
    assert paper.options.run_seconds == 40.0
    assert paper.options.forced
    assert not paper.forced_as_paper
