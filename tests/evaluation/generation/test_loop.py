"""The loop writes what the model would write and the engine allows, or says why not."""

from __future__ import annotations

import itertools
import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest

from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.core.cases import Result
from evaluation.core.records import Message
from evaluation.generation.text_generation import (
    LoopOptions,
    TextEnding,
    TokenizedRequest,
)
from evaluation.masks.engine_process import CoreWaits
from tests.late import Late

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.generation.engine_session import EngineSession, engine_sessions
    from evaluation.generation.loop import generate
    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles
else:
    engine_sessions = Late("evaluation.generation.engine_session", "engine_sessions")
    generate = Late("evaluation.generation.loop", "generate")


#: The engines of the package.
ENGINES = Path(__file__).parents[3] / "evaluation" / "engines"
#: Options of llguidance with which texts have no white space.
COMPACT = {
    "whitespace_flexible": False,
    "item_separator": ",",
    "key_separator": ":",
    "slices": "json",
}
#: What requests ask for by default.
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
_SCHEMA = json.dumps(SCHEMA)


@contextmanager
def sessions(
    tokenizer: TokenizerFiles,
    engine: Path,
    options: dict[str, UntypedJson] | None = None,
    *,
    texts: int = 1,
    limits: Limits | None = None,
) -> Iterator[Sequence[EngineSession]]:
    """Open an engine's processes over the small vocabulary, for a batch of texts."""
    given: dict[str, UntypedJson] = {
        "tokens": str(tokenizer.tokens),
        "vocab_size": tokenizer.vocab_size,
        "eos_id": tokenizer.eos_id,
        "special_ids": list(tokenizer.special_ids),
        "tokenizer_json": str(tokenizer.tokenizer_json),
    }
    program = Program(
        file=engine,
        setup={"engine": str(engine), "options": options or {}, "tokenizer": given},
    )
    with engine_sessions(
        program, texts, vocab_size=tokenizer.vocab_size, limits=limits or Limits()
    ) as opened:
        yield opened


@contextmanager
def session(
    tokenizer: TokenizerFiles,
    engine: Path,
    options: dict[str, UntypedJson] | None = None,
) -> Iterator[EngineSession]:
    """Open an engine's process for one text at a time."""
    with sessions(tokenizer, engine, options) as opened:
        yield opened[0]


def tokenized(  # noqa: PLR0913 (as a request has)
    model: TransformersModel,
    log: str,
    *,
    schema: str = _SCHEMA,
    budget: int = 80,
    temperature: float = 0.0,
    seed: int = 0,
) -> TokenizedRequest:
    """Return a request for one text, of `SCHEMA` unless told otherwise."""
    return TokenizedRequest(
        id=log,
        schema=schema,
        prompt=model.prompt([Message(role="user", content=log)]),
        budget=budget,
        temperature=temperature,
        seed=seed,
    )


def to_text(
    model: TransformersModel,
    request: TokenizedRequest,
    opened: EngineSession | None = None,
    options: LoopOptions | None = None,
) -> Generation:
    """Return the text that the model writes, under an engine or without any."""
    return generate(model, [request], [opened], options or LoopOptions())[0]


@pytest.mark.parametrize("forced", [False, True])
def test_under_an_engine_even_a_random_model_satisfies_the_schema(
    model: TransformersModel, tokenizer: TokenizerFiles, *, forced: bool
) -> None:
    """Forced tokens change the times, never what is allowed."""
    options = LoopOptions(forced=forced)
    validator = jsonschema_rs.Draft202012Validator(SCHEMA)
    with session(tokenizer, ENGINES / "llguidance.py", COMPACT) as opened:
        for log in ("one", "two", "three"):
            made = to_text(model, tokenized(model, log), opened, options)
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


def test_the_budget_ends_a_text(model: TransformersModel) -> None:
    """A text has at most its budget of tokens, and says that it was truncated."""
    made = to_text(model, tokenized(model, "on and on", budget=3))
    assert len(made.tokens) == 3
    assert made.ending is TextEnding.TRUNCATED


def test_a_seed_decides_what_is_drawn(model: TransformersModel) -> None:
    """Sampling gives the same text for the same seed, and others for other seeds."""

    def drawn(seed: int) -> tuple[int, ...]:
        request = tokenized(model, "draw", budget=12, temperature=1.5, seed=seed)
        return to_text(model, request).tokens

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1


