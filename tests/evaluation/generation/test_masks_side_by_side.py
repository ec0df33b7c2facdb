"""Masks of a batch are computed beside each other and beside the model's pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions
from tests.evaluation.generation.loop_sessions import (
    COMPACT,
    ENGINES,
    SCHEMA,
    engine_file,
    sessions,
    tokenized,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.generation.engine_session import EngineSession
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles

_ENGINE = """
import os, time
from threading import Barrier
together = Barrier(2)
class Matcher:
    def __init__(self, schema, size):
        self.schema, self.bits, self.taken = schema, b"\\xff" * size, 0
    def mask(self):
        {mask}
        return self.bits
    def commit(self, token):
        self.taken += 1
        return True
    def may_end(self): return False
class Engine:
    version = "0"
    masks_side_by_side = True
    def __init__(self, size): self.size = size
    def compile(self, schema): return schema
    def start(self, grammar): return Matcher(grammar, self.size)
def load(tokenizer, options): return Engine((tokenizer.vocab_size + 31) // 32 * 4)
"""


def _begun(opened: Sequence[EngineSession]) -> None:
    """Bring every session to its first mask."""
    for place, one in enumerate(opened):
        one.compile(json.dumps({"title": str(place)}), 20.0)
    for one in opened:
        one.compiled()
        one.mask()


def test_masks_of_a_batch_are_computed_at_the_same_time(
    tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Each of two masks waits until the other one is being computed."""
    body = _ENGINE.format(mask="if self.taken: together.wait(10)")
    engine = engine_file(tmp_path, body)
    with sessions(tokenizer, engine, texts=2, mask_threads=2) as opened:
        _begun(opened)
        for one in opened:
            one.take(5, forced=0, seconds=20.0)
        for one in opened:
            one.send()
        for one in opened:
            assert one.mask().ns > 0


def test_nobody_waits_for_masks_that_are_asked_for(
    tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """To send what a batch asks is not to wait for it: the model's pass comes next."""
    gate = tmp_path / "gate"
    wait = f"while self.taken and not os.path.exists({str(gate)!r}): time.sleep(0.001)"
    engine = engine_file(tmp_path, _ENGINE.format(mask=wait))
    with sessions(tokenizer, engine, texts=3) as opened:
        _begun(opened)
        for one in opened:
            one.take(5, forced=0, seconds=20.0)
        for one in opened:
            one.send()
        assert all(one.is_waiting() for one in opened)
        gate.touch()
        for one in opened:
            one.mask()


@pytest.mark.slow
@pytest.mark.parametrize("options", [LoopOptions(), LoopOptions(forced=True)])
def test_texts_and_masks_are_those_of_one_after_the_other(
    model: TransformersModel, tokenizer: TokenizerFiles, options: LoopOptions
) -> None:
    """Four threads, a batch of four, and texts that end one after the other."""
    asked = [
        tokenized(model, said, schema=json.dumps({**SCHEMA, "title": said}))
        for said in ("a", "bb", "c c", "", "dd", "e")
    ]
    engine = ENGINES / "llguidance.py"
    found = []
    for threads in (1, 4):
        with sessions(
            tokenizer, engine, COMPACT, texts=4, mask_threads=threads
        ) as opened:
            made = generate(model, asked, opened, options)
        found.append([(one.tokens, one.ending, one.forced) for one in made])
    assert found[0] == found[1]


_FALLS = (
    "if self.taken == 2 and '1' in self.schema: os.abort()",
    "if self.taken == 2 and '1' in self.schema: raise MemoryError",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mask", "result"),
    [(_FALLS[0], Result.CRASH), (_FALLS[1], Result.OUT_OF_MEMORY)],
    ids=["aborts", "out-of-memory"],
)
def test_who_dies_beside_others_is_found(
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    mask: str,
    result: Result,
) -> None:
    """Its text alone has that outcome, wherever in the batch it is; others go on."""
    engine = engine_file(tmp_path, _ENGINE.format(mask=mask))
    asked = [
        tokenized(model, str(place), schema=json.dumps({"title": str(place)}), budget=6)
        for place in range(3)
    ]
    with sessions(tokenizer, engine, texts=3, mask_threads=3) as opened:
        for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
            made = generate(
                model, [asked[place] for place in order], opened, LoopOptions()
            )
            results = {one.id: one.result for one in made}
            assert results == {"0": Result.OK, "1": result, "2": Result.OK}


def test_a_mask_that_raises_beside_others_is_its_texts_own(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """What is raised in a thread is told as if it were raised in none."""
    fails = "assert not (self.taken and '1' in self.schema), 'no mask'"
    engine = engine_file(tmp_path, _ENGINE.format(mask=fails))
    asked = [
        tokenized(model, str(place), schema=json.dumps({"title": str(place)}), budget=6)
        for place in range(2)
    ]
    with sessions(tokenizer, engine, texts=2, mask_threads=2) as opened:
        first, second = generate(model, asked, opened, LoopOptions())
    assert first.result is Result.OK
    assert second.result is Result.ENGINE_ERROR
    assert "no mask" in second.detail
