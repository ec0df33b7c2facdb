"""The writers of a run: each model, loaded or behind a server, under each engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration, BadUsage
from evaluation.core.records import FREE
from evaluation.generation.text_generation import TextWriter, TokenPrices
from evaluation.models.store import DEFAULT, check_installed, get_model
from evaluation.servers.batches import BatchWriter
from evaluation.servers.model_server import ModelServer
from evaluation.servers.pacing import Account, SharedBackoff, Spending
from evaluation.servers.parameters import Parameters
from evaluation.servers.writer import ServerWriter
from evaluation.setup.engine_files import UNCONSTRAINED
from evaluation.tokenizers import (
    BYTES,
    TokenizerFiles,
    get_tokenizer,
    token_counter,
    tokens_at_most,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import ExitStack

    from curation.core.json_types import Json
    from curation.download.acquire import FetchSettings
    from evaluation.asking.request import ModelOptions, RunRequest
    from evaluation.models.base import LanguageModel
    from evaluation.setup.selected_engines import EngineUnderTest

#: Batches' worth of texts that are given at a time.
_ROUNDS: Final = 4


class LoadedModel:
    """A model of a run: loaded here, or behind a server."""

    def __init__(
        self,
        options: ModelOptions,
        fetch: FetchSettings,
        say: Callable[[str], None],
        tokenizer: str = DEFAULT,
    ) -> None:
        """Load the model.

        Args:
            options: Which model, and how it writes.
            fetch: How missing files are fetched.
            say: Prints what takes time.
            tokenizer: Counts the budgets of a server's texts, since its own tokenizer
                is not known.

        Raises:
            CsbdataError: an option makes no sense, or there is no such model.
        """
        if options.temperature == 0 and options.samples > 1:
            raise BadUsage(
                "samples: greedy decoding writes the same text every time",
                then="add --set temperature=0.7",
            )
        self._model: LanguageModel | None = None
        self._say = say
        # Nothing is fetched to ask a server, unless the user names what.
        is_bound = options.over_http and tokenizer == DEFAULT
        self._load_tokenizer: Callable[[], TokenizerFiles] = partial(
            get_tokenizer, BYTES if is_bound else tokenizer, fetch, say
        )
        if not options.over_http:
            check_installed()
            from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy

            loading = LoadOptions(
                revision=options.revision,
                device=options.device,
                dtype=options.dtype,
                threads=options.threads,
                attention=options.attention,
            )
            model = self._model = get_model(options.model, loading, fetch, say)
            self._load_tokenizer = partial(_vocabulary, model, fetch, say)
        self.options = options
        #: Counts the tokens of a text.
        counter = token_counter(lambda: self.tokenizer)
        self.count = tokens_at_most if is_bound else counter
        #: Of all its writers, in whatever way they ask.
        self._backoff = SharedBackoff(options.patience)
        self._parameters: Parameters | None = None

    @property
    def prices(self) -> TokenPrices | None:
        """What its tokens cost; None if that is not told."""
        prices = self.options.prices
        return prices if isinstance(prices, TokenPrices) else None

    @cached_property
    def tokenizer(self) -> TokenizerFiles:
        """The model's tokenizer; of a server the one that counts budgets."""
        return self._load_tokenizer()

    @property
    def name(self) -> str:
        """Its name in rows and tables."""
        model = self.options.recorded_model
        return Path(model).name if Path(model).exists() else model

    @property
    def texts_at_a_time(self) -> int:
        """How many texts a writer is given before the next one has its turn.

        A batch of a model here is filled up as texts end, so it is given several.
        """
        batch = self.options.batch
        return batch if self._model is None or batch == 1 else batch * _ROUNDS

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        options = self.options
        model: dict[str, Json] = {"model": options.recorded_model}
        if self._model is not None:
            model = {"model": self._model.name, **self._model.facts()}
        return {
            **model,
            "samples": options.samples,
            "temperature": options.temperature,
            "seed": options.seed,
            "budget": options.budget,
            "compat": options.compat,
            "forced_as_paper": options.forced_as_paper,
            "batch": options.batch,
            "options": asdict(options.options),
            "prices": asdict(prices) if (prices := self.prices) else None,
        }

    def writer(
        self, engine: EngineUnderTest | ModelServer, spending: Spending
    ) -> TextWriter | None:
        """Return what writes under an engine; None if that cannot be used here.

        Args:
            engine: The engine, or the server with the way to ask it.
            spending: Counts what is asked of servers.
        """
        if isinstance(engine, ModelServer):
            rules = engine.connection.provider.parameters
            self._parameters = self._parameters or Parameters(rules)
            return ServerWriter(
                engine,
                Account(spending, self.prices),
                backoff=self._backoff,
                parameters=self._parameters,
                say=self._say,
            )
        if engine.unavailable or self._model is None:
            return None
        from evaluation.generation.local_writer import LocalWriter  # noqa: PLC0415 - heavy

        loop = self.options.options
        if self.options.forced_as_paper:
            loop = replace(loop, forced=engine.file.about.forced_in_paper)
        return LocalWriter(
            self._model,
            engine,
            self.tokenizer,
            loop,
            batch=self.options.batch,
            memory_mb=self.options.memory_mb,
            say=self._say,
        )


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
    """One model, free or under one engine."""

    loaded: LoadedModel
    engine: EngineUnderTest | ModelServer
    #: None if the engine cannot be used here.
    writer: TextWriter | None
    #: Whether rows name it by its model and condition, and not by its engine alone.
    named_by_model: bool

    @property
    def options(self) -> ModelOptions:
        """How it writes."""
        return self.loaded.options

    @property
    def model(self) -> str:
        """The model's name."""
        if isinstance(self.engine, ModelServer):
            return self.engine.connection.model
        return self.loaded.name

    @property
    def condition(self) -> str:
        """`free`, or the label of the engine."""
        if isinstance(self.engine, ModelServer):
            return self.engine.condition
        free = self.engine.file.name == UNCONSTRAINED
        return FREE if free else self.engine.label

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
        return self.engine.identity if self.writer is None else self.writer.identity

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        header = self.engine.header()
        if not self.named_by_model:
            return header
        local = not isinstance(self.engine, ModelServer)
        return {
            **header,
            "engine": self.label,
            "name": f"{self.model} {header['name']}",
            "model": self.loaded.header() if local else self.model,
            "prices": asdict(prices) if (prices := self.loaded.prices) else None,
        }

    @property
    def discovered(self) -> Mapping[str, str]:
        """The parameters that its server refuses, with the names that it takes."""
        return {} if self.writer is None else self.writer.discovered

    def close(self) -> None:
        """End its processes and connections."""
        if self.writer is not None:
            self.writer.close()


