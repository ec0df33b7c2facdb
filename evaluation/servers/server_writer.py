"""A model behind a server that writes texts, asked over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Result
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.asked_text import AskedText
from evaluation.servers.client import (
    DeadlinePassed,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
)
from evaluation.servers.request_body import request_body
from evaluation.servers.request_refusals import RefusalCause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.generation.requests import GenerationRequest, TokenPrices
    from evaluation.generation.text_generation import Generation
    from evaluation.servers.model_server import ModelServer

#: Tokens of a text that is asked for only to see whether it is refused.
_CONTROL_BUDGET: Final = 16


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
        asked = AskedText(request, schema if edits else "", edits, self._prices)
        try:
            answer, start = self._client.ask(
                request_body(self._dialect, request, schema)
            )
        except RequestRefused as refused:
            return self._refused(asked, refused)
        except DeadlinePassed as late:
            return asked.late(late.answer, late.start)
        except RetriesExhausted as gave_up:
            return asked.failed(Result.ERROR, TextEnding.MODEL, str(gave_up))
        return asked.written(answer, start)

    def _refused(self, asked: AskedText, refused: RequestRefused) -> Generation:
        """Return the generation of a request that the server does not take."""
        cause, detail = refused.words.cause, str(refused)
        if cause is RefusalCause.UNKNOWN and self._dialect.constrains:
            cause, more = self._cause_without_schema(asked.request)
            detail = f"{detail}; {more}"
        if cause is RefusalCause.SCHEMA and self._dialect.constrains:
            return asked.failed(Result.COMPILE_ERROR, TextEnding.ENGINE, detail)
        endings = {
            RefusalCause.CONTEXT: TextEnding.PROMPT,
            RefusalCause.FILTER: TextEnding.FILTERED,
        }
        ending = endings.get(cause, TextEnding.REQUEST)
        return asked.failed(Result.ERROR, ending, detail)

    def _cause_without_schema(
        self, request: GenerationRequest
    ) -> tuple[RefusalCause, str]:
        """Ask for the same without the schema: only then is it to blame."""
        short = replace(request, budget=min(request.budget, _CONTROL_BUDGET))
        try:
            self._client.ask(request_body(self._dialect, short, None))
        except RequestRefused as refused:
            return RefusalCause.OTHER, f"without the schema {refused}"
        except (DeadlinePassed, RetriesExhausted) as trouble:
            return RefusalCause.OTHER, f"without the schema {trouble}"
        return RefusalCause.SCHEMA, "without the schema it is answered"
