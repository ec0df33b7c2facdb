"""From the command line's words to who writes, what is asked, and how it is told."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.faults import BadConfiguration
from evaluation import prompts
from evaluation.generation.asking import Questions
from evaluation.generation.run import run_writers
from evaluation.generation.values import Options
from evaluation.models.store import DEFAULT, check_installed, get_model
from evaluation.tokenizers import get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curation.documents import Json
    from evaluation.driver import Tally
    from evaluation.generation.asking import Writer
    from evaluation.lineup import Entrant
    from evaluation.models.base import LanguageModel
    from evaluation.run_folder import RunFolder
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.units import Subject

#: The only other way of doing things that can be asked for.
PAPER: Final = "paper"
#: Of the paper's coverage experiment (its section 5.1).
PAPER_MODEL: Final = "meta-llama/Llama-3.2-1B-Instruct"
#: Tokens that the paper's own code allowed each text.
_PAPER_BUDGET: Final = 2048
#: Whether the compile, and whether the masks, happen beside the model's passes.
_OVERLAPS: Final = {
    "both": (True, True),
    "compile": (True, False),
    "mask": (False, True),
    "none": (False, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says of models; recorded in the run's header."""

    model: str = DEFAULT
    revision: str | None = None
    device: str = "auto"
    dtype: str = "bf16"
    threads: int = 1
    prompt: str = "sections"
    shots: int = 2
    samples: int = 1
    temperature: float = 0.0
    batch: int = 1
    budget: int | None = None
    seed: int = 0
    options: Options = field(default_factory=Options)
    memory_mb: int = 4096
    #: Empty, or `paper`.
    compat: str = ""
    #: The dialect for every schema; empty: its own.
    dialect: str = ""

    @property
    def over_http(self) -> bool:
        """Whether the model is behind a server."""
        return self.model.startswith(("http://", "https://"))


def as_paper(asked: Asked) -> Asked:
    """Return what the paper did: its model, limits, prompt and validation.

    Its code's defaults where the text is silent; greedy, one text a schema, 40 s for
    a compile and 40 s for what follows, everything validated as 2020-12.
    """
    model = PAPER_MODEL if asked.model == DEFAULT else asked.model
    options = replace(asked.options, compile_seconds=40.0, run_seconds=40.0)
    return replace(
        asked,
        model=model,
        prompt="sections",
        shots=2,
        samples=1,
        temperature=0.0,
        budget=_PAPER_BUDGET,
        options=options,
        compat=PAPER,
        dialect="2020-12",
    )


def revision_of(model: str) -> tuple[str, str | None]:
    """Return a model's name, and the revision that follows an `@`."""
    if model.startswith(("http://", "https://")) or Path(model).exists():
        return model, None
    name, _, revision = model.partition("@")
    return name, revision or None


def options_of(
    overlap: str, *, forced: bool, compile_seconds: float, run_seconds: float
) -> Options:
    """Return how the loop is to work.

    Raises:
        BadConfiguration: there is no such overlap.
    """
    if overlap not in _OVERLAPS:
        raise BadConfiguration(f"--overlap {overlap!r}: say {', '.join(_OVERLAPS)}")
    compiles, masks = _OVERLAPS[overlap]
    return Options(
        overlap_compile=compiles,
        overlap_mask=masks,
        forced=forced,
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
    )


class Models:
    """A model that is loaded, and everything else that decides its texts."""

    def __init__(self, asked: Asked, say: Callable[[str], None]) -> None:
        """Load the model.

        Raises:
            Fault: the command line makes no sense, or the model cannot be had.
        """
        if asked.temperature == 0 and asked.samples > 1:
            raise BadConfiguration(
                "--samples: greedy decoding writes the same text every time",
                then="add --temperature, such as --temperature 0.7",
            )
        self._asked = asked
        template = prompts.template(asked.prompt)
        shots = prompts.shots(asked.shots)
        self._model: LanguageModel | None = None
        if asked.over_http:
            self.tokenizer = get(DEFAULT, say=say)
        else:
            self._model = _loaded(asked, say)
            self.tokenizer = _vocabulary(self._model, say)
        self.questions = Questions(
            template=template,
            shots=shots,
            count=_counter(self.tokenizer),
            samples=asked.samples,
            temperature=asked.temperature,
            seed=asked.seed,
            budget=asked.budget,
        )

    def header(self) -> dict[str, Json]:
        """Return what a run's header says of models."""
        asked = self._asked
        about: dict[str, Json] = {
            **self.questions.header(),
            "compat": asked.compat,
            "dialect": asked.dialect,
            "batch": asked.batch,
            "options": asdict(asked.options),
        }
        if self._model is None:
            return {"model": asked.model, **about}
        return {"model": self._model.name, **self._model.facts(), **about}

    def writers(self, entrants: Sequence[Entrant]) -> list[Writer]:
        """Return who writes: one for each entrant that is usable."""
        from evaluation.generation.local import LocalWriter  # noqa: PLC0415 - heavy

        usable = [each for each in entrants if not each.unavailable]
        if self._model is None:
            from evaluation.models.http import writers  # noqa: PLC0415 - rarely needed

            return writers(self._asked, usable)
        return [
            LocalWriter(
                self._model,
                each,
                self.tokenizer,
                self._asked.options,
                memory_mb=self._asked.memory_mb,
            )
            for each in usable
        ]

    def run(
        self,
        entrants: Sequence[Entrant],
        subjects: Iterable[Subject],
        out: RunFolder,
        advance: Callable[[int], None],
    ) -> Tally:
        """Have everything written that is not yet in the folder."""
        with ExitStack() as stack:
            writers = self.writers(entrants)
            for writer in writers:
                stack.callback(writer.close)
            dialect = self._asked.dialect
            meant = (
                (replace(each, dialect=dialect) for each in subjects)
                if dialect
                else subjects
            )
            tally = run_writers(
                writers,
                meant,
                self.questions,
                out,
                batch=self._asked.batch,
                advance=advance,
            )
        for each in entrants:
            if each.unavailable:
                tally.unavailable[each.label] = each.unavailable
        return tally


def _loaded(asked: Asked, say: Callable[[str], None]) -> LanguageModel:
    check_installed()
    from evaluation.models.transformers import Loading  # noqa: PLC0415 - heavy

    loading = Loading(
        revision=asked.revision,
        device=asked.device,
        dtype=asked.dtype,
        threads=asked.threads,
    )
    return get_model(asked.model, loading, say=say)


def _vocabulary(model: LanguageModel, say: Callable[[str], None]) -> TokenizerFiles:
    """Return the model's tokenizer for engines, as wide as the model's logits."""
    found = get(str(model.tokenizer_folder), say=say)
    size = max(found.vocab_size, model.vocab_size)
    end = found.eos_id if found.eos_id in model.end_tokens else min(model.end_tokens)
    return replace(found, vocab_size=size, eos_id=end)


def _counter(tokenizer: TokenizerFiles) -> Callable[[str], int]:
    """Return what counts the tokens of a text, loaded when first asked."""
    loaded: list[Callable[[Sequence[str]], list[list[int] | None]]] = []

    def count(text: str) -> int:
        if not loaded:
            loaded.append(tokenizer.encoder())
        tokens = loaded[0]([text])[0]
        return len(text.encode()) if tokens is None else len(tokens)

    return count
