"""The loop writes what the model would write, and nothing that the engine forbids."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema_rs
import numpy as np
import pytest
import torch

from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.core.cases import Result
from evaluation.core.messages import Message
from evaluation.generation.engine_batch import EngineProcess
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    LoopOptions,
    TextEnding,
    TokenizedRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.generation.engine_session import EngineSession
    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles

_ENGINES = Path(__file__).parents[3] / "evaluation" / "engines"
_COMPACT = {
    "whitespace_flexible": False,
    "item_separator": ",",
    "key_separator": ":",
    "slices": "json",
}
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["ferry", "barge"]},
        "crew": {"type": "integer", "minimum": 1, "maximum": 9},
        "ports": {
            "type": "array",
            "items": {"enum": ["east", "west"]},
            "minItems": 1,
            "maxItems": 2,
        },
    },
    "required": ["kind", "crew", "ports"],
    "additionalProperties": False,
}


def _engine(folder: Path, body: str) -> Path:
    path = folder / "engine.py"
    path.write_text(body)
    return path


@contextmanager
def sessions(
    tokenizer: TokenizerFiles,
    engine: Path,
    options: dict[str, UntypedJson] | None = None,
    *,
    texts: int = 1,
    limits: Limits | None = None,
) -> Iterator[Sequence[EngineSession]]:
    """Open an engine's process over the small vocabulary, for a batch of texts."""
    given: dict[str, UntypedJson] = {
        "tokens": str(tokenizer.tokens),
        "vocab_size": tokenizer.vocab_size,
        "eos_id": tokenizer.eos_id,
        "special_ids": list(tokenizer.special_ids),
        "kind": tokenizer.kind,
        "tokenizer_json": str(tokenizer.tokenizer_json),
    }
    program = Program(
        file=engine,
        setup={"engine": str(engine), "options": options or {}, "tokenizer": given},
    )
    with EngineProcess(
        program, texts, vocab_size=tokenizer.vocab_size, limits=limits or Limits()
    ) as opened:
        yield opened.sessions


@contextmanager
def session(
    tokenizer: TokenizerFiles,
    engine: Path,
    options: dict[str, UntypedJson] | None = None,
    limits: Limits | None = None,
) -> Iterator[EngineSession]:
    """Open an engine's process for one text at a time."""
    with sessions(tokenizer, engine, options, limits=limits) as opened:
        yield opened[0]


def _request(model: TransformersModel, say: str, **changes: object) -> TokenizedRequest:
    prompt = model.prompt([Message(role="user", content=say)])
    given: dict[str, object] = {
        "id": say,
        "schema": json.dumps(SCHEMA),
        "prompt": prompt,
        "budget": 80,
    }
    return TokenizedRequest(**{**given, **changes})  # type: ignore[arg-type]  # any field


def _alone(model: TransformersModel, request: TokenizedRequest) -> Generation:
    return generate(model, [request], [None], LoopOptions())[0]


def test_without_an_engine_the_text_is_that_of_generate(
    model: TransformersModel,
) -> None:
    """Greedy decoding through the loop chooses the tokens that `generate` chooses."""
    request = _request(model, "say something", budget=24)
    ours = _alone(model, request)
    inputs = torch.tensor([request.prompt])
    theirs = model.module.generate(inputs, max_new_tokens=24, do_sample=False)
    new = theirs[0, len(request.prompt) :].tolist()
    assert list(ours.tokens) == [each for each in new if each not in model.end_tokens]


_LONG = "the same beginning of a long instruction, " * 12
_REUSING = LoopOptions(prefix_cache=True)


def test_the_prefix_cache_changes_no_bit(model: TransformersModel) -> None:
    """What a prompt shares with the one before is taken over, and nobody sees it."""
    prompts = [_request(model, _LONG + end).prompt for end in ("one", "two", "other")]
    fresh = []
    for prompt in prompts:
        model.forget()
        fresh.append(model.open().admit(prompt, "line").logits)
    model.forget()
    later = [model.open().admit(prompt, "line") for prompt in prompts]
    assert [found.reused > 0 for found in later] == [False, False, True]
    for found, alone in zip(later, fresh, strict=True):
        assert np.array_equal(found.logits, alone)


