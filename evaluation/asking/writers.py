"""The writers of a run: each model, local or behind a server, under each constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration, BadUsage
from evaluation.core.run_header import Constraint
from evaluation.models.store import DEFAULT, check_installed, get_model
from evaluation.servers.pacing import Account, SharedBackoff, Spending
from evaluation.servers.parameters import Parameters
from evaluation.servers.writer import ServerWriter
from evaluation.tokenizers import (
    BYTES,
    TokenizerFiles,
    get_tokenizer,
    token_counter,
    tokens_at_most,
)

if TYPE_CHECKING:
    from curation.download.acquire import FetchSettings
    from evaluation.asking.participants import Side
    from evaluation.asking.request import ModelOptions, RunRequest
    from evaluation.generation.text_generation import TextWriter, TokenPrices
    from evaluation.models.base import LanguageModel
    from evaluation.setup.selected_engines import EngineUnderTest

#: Batches of texts that a local model is given at a time: it is filled up as texts end.
_ROUNDS: Final = 4


class WritingModel(Protocol):
    """A model of a run; `LocalModel` and `ServedModel` are the two kinds."""

    options: ModelOptions
    #: What rows and tables call it.
    name: str
    #: What its tokens cost; None if that is not known.
    prices: TokenPrices | None
    #: Counts the tokens of a text.
    count: Callable[[str], int]
    #: How many texts a writer is given before the next one has its turn.
    texts_at_a_time: int

    @property
    def tokenizer(self) -> TokenizerFiles:
        """The tokenizer that counts budgets; of a local model its own."""

    @property
    def entry(self) -> Json:
        """Its facts in a participant's entry of the run's header."""

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""

    def writers(self) -> Sequence[tuple[Constraint, TextWriter]]:
        """Return each constraint with what writes under it."""


def _settings(model: WritingModel) -> dict[str, Json]:
    """Return how a model writes, for the run's header."""
    options, prices = model.options, model.prices
    return {
        "samples": options.samples,
        "temperature": options.temperature,
        "seed": options.seed,
        "budget": options.budget,
        "compat": options.compat,
        "forced_as_paper": options.forced_as_paper,
        "batch": options.batch,
        "options": asdict(options.options),
        "prices": asdict(prices) if prices else None,
    }


class LocalModel:
    """A model of the transformers library, loaded here."""

    prices: TokenPrices | None = None

    def __init__(
        self,
        options: ModelOptions,
        engines: Sequence[EngineUnderTest],
        fetch: FetchSettings,
        say: Callable[[str], None],
    ) -> None:
        """Load the model.

        Args:
            options: Which model, and how it writes.
            engines: Constrain it.
            fetch: How missing files are fetched.
            say: Prints what takes time.

        Raises:
            CsbdataError: there is no such model, or it cannot be loaded.
        """
        check_installed()
        from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy

        loading = LoadOptions(
            revision=options.revision,
            device=options.device,
            dtype=options.dtype,
            threads=options.threads,
            attention=options.attention,
        )
        self.options, self._engines, self._say = options, engines, say
        self._model = get_model(options.model, loading, fetch, say)
        self._load_tokenizer = partial(_vocabulary, self._model, fetch, say)
        self.count = token_counter(lambda: self.tokenizer)
        path = Path(options.model)
        self.name = path.name if path.exists() else options.model
        rounds = 1 if options.batch == 1 else _ROUNDS
        self.texts_at_a_time = options.batch * rounds

    @cached_property
    def tokenizer(self) -> TokenizerFiles:
        """The model's tokenizer, as wide as its logits."""
        return self._load_tokenizer()

    @property
    def entry(self) -> Json:
        """Its facts in a participant's entry of the run's header."""
        return self.header()

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        return {"model": self._model.name, **self._model.facts(), **_settings(self)}

    def writers(self) -> Sequence[tuple[Constraint, TextWriter]]:
        """Return each engine with what writes under it."""
        from evaluation.generation.local_writer import LocalWriter  # noqa: PLC0415 - heavy

        options = self.options
        pairs: list[tuple[Constraint, TextWriter]] = []
        for engine in self._engines:
            loop = options.options
            if options.forced_as_paper:
                loop = replace(loop, forced=engine.file.about.forced_in_paper)
            writer = LocalWriter(
                self._model,
                engine,
                self.tokenizer,
                loop,
                batch=options.batch,
                memory_mb=options.memory_mb,
                say=self._say,
            )
            pairs.append((engine, writer))
        return pairs


