"""The model of a run: loaded, with the requests that it is given and who writes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration
from evaluation import prompts
from evaluation.generation.model_options import AUTO_BATCH
from evaluation.generation.requests import RequestBuilder
from evaluation.generation.runner import run_writers
from evaluation.measurement.expected_time import seconds_a_text
from evaluation.models.store import DEFAULT, check_installed, get_model
from evaluation.servers.model_server import ModelServer
from evaluation.servers.server_writer import ServerWriter
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.core.cases import Sample
    from evaluation.core.messages import Message
    from evaluation.generation.model_options import ModelOptions
    from evaluation.generation.requests import TextWriter
    from evaluation.models.base import LanguageModel
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.walking.plan import RunTotals
    from evaluation.walking.run_folder import ResultsFolder


#: Batches' worth of texts that are given at a time.
_ROUNDS: Final = 4


class ModelSetup:
    """A model that is loaded, and everything else that decides its texts."""

    def __init__(
        self,
        asked: ModelOptions,
        fetch: FetchSettings,
        say: Callable[[str], None],
        tokenizer: TokenizerFiles | None = None,
    ) -> None:
        """Load the model.

        Args:
            asked: Which model, and how it is to write.
            fetch: How what is missing is fetched.
            say: Tells people of what takes time.
            tokenizer: Counts the budgets of a server's texts, since its own tokenizer
                is not known; None: that of the embedded model.

        Raises:
            CsbdataError: the command line makes no sense, or the model cannot be had.
        """
        check_samples(asked)
        self._asked = asked
        self._say = say
        self._model: LanguageModel | None = None
        if asked.over_http:
            if asked.batch == AUTO_BATCH:
                raise BadConfiguration(
                    "--batch auto: what fits into a server's memory is not known",
                    then="say how many requests are to be under way: --batch 8",
                )
            self.tokenizer = tokenizer or get_tokenizer(DEFAULT, fetch, say)
        else:
            self._model = _loaded(asked, fetch, say)
            if asked.batch == AUTO_BATCH:
                asked = replace(asked, batch=self._model.texts_that_fit())
                self._asked = asked
                say(f"--batch auto: {asked.batch} texts at a time")
            self.tokenizer = _vocabulary(self._model, fetch, say)
        self.questions = request_builder(asked, self.tokenizer)

    def header(self) -> dict[str, Json]:
        """Return what a run's header says of models."""
        asked = self._asked
        about: dict[str, Json] = {
            **self.questions.header(),
            "compat": asked.compat,
            "forced_as_paper": asked.forced_as_paper,
            "dialect": asked.dialect,
            "batch": asked.batch,
            "options": asdict(asked.options),
            "prices": asdict(asked.prices) if asked.prices else None,
        }
        if self._model is None:
            return {"model": asked.model, **about}
        return {"model": self._model.name, **self._model.facts(), **about}

    def writers(
        self, participants: Sequence[EngineUnderTest | ModelServer]
    ) -> list[TextWriter]:
        """Return who writes: one for each participant that is usable."""
        found: list[TextWriter] = []
        for participant in participants:
            if isinstance(participant, ModelServer):
                found.append(ServerWriter(participant, prices=self._asked.prices))
            elif not participant.unavailable and self._model is not None:
                found.append(self._local_writer(self._model, participant))
        return found

    def _local_writer(
        self, model: LanguageModel, engine: EngineUnderTest
    ) -> TextWriter:
        from evaluation.generation.local_writer import (  # noqa: PLC0415 - heavy
            LocalWriter,
        )

        options = self._asked.options
        if self._asked.forced_as_paper:
            options = replace(options, forced=engine.file.about.forced_in_paper)
        return LocalWriter(
            model,
            engine,
            self.tokenizer,
            options,
            batch=self._asked.batch,
            memory_mb=self._asked.memory_mb,
            say=self._say,
        )

    def most_seconds(self, samples: Iterable[Sample], texts: int) -> float | None:
        """Return how long so many texts take if each uses its whole budget.

        None behind a server, of whose speed nothing is known.
        """
        seconds = self.seconds_a_text(
            (request.messages, request.budget)
            for sample in samples
            for request in self.questions.requests(sample)[:1]
        )
        return None if seconds is None else texts * seconds

    def seconds_a_text(
        self, asked: Iterable[tuple[Sequence[Message], int]]
    ) -> float | None:
        """Return how long a text takes that uses its whole budget.

        None behind a server, of whose speed nothing is known.

        Args:
            asked: What is asked, and how many tokens an answer may have.
        """
        return None if self._model is None else seconds_a_text(self._model, asked)

    def run(
        self,
        participants: Sequence[EngineUnderTest | ModelServer],
        samples: Iterable[Sample],
        out: ResultsFolder,
        advance: Callable[[int], None],
    ) -> RunTotals:
        """Have everything written that is not yet in the folder."""
        with ExitStack() as stack:
            writers = self.writers(participants)
            for writer in writers:
                stack.callback(writer.close)
            dialect = self._asked.dialect
            samples_asked = (
                (replace(sample, dialect=dialect) for sample in samples)
                if dialect
                else samples
            )
            totals = run_writers(
                writers,
                samples_asked,
                self.questions,
                out,
                batch=texts_at_a_time(self._asked),
                advance=advance,
            )
        for participant in participants:
            if participant.unavailable:
                totals.unavailable[participant.label] = participant.unavailable
        return totals


