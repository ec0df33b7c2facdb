"""A model behind a server that writes texts, asked over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.servers.client import (
    RequestLimits,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
    ServerConnection,
)
from evaluation.servers.server_dialects import server_dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.generation.model_options import TokenPrices
    from evaluation.generation.requests import GenerationRequest
    from evaluation.servers.event_stream import ServerAnswer
    from evaluation.servers.server_dialects import ServerDialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """One model of one server, asked in one dialect, as it takes part in a run."""

    dialect: ServerDialect
    connection: ServerConnection
    #: How the server describes itself (`ServerClient.description`).
    about: Mapping[str, Json] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name in rows and tables: `vllm Qwen/Qwen3-0.6B`."""
        return f"{self.dialect.name} {self.connection.model}".strip()

    @property
    def unavailable(self) -> str:
        """Empty: a server that does not answer ends the run instead."""
        return ""

    @property
    def identity(self) -> str:
        """Fingerprint of server, model, dialect and limits, without the key."""
        return fingerprint(
            dialect=self.dialect.name,
            base=self.connection.base,
            model=self.connection.model,
            limits=asdict(self.connection.limits),
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        return {
            "engine": self.label,
            "name": self.dialect.name,
            "spec": self.dialect.name,
            "version": "",
            "preset": "",
            "options": {},
            "interpreter": "",
            "server": self.connection.base,
            "model": self.connection.model,
            "about": dict(self.about),
            "unavailable": None,
            "install": "",
        }


def server_participants(
    base: str, model: str, dialects: Sequence[str], seconds: float
) -> list[ModelServer]:
    """Return the participants of a run: one server, asked in each dialect.

    Args:
        base: The server's address; it ends in `/v1` as a rule.
        model: The model's name at this server.
        dialects: Names of dialects (`SERVER_DIALECTS`), one at least.
        seconds: Deadline of one text.

    Raises:
        BadConfiguration: there is no such dialect.
    """
    found = [server_dialect(name) for name in dict.fromkeys(dialects)]
    return [
        ModelServer(
            dialect=dialect,
            connection=ServerConnection(
                base=base,
                model=model,
                keys=dialect.keys,
                limits=RequestLimits(seconds=seconds),
            ),
        )
        for dialect in found
    ]


class ServerWriter:
    """Has a server write; the texts of one batch are asked for at the same time."""

    def __init__(
        self,
        server: ModelServer,
        *,
        prices: TokenPrices | None = None,
        client: ServerClient | None = None,
    ) -> None:
        """Prepare; nothing is sent yet."""
        self._dialect = server.dialect
        self._client = client or ServerClient(server.connection)
        self._prices = prices
        self.label = server.label
        self.identity = server.identity

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def write(
        self,
        requests: Sequence[GenerationRequest],
        ended: Callable[[int, Generation], None] = lambda _place, _generation: None,
    ) -> list[Generation]:
        """Write a batch of texts; see `evaluation.generation.requests.TextWriter`.

        Raises:
            NotPermitted: the key is missing or wrong (exit 77).
        """
        with ThreadPoolExecutor(len(requests) or 1) as pool:
            asked = [pool.submit(self._write_one, request) for request in requests]
            places = {future: place for place, future in enumerate(asked)}
            for future in as_completed(asked):
                ended(places[future], future.result())
            return [future.result() for future in asked]

    def _write_one(self, request: GenerationRequest) -> Generation:
        sample = request.sample
        schema, edits = self._dialect.adapt(sample.schema, sample.dialect)
        sent = schema if edits else ""
        try:
            answer, start = self._client.ask(self._body(request, schema))
        except RequestRefused as refused:
            return _failed_generation(
                request, Result.COMPILE_ERROR, TextEnding.ENGINE, str(refused)
            )
        except RetriesExhausted as gave_up:
            return _failed_generation(
                request, Result.ERROR, TextEnding.MODEL, str(gave_up)
            )
        return self._generation(request, answer, start, sent, edits)

    def _body(self, request: GenerationRequest, schema: str) -> Mapping[str, Json]:
        return {
            "messages": [
                {"role": message.role, "content": message.content}
                for message in request.messages
            ],
            self._dialect.budget: request.budget,
            "temperature": request.temperature,
            "seed": request.seed % 2**31,
            "stream_options": {"include_usage": True},
            **self._dialect.body(schema),
        }

    def _generation(
        self,
        request: GenerationRequest,
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
            id=request.sample.id,
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
            cost=self._prices.cost(answer.prompt_tokens, answer.output_tokens)
            if self._prices
            else None,
        )


def _ending(answer: ServerAnswer) -> TextEnding:
    if answer.finish == "length":
        return TextEnding.TRUNCATED
    return TextEnding.END if answer.finish in {"stop", "eos"} else TextEnding.MODEL


def _failed_generation(
    request: GenerationRequest, result: Result, ending: TextEnding, detail: str
) -> Generation:
    return Generation(id=request.sample.id, result=result, ending=ending, detail=detail)