def test_nobody_profits_from_the_prompts_of_another(model: TransformersModel) -> None:
    """The same prompt under two engines is prefilled twice: times are comparable."""
    asked = [_request(model, _LONG + say, budget=3) for say in ("one", "two", "six")]
    reused = []
    for request in asked:
        for line in ("first", "second"):
            made = generate(model, [request], [None], _REUSING, line)[0]
            reused.append(made.reused_tokens)
    assert reused[:4] == [0] * 4
    assert 0 < reused[4] == reused[5] < len(asked[1].prompt) - 1
    unasked = generate(model, [asked[0]], [None], LoopOptions(), "first")[0]
    assert unasked.reused_tokens == 0


def test_a_batch_writes_what_each_text_would_be_alone(
    model: TransformersModel,
) -> None:
    """Texts of a batch do not disturb each other, whatever their prompts' lengths."""
    asked = [
        _request(model, say, budget=budget)
        for say, budget in (("a", 7), ("a much longer prompt", 20), ("mid one", 12))
    ]
    alone = [_alone(model, each) for each in asked]
    together = generate(model, asked, [None] * 3, LoopOptions())
    assert [each.tokens for each in together] == [each.tokens for each in alone]
    assert [each.ending for each in together] == [each.ending for each in alone]


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("overlap", [False, True])
def test_under_an_engine_even_a_random_model_satisfies_the_schema(
    model: TransformersModel, tokenizer: TokenizerFiles, *, overlap: bool, forced: bool
) -> None:
    """Overlaps and forced tokens change the times, never what is allowed."""
    options = LoopOptions(overlap_compile=overlap, overlap_mask=overlap, forced=forced)
    validator = jsonschema_rs.Draft202012Validator(SCHEMA)
    with session(tokenizer, _ENGINES / "llguidance.py", _COMPACT) as opened:
        for say in ("one", "two", "three"):
            made = generate(model, [_request(model, say)], [opened], options)[0]
            assert (made.result, made.ending) == (Result.OK, TextEnding.END), (
                made.detail
            )
            assert validator.is_valid(json.loads(made.text))
            assert (made.forced > 0) is forced
            assert made.compile_ns
            assert made.ttft_ns
            assert made.total_ns
            assert made.total_ns >= made.ttft_ns
            assert sum(each.fed for each in made.steps[1:]) == len(made.tokens)