def check_samples(asked: ModelOptions) -> None:
    """Check that several texts for a schema can differ.

    Raises:
        BadConfiguration: they cannot.
    """
    if asked.temperature == 0 and asked.samples > 1:
        raise BadConfiguration(
            "--samples: greedy decoding writes the same text every time",
            then="add --temperature, such as --temperature 0.7",
        )


def request_builder(asked: ModelOptions, tokenizer: TokenizerFiles) -> RequestBuilder:
    """Return what makes the requests of a model.

    Args:
        asked: How the model is to write.
        tokenizer: Counts the budgets of its texts.

    Raises:
        CsbdataError: there is no such prompt.
    """
    return RequestBuilder(
        template=prompts.read_template(asked.prompt),
        shots=prompts.worked_examples(asked.shots),
        count=_counter(tokenizer),
        samples=asked.samples,
        temperature=asked.temperature,
        seed=asked.seed,
        budget=asked.budget,
    )


def texts_at_a_time(asked: ModelOptions) -> int:
    """Return how many texts a writer is given before the next one has its turn.

    A batch of a model here is filled up as texts end, so it is given several.
    """
    batch = asked.batch
    return batch if asked.over_http or batch == 1 else batch * _ROUNDS


def _loaded(
    asked: ModelOptions, fetch: FetchSettings, say: Callable[[str], None]
) -> LanguageModel:
    check_installed()
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy

    loading = LoadOptions(
        revision=asked.revision,
        device=asked.device,
        dtype=asked.dtype,
        threads=asked.threads,
        attention=asked.attention,
        compile=asked.compile,
    )
    return get_model(asked.model, loading, fetch, say)


def _vocabulary(
    model: LanguageModel, fetch: FetchSettings, say: Callable[[str], None]
) -> TokenizerFiles:
    """Return the model's tokenizer for engines, as wide as the model's logits."""
    found = get_tokenizer(str(model.tokenizer_folder), fetch, say)
    size = max(found.vocab_size, model.vocab_size)
    end = found.eos_id if found.eos_id in model.end_tokens else min(model.end_tokens)
    return replace(found, name=model.name, vocab_size=size, eos_id=end)


def _counter(tokenizer: TokenizerFiles) -> Callable[[str], int]:
    """Return what counts the tokens of a text, loaded when first asked."""
    loaded: list[Callable[[Sequence[str]], list[list[int] | None]]] = []

    def count(text: str) -> int:
        if not loaded:
            loaded.append(tokenizer.encoder())
        tokens = loaded[0]([text])[0]
        return len(text.encode()) if tokens is None else len(tokens)

    return count
