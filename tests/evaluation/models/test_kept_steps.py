"""Places of fixed size and steps that are kept: the same texts, and a word if not."""

from __future__ import annotations

from functools import partial
from shutil import which
from typing import TYPE_CHECKING

import pytest
import torch
from transformers import DynamicCache

from curation.system.errors import BadConfiguration
from evaluation.core.records import Message
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest
from evaluation.models.forward import ForwardPass
from evaluation.models.kept_step import (
    FORCED_WIDTHS,
    SlotCache,
    SlotRows,
    StepKind,
    choose_step_kind,
    place_size,
)
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.small_model import small_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel

_CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small model."""
    return small_model(tmp_path_factory.mktemp("model"))


def _loaded(folder: Path, kind: str, attention: str = "") -> TransformersModel:
    options = LoadOptions(device="cpu", dtype="fp32", compile=kind, attention=attention)
    return load_model(folder, options)


def _written(model: TransformersModel, texts: int) -> list[Generation]:
    """Have five texts written, so many at a time."""
    asked = [
        TokenizedRequest(
            id=said,
            schema="{}",
            prompt=model.prompt([Message(role="user", content=said)]),
            budget=budget,
        )
        for said, budget in (
            ("a", 4),
            ("a longer one", 14),
            ("b", 9),
            ("c", 3),
            ("", 7),
        )
    ]
    return generate(model, asked, [None] * texts, LoopOptions())


def test_places_have_few_sizes_and_room_for_one_more_token() -> None:
    """So that texts of about one length share what was captured."""
    assert [place_size(tokens) for tokens in (1, 511, 512, 1023, 1024)] == [
        512,
        512,
        1024,
        1024,
        2048,
    ]


def test_places_that_could_not_grow_are_as_large_as_they_were(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else texts would be written where some layers have no room."""

    def full(_slots: int, _length: int) -> None:
        raise MemoryError

    cache = SlotCache(
        ForwardPass(_loaded(folder, "none").module), 1, 512, StepKind.NONE
    )
    monkeypatch.setattr(cache._layers[-1], "resize", full)
    for _ in range(2):
        with pytest.raises(MemoryError):
            cache._reserve(1, 600)
    assert cache.length == 512


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", [StepKind.NONE, StepKind.GRAPHS])
def test_logits_over_places_are_those_of_full_passes(
    folder: Path, attention: str, kind: StepKind
) -> None:
    """Rows of several lengths, some empty, one that ends and one in its place.

    Places grow with their texts; kept steps read more than is there, and are padded.
    """
    model = _loaded(folder, "none", attention)
    slots, length = (1, 8) if kind is StepKind.NONE else (3, 512)
    rows = SlotRows(SlotCache(model._forward, slots, length, kind, FORCED_WIDTHS))
    texts: list[list[int]] = []

    def admit(tokens: list[int]) -> None:
        held = DynamicCache(config=model.module.config)
        model._forward.over(tokens, held)
        rows.admit(held)
        texts.append(list(tokens))

    def feed(fed: Sequence[Sequence[int]]) -> None:
        found = rows.feed(fed)
        for text, tokens, logits in zip(texts, fed, found, strict=True):
            text.extend(tokens)
            if tokens:
                wanted = model._forward.everywhere(text)[-1]
                assert float((logits - wanted).abs().max()) < 1e-4

    admit([5, 6, 7])
    admit([9, 8, 7, 6, 5, 4, 3])
    feed([[3], [4]])
    feed([[1, 2, 3], [4]])
    feed([[], [5, 6]])
    feed([[7], [8]])
    rows.keep([1])
    del texts[0]
    admit([11, 12])
    feed([[1], [2]])
    admit([13, 14, 15, 16])
    feed([[1], [2], [3]])


@pytest.mark.parametrize("texts", [1, 3])
def test_texts_over_places_are_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, texts: int
) -> None:
    """Alone and in a batch whose texts end one after the other."""
    monkeypatch.setattr(torch, "compile", lambda step, dynamic: step)  # noqa: ARG005 - as torch's own
    kept = _loaded(folder, "compile")
    assert kept.facts()["compile"] == "compile"
    found, wanted = _written(kept, texts), _written(_loaded(folder, "none"), 1)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    assert kept.troubles() == []


