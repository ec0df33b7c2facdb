"""A server's model that writes texts."""

from __future__ import annotations

import json
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from curation.system.errors import CsbdataError, Unavailable
from curation.system.threads import apart
from evaluation.answers.extraction import split_thinking
from evaluation.core.cases import Result
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    Model,
    TextEnding,
)
from evaluation.servers.client import (
    DeadlinePassed,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
)
from evaluation.servers.refusals import RefusalClass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from curation.system.progress import Progress
    from evaluation.core.records import Record, TokenPrices
    from evaluation.servers.adaptation import AdaptedSchema
    from evaluation.servers.answers import ServerAnswer
    from evaluation.servers.model_server import ModelServer
    from evaluation.servers.provider import Provider


#: Requests after which a server that refuses all of them alike is given up.
_ALIKE: Final = 3
#: What a text ends with whose request is refused for another cause than its schema.
_REFUSALS: Final = {
    RefusalClass.CONTEXT: TextEnding.PROMPT,
    RefusalClass.FILTERED: TextEnding.FILTERED,
}


class ConditionUnavailable(CsbdataError):  # noqa: N818 (as in system.errors)
    """The model lacks the way to send a schema: no text is evidence."""

    exit_code = Unavailable.exit_code


@dataclass(frozen=True, slots=True)
class AskedText:
    """A request, with its sent schema."""

    request: GenerationRequest
    schema: AdaptedSchema
    provider: Provider
    prices: TokenPrices | None = None

    def failed(self, result: Result, ending: TextEnding, detail: str) -> Generation:
        """Return the generation of a request that has no answer."""
        return Generation(
            id=self.request.record.id,
            result=result,
            ending=ending,
            detail=detail,
            pieces=0,
            adapted=self.schema.text if self.schema.edits else "",
            edits=self.schema.edits,
            # What no model has read costs nothing.
            cost=0.0 if self.prices and ending is not TextEnding.MODEL else None,
        )

    def written(self, answer: ServerAnswer) -> Generation:
        """Return the generation of an answer, or of what there is of it in time."""
        parts = split_thinking(answer.text)
        begins = answer.text.rfind(parts.answer) if parts.answer else len(answer.text)
        moments = _moments(answer, begins)
        thoughts = [part for part in (answer.reasoning, parts.thinking) if part]
        ending = self.provider.ending(answer.finish)
        ending = TextEnding.REFUSED if answer.refusal else ending
        text = self.schema.decoded(parts.answer)
        is_usual = ending in (TextEnding.END, TextEnding.TRUNCATED)
        odd = "" if is_usual else f"finish_reason {answer.finish!r}"
        counted, thought = answer.output_tokens, answer.reasoning_tokens
        if counted is not None:
            # Where a thought is not counted apart, neither is the answer.
            is_known = thought is not None or not thoughts
            counted = max(0, counted - (thought or 0)) if is_known else None
        return Generation(
            id=self.request.record.id,
            result=Result.OK,
            ending=ending,
            detail=answer.refusal or odd,
            text=text,
            undecoded=parts.answer if text != parts.answer else "",
            reasoning="\n".join(thoughts),
            tagged=bool(parts.thinking) or bool(answer.text and not parts.answer),
            prompt_tokens=answer.prompt_tokens,
            ttft_ns=moments[0] - answer.asked_ns if moments else None,
            total_ns=moments[-1] - answer.asked_ns if moments else None,
            counted=counted,
            reasoning_tokens=answer.reasoning_tokens,
            pieces=len(moments),
            adapted=self.schema.text if self.schema.edits else "",
            edits=self.schema.edits,
            cost=self.prices.cost(answer.prompt_tokens, answer.output_tokens)
            if self.prices
            else None,
        )

    def late(self, answer: ServerAnswer) -> Generation:
        """Return the generation of an answer that the deadline cut off."""
        return replace(
            self.written(answer),
            result=Result.TIMEOUT,
            ending=TextEnding.TIMEOUT,
            detail="not written in time" if answer.begun else "nothing came in time",
            total_ns=perf_counter_ns() - answer.asked_ns,
        )


