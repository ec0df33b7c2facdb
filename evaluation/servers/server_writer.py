"""A model behind a server, as one that writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.servers.client import (
    RequestRefused,
    RetriesExhausted,
    RetryBudget,
    ServerClient,
    ServerConnection,
)
from evaluation.servers.server_dialects import server_dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.generation.model_options import TokenPrices
    from evaluation.generation.requests import GenerationRequest
    from evaluation.servers.event_stream import ServerAnswer
    from evaluation.servers.server_dialects import ServerDialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """One way to ask one server, as it takes part."""

    dialect: ServerDialect
    asking: ServerConnection
    #: What the server says of itself.
    about: Mapping[str, UntypedJson] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What rows and tables call it."""
        return f"{self.dialect.name} {self.asking.model}".strip()

    @property
    def unavailable(self) -> str:
        """A server that does not answer is a fault, not an absence."""
        return ""

    @property
    def identity(self) -> str:
        """Fingerprint of whom is asked how; the key is no part of it."""
        return fingerprint(
            dialect=self.dialect.name,
            base=self.asking.base,
            model=self.asking.model,
            patience=asdict(self.asking.patience),
        )

    def header(self) -> dict[str, UntypedJson]:
        """Return what the run's header says of it."""
        return {
            "engine": self.label,
            "name": self.dialect.name,
            "spec": self.dialect.name,
            "version": "",
            "preset": "",
            "options": {},
            "interpreter": "",
            "server": self.asking.base,
            "model": self.asking.model,
            "about": dict(self.about),
            "unavailable": None,
            "install": "",
        }


def server_participants(
    base: str, model: str, dialects: Sequence[str], seconds: float
) -> list[ModelServer]:
    """Return who takes part: the same server, asked in each dialect.

    Raises:
        BadConfiguration: there is no such dialect.
    """
    found = [server_dialect(each) for each in dict.fromkeys(dialects)]
    return [
        ModelServer(
            dialect=each,
            asking=ServerConnection(
                base=base,
                model=model,
                keys=each.keys,
                patience=RetryBudget(seconds=seconds),
            ),
        )
        for each in found
    ]


class ServerWriter:
    """Writes by asking; texts of one batch are asked for at the same time."""

    def __init__(
        self,
        server: ModelServer,
        *,
        prices: TokenPrices | None = None,
        client: ServerClient | None = None,
    ) -> None:
        """Prepare; nothing is sent yet."""
        self._dialect = server.dialect
        self._client = client or ServerClient(server.asking)
        self._prices = prices
        self.label = server.label
        self.identity = server.identity

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def write(self, asked: Sequence[GenerationRequest]) -> list[Generation]:
        """Write a batch of texts.

        Raises:
            NotPermitted: the key is missing or wrong (exit 77).
        """
        if len(asked) == 1:
            return [self._one(asked[0])]
        with ThreadPoolExecutor(len(asked)) as pool:
            return list(pool.map(self._one, asked))

    def _one(self, asked: GenerationRequest) -> Generation:
        subject = asked.subject
        schema, edits = self._dialect.adapt(subject.schema, subject.dialect)
        sent = schema if edits else ""
        try:
            answer, start = self._client.ask(self._body(asked, schema))
        except RequestRefused as refused:
            return _failed(asked, Result.COMPILE_ERROR, TextEnding.ENGINE, str(refused))
        except RetriesExhausted as gave_up:
            return _failed(asked, Result.ERROR, TextEnding.MODEL, str(gave_up))
        return self._written(asked, answer, start, sent, edits)

    def _body(self, asked: GenerationRequest, schema: str) -> Mapping[str, UntypedJson]:
        return {
            "messages": [
                {"role": each.role, "content": each.content} for each in asked.messages
            ],
            self._dialect.budget: asked.budget,
            "temperature": asked.temperature,
            "seed": asked.seed % 2**31,
            "stream_options": {"include_usage": True},
            **self._dialect.body(schema),
        }

    def _written(
        self,
        asked: GenerationRequest,
        answer: ServerAnswer,
        start: int,
        sent: str,
        edits: tuple[str, ...],
    ) -> Generation:
        first, last = answer.first_ns, answer.last_ns
        detail = ""
        if not answer.text and answer.reasoning:
            detail = "the answer stands in the reasoning, or there is none"
        return Generation(
            id=asked.subject.id,
            result=Result.OK,
            ending=_ending(answer),
            detail=detail,
            text=answer.text,
            prompt_tokens=answer.prompt_tokens or 0,
            ttft_ns=None if first is None else first - start,
            total_ns=None if last is None else last - start,
            counted=(
                len(answer.pieces)
                if answer.output_tokens is None
                else answer.output_tokens
            ),
            adapted=sent,
            edits=edits,
            cost=self._prices.of(answer.prompt_tokens, answer.output_tokens)
            if self._prices
            else None,
        )


def _ending(answer: ServerAnswer) -> TextEnding:
    if answer.finish == "length":
        return TextEnding.TRUNCATED
    return TextEnding.END if answer.finish in {"stop", "eos"} else TextEnding.MODEL


def _failed(
    asked: GenerationRequest, result: Result, ending: TextEnding, detail: str
) -> Generation:
    return Generation(id=asked.subject.id, result=result, ending=ending, detail=detail)