def test_what_cannot_be_kept_is_run_as_it_is_and_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a compiler raises, the text goes on."""

    def broken(step: object, dynamic: bool) -> object:  # noqa: FBT001 - as torch's own
        def run() -> None:
            raise ImportError("no compiler\nmore")

        return run

    monkeypatch.setattr(torch, "compile", broken)
    model = _loaded(folder, "compile")
    found, wanted = _written(model, 2), _written(_loaded(folder, "none"), 1)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    (said,) = model.troubles()
    assert said == "CUDA graphs / torch.compile: off (ImportError: no compiler)"
    _written(model, 1)
    assert model.troubles() == []


def test_the_first_text_waits_for_no_compiler(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of a size is run before the first text of that size begins, and once."""
    ran: list[int] = []

    def counted(step: Callable[[], torch.Tensor], dynamic: bool) -> object:  # noqa: FBT001 - as torch's own
        def run() -> torch.Tensor:
            ran.append(1)
            return step()

        return run

    monkeypatch.setattr(torch, "compile", counted)
    model = _loaded(folder, "compile")
    assert "before the first text" in str(model.facts()["warm_up"])
    assert ran == []
    for _ in range(2):
        model.open(2, 100)
        assert ran == [1]
    model.open(2, 1000)
    assert ran == [1, 1]
    model.open(2, 1000, forced=True)
    assert len(ran) == 2 + len(FORCED_WIDTHS)


def test_a_step_reads_a_length_out_of_few(folder: Path) -> None:
    """So that few are captured, and a short text in a long place is read alone."""
    model = _loaded(folder, "none")
    cache = SlotCache(model._forward, 2, 1024, StepKind.GRAPHS)
    assert list(cache._lengths()) == [256, 512, 768, 1024]
    long = SlotCache(model._forward, 2, 8192, StepKind.GRAPHS)
    assert list(long._lengths()) == list(range(1024, 8193, 1024))
    cache.read([[1], [2]], [300, 3])
    assert list(cache._steps) == [(1, 512)]


def test_without_memory_for_places_caches_grow(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are written all the same, and that is said once."""

    def full(self: SlotCache) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(torch, "compile", lambda step, dynamic: step)  # noqa: ARG005 - as torch's own
    monkeypatch.setattr(SlotCache, "warm_up", full)
    model = _loaded(folder, "compile")
    found, wanted = _written(model, 2), _written(_loaded(folder, "none"), 1)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    (said,) = model.troubles()
    assert "no memory for 2 places of 512 tokens" in said
    _written(model, 2)
    assert model.troubles() == []


def test_a_model_whose_attention_takes_no_mask_keeps_no_steps(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would come out wrong is not done; the header says why."""
    monkeypatch.setattr(torch, "compile", lambda step, dynamic: step)  # noqa: ARG005 - as torch's own
    monkeypatch.setattr("evaluation.models.abilities._ATTENTION", ("another one",))
    model = _loaded(folder, "compile")
    assert model.facts()["compile"] == "none"
    assert model.limits == "texts run alone (attention by sdpa takes no mask)"


def test_graphs_are_refused_where_there_is_no_gpu(folder: Path) -> None:
    """One line; `auto` keeps nothing on a processor, and graphs on a GPU."""
    with pytest.raises(BadConfiguration, match="needs a CUDA device, not cpu") as told:
        _loaded(folder, "graphs")
    assert "compile=none" in told.value.then
    with pytest.raises(BadConfiguration, match="say auto, none, graphs, compile"):
        choose_step_kind("fast", _CPU)
    assert choose_step_kind("auto", _CPU) is StepKind.NONE
    assert choose_step_kind("auto", torch.device("cuda")) is StepKind.GRAPHS


@pytest.mark.slow
# torch's compiler imports parts of torch that torch has done with.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "backend", ["eager", pytest.param("inductor", marks=pytest.mark.nightly)]
)
def test_a_compiled_step_writes_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    """The step is traced as a whole, and machine code made of it writes the same."""
    if backend == "inductor" and which("g++") is None:
        pytest.skip("torch's compiler needs g++")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    whole = partial(torch.compile, backend=backend, fullgraph=True)
    monkeypatch.setattr(torch, "compile", whole)
    model = _loaded(folder, "compile")
    found, wanted = _written(model, 2), _written(_loaded(folder, "none"), 1)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    assert model.troubles() == []