class ServedModel:
    """A model behind a server."""

    def __init__(
        self,
        side: Side,
        request: RunRequest,
        say: Callable[[str], None],
        spent: Spending,
    ) -> None:
        """Prepare; nothing is sent, and no tokenizer is fetched unless one is named.

        Args:
            side: The model, and the ways in which it is asked.
            request: The run.
            say: Prints what takes time.
            spent: Counts what is sent, and what it costs.
        """
        self.options, self.prices, self._servers = (
            side.options,
            side.prices,
            side.servers,
        )
        self._say, self._spent = say, spent
        connection = side.servers[0].connection
        self.name = self.entry = connection.model
        is_bound = request.tokenizer == DEFAULT
        tokenizer = BYTES if is_bound else request.tokenizer
        self._load_tokenizer = partial(get_tokenizer, tokenizer, request.fetch, say)
        counter = token_counter(lambda: self.tokenizer)
        self.count = tokens_at_most if is_bound else counter
        self.texts_at_a_time = side.options.batch

    @cached_property
    def tokenizer(self) -> TokenizerFiles:
        """The tokenizer that counts budgets: its own is not known."""
        return self._load_tokenizer()

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        return {"model": self.options.recorded_model, **_settings(self)}

    def writers(self) -> Sequence[tuple[Constraint, TextWriter]]:
        """Return each way to ask with what asks; they share backoff and parameters."""
        backoff = SharedBackoff(self.options.patience)
        parameters = Parameters(self._servers[0].connection.provider.parameters)
        return [
            (
                server,
                ServerWriter(
                    server,
                    Account(self._spent, self.prices),
                    backoff=backoff,
                    parameters=parameters,
                    say=self._say,
                ),
            )
            for server in self._servers
        ]


def _vocabulary(
    model: LanguageModel, fetch: FetchSettings, say: Callable[[str], None]
) -> TokenizerFiles:
    """Return the model's tokenizer for engines, as wide as the model's logits."""
    tokenizer = get_tokenizer(str(model.tokenizer_folder), fetch, say)
    size = max(tokenizer.vocab_size, model.vocab_size)
    end = tokenizer.eos_id
    if end not in model.end_tokens:
        end = min(model.end_tokens)
    return replace(tokenizer, name=model.name, vocab_size=size, eos_id=end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One model under one constraint, as it takes part in a run."""

    loaded: WritingModel
    engine: Constraint
    #: Writes the texts; never asked if the engine is unavailable.
    writer: TextWriter
    #: Whether rows name it by its model and condition, and not by its engine alone.
    named_by_model: bool

    @property
    def options(self) -> ModelOptions:
        """How it writes."""
        return self.loaded.options

    @property
    def model(self) -> str:
        """The model's name."""
        return self.loaded.name

    @property
    def condition(self) -> str:
        """`free`, or the label of the engine."""
        return self.engine.condition

    @property
    def participant(self) -> str:
        """The name of its responses in tables; empty for model and condition."""
        return "" if self.named_by_model else self.engine.label

    @property
    def label(self) -> str:
        """Its name in rows and tables."""
        return self.participant or f"{self.model} {self.condition}"

    @property
    def unavailable(self) -> str:
        """Why it cannot write here; empty if it can."""
        return self.engine.unavailable

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its texts."""
        return self.writer.identity

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        header = self.engine.header()
        if not self.named_by_model:
            return header
        prices = self.loaded.prices
        return {
            **header,
            "engine": self.label,
            "name": f"{self.model} {header['name']}",
            "model": self.loaded.entry,
            "prices": asdict(prices) if prices else None,
        }

    @property
    def discovered(self) -> Mapping[str, str]:
        """The parameters that its server refuses, with the names that it takes."""
        return self.writer.discovered

    def close(self) -> None:
        """End its processes and connections."""
        self.writer.close()


def open_writers(
    request: RunRequest,
    sides: Sequence[Side],
    say: Callable[[str], None],
    spending: Spending,
) -> list[Writer]:
    """Load the models of a request; return each under each of its constraints.

    Raises:
        BadConfiguration: two would have one name.
        CsbdataError: an option makes no sense, or there is no such model.
    """
    writers: list[Writer] = []
    for side in sides:
        options = side.options
        if options.temperature == 0 and options.samples > 1:
            raise BadUsage(
                "samples: greedy decoding writes the same text every time",
                then="add --set temperature=0.7",
            )
        model: WritingModel
        if side.servers:
            model = ServedModel(side, request, say, spending)
        else:
            model = LocalModel(options, side.engines, request.fetch, say)
        writers += [
            Writer(
                loaded=model,
                engine=constraint,
                writer=writer,
                named_by_model=request.suite is not None,
            )
            for constraint, writer in model.writers()
        ]
    labels = [writer.label for writer in writers]
    repeated = {label for label in labels if labels.count(label) > 1}
    if repeated:
        what = f"{', '.join(sorted(repeated))} would take part twice"
        raise BadConfiguration(what, then="ask each in a run of its own")
    return writers