def test_forced_tokens_stay_within_the_budget(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """However many tokens are forced, a text has at most its budget of them."""
    options = LoopOptions(forced=True)
    with session(tokenizer, ENGINES / "llguidance.py", COMPACT) as opened:
        for budget in range(1, 16):
            request = tokenized(model, "go", budget=budget)
            made = to_text(model, request, opened, options)
            assert len(made.tokens) <= budget
            assert made.ending in {TextEnding.TRUNCATED, TextEnding.END}


def test_a_text_that_ends_makes_room_at_once(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """More texts than sessions are written as room is made, each as if alone."""
    asked = [
        tokenized(model, f"text {number}", budget=budget)
        for number, budget in enumerate((3, 30, 5, 30, 9, 1, 30))
    ]
    order: list[int] = []
    with sessions(tokenizer, ENGINES / "llguidance.py", COMPACT, texts=3) as opened:
        made = generate(
            model,
            asked,
            opened,
            LoopOptions(),
            on_end=lambda place, _generation: order.append(place),
        )
        singly = [to_text(model, request, opened[0]) for request in asked]
    assert [text.tokens for text in made] == [text.tokens for text in singly]
    assert sorted(order) == list(range(7))
    assert order[0] == 0
    assert order.index(5) < order.index(3)


@pytest.mark.parametrize("machine", ["busy", "quiet", "does not count"])
def test_what_a_busy_machine_takes_is_not_the_text_s(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    """Waiting for a core, before the text too, does not count towards its deadline."""
    waits = {
        "busy": itertools.count(10**15, 10**12),
        "quiet": itertools.repeat(10**15),
        "does not count": itertools.repeat(None),
    }[machine]
    monkeypatch.setattr(CoreWaits, "total", lambda _: next(waits))
    request = TokenizedRequest(id="a", schema="{}", prompt=(5, 6, 7), budget=10)
    (made,) = generate(model, [request], [None], LoopOptions(run_seconds=1e-6))
    if machine == "busy":
        assert made.ending in {TextEnding.END, TextEnding.TRUNCATED}
    else:
        assert (made.ending, len(made.tokens)) == (TextEnding.TIMEOUT, 1)
        assert "1e-06 s" in made.detail


_ENGINE = """
import os, time
class Matcher:
    def __init__(self, schema, size):
        self.schema, self.bits, self.taken = schema, b"\\xff" * size, 0
    def mask(self):
        {mask}
        return self.bits
    def commit(self, token):
        self.taken += 1
        {commit}
        return True
    def forced(self): {forced}
    def may_end(self): return False
class Engine:
    version = "0"
    def __init__(self, size): self.size = size
    def compile(self, schema):
        {compile}
        return schema
    def start(self, grammar):
        {start}
        return Matcher(grammar, self.size)
def load(tokenizer, options): return Engine((tokenizer.vocab_size + 31) // 32 * 4)
"""
_CRASHES = "if self.taken == 3: os.abort()"
#: As above, but for schemas that are sound.
_FRAGILE = "if self.taken == 3 and 'sound' not in self.schema: os.abort()"


def engine_file(folder: Path, **does: str) -> Path:
    """Write an engine's file, with what it does at each of its steps."""
    path = folder / "engine.py"
    steps = dict.fromkeys(("mask", "commit", "forced", "compile", "start"), "pass")
    path.write_text(_ENGINE.format(**{**steps, **does}))
    return path


def _begun(opened: Sequence[EngineSession]) -> None:
    """Bring every session to its first mask."""
    for place, one in enumerate(opened):
        one.compile(json.dumps({"title": str(place)}), 20.0)
    for one in opened:
        one.compiled()
        one.mask()


def test_a_mask_may_have_no_bit_to_spare(
    tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """It covers a vocabulary of a multiple of 32 tokens to the bit."""
    size = -(-tokenizer.vocab_size // 32) * 32
    with session(replace(tokenizer, vocab_size=size), engine_file(tmp_path)) as opened:
        _begun([opened])


def test_masks_of_a_batch_are_computed_at_the_same_time(
    tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Each of two masks waits until the other one is being computed."""
    here = repr(str(tmp_path))
    together = (
        f"if self.taken: open(os.path.join({here}, f'{{os.getpid()}}.mask'), 'w')\n"
        f"        while self.taken and sum("
        f"n.endswith('.mask') for n in os.listdir({here})) < 2: time.sleep(0.001)"
    )
    engine = engine_file(tmp_path, mask=together)
    with sessions(tokenizer, engine, texts=2) as opened:
        _begun(opened)
        for one in opened:
            one.take(5, forced=0, seconds=20.0)
        for one in opened:
            assert one.mask() > 0


def test_nobody_waits_for_masks_that_are_asked_for(
    tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """To ask for a batch is not to wait for it: the model's pass comes next."""
    gate = tmp_path / "gate"
    wait = f"while self.taken and not os.path.exists({str(gate)!r}): time.sleep(0.001)"
    engine = engine_file(tmp_path, mask=wait)
    with sessions(tokenizer, engine, texts=3) as opened:
        _begun(opened)
        for one in opened:
            one.take(5, forced=0, seconds=20.0)
        assert all(one.is_waiting() for one in opened)
        gate.touch()
        for one in opened:
            one.mask()


@pytest.mark.parametrize(
    ("does", "result"),
    [
        ("raise ValueError", Result.ENGINE_ERROR),
        pytest.param("os.abort()", Result.CRASH, marks=pytest.mark.slow),
        pytest.param("raise MemoryError", Result.OUT_OF_MEMORY, marks=pytest.mark.slow),
    ],
)
def test_who_dies_beside_others_is_found(
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    does: str,
    result: Result,
) -> None:
    """Its text alone has that outcome, wherever in the batch it is.

    Its process is replaced; the other texts are as they are alone.
    """
    when = "if self.taken == 2 and '1' in self.schema: "
    engine = engine_file(tmp_path, mask=when + does)
    asked = [
        tokenized(model, str(place), schema=json.dumps({"title": str(place)}), budget=6)
        for place in range(3)
    ]
    with sessions(tokenizer, engine, texts=3) as opened:
        sound = (asked[0], asked[2])
        wanted = {one.id: to_text(model, one, opened[0]).tokens for one in sound}
        for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
            made = generate(
                model, [asked[place] for place in order], opened, LoopOptions()
            )
            results = {one.id: one.result for one in made}
            assert results == {"0": Result.OK, "1": result, "2": Result.OK}
            tokens = {one.id: one.tokens for one in made}
            assert len(tokens.pop("1")) == 2
            assert tokens == wanted


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
        again = to_text(model, tokenized(model, "good"), opened[0])
    assert refused.result is Result.COMPILE_ERROR
    assert refused.ending is TextEnding.ENGINE
    assert (written.result, again.result) == (Result.OK, Result.OK)
    assert written.tokens == again.tokens


@pytest.mark.parametrize(
    ("does", "options", "result", "word"),
    [
        ({"commit": _CRASHES}, LoopOptions(), Result.CRASH, "SIGABRT"),
        (
            {"start": "raise ValueError('no matcher')"},
            LoopOptions(),
            Result.ENGINE_ERROR,
            "no matcher",
        ),
        (
            {"commit": "return token != 9", "forced": "return [8, 9]"},
            LoopOptions(forced=True),
            Result.ENGINE_ERROR,
            "forced",
        ),
    ],
    ids=["dies", "raises", "refuses-what-it-forces"],
)
def test_an_engine_that_fails_in_the_middle_is_an_outcome_each_time(  # noqa: PLR0913, PLR0917 (a row of the table)
    model: TransformersModel,
    tokenizer: TokenizerFiles,
    tmp_path: Path,
    does: dict[str, str],
    options: LoopOptions,
    result: Result,
    word: str,
) -> None:
    """Its text ends, the session goes on; nothing under way is the next one's."""
    with session(tokenizer, engine_file(tmp_path, **does)) as opened:
        for _ in range(5):
            made = to_text(model, tokenized(model, "x"), opened, options)
            assert made.result is result
            assert word in made.detail


def test_a_mask_without_any_token_is_a_dead_end(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Where neither a token nor the end is allowed the text ends, and says why."""
    engine = engine_file(tmp_path, mask="return bytes(len(self.bits))")
    with session(tokenizer, engine) as opened:
        made = to_text(model, tokenized(model, "x"), opened)
    assert made.ending is TextEnding.DEAD_END


def test_a_slow_compile_holds_up_nobody_else(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """A grammar whose compile waits for the end of the other text is compiled."""
    mark = str(tmp_path / "written")
    is_there = f"iter(lambda: os.path.exists({mark!r}), True)"
    engine = engine_file(
        tmp_path,
        compile=f"if 'slow' in schema: [time.sleep(0.01) for _ in {is_there}]",
        commit=f"if self.taken == 3: open({mark!r}, 'w')",
    )
    asked = [
        tokenized(model, "slow", schema='{"slow": 1}', budget=2),
        tokenized(model, "fast", budget=4),
    ]
    with sessions(tokenizer, engine, texts=2) as opened:
        made = generate(model, asked, opened, LoopOptions())
    assert [text.result for text in made] == [Result.OK, Result.OK]


@pytest.mark.slow
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
    engine = engine_file(tmp_path, compile=f"if 'slow' in schema: {how}")
    asked = [
        tokenized(model, "slow", schema='{"slow": 1}', budget=2),
        tokenized(model, "fast", budget=2),
    ]
    limits, options = Limits(wall_times=60.0), LoopOptions(compile_seconds=1.0)
    with sessions(tokenizer, engine, texts=2, limits=limits) as opened:
        slow, fast = generate(model, asked, opened, options)
    assert (slow.result, fast.result) == (result, Result.OK)
    assert (slow.compile_ns is None) == (result is Result.TIMEOUT)


def test_a_crash_in_a_compile_beside_others_is_blamed_on_it(
    model: TransformersModel, tokenizer: TokenizerFiles, tmp_path: Path
) -> None:
    """Nobody else of the batch pays for a schema on which the engine aborts."""
    aborts = "if 'aborts' in schema: os.abort()"
    engine = engine_file(tmp_path, compile=aborts, commit=_FRAGILE)
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
    engine = engine_file(tmp_path, compile="print('odd keyword')")
    with session(tokenizer, engine) as opened:
        request = tokenized(model, "x", schema='{"sound": 1}', budget=2)
        for _ in range(2):
            made = to_text(model, request, opened)
            assert made.warnings == ("odd keyword",)
