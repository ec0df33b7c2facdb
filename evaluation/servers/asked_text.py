"""What comes of one request to a server, as a generation: an answer or a failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from evaluation.answers.extraction import split_thinking
from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding

if TYPE_CHECKING:
    from evaluation.generation.requests import GenerationRequest, TokenPrices
    from evaluation.servers.event_stream import ServerAnswer

#: What servers call the end of a text, in small letters.
_FINISHED: Final = ("stop", "eos", "eos_token", "stop_sequence", "end_turn")
_USED_UP: Final = ("length", "max_tokens", "model_length")
_FILTERED: Final = (
    "content_filter",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
)


@dataclass(frozen=True, slots=True)
class AskedText:
    """A request, with the schema that is sent for it where it is another one."""

    request: GenerationRequest
    adapted: str
    edits: tuple[str, ...]
    prices: TokenPrices | None

    def failed(self, result: Result, ending: TextEnding, detail: str) -> Generation:
        """Return the generation of a request that has no answer."""
        return Generation(
            id=self.request.sample.id,
            result=result,
            ending=ending,
            detail=detail,
            pieces=0,
            adapted=self.adapted,
            edits=self.edits,
        )

    def written(self, answer: ServerAnswer, start: int) -> Generation:
        """Return the generation of an answer.

        Args:
            answer: The whole of it, or what there was when the deadline passed.
            start: When it was asked for (`perf_counter_ns`).
        """
        parts = split_thinking(answer.text)
        begins = answer.text.rfind(parts.answer) if parts.answer else len(answer.text)
        moments = _moments(answer, max(0, begins))
        thoughts = [part for part in (answer.reasoning, parts.thinking) if part]
        ending = _ending(answer)
        odd = f"finish_reason {answer.finish!r}" if ending is TextEnding.MODEL else ""
        return Generation(
            id=self.request.sample.id,
            result=Result.OK,
            ending=ending,
            detail=answer.refusal or odd,
            text=parts.answer,
            reasoning="\n".join(thoughts),
            tagged=bool(parts.thinking) or bool(answer.text and not parts.answer),
            prompt_tokens=answer.prompt_tokens or 0,
            ttft_ns=moments[0] - start if moments else None,
            total_ns=moments[-1] - start if moments else None,
            counted=_answer_tokens(answer, apart=not thoughts),
            reasoning_tokens=answer.reasoning_tokens,
            pieces=len(moments),
            adapted=self.adapted,
            edits=self.edits,
            cost=self.prices.cost(answer.prompt_tokens, answer.output_tokens)
            if self.prices
            else None,
        )

    def late(self, answer: ServerAnswer, start: int) -> Generation:
        """Return the generation of an answer that the deadline cut off."""
        made = self.written(answer, start)
        return replace(
            made,
            result=Result.TIMEOUT,
            ending=TextEnding.TIMEOUT,
            detail="not written in time" if answer.begun else "nothing came in time",
            total_ns=perf_counter_ns() - start,
        )


def _ending(answer: ServerAnswer) -> TextEnding:
    if answer.refusal:
        return TextEnding.REFUSED
    finish = answer.finish.lower()
    endings = {
        TextEnding.END: _FINISHED,
        TextEnding.TRUNCATED: _USED_UP,
        TextEnding.FILTERED: _FILTERED,
    }
    return next(
        (ending for ending, names in endings.items() if finish in names),
        TextEnding.MODEL,
    )


def _moments(answer: ServerAnswer, thought: int) -> list[int]:
    """Return when pieces came, those left out that only have `thought` characters."""
    found: list[int] = []
    end = 0
    for moment, characters in answer.pieces:
        end += characters
        if end > thought:
            found.append(moment)
    return found


def _answer_tokens(answer: ServerAnswer, *, apart: bool) -> int | None:
    """Return the tokens of the answer without those of a thought; None if not known."""
    thought = answer.reasoning_tokens
    if answer.output_tokens is None or (thought is None and not apart):
        return None
    return max(0, answer.output_tokens - (thought or 0))