def test_the_overlaps_change_no_text(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """With and without overlapping the same tokens are chosen."""
    texts = set()
    with session(tokenizer, _ENGINES / "llguidance.py", _COMPACT) as opened:
        for overlap in (True, False):
            options = LoopOptions(overlap_compile=overlap, overlap_mask=overlap)
            made = generate(model, [_request(model, "go")], [opened], options)[0]
            texts.add(made.tokens)
    assert len(texts) == 1


def test_the_budget_ends_a_text(model: TransformersModel) -> None:
    """A text has at most its budget of tokens, and says that it was truncated."""
    made = _alone(model, _request(model, "on and on", budget=3))
    assert len(made.tokens) == 3
    assert made.ending is TextEnding.TRUNCATED


def test_a_seed_decides_what_is_drawn(model: TransformersModel) -> None:
    """Sampling gives the same text for the same seed, and others for other seeds."""

    def drawn(seed: int) -> tuple[int, ...]:
        request = _request(model, "draw", budget=12, temperature=1.5, seed=seed)
        return _alone(model, request).tokens

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1


def test_a_refused_schema_is_the_outcome_of_that_text_alone(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """Next to a compile error the other text of the batch is written."""
    bad = _request(model, "bad", schema='{"type": "neither"}')
    engine = _ENGINES / "llguidance.py"
    with sessions(tokenizer, engine, _COMPACT, texts=2) as opened:
        refused, written = generate(
            model, [bad, _request(model, "good")], opened, LoopOptions()
        )
        again = generate(model, [_request(model, "good")], opened[:1], LoopOptions())[0]
    assert refused.result is Result.COMPILE_ERROR
    assert refused.ending is TextEnding.ENGINE
    assert (written.result, again.result) == (Result.OK, Result.OK)
    assert written.tokens == again.tokens


_CRASHES = """
import os
class Matcher:
    def __init__(self, size): self.left, self.size = 3, size
    def mask(self): return b"\\xff" * self.size
    def commit(self, token):
        self.left -= 1
        if not self.left: os.abort()
        return True
    def may_end(self): return False
class Engine:
    version = "0"
    def __init__(self, size): self.size = size
    def compile(self, schema): return schema
    def start(self, grammar): return Matcher(self.size)
def load(tokenizer, options): return Engine((tokenizer.vocab_size + 31) // 32 * 4)
"""


def test_an_engine_that_dies_in_the_middle_is_an_outcome(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """A crash while a text is written ends that text, and the session goes on."""
    with session(tokenizer, _engine(tmp_path, _CRASHES)) as opened:
        for _ in range(2):
            made = generate(model, [_request(model, "x")], [opened], LoopOptions())[0]
            assert made.result is Result.CRASH
            assert "SIGABRT" in made.detail


_RAISES = _CRASHES.replace(
    "return Matcher(self.size)", "raise ValueError('no matcher')"
)


def test_an_engine_that_raises_is_an_outcome_each_time(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """What is still under way when one text ends is never taken for the next one's."""
    with session(tokenizer, _engine(tmp_path, _RAISES)) as opened:
        for _ in range(5):
            made = generate(model, [_request(model, "x")], [opened], LoopOptions())[0]
            assert made.result is Result.ENGINE_ERROR
            assert "no matcher" in made.detail


_LIES = _CRASHES.replace(
    "        self.left -= 1\n        if not self.left: os.abort()\n        return True",
    "        return token != 9\n    def forced(self): return [8, 9]",
)


def test_an_engine_that_refuses_what_it_forces_is_an_outcome(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """A forced token that commit refuses ends the text, and not the run."""
    options = LoopOptions(forced=True)
    with session(tokenizer, _engine(tmp_path, _LIES)) as opened:
        for _ in range(3):
            made = generate(model, [_request(model, "x")], [opened], options)[0]
            assert made.result is Result.ENGINE_ERROR
            assert "forced" in made.detail


def test_forced_tokens_stay_within_the_budget(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """However many tokens are forced, a text has at most its budget of them."""
    options = LoopOptions(forced=True)
    with session(tokenizer, _ENGINES / "llguidance.py", _COMPACT) as opened:
        for budget in range(1, 16):
            request = _request(model, "go", budget=budget)
            made = generate(model, [request], [opened], options)[0]
            assert len(made.tokens) <= budget
            assert made.ending in {TextEnding.TRUNCATED, TextEnding.END}


_DEAD_END = _CRASHES.replace('b"\\xff"', 'b"\\x00"')


def test_a_mask_without_any_token_is_a_dead_end(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Where neither a token nor the end is allowed the text ends, and says why."""
    with session(tokenizer, _engine(tmp_path, _DEAD_END)) as opened:
        made = generate(model, [_request(model, "x")], [opened], LoopOptions())[0]
    assert made.ending is TextEnding.DEAD_END


_SLOW = _CRASHES.replace(
    "return schema", "import time; time.sleep(60) if 'slow' in schema else 0; return 1"
).replace("if not self.left: os.abort()", "pass")


def test_a_slow_compile_holds_up_nobody_else(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """While one grammar is compiled until its deadline, the other text is finished."""
    engine = _engine(tmp_path, _SLOW)
    options = LoopOptions(compile_seconds=2.0)
    asked = [
        _request(model, "slow", schema='{"slow": 1}', budget=4),
        _request(model, "fast", budget=4),
    ]
    with sessions(tokenizer, engine, texts=2) as opened:
        opened[0].start()
        slow, fast = generate(model, asked, opened, options)
    assert slow.result is Result.TIMEOUT
    assert slow.compile_ns is None
    assert fast.result is Result.OK
    assert fast.total_ns is not None
    assert fast.total_ns < 2e9


_FRAGILE = _CRASHES.replace(
    "    def start(self, grammar): return Matcher(self.size)",
    "    def start(self, grammar):\n"
    "        matcher = Matcher(self.size)\n"
    "        if 'sound' in grammar: matcher.left = 1 << 30\n"
    "        return matcher",
)


def test_a_crash_ends_one_text_of_a_batch(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """One process serves a batch; when it dies, the other texts are brought back."""
    engine = _engine(tmp_path, _FRAGILE)
    sound = [
        _request(model, say, schema='{"sound": 1}', budget=30) for say in ("a", "b c")
    ]
    asked = [sound[0], _request(model, "dies", budget=30), sound[1]]
    with sessions(tokenizer, engine, texts=3) as opened:
        first, dead, last = generate(model, asked, opened, LoopOptions())
    assert dead.result is Result.CRASH
    assert len(dead.tokens) <= 3
    for found, request in ((first, sound[0]), (last, sound[1])):
        assert found.result is Result.OK
        with session(tokenizer, engine) as alone:
            assert (
                found.tokens
                == generate(model, [request], [alone], LoopOptions())[0].tokens
            )


_COMPILE_CRASHES = _FRAGILE.replace(
    "return schema", "(os.abort() if 'aborts' in schema else 0); return schema"
)


def test_a_crash_in_a_compile_beside_others_is_blamed_on_it(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Nobody else of the batch pays for a schema on which the engine aborts."""
    engine = _engine(tmp_path, _COMPILE_CRASHES)
    asked = [
        _request(model, "x", schema=schema, budget=20)
        for schema in ('{"sound": 1}', '{"aborts": 1}', '{"sound": 2}')
    ]
    with sessions(tokenizer, engine, texts=3) as opened:
        made = generate(model, asked, opened, LoopOptions())
    assert [each.result for each in made] == [Result.OK, Result.CRASH, Result.OK]
    assert made[1].compile_ns is None
    assert made[0].tokens == made[2].tokens


def test_a_text_that_ends_makes_room_at_once(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """More texts than sessions are written as room is made, each as if alone."""
    asked = [
        _request(model, f"text {number}", budget=budget)
        for number, budget in enumerate((3, 30, 5, 30, 9, 1, 30))
    ]
    order: list[int] = []
    with sessions(tokenizer, _ENGINES / "llguidance.py", _COMPACT, texts=3) as opened:
        made = generate(
            model,
            asked,
            opened,
            LoopOptions(),
            ended=lambda place, _generation: order.append(place),
        )
        alone = [
            generate(model, [request], opened[:1], LoopOptions())[0]
            for request in asked
        ]
    assert [each.tokens for each in made] == [each.tokens for each in alone]
    assert sorted(order) == list(range(7))
    assert order[0] == 0
    assert order.index(5) < order.index(3)


def test_what_an_engine_prints_is_a_warning_of_its_text(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Lines that a compile prints come back with the text, and are not kept."""
    prints = _FRAGILE.replace("return schema", "print('odd keyword'); return schema")
    with session(tokenizer, _engine(tmp_path, prints)) as opened:
        request = _request(model, "x", schema='{"sound": 1}', budget=2)
        for _ in range(2):
            made = generate(model, [request], [opened], LoopOptions())[0]
            assert made.warnings == ("odd keyword",)


def test_a_process_that_is_replaced_goes_on_where_it_was(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """A worker that has served long enough gives way to a new one in mid-text."""
    request = _request(model, "go")
    engine = _ENGINES / "llguidance.py"
    with session(tokenizer, engine, _COMPACT) as opened:
        wanted = generate(model, [request], [opened], LoopOptions())[0]
    with session(tokenizer, engine, _COMPACT, Limits(recycle_after=4)) as opened:
        made = generate(model, [request], [opened], LoopOptions())[0]
    assert (made.tokens, made.ending) == (wanted.tokens, TextEnding.END)
