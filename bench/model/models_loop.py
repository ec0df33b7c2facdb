"""Measure the loop's own cost a token, and a batch beside `model.generate`."""

from __future__ import annotations

import base64
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.engines import none
from evaluation.generation.engine_session import EngineProcess
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest
from evaluation.reporting.bootstrap import geometric_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import Json
    from evaluation.generation.engine_session import EngineSession
    from evaluation.models.transformers import TransformersModel

#: Tokens of a vocabulary as large as that of Llama 3.
_VOCABULARY: Final = 128_000
_TOKENS: Final = 400
_END: Final = 0


def token_cost() -> dict[str, Any]:
    """Return milliseconds of processor time that the loop takes for one token.

    Logits are drawn, and the engine is `none` in its own process: neither model nor
    engine is measured. `choosing` unpacks a mask that allows half of all tokens, and
    takes the best; `booking` sends a token to the engine's process and reads its
    answers: that it was taken, and the next mask.
    """
    import torch  # noqa: PLC0415 - heavy

    from evaluation.models.base import RowLogits, RowMask, TokenQuestion  # noqa: PLC0415 - heavy
    from evaluation.models.hardware import DeviceClock  # noqa: PLC0415 - heavy
    from evaluation.models.token_choice import TokenChooser  # noqa: PLC0415 - heavy

    draw = np.random.default_rng(0)
    logits = draw.standard_normal(_VOCABULARY).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder, _engine(Path(folder)) as engine:
        (session,) = engine.sessions
        session.compile("{}", 60.0)
        session.compiled()
        booking = _processor_ms(lambda: _booked(session), _TOKENS)
    bits = draw.random(_VOCABULARY) < 0.5  # noqa: PLR2004 - half
    mask = RowMask(of=np.packbits(bits, bitorder="little")[None])
    device = torch.device("cpu")
    # As models are loaded by default.
    torch.set_num_threads(1)
    chooser = TokenChooser(device, DeviceClock(device), tie=0.0)

    def choose() -> None:
        row = RowLogits(of=torch.from_numpy(logits[None]))
        chooser.choose([TokenQuestion(logits=row, allowed=mask)])

    return {
        "vocabulary": _VOCABULARY,
        "choosing_ms": round(_processor_ms(choose, _TOKENS), 4),
        "booking_ms": round(booking, 4),
    }


def _booked(session: EngineSession) -> None:
    """Wait for the answers to the last token, and hand over the next one."""
    session.wait_for_answers()
    session.mask()
    session.take(7, forced=0, seconds=60.0)
    session.send()


def _processor_ms(act: Callable[[], None], count: int) -> float:
    """Return milliseconds of this process's processor time for one act."""
    act()
    start = time.process_time_ns()
    for _ in range(count):
        act()
    return (time.process_time_ns() - start) / count / 1e6


def _engine(folder: Path) -> EngineProcess:
    """Return the process of `none` over a vocabulary of numbers."""
    tokens = folder / "tokens.json"
    words = [base64.b64encode(str(n).encode()).decode() for n in range(_VOCABULARY)]
    tokens.write_text(json.dumps(words))
    file = Path(none.__file__)
    given: Json = {
        "tokens": str(tokens),
        "vocab_size": _VOCABULARY,
        "eos_id": _END,
        "special_ids": [],
        "kind": "byte_level",
        "tokenizer_json": "",
    }
    setup: Json = {"engine": str(file), "options": {}, "tokenizer": given}
    return EngineProcess(
        Program(file=file, setup=setup), 1, vocab_size=_VOCABULARY, limits=Limits()
    )


def batch_beside_generate(
    model: TransformersModel, prompts: Sequence[Sequence[int]], tokens: int, size: int
) -> dict[str, Any]:
    """Return how many tokens a second our loop writes, against `generate`.

    Both write batches of the same prompts, in turn, exactly `tokens` tokens a text:
    nothing ends one before. Prefill is part of the time.
    """
    groups = [prompts[start : start + size] for start in range(0, len(prompts), size)]
    groups = [group for group in groups if len(group) == size]
    ends, model.end_tokens = model.end_tokens, frozenset()
    rows: list[tuple[float, float, float, float]] = []
    try:
        _ours(model, groups[0], 2)
        for number, group in enumerate(groups):
            order = (_ours, _theirs) if number % 2 else (_theirs, _ours)
            took = {act: _timed(act, model, group, tokens) for act in order}
            rows.append((*took[_theirs], *took[_ours]))
    finally:
        model.end_tokens = ends
    written = size * tokens
    return {
        "batch": size,
        "groups": len(rows),
        "tokens_per_second": {
            "generate": round(median(written / row[0] for row in rows), 1),
            "ours": round(median(written / row[2] for row in rows), 1),
        },
        "throughput_wall": _throughput([(row[0], row[2]) for row in rows]),
        "throughput_processor": _throughput([(row[1], row[3]) for row in rows]),
    }


def _throughput(pairs: Sequence[tuple[float, float]]) -> dict[str, Any] | None:
    """Return our tokens a second as a share of theirs, with its interval."""
    found = geometric_ratio([b for _, b in pairs], [a for a, _ in pairs])
    if found is None:
        return None
    between = found.interval
    return {
        "value": found.value,
        "low": between.low if between else None,
        "high": between.high if between else None,
    }


def _timed(
    act: Callable[[TransformersModel, Sequence[Sequence[int]], int], None],
    model: TransformersModel,
    group: Sequence[Sequence[int]],
    tokens: int,
) -> tuple[float, float]:
    """Return seconds by the clock, and of processor time."""
    wall, own = time.perf_counter(), time.process_time()
    act(model, group, tokens)
    return time.perf_counter() - wall, time.process_time() - own


def _ours(
    model: TransformersModel, group: Sequence[Sequence[int]], tokens: int
) -> None:
    asked = [
        TokenizedRequest(id=str(n), schema="{}", prompt=tuple(prompt), budget=tokens)
        for n, prompt in enumerate(group)
    ]
    options = LoopOptions(run_seconds=3600.0)
    made = generate(model, asked, [None] * len(asked), options)
    if any(len(one.tokens) != tokens for one in made):
        raise SystemExit(f"a text of our loop has not {tokens} tokens")


def _theirs(
    model: TransformersModel, group: Sequence[Sequence[int]], tokens: int
) -> None:
    import torch  # noqa: PLC0415 - heavy

    width = max(map(len, group))
    padded = [[0] * (width - len(prompt)) + list(prompt) for prompt in group]
    seen = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in group]
    made = model.module.generate(
        torch.tensor(padded),
        attention_mask=torch.tensor(seen),
        max_new_tokens=tokens,
        min_new_tokens=tokens,
        do_sample=False,
    )
    if made.shape[1] != width + tokens:
        raise SystemExit(f"a text of generate has not {tokens} tokens")
