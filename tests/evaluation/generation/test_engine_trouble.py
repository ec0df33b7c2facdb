"""Whatever an engine does in the middle of a text is the outcome of that text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.workers.limits import Limits
from evaluation.core.cases import Result
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TextEnding
from tests.evaluation.generation.loop_sessions import (
    COMPACT,
    ENGINES,
    engine_file,
    session,
    sessions,
    tokenized,
)

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles


def test_a_refused_schema_is_the_outcome_of_that_text_alone(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """Next to a compile error the other text of the batch is written."""
    bad = tokenized(model, "bad", schema='{"type": "neither"}')
    engine = ENGINES / "llguidance.py"
    with sessions(tokenizer, engine, COMPACT, texts=2) as opened:
        refused, written = generate(
            model, [bad, tokenized(model, "good")], opened, LoopOptions()
        )
        again = generate(model, [tokenized(model, "good")], opened[:1], LoopOptions())[
            0
        ]
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


_RAISES = _CRASHES.replace(
    "return Matcher(self.size)", "raise ValueError('no matcher')"
)
_LIES = _CRASHES.replace(
    "        self.left -= 1\n        if not self.left: os.abort()\n        return True",
    "        return token != 9\n    def forced(self): return [8, 9]",
)


@pytest.mark.parametrize(
    ("engine", "options", "result", "word"),
    [
        (_CRASHES, LoopOptions(), Result.CRASH, "SIGABRT"),
        (_RAISES, LoopOptions(), Result.ENGINE_ERROR, "no matcher"),
        (_LIES, LoopOptions(forced=True), Result.ENGINE_ERROR, "forced"),
    ],
    ids=["dies", "raises", "refuses-what-it-forces"],
)
def test_an_engine_that_fails_in_the_middle_is_an_outcome_each_time(  # noqa: PLR0913, PLR0917 (a row of the table)
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    engine: str,
    options: LoopOptions,
    result: Result,
    word: str,
) -> None:
    """Its text ends, the session goes on; nothing under way is the next one's."""
    with session(tokenizer, engine_file(tmp_path, engine)) as opened:
        for _ in range(5):
            made = generate(model, [tokenized(model, "x")], [opened], options)[0]
            assert made.result is result
            assert word in made.detail


_DEAD_END = _CRASHES.replace('b"\\xff"', 'b"\\x00"')


