"""A transformers model, driven token by token on any device."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration, NoInput
from evaluation.models.abilities import find_abilities
from evaluation.models.chat import ChatPrompts
from evaluation.models.forward import (
    ForwardPass,
    SeparateRows,
    SharedRows,
)
from evaluation.models.hardware import DeviceClock, device_facts
from evaluation.tokenizers import tokenizer_file

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from evaluation.core.records import Message

#: Share of a logit within which two of them may come out the other way round where
#: they are summed in another order. Ten times what blocks and batches of SmolLM2
#: changed on a CPU is too much for halves, whose logits are that far apart: twice.
_TIES: Final = {torch.bfloat16: 2**-5, torch.float16: 2**-7}
_TIE_OF_FLOATS: Final = 2**-17
#: What configs call the most tokens of a text.
_CONTEXT_NAMES: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "context_length",
)
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
        try:
            tokenizer_file(folder)
        except NoInput:
            folder = Path(tempfile.mkdtemp(prefix="csbdata-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._tokenizer.save_pretrained(str(folder))
        return folder


def _end_tokens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> frozenset[int]:
    """Return every token that ends a text, by the model's own settings."""
    settings = getattr(model.generation_config, "eos_token_id", None)
    ends = settings if isinstance(settings, list) else [settings]
    tokens = (*ends, tokenizer.eos_token_id)
    return frozenset(int(token) for token in tokens if token is not None)


def _context_length(module: PreTrainedModel) -> int | None:
    """Return the most tokens of a text; None where the model's config has no bound."""
    config = module.config.get_text_config(decoder=True)
    for name in _CONTEXT_NAMES:
        length = getattr(config, name, None)
        if isinstance(length, int) and length > 0:
            return length
    return None
