"""What a model here writes under an engine, whatever becomes of model and process."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import Unavailable
from evaluation.core.cases import Result
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import (
    GenerationRequest,
    LoopOptions,
    TextEnding,
)
from evaluation.setup.selected_engines import select_engines
from evaluation.suites.coverage.scorer import TextClass, classify
from tests.late import Late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

    from curation.core.json_types import Json
    from evaluation.generation.local_model import LocalModel
    from evaluation.models.forward import ForwardPass
    from evaluation.models.transformers import TransformersModel
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles
else:
    torch = Late("torch")
    LocalModel = Late("evaluation.generation.local_model", "LocalModel")
    ForwardPass = Late("evaluation.models.forward", "ForwardPass")

_SCHEMA = '{"enum": ["ferry", "barge", "tug"]}'


@pytest.fixture
def model_of(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> Iterator[Callable[..., LocalModel]]:
    """Return what makes models that write, and end them."""
    made: list[LocalModel] = []

    def make(
        batch: int = 1, log: Callable[[str], None] = lambda _line: None
    ) -> LocalModel:
        files = replace(tokenizer, vocab_size=model.vocab_size)
        options = LoopOptions()
        made.append(LocalModel(model, lambda: files, options, batch=batch, log=log))
        return made[-1]

    yield make
    for one in made:
        one.close()


@cache
def _engine(name: str = "none") -> EngineUnderTest:
    cache = FetchSettings.from_environment().cache
    (chosen,) = select_engines(cache, [name], "faithful", [])
    return chosen


def _asked(*said: str, budget: int = 12) -> list[GenerationRequest]:
    return [
        GenerationRequest(
            record=Record(id=text, group="c", schema=_SCHEMA, dialect=""),
            messages=(Message(role="user", content=text),),
            budget=budget,
        )
        for text in said
    ]


def _tokens(
    model: LocalModel, *said: str, engine: str = "none"
) -> list[tuple[int, ...]]:
    return [made.tokens for made in model.generate(_asked(*said), _engine(engine))]


class _Failing:
    """A forward pass that fails at some of its calls."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, fail: Callable[[int], float | None]
    ) -> None:
        """Put it in the place of the real one; `fail` is told the number of the call.

        It raises, or returns logits, or returns None to let the call pass.
        """
        self.calls = 0
        monkeypatch.setattr(
            "evaluation.models.forward.ForwardPass.over_texts", self._failing(fail)
        )

    def _failing(
        self, fail: Callable[[int], float | None]
    ) -> Callable[..., torch.Tensor]:
        real: Callable[..., torch.Tensor] = ForwardPass.over_texts

        def over(*given: object, **named: object) -> torch.Tensor:
            self.calls += 1
            found = fail(self.calls)
            passed: torch.Tensor = real(*given, **named)
            return passed if found is None else torch.full_like(passed, found)

        return over