def _moments(answer: ServerAnswer, thought: int) -> list[int]:
    """Return when pieces came, those left out that only have `thought` characters."""
    moments: list[int] = []
    end = 0
    for moment, characters in answer.pieces:
        end += characters
        if end > thought:
            moments.append(moment)
    return moments


#: Refusals that may be about a parameter that can be spared.
_MEMBERS: Final = (RefusalClass.PARAMETER, RefusalClass.UNKNOWN)
#: Tokens of a text requested only to see whether it is refused.
_CONTROL_BUDGET: Final = 16


class ServedModel(Model["ModelServer"]):
    """Has a server write; the texts of one batch are asked for at the same time.

    Example:
        >>> model = ServedModel(ServerClient(server.connection))
        >>> (generation,) = model.generate([prompt], server)
    """

    def __init__(
        self,
        client: ServerClient,
        log: Callable[[str], None] = lambda _message: None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            client: The connection.
            log: Prints what is learnt about the server.
        """
        self._client = client
        self.discovered = client.parameters.changes
        self._said: set[str] = set()
        self._print = log
        #: By the label of a way to ask: words of refusals before the first answer;
        #: None after it.
        self._refusals: dict[str, list[str] | None] = {}

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._print(line)

    def identity(self, constraint: ModelServer) -> str:
        """Return the fingerprint of server, model, way and limits."""
        return constraint.identity

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def generate(
        self,
        prompts: Sequence[GenerationRequest],
        constraint: ModelServer,
        on_end: Callable[[int, Generation], None] = lambda _place, _generation: None,
    ) -> list[Generation]:
        """Write a batch of texts; see `text_generation.Model`.

        Raises:
            NotPermitted: the key is missing or wrong (exit 77).
            NoInput: the server has no such model (exit 66).
            Unavailable: the account is exhausted, or the first requests are all
                refused for the same reason (exit 69).
            ConditionUnavailable: the model lacks this way to ask.
            SpendingLimit: the run may not ask for more.

        Texts under way at that moment have ended when it is raised.
        """
        for lack in constraint.lacks:
            self._say_once(f"{constraint.label}: {lack}")
        futures = [
            apart(partial(self._write, prompt, constraint)) for prompt in prompts
        ]
        places = {future: place for place, future in enumerate(futures)}
        for future in as_completed(futures):
            # What has come is paid for, whatever ends the run.
            if future.exception() is None:
                on_end(places[future], future.result())
        return [future.result() for future in futures]

    def prepare(
        self,
        constraint: ModelServer,
        records: Sequence[Record],
        folder: Path,
        progress: Progress,
    ) -> None:
        """Adapt the schemas of a run; see `SchemaAdapter.prepare`."""
        constraint.adapter.prepare(records, folder, constraint.label, progress)

    def owe(self, prompt: GenerationRequest, constraint: ModelServer) -> None:
        """Count the maximum cost of an answer whose tokens were not counted."""
        schema = constraint.adapter.of(prompt.record)
        sent = len(json.dumps(constraint.request(prompt, schema.text)))
        self._client.account.pay(None, None, sent, prompt.budget)

    def _write(self, prompt: GenerationRequest, constraint: ModelServer) -> Generation:
        schema = constraint.adapter.of(prompt.record)
        provider = constraint.connection.provider
        text = AskedText(prompt, schema, provider, self._client.account.prices)
        if schema.refusal:
            return text.failed(Result.COMPILE_ERROR, TextEnding.ENGINE, schema.refusal)
        try:
            answer = self._ask(prompt, constraint, schema.text)
        except RequestRefused as refused:
            return self._refused(text, constraint, refused)
        except DeadlinePassed as late:
            return text.late(late.answer)
        except RetriesExhausted as gave_up:
            return text.failed(Result.ERROR, TextEnding.MODEL, str(gave_up))
        self._refusals[constraint.label] = None
        counted, rate = answer.prompt_tokens, provider.bytes_a_token
        if rate and counted is not None:
            least = sum(len(turn.content) for turn in prompt.messages) // rate
            if counted < least:
                cut = f"the server read {counted:,} tokens of a prompt of at least"
                return text.failed(Result.ERROR, TextEnding.PROMPT, f"{cut} {least:,}")
        written = text.written(answer)
        if written.ending is TextEnding.UNKNOWN:
            self._say_once(
                f"{constraint.label}: finish_reason {answer.finish!r} is not known: "
                "texts that end so are kept as unknown_end, and not asked for again"
            )
        return written

    def _ask(
        self, prompt: GenerationRequest, constraint: ModelServer, schema: str | None
    ) -> ServerAnswer:
        """Ask; a parameter that is refused is changed, for this and later requests.

        Args:
            prompt: The requested text.
            constraint: The way to ask.
            schema: The schema to send.

        Raises:
            CsbdataError: see `ServerClient.ask`.
        """
        parameters = self._client.parameters
        while True:
            body = parameters.apply(constraint.request(prompt, schema))
            try:
                return self._client.ask(body, prompt.budget)
            except RequestRefused as refused:
                if refused.meaning not in _MEMBERS:
                    raise
                change = parameters.learn(body, refused.refusal)
                if change is None:
                    raise
                if change:
                    line = f"{change}: the server says {refused}"
                    self._say_once(f"{constraint.label}: {line}")

    def _refused(
        self, text: AskedText, constraint: ModelServer, refused: RequestRefused
    ) -> Generation:
        """Return the generation of a request that the server does not take.

        Raises:
            ConditionUnavailable: the model lacks this way to ask.
            Unavailable: so far all requests were refused, with the same words.
        """
        meaning, detail = refused.meaning, str(refused)
        constrains = constraint.constrains
        if meaning is RefusalClass.UNKNOWN and constrains:
            meaning, more = self._meaning_without_schema(text.request, constraint)
            detail = f"{detail}; {more}"
        refusals = self._refusals.setdefault(constraint.label, [])
        if meaning is RefusalClass.EXCLUDED and constrains and refusals is not None:
            what = f"not available: the server says {refused}"
            self._say_once(f"{constraint.label} is {what}")
            raise ConditionUnavailable(f"not available: {refused}", constraint.label)
        if meaning is RefusalClass.SCHEMA and constrains:
            return text.failed(Result.COMPILE_ERROR, TextEnding.ENGINE, detail)
        if meaning is RefusalClass.FAILED:
            failed = text.failed(Result.OK, TextEnding.END, detail)
            return replace(failed, text=refused.refusal.failed_text, cost=None)
        ending = _REFUSALS.get(meaning, TextEnding.REQUEST)
        if ending is TextEnding.REQUEST and refusals is not None:
            refusals.append(str(refused))
            if len(refusals) >= _ALIKE and len(set(refusals)) == 1:
                what = f"the server refuses all requests: {refused}"
                base = constraint.connection.base
                raise Unavailable(what, base, "the same command asks again")
        return text.failed(Result.ERROR, ending, detail)

    def _meaning_without_schema(
        self, prompt: GenerationRequest, constraint: ModelServer
    ) -> tuple[RefusalClass, str]:
        """Ask for the same without the schema: only then is it to blame."""
        short = replace(prompt, budget=min(prompt.budget, _CONTROL_BUDGET))
        try:
            self._ask(short, constraint, None)
        except (RequestRefused, DeadlinePassed, RetriesExhausted) as trouble:
            return RefusalClass.PARAMETER, f"without the schema {trouble}"
        return RefusalClass.SCHEMA, "without the schema it is answered"
