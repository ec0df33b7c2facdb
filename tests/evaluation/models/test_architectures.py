"""Whatever a model is made of, its texts are those of a full pass without any cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from curation.system.errors import Unavailable
from evaluation.core.records import Message
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest
from tests.evaluation.tokenizers import made
from tests.late import Late
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch
    import transformers
    from transformers import PreTrainedModel

    from curation.core.json_types import UntypedJson
    from evaluation.generation.loop import generate
    from evaluation.models import hardware, loading
    from evaluation.models.transformers import TransformersModel
else:
    torch = Late("torch")
    transformers = Late("transformers")
    generate = Late("evaluation.generation.loop", "generate")
    hardware = Late("evaluation.models.hardware")
    loading = Late("evaluation.models.loading")

_PLAIN_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
#: Each kind's config beyond vocabulary and end token, by the name of the kind.
KINDS: Final[dict[str, dict[str, UntypedJson]]] = dict(table(__file__, "kinds"))


def tiny_model(folder: Path, kind: str) -> Path:
    """Write a tiny model of a kind, with a tokenizer, and return its folder."""
    made.byte_level(folder, padding=0)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=made.END,
        chat_template=None if kind == "gpt2" else _PLAIN_TEMPLATE,
    )
    given: dict[str, UntypedJson] = {
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": None,
    }
    changes = dict(KINDS[kind])
    if "text_config" in changes:
        changes["text_config"] = {**given, **changes["text_config"]}
        given = {"eos_token_id": tokenizer.eos_token_id}
    config = transformers.CONFIG_MAPPING[kind.partition(" ")[0]](**{**given, **changes})
    torch.manual_seed(3)
    factory = (
        transformers.AutoModelForImageTextToText
        if kind == "gemma3"
        else transformers.AutoModelForCausalLM
    )
    model: PreTrainedModel = factory.from_config(config)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                # Far enough apart to leave no ties.
                parameter.copy_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


_QUICK = ("llama", "gemma3_text", "lfm2", "recurrent_gemma")
_EVERY = [
    kind if kind in _QUICK else pytest.param(kind, marks=pytest.mark.slow)
    for kind in KINDS
]
_SAID = ("a", "a much longer thing to say", "something between")
#: What the three texts go on with: one is forced further than the others.
_PASSES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((7,), (8,), (9,)),
    ((10, 11, 12, 13), (14,), ()),
    ((15,), (16, 17), (18,)),
)


@pytest.fixture(scope="module", params=_EVERY)
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TransformersModel:
    """Return a model of each kind."""
    kind = str(request.param)
    folder = tiny_model(tmp_path_factory.mktemp(kind), kind)
    return loading.load_model(folder, loading.LoadOptions(device="cpu", dtype="fp32"))


def _prompts(model: TransformersModel) -> list[tuple[int, ...]]:
    """Return prompts that differ in length."""
    return [model.prompt([Message(role="user", content=said)]) for said in _SAID]


def _without_cache(model: TransformersModel, tokens: Sequence[int]) -> torch.Tensor:
    return model._forward.everywhere(tokens)[-1]


def _assert_right(
    model: TransformersModel, found: torch.Tensor, tokens: Sequence[int]
) -> None:
    wanted = _without_cache(model, tokens)
    limit = 1e-4 * float(wanted.max() - wanted.min())
    assert float((found - wanted).abs().max()) <= limit


@pytest.mark.parametrize("rows", [1, 3])
def test_the_logits_are_those_of_a_full_pass(
    model: TransformersModel, rows: int
) -> None:
    """Alone or beside others, one token a pass or several."""
    model.forget()
    prompts = _prompts(model)[:rows]
    decoding = model.open()
    texts = [list(prompt) for prompt in prompts]
    for text, prompt in zip(texts, prompts, strict=True):
        _assert_right(model, decoding.admit(prompt), text)
    for fed in _PASSES:
        logits = decoding.feed(fed[:rows])
        for text, tokens, found in zip(texts, fed, logits, strict=False):
            text.extend(tokens)
            if tokens:
                _assert_right(model, found, text)
    if rows > 1:
        decoding.keep([0, 2])
        both = decoding.feed([[21], [22, 23]])
        for place, found in zip((0, 2), both, strict=True):
            texts[place].extend([21] if place == 0 else [22, 23])
            _assert_right(model, found, texts[place])
        late = decoding.admit(prompts[1])
        _assert_right(model, late, prompts[1])
        last = decoding.feed([[24], [25], [26, 27]])
        _assert_right(model, last[2], [*prompts[1], 26, 27])
        _assert_right(model, last[0], [*texts[0], 24])
        decoding.keep([1])
        last = decoding.feed([[28]])
        _assert_right(model, last[0], [*texts[2], 25, 28])


def test_a_text_is_that_of_generate(model: TransformersModel) -> None:
    """Greedy decoding chooses the tokens of `generate`, with a cache of any kind."""
    prompt = _prompts(model)[1]
    request = TokenizedRequest(id="a", schema="true", prompt=prompt, budget=12)
    (text,) = generate(model, [request], [None], LoopOptions())
    inputs = torch.tensor([prompt])
    theirs = model.module.generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        max_new_tokens=12,
        do_sample=False,
        use_cache=True,
    )
    new = theirs[0, len(prompt) :].tolist()
    assert list(text.tokens) == [it for it in new if it not in model.end_tokens]


def test_what_cannot_be_done_is_said(
    model: TransformersModel, request: pytest.FixtureRequest
) -> None:
    """Only models whose every layer keeps every token share passes."""
    if request.node.callspec.params["model"] == "recurrent_gemma":
        assert "whole text" in model.limits
    kind = request.node.callspec.params["model"]
    if kind == "llama dynamic":
        # It would depend on how long its neighbours become.
        assert "positions that change with the longest text" in model.limits
    alone = kind not in {"llama", "qwen3", "gpt2", "opt", "gpt_neox", "mixtral", "phi3"}
    assert bool(model.limits) is alone
    cache = model.facts()["cache"]
    assert isinstance(cache, dict)
    assert bool(cache["why"]) is bool(model.limits)


_BUSY = "CUDA error: all CUDA-capable devices are busy or unavailable\nmore"
_FULL = "CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("AcceleratorError", _BUSY, "has failed (CUDA error: all CUDA-capable"),
        ("OutOfMemoryError", _FULL, "has no memory left for it (CUDA out of"),
    ],
    ids=["busy", "full"],
)
def test_a_device_that_takes_no_model_is_told_in_one_line(
    model_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    message: str,
    words: str,
) -> None:
    """While it is loaded; the message says where to look."""

    def fails(*_given: object) -> None:
        raise getattr(torch, kind)(message)

    monkeypatch.setattr("evaluation.models.loading._loaded", fails)
    with pytest.raises(Unavailable) as told:
        loading.load_model(model_folder, loading.LoadOptions(device="cpu"))
    assert words in told.value.message
    assert "\n" not in told.value.message
    assert "nvidia-smi" in told.value.hint


def test_streams_and_events_are_those_of_the_models_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second GPU is made the present one, and a processor changes nothing."""
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    for name in ("cpu", "cuda:1", "cuda"):
        hardware.make_current(torch.device(name))
    assert chosen == [1, 0]