def _raises(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("engine", ["none", "llguidance"])
def test_a_failure_that_passes_costs_nothing(
    model_of: Callable[..., LocalModel], monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """A text on which the model fails once is written alone, and is as it should be."""
    wanted = _tokens(model_of(), "a", "b", engine=engine)
    error = RuntimeError("a kernel failed")
    _Failing(monkeypatch, lambda call: _raises(error) if call == 4 else None)
    assert _tokens(model_of(batch=2), "a", "b", engine=engine) == wanted


@pytest.mark.parametrize(
    ("error", "result"),
    [
        ("RuntimeError a kernel failed", Result.ERROR),
        ("OutOfMemoryError CUDA out of memory.", Result.OUT_OF_MEMORY),
        (
            "RuntimeError DefaultCPUAllocator: can't allocate memory",
            Result.OUT_OF_MEMORY,
        ),
    ],
)
def test_a_failing_model_is_the_outcome_of_that_text(
    model_of: Callable[..., LocalModel],
    monkeypatch: pytest.MonkeyPatch,
    error: str,
    result: Result,
) -> None:
    """Tried twice, told, and the next text is written."""
    kind, _, message = error.partition(" ")
    fault = getattr(torch, kind, RuntimeError)(message)
    failing = _Failing(monkeypatch, lambda call: _raises(fault) if call < 3 else None)
    one = model_of()
    (failed,) = one.generate(_asked("fails"), _engine())
    (written,) = one.generate(_asked("goes on"), _engine())
    assert (failed.result, failed.ending) == (result, TextEnding.MODEL)
    assert message in failed.detail
    assert written.result is Result.OK
    assert failing.calls > 2


def test_logits_that_are_no_numbers_are_an_outcome(
    model_of: Callable[..., LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN is never taken for a token."""
    _Failing(monkeypatch, lambda _call: math.nan)
    (made,) = model_of().generate(_asked("x"), _engine())
    assert (made.result, made.ending) == (Result.ERROR, TextEnding.LOGITS)
    assert classify(made, None) is TextClass.BAD_LOGITS
    assert "nan" in made.detail
    assert made.tokens == ()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["none", "llguidance"])
def test_a_batch_that_does_not_fit_is_halved_and_every_text_goes_on(
    model_of: Callable[..., LocalModel], monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Four texts at a time do not fit, two do; said once, and texts are as alone."""
    names = ("a", "b", "c", "d", "e", "f")
    wanted = _tokens(model_of(), *names, engine=engine)
    real = ForwardPass.over_texts

    def batch(self: ForwardPass, tokens: torch.Tensor, *given: object) -> torch.Tensor:
        if len(tokens) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return real(self, tokens, *given)  # type: ignore[arg-type]  # handed on as given

    monkeypatch.setattr("evaluation.models.forward.ForwardPass.over_texts", batch)
    said: list[str] = []
    one = model_of(batch=4, log=said.append)
    ended: list[int] = []
    made = one.generate(
        _asked(*names),
        _engine(engine),
        lambda place, _generation: ended.append(place),
    )
    assert [text.tokens for text in made] == wanted
    assert sorted(ended) == list(range(6))
    assert {text.result for text in made} == {Result.OK}
    one.generate(_asked(*names), _engine(engine))
    assert len(said) == 1
    assert "4 texts at a time do not fit" in said[0]


def test_what_moves_by_itself_is_no_other_model(
    model_of: Callable[..., LocalModel],
    model: TransformersModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A GPU's present clock rate changes no row's fingerprint; its driver does."""
    facts = dict(model.facts())

    def identity(**other: Json) -> str:
        monkeypatch.setattr(type(model), "facts", lambda _model: {**facts, **other})
        return model_of().identity(_engine())

    first = identity(gpu_settings={"sm_clock_mhz": "1980"})
    assert first == identity(gpu_settings={"sm_clock_mhz": "345"})
    assert first != identity(driver="535.1")


def test_a_batch_begins_with_the_longest_texts(
    model_of: Callable[..., LocalModel], model: TransformersModel
) -> None:
    """So that none of them is left to be written alone at the end."""
    asked = [_asked("a", budget=budget)[0] for budget in (2, 9, 3, 12)]
    ends, model.end_tokens = model.end_tokens, frozenset()
    ended: list[int] = []
    try:
        model_of(batch=2).generate(
            asked, _engine(), lambda place, _generation: ended.append(place)
        )
    finally:
        model.end_tokens = ends
    assert ended == [1, 3, 2, 0]


def test_a_device_that_vanishes_ends_the_run_and_is_no_row(
    model_of: Callable[..., LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would do to the texts after it says nothing of any model."""
    error = torch.AcceleratorError("CUDA error: unspecified launch failure\nmore")
    _Failing(monkeypatch, lambda call: _raises(error) if call == 3 else None)
    noted: list[int] = []
    with pytest.raises(Unavailable, match=r"device has failed \(CUDA error: unspec"):
        model_of(batch=2).generate(
            _asked("a", "b"), _engine(), lambda place, _generation: noted.append(place)
        )
    assert noted == []


def test_a_tie_is_decided_alone(
    model_of: Callable[..., LocalModel],
    model: TransformersModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What sums in another order might turn is what it is alone, without times."""
    alone = _tokens(model_of(), "a", "b", "c")
    monkeypatch.setattr(model, "tie", 10.0)
    made = model_of(batch=3).generate(_asked("a", "b", "c"), _engine())
    assert [one.tokens for one in made] == alone
    assert all(one.ttft_ns for one in made)
    # As if the sums of a batch turned every choice.
    real = ForwardPass.over_texts

    def turned(self: ForwardPass, tokens: torch.Tensor, *given: object) -> torch.Tensor:
        found = real(self, tokens, *given)  # type: ignore[arg-type]  # handed on as given
        return found if len(tokens) == 1 else -found

    monkeypatch.setattr("evaluation.models.forward.ForwardPass.over_texts", turned)
    made = model_of(batch=3).generate(_asked("a", "b", "c"), _engine())
    assert [one.tokens for one in made] == alone
    flipped = [one for one in made if one.ttft_ns is None]
    assert flipped
    for one in flipped:
        assert (one.total_ns, one.steps) == (None, ())


def test_without_ties_nothing_is_written_twice(
    model_of: Callable[..., LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no token is near another one, a batch needs no second look."""
    counted = _Failing(monkeypatch, lambda _call: None)
    made = model_of(batch=3).generate(_asked("a", "b", "c", budget=6), _engine())
    assert len(made) == 3
    assert counted.calls == 3 + 5


_HOLDS = """
import sys, time
from pathlib import Path
from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.generation.engine_session import engine_sessions

engine = sys.argv[1]
given = {"tokens": sys.argv[2], "vocab_size": 64, "eos_id": 0, "special_ids": [],
         "tokenizer_json": ""}
setup = {"engine": engine, "options": {}, "tokenizer": given}
with engine_sessions(
    Program(file=Path(engine), setup=setup), 2, vocab_size=64, limits=Limits()
) as opened:
    for one in opened:
        one.worker.start()
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_in_shared_memory(
    tokenizer: TokenizerFiles, tmp_path: Path, number: signal.Signals
) -> None:
    """Whatever ends the driver, no file of its engines is left anywhere."""
    engine = Path(__file__).parents[3] / "evaluation" / "engines" / "none.py"
    places = [Path("/dev/shm"), tmp_path]  # noqa: S108 - looked at

    def left() -> set[Path]:
        return {path for place in places for path in place.glob("csbdata-*")}

    before = left()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(engine), str(tokenizer.tokens)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(number)
    assert left() <= before
