"""A transformers model: its prompts, and its logits token by token on any device."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, tzinfo
from itertools import product, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import torch
from jinja2 import TemplateError
from transformers.utils import chat_template_utils

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration
from evaluation.core.records import Message
from evaluation.models.abilities import find_abilities
from evaluation.models.forward import (
    ForwardPass,
    SeparateRows,
    SharedRows,
)
from evaluation.models.hardware import DeviceClock, device_facts

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


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
        raise BadConfiguration(message, hint="take a model that was tuned to chat")

    def _text(self, messages: Sequence[Message], form: _TurnForm) -> str:
        # transformers declares contents as texts, and takes lists of parts too.
        turns: list[Any] = [
            {
                "role": message.role,
                "content": [{"type": "text", "text": message.content}]
                if form.in_parts
                else message.content,
            }
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


def _folded(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the turns with an instruction at the beginning of the first other one."""
    if len(messages) < 2 or messages[0].role != "system":  # noqa: PLR2004 - it, and a turn to take it
        return messages
    first = messages[1]
    content = f"{messages[0].content}\n\n{first.content}"
    return [Message(role=first.role, content=content), *messages[2:]]


#: Share of a logit within which two of them may come out the other way round where
#: they are summed in another order. Ten times what blocks and batches of SmolLM2
#: changed on a CPU is too much for halves, whose logits are that far apart: twice.
_TIES: Final = {torch.bfloat16: 2**-5, torch.float16: 2**-7}
_TIE_OF_FLOATS: Final = 2**-17
#: What configs call the most tokens of a text; the second is MPT's.
_CONTEXT_NAMES: Final = ("max_position_embeddings", "max_seq_len")
_TRIAL_TEXT: Final = "The ferry leaves the upper deck at seven, and returns at noon."


class TransformersModel:
    """A causal language model of transformers, with its tokenizer and chat template.

    Example:
        >>> model = get_model("smollm2", LoadOptions(device="cpu"), settings)
        >>> model.text(model.prompt([Message(role="user", content="Hello")]))
    """

    def __init__(
        self,
        module: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        revision: str,
        folder: Path,
    ) -> None:
        """Drive a loaded model; `load_model` makes one from a name.

        Raises:
            BadConfiguration: the model cannot be talked with, or nothing ends its
                texts.
        """
        #: The model itself, for other uses.
        self.module = module.eval()
        #: Its name in results: the model, and the precision of its weights.
        self.name = name
        self._tokenizer = tokenizer
        self._revision = revision
        self._prompts = ChatPrompts(tokenizer, name)
        self._forward = ForwardPass(self.module)
        #: Takes the times of its device.
        self.clock = DeviceClock(self.module.device)
        trial = tokenizer.encode(_TRIAL_TEXT, add_special_tokens=False)
        self._abilities = find_abilities(self.module, trial)
        #: The tokens of which any ends a text.
        self.end_tokens = _end_tokens(module, tokenizer)
        if not self.end_tokens:
            message = f"--model {name}: neither model nor tokenizer names an end token"
            raise BadConfiguration(message)
        #: Columns of the logits; at least the tokenizer's vocabulary.
        self.vocab_size = self._forward.over(trial[:1], None).shape[-1]
        #: Most tokens of a text, the prompt included; None without a bound.
        self.context_length = _context_length(module)
        #: Share of the best logit within which sums in another order, as in a batch,
        #: may make another one the best.
        self.tie = _TIES.get(module.dtype, _TIE_OF_FLOATS)
        #: Folder with `tokenizer.json`, from which engines make their vocabulary.
        self.tokenizer_folder = self._folder_with_tokenizer(folder)

    def facts(self) -> Mapping[str, Json]:
        """Return the facts for a run's header."""
        able = self._abilities
        return {
            "revision": self._revision,
            **device_facts(self.module.device),
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "threads": torch.get_num_threads(),
            "warm_up": "passes over a trial text when the model is loaded",
            "attention": str(self.module.config._attn_implementation),  # noqa: SLF001 - no public name
            "cache": {
                "kept": able.keeps,
                "several_tokens": able.several,
                "batch": able.batch,
                "why": able.why,
            },
            "limits": self.limits,
            **self._prompts.facts(),
        }

    @property
    def limits(self) -> str:
        """What cannot be done with its cache, and why; empty where everything can."""
        able = self._abilities
        if not able.keeps:
            return f"each token reads the whole text again ({able.why})"
        if not able.several:
            return f"texts run alone, forced tokens one by one ({able.why})"
        return "" if able.batch else f"texts run alone ({able.why})"

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn."""
        return self._prompts.tokens(messages)

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones left out."""
        return str(
            self._tokenizer.decode(
                list(tokens),
                skip_special_tokens=True,
                clean_up_tokenization_spaces=False,
            )
        )

    def open(self) -> SharedRows | SeparateRows:
        """Return a batch without any text yet.

        Each text has a pass of its own where they cannot share one.
        """
        if self._abilities.batch:
            return SharedRows(self._forward)
        return SeparateRows(self._forward, self._abilities)

    def forget(self) -> None:
        """Give memory back to the device."""
        if self.module.device.type == "cuda":
            torch.cuda.empty_cache()

    def _folder_with_tokenizer(self, folder: Path) -> Path:
        """Return the model's folder, or a new one with its loaded parts."""
        if not (folder / "tokenizer.json").is_file():
            folder = Path(tempfile.mkdtemp(prefix="csbdata-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._tokenizer.save_pretrained(str(folder))
        return folder


def _end_tokens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> frozenset[int]:
    """Return every token that ends a text, by the model's own settings."""
    ends = model.generation_config.eos_token_id
    tokens = (*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id)
    return frozenset(int(token) for token in tokens if token is not None)


def _context_length(module: PreTrainedModel) -> int | None:
    """Return the most tokens of a text; None where the model's config has no bound."""
    config = module.config.get_text_config(decoder=True)
    lengths = (getattr(config, it) for it in _CONTEXT_NAMES if hasattr(config, it))
    return next((length for length in lengths if length), None)