def test_a_mask_without_any_token_is_a_dead_end(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Where neither a token nor the end is allowed the text ends, and says why."""
    with session(tokenizer, engine_file(tmp_path, _DEAD_END)) as opened:
        made = generate(model, [tokenized(model, "x")], [opened], LoopOptions())[0]
    assert made.ending is TextEnding.DEAD_END


_SLOW = _CRASHES.replace("import os", "import os, time").replace(
    "return schema", "{how} if 'slow' in schema else 0; return 1"
)


def test_a_slow_compile_holds_up_nobody_else(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """A grammar whose compile waits for the end of the other text is compiled."""
    mark = str(tmp_path / "written")
    is_there = f"iter(lambda: os.path.exists({mark!r}), True)"
    waits = _SLOW.replace("{how}", f"[time.sleep(0.01) for _ in {is_there}]")
    engine = engine_file(tmp_path, waits.replace("os.abort()", f"open({mark!r}, 'w')"))
    asked = [
        tokenized(model, "slow", schema='{"slow": 1}', budget=2),
        tokenized(model, "fast", budget=4),
    ]
    with sessions(tokenizer, engine, texts=2) as opened:
        made = generate(model, asked, opened, LoopOptions())
    assert [text.result for text in made] == [Result.OK, Result.OK]


@pytest.mark.parametrize(
    ("how", "result"),
    [("time.sleep(2)", Result.OK), ("sum(0 for _ in iter(int, 1))", Result.TIMEOUT)],
)
def test_a_compile_beside_others_has_processor_time(
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    how: str,
    result: Result,
) -> None:
    """Its deadline is not that of the wall clock, by which a busy machine is late."""
    engine = engine_file(tmp_path, _SLOW.replace("{how}", how))
    asked = [
        tokenized(model, "slow", schema='{"slow": 1}', budget=2),
        tokenized(model, "fast", budget=2),
    ]
    limits, options = Limits(wall_times=60.0), LoopOptions(compile_seconds=1.0)
    with sessions(tokenizer, engine, texts=2, limits=limits) as opened:
        slow, fast = generate(model, asked, opened, options)
    assert (slow.result, fast.result) == (result, Result.OK)
    assert (slow.compile_ns is None) == (result is Result.TIMEOUT)


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
    engine = engine_file(tmp_path, _FRAGILE)
    sound = [
        tokenized(model, say, schema='{"sound": 1}', budget=30) for say in ("a", "b c")
    ]
    asked = [sound[0], tokenized(model, "dies", budget=30), sound[1]]
    with sessions(tokenizer, engine, texts=3) as opened:
        first, dead, last = generate(model, asked, opened, LoopOptions())
    assert dead.result is Result.CRASH
    assert len(dead.tokens) <= 3
    for found, request in ((first, sound[0]), (last, sound[1])):
        assert found.result is Result.OK
        with session(tokenizer, engine) as opened_alone:
            assert (
                found.tokens
                == generate(model, [request], [opened_alone], LoopOptions())[0].tokens
            )


# Their first process leaves a mark when it dies; those after it see that.
_FORGETS = _FRAGILE.replace("os.abort()", "open({mark!r}, 'w'); os.abort()")
_FORGETS = _FORGETS.replace(
    "        self.left -= 1",
    "        if {mark!r}.endswith('text') and os.path.exists({mark!r}): return False\n"
    "        self.left -= 1",
).replace(
    "return schema",
    "\n        if {mark!r}.endswith('schema') and os.path.exists({mark!r}):"
    "\n            raise ValueError('not again')"
    "\n        return schema",
)


@pytest.mark.parametrize(
    ("forgets", "word"),
    [("schema", "refuses it: ValueError: not again"), ("text", "what was written")],
)
def test_a_new_process_that_does_not_do_again_what_the_last_did_is_an_error(
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    forgets: str,
    word: str,
) -> None:
    """It ends the text that is brought back, and says what is refused."""
    mark = str(tmp_path / f"died.{forgets}")
    engine = engine_file(tmp_path, _FORGETS.replace("{mark!r}", repr(mark)))
    sound = tokenized(model, "x", schema='{"sound": 1}', budget=30)
    with sessions(tokenizer, engine, texts=2) as opened:
        lost, dead = generate(
            model, [sound, tokenized(model, "dies", budget=30)], opened, LoopOptions()
        )
    assert dead.result is Result.CRASH
    assert lost.result is Result.ENGINE_ERROR
    assert word in lost.detail


_COMPILE_CRASHES = _FRAGILE.replace(
    "return schema", "(os.abort() if 'aborts' in schema else 0); return schema"
)


def test_a_crash_in_a_compile_beside_others_is_blamed_on_it(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Nobody else of the batch pays for a schema on which the engine aborts."""
    engine = engine_file(tmp_path, _COMPILE_CRASHES)
    asked = [
        tokenized(model, "x", schema=schema, budget=20)
        for schema in ('{"sound": 1}', '{"aborts": 1}', '{"sound": 2}')
    ]
    with sessions(tokenizer, engine, texts=3) as opened:
        made = generate(model, asked, opened, LoopOptions())
    assert [text.result for text in made] == [Result.OK, Result.CRASH, Result.OK]
    assert made[1].compile_ns is None
    assert made[0].tokens == made[2].tokens


def test_what_an_engine_prints_is_a_warning_of_its_text(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Lines that a compile prints come back with the text, and are not kept."""
    prints = _FRAGILE.replace("return schema", "print('odd keyword'); return schema")
    with session(tokenizer, engine_file(tmp_path, prints)) as opened:
        request = tokenized(model, "x", schema='{"sound": 1}', budget=2)
        for _ in range(2):
            made = generate(model, [request], [opened], LoopOptions())[0]
            assert made.warnings == ("odd keyword",)
