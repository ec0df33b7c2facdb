"""The writers of a run: each model, local or on a server, under each constraint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration, BadUsage
from evaluation.core.run_header import Constraint
from evaluation.generation.text_generation import LoopOptions
from evaluation.models.store import DEFAULT, check_installed, get_model
from evaluation.servers.client import ServerClient
from evaluation.servers.pacing import Account, Spending
from evaluation.servers.served_model import ServedModel
from evaluation.tokenizers import (
    BYTES,
    TokenizerFiles,
    get_tokenizer,
    token_counter,
    tokens_at_most,
)

if TYPE_CHECKING:
    from curation.download.cache import FetchSettings
    from evaluation.core.cases import Bounds
    from evaluation.generation.text_generation import Model
    from evaluation.models.transformers import TransformersModel
    from evaluation.runner.participants import Side
    from evaluation.runner.request import ModelOptions, RunRequest

#: Batches of texts that a local model is given at a time: it is filled up as texts end.
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One model under one constraint, as it takes part in a run."""

    options: ModelOptions
    #: The model's name in rows and tables.
    name: str
    #: The model, and how it writes; for a run's header.
    facts: Mapping[str, Json]
    #: Writes the texts; never asked if the constraint is unavailable.
    model: Model[Any]
    constraint: Constraint
    #: Whether rows name it by its model and condition, and not by its engine alone.
    named_by_model: bool
    #: Returns the tokenizer that counts budgets; a local model's own.
    tokenizer: Callable[[], TokenizerFiles]
    #: Counts the tokens of a text.
    count: Callable[[str], int]
    #: How many texts it is given before the next one has its turn.
    texts_at_a_time: int

    @property
    def condition(self) -> str:
        """`free`, or the label of the engine."""
        return self.constraint.condition

    @property
    def participant(self) -> str:
        """The name of its responses in tables; empty for model and condition."""
        return "" if self.named_by_model else self.constraint.label

    @property
    def label(self) -> str:
        """Its name in rows and tables."""
        return self.participant or f"{self.name} {self.condition}"

    @property
    def unavailable(self) -> str:
        """Why it cannot write here; empty if it can."""
        return self.constraint.unavailable

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        header = self.constraint.header()
        if not self.named_by_model:
            return header
        return {
            # A server's entry names its model.
            "model": dict(self.facts),
            **header,
            "engine": self.label,
            "name": f"{self.name} {header['name']}",
            "prices": self.facts["prices"],
        }


def _settings(side: Side, bounds: Bounds) -> dict[str, Json]:
    """Return how a model writes, for the run's header."""
    options = side.options
    return {
        "samples": options.samples,
        "temperature": options.temperature,
        "seed": options.seed,
        "budget": options.budget,
        "compat": options.compat,
        "forced_as_paper": options.forced_as_paper,
        "batch": options.batch,
        "options": {"forced": options.forced, **asdict(bounds)},
        "prices": asdict(side.prices) if side.prices else None,
    }


def _local_writers(
    side: Side, request: RunRequest, log: Callable[[str], None]
) -> Iterator[Writer]:
    """Load a model of transformers; yield it with each of its engines.

    Raises:
        CsbdataError: no such model, or it cannot be loaded.
    """
    check_installed()
    from evaluation.generation.local_model import LocalModel  # noqa: PLC0415 - heavy
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - heavy

    options, bounds = side.options, request.bounds
    log(f"loading the model {options.model}")
    loading = LoadOptions(
        **{field.name: getattr(options, field.name) for field in fields(LoadOptions)}
    )
    loaded = get_model(options.model, loading, request.fetch, log)
    tokenizer = cache(partial(_vocabulary, loaded, request.fetch, log))
    path = Path(options.model)
    forced = None if options.forced_as_paper else options.forced
    model = LocalModel(
        loaded,
        tokenizer,
        LoopOptions(forced=forced, **asdict(bounds)),
        batch=options.batch,
        log=log,
    )
    for engine in side.engines:
        yield Writer(
            options=options,
            name=path.name if path.exists() else options.model,
            facts={"model": loaded.name, **loaded.facts(), **_settings(side, bounds)},
            model=model,
            constraint=engine,
            named_by_model=request.suite is not None,
            tokenizer=tokenizer,
            count=token_counter(tokenizer),
            texts_at_a_time=options.batch * (1 if options.batch == 1 else _ROUNDS),
        )


def _served_writers(
    side: Side, request: RunRequest, log: Callable[[str], None], spending: Spending
) -> Iterator[Writer]:
    """Yield a server's model with each way to send a schema.

    Nothing is sent, and no tokenizer is fetched unless one is named.
    """
    options = side.options
    connection = side.servers[0].connection
    is_bound = request.tokenizer == DEFAULT
    name = BYTES if is_bound else request.tokenizer
    tokenizer = cache(partial(get_tokenizer, name, request.fetch, log))
    account = Account(spending, side.prices)
    model = ServedModel(ServerClient(connection, account=account), log)
    settings = _settings(side, request.bounds)
    for server in side.servers:
        yield Writer(
            options=options,
            name=connection.model,
            facts={"model": options.recorded_model, **settings},
            model=model,
            constraint=server,
            named_by_model=request.suite is not None,
            tokenizer=tokenizer,
            count=tokens_at_most if is_bound else token_counter(tokenizer),
            texts_at_a_time=options.batch,
        )


def _vocabulary(
    model: TransformersModel, fetch: FetchSettings, log: Callable[[str], None]
) -> TokenizerFiles:
    """Return the model's tokenizer for engines, as wide as the model's logits."""
    tokenizer = get_tokenizer(str(model.tokenizer_folder), fetch, log)
    size = max(tokenizer.vocab_size, model.vocab_size)
    end = tokenizer.eos_id
    if end not in model.end_tokens:
        end = min(model.end_tokens)
    return replace(tokenizer, name=model.name, vocab_size=size, eos_id=end)


def open_writers(
    request: RunRequest,
    sides: Sequence[Side],
    log: Callable[[str], None],
    spending: Spending,
) -> list[Writer]:
    """Load the models of a request; return each under each of its constraints.

    Raises:
        BadConfiguration: two would have one name.
        CsbdataError: an option makes no sense, or no such model.
    """
    writers: list[Writer] = []
    for side in sides:
        options = side.options
        if options.temperature == 0 and options.samples > 1:
            raise BadUsage(
                "samples: greedy decoding writes the same text every time",
                hint="add --set temperature=0.7",
            )
        if side.servers:
            writers += _served_writers(side, request, log, spending)
        else:
            writers += _local_writers(side, request, log)
    labels = [writer.label for writer in writers]
    repeated = {label for label in labels if labels.count(label) > 1}
    if repeated:
        message = f"{', '.join(sorted(repeated))} would take part twice"
        raise BadConfiguration(message, hint="ask each in a run of its own")
    return writers