def in_batches(
    writers: Sequence[Writer], folder: Path, verb: str, stack: ExitStack
) -> list[Writer]:
    """Return writers whose servers are asked in batches.

    Args:
        writers: They as they are asked one text at a time.
        folder: The run's folder, whose lock the caller holds.
        verb: `submit` or `collect`.
        stack: Closes them.

    Raises:
        BadUsage: one is no server with batches.
    """
    others = []
    for writer in writers:
        if not isinstance(writer.writer, ServerWriter):
            raise BadUsage(f"{writer.label} has no batches", then="csbdata suite run")
        batches = BatchWriter(writer.writer, folder, submits=verb == "submit")
        stack.callback(batches.close)
        others.append(replace(writer, writer=batches))
    return others


def open_writers(
    request: RunRequest,
    sides: Sequence[tuple[ModelOptions, Sequence[EngineUnderTest | ModelServer]]],
    say: Callable[[str], None],
    spending: Spending,
) -> list[Writer]:
    """Load the models of a request; return each under each of its engines.

    Raises:
        BadConfiguration: two would have one name.
        CsbdataError: an option makes no sense, or there is no such model.
    """
    writers: list[Writer] = []
    for options, engines in sides:
        loaded = LoadedModel(options, request.fetch, say, request.tokenizer)
        writers += [
            Writer(
                loaded=loaded,
                engine=engine,
                writer=loaded.writer(engine, spending),
                named_by_model=request.suite is not None,
            )
            for engine in engines
        ]
    labels = [writer.label for writer in writers]
    repeated = {label for label in labels if labels.count(label) > 1}
    if repeated:
        what = f"{', '.join(sorted(repeated))} would take part twice"
        raise BadConfiguration(what, then="ask each in a run of its own")
    return writers
