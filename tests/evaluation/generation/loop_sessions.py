"""Engines' processes over the small vocabulary, and requests for texts."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.core.records import Message
from evaluation.generation.engine_session import EngineProcess
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import LoopOptions, TokenizedRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.generation.engine_session import EngineSession
    from evaluation.generation.text_generation import Generation
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles

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


def engine_file(folder: Path, body: str) -> Path:
    """Write an engine's file."""
    path = folder / "engine.py"
    path.write_text(body)
    return path


@contextmanager
def sessions(  # noqa: PLR0913 - what a process is given
    tokenizer: TokenizerFiles,
    engine: Path,
    options: dict[str, UntypedJson] | None = None,
    *,
    texts: int = 1,
    limits: Limits | None = None,
    mask_threads: int = 1,
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
        program,
        texts,
        vocab_size=tokenizer.vocab_size,
        limits=limits or Limits(),
        mask_threads=mask_threads,
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


def tokenized(  # noqa: PLR0913 (as a request has)
    model: TransformersModel,
    say: str,
    *,
    schema: str = _SCHEMA,
    budget: int = 80,
    temperature: float = 0.0,
    seed: int = 0,
) -> TokenizedRequest:
    """Return a request for one text, of `SCHEMA` unless told otherwise."""
    return TokenizedRequest(
        id=say,
        schema=schema,
        prompt=model.prompt([Message(role="user", content=say)]),
        budget=budget,
        temperature=temperature,
        seed=seed,
    )


def alone(model: TransformersModel, request: TokenizedRequest) -> Generation:
    """Return the text that the model writes without any engine."""
    return generate(model, [request], [None], LoopOptions())[0]
