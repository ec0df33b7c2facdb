"""Turn a conversation into the tokens of the model's chat template."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, tzinfo
from itertools import product, starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from jinja2 import TemplateError
from transformers.utils import chat_template_utils

from curation.system.errors import BadConfiguration
from evaluation.core.records import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from transformers import PreTrainedTokenizerBase

    from curation.core.json_types import Json

#: The date for templates, so that a prompt is the same on every day; it is
#: the default of Llama 3's own template.
TEMPLATE_DATE: Final = "2024-07-26"
_TRIAL: Final = (
    Message(role="system", content="First instruction."),
    Message(role="user", content="Second question."),
    Message(role="assistant", content="Third answer."),
    Message(role="user", content="Fourth question."),
)


class _TurnForm(NamedTuple):
    """How turns are handed to a template."""

    #: Whether a content is a list of parts, as models of several media want it.
    in_parts: bool
    #: Whether the instruction is put before the first user's turn.
    folds_system: bool


_FORMS: Final = [*starmap(_TurnForm, product((False, True), repeat=2))]


class ChatPrompts:
    """Makes prompts with a tokenizer's chat template.

    If the template refuses or drops a system message, it is put before the first user
    message. Without a template, turns are paragraphs.

    Example:
        >>> prompts = ChatPrompts(tokenizer, "owner/name")
        >>> tokens = prompts.tokens([Message(role="user", content="Hello")])
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
        """Find out how the template wants its turns.

        Args:
            tokenizer: The model's tokenizer.
            name: What messages call the model.

        Raises:
            BadConfiguration: the template takes no conversation at all.
        """
        self._tokenizer = tokenizer
        self._template = str(tokenizer.chat_template or "")
        self._form = self._fitting_form(name) if self._template else _FORMS[0]

    def facts(self) -> Mapping[str, Json]:
        """Return the facts for a run's header."""
        form = self._form
        return {
            "chat_template": self._template,
            "template_date": TEMPLATE_DATE if self._template else "",
            "system_turn": "in the first user's turn" if form.folds_system else "own",
        }

    def tokens(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn."""
        if not self._template:
            text = "\n\n".join(message.content for message in messages) + "\n\n"
            return tuple(self._tokenizer.encode(text))
        text = self._text(messages, self._form)
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))

    def _fitting_form(self, name: str) -> _TurnForm:
        """Return the first form in which nothing of a conversation is lost."""
        reason = "it leaves out what was said"
        for form in _FORMS:
            try:
                text = self._text(_TRIAL, form)
            except (TemplateError, TypeError, ValueError, AttributeError) as error:
                reason = str(error)
                continue
            if all(message.content in text for message in _TRIAL):
                return form
        message = f"--model {name}: its chat template takes no conversation ({reason})"
        raise BadConfiguration(message, then="take a model that was tuned to chat")

    def _text(self, messages: Sequence[Message], form: _TurnForm) -> str:
        # transformers declares contents as texts, and takes lists of parts too.
        turns: list[Any] = [
            {"role": message.role, "content": _content(message.content, form)}
            for message in (_folded(messages) if form.folds_system else messages)
        ]
        with _pinned_day():
            text = self._tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=False
            )
        return str(text)


class _PinnedDatetime(datetime):
    """A clock that always shows the same day."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Return the date for templates."""
        return cls.fromisoformat(TEMPLATE_DATE).replace(tzinfo=tz)


@contextmanager
def _pinned_day() -> Iterator[None]:
    """Make `strftime_now` of chat templates return a fixed day.

    transformers reads `datetime` in its module; templates take no functions.
    """
    real = vars(chat_template_utils)["datetime"]
    vars(chat_template_utils)["datetime"] = _PinnedDatetime
    try:
        yield
    finally:
        vars(chat_template_utils)["datetime"] = real


def _content(text: str, form: _TurnForm) -> object:
    return [{"type": "text", "text": text}] if form.in_parts else text


def _folded(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the turns with an instruction at the beginning of the first other one."""
    if len(messages) < 2 or messages[0].role != "system":  # noqa: PLR2004 - it, and a turn to take it
        return messages
    first = messages[1]
    content = f"{messages[0].content}\n\n{first.content}"
    return [Message(role=first.role, content=content), *messages[2:]]
