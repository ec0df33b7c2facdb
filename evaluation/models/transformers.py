"""A transformers model, driven token by token on any device."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.utils import logging

from curation.system.errors import BadConfiguration, NoInput
from evaluation.models.prefixes import PrefixCache
from evaluation.models.weights import folder_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from curation.core.json_types import Json
    from evaluation.models.base import Message

#: Number types that may be asked for.
DTYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
}


def choose_device(wanted: str) -> torch.device:
    """Return a device by its name: `auto` is the GPU where there is one, else the CPU.

    Raises:
        BadConfiguration: there is no such device here.
    """
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        message = f"--device {wanted}: no such device; say auto, cpu, cuda or cuda:N"
        raise BadConfiguration(message) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        message = f"--device {wanted}: torch {torch.__version__} sees no GPU here"
        raise BadConfiguration(f"{message}; say --device cpu")
    return device


class BatchDecoding:
    """Texts under way over one key-value cache, padded on the left at each step."""

    def __init__(
        self,
        model: PreTrainedModel,
        cache: DynamicCache,
        rows: int,
        reused: int,
    ) -> None:
        """Go on from a cache whose every row holds the same number of tokens."""
        self._model = model
        self._cache = cache
        self._device = model.device
        self._positions = [reused] * rows
        self._seen = torch.ones((rows, reused), dtype=torch.long, device=self._device)
        self.reused = reused

    @torch.inference_mode()
    def feed(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Run one forward pass; see `evaluation.models.base.Decoding`."""
        width = max(map(len, rows))
        tokens, positions, mask = self._columns(rows, width)
        self._seen = torch.cat([self._seen, mask], dim=1)
        padded = not bool(self._seen.all()) if len(rows) > 1 else False
        answer = self._model(
            input_ids=tokens,
            attention_mask=self._seen if padded else None,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = answer.logits[:, -1].float()
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return logits

    def _columns(
        self, rows: Sequence[Sequence[int]], width: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        tokens, positions, mask = [], [], []
        for index, row in enumerate(rows):
            padding = width - len(row)
            start = self._positions[index]
            tokens.append([0] * padding + list(row))
            positions.append([0] * padding + list(range(start, start + len(row))))
            mask.append([0] * padding + [1] * len(row))
            self._positions[index] = start + len(row)
        return (
            torch.tensor(tokens, device=self._device),
            torch.tensor(positions, device=self._device),
            torch.tensor(mask, device=self._device),
        )

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        chosen = torch.tensor(list(rows), device=self._device)
        self._cache.batch_select_indices(chosen)
        self._seen = self._seen[chosen]
        self._positions = [self._positions[row] for row in rows]


class TransformersModel:
    """A causal language model of the transformers library."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        revision: str,
        folder: Path,
    ) -> None:
        """Drive a model that is loaded; `load_model` makes one from a name."""
        #: The model itself, for other uses.
        self.module = model.eval()
        self._tokenizer = tokenizer
        self._prefixes: dict[str, PrefixCache] = {}
        self._revision = revision
        self.name = name
        self.tokenizer_folder = folder
        self.end_tokens = _end_tokens(model, tokenizer)
        self.vocab_size = int(model.get_output_embeddings().weight.shape[0])
        self.context_length = int(model.config.max_position_embeddings)

    def facts(self) -> Mapping[str, Json]:
        """Return what a run's header records."""
        return {
            "revision": self._revision,
            "device": str(self.module.device),
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "chat_template": self._tokenizer.chat_template or "",
        }

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the tokens of a conversation that asks for the next turn.

        A model without a chat template gets the turns as paragraphs.
        """
        if not self._tokenizer.chat_template:
            text = "\n\n".join(message.content for message in messages) + "\n\n"
            return tuple(self._tokenizer.encode(text))
        turns = [
            {"role": message.role, "content": message.content} for message in messages
        ]
        asked = self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, tokenize=False
        )
        return tuple(self._tokenizer.encode(str(asked), add_special_tokens=False))

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones left out."""
        return str(
            self._tokenizer.decode(
                list(tokens),
                skip_special_tokens=True,
                clean_up_tokenization_spaces=False,
            )
        )

    def begin(
        self, prompts: Sequence[Sequence[int]], line: str = ""
    ) -> tuple[BatchDecoding, torch.Tensor]:
        """Prefill the prompts; see `evaluation.models.base.LanguageModel`."""
        if line not in self._prefixes:
            self._prefixes[line] = PrefixCache(self._new_cache)
        cache, reused = self._prefixes[line].take(prompts, self._fill)
        batch = BatchDecoding(self.module, cache, len(prompts), reused)
        return batch, batch.feed([prompt[reused:] for prompt in prompts])

    def _new_cache(self) -> DynamicCache:
        return DynamicCache(config=self.module.config)

    @torch.inference_mode()
    def _fill(self, cache: DynamicCache, tokens: Sequence[int]) -> None:
        self.module(
            input_ids=torch.tensor([list(tokens)], device=self.module.device),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )


def _end_tokens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> frozenset[int]:
    """Return every token that ends a text, as the model's own settings say."""
    settings = getattr(model.generation_config, "eos_token_id", None)
    listed = settings if isinstance(settings, list) else [settings]
    tokens = (*listed, tokenizer.eos_token_id)
    return frozenset(int(token) for token in tokens if token is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How a model is loaded; all of it is part of a run's header."""

    #: Branch, tag or commit on the Hub.
    revision: str | None = None
    device: str = "auto"
    #: One of `DTYPES`.
    dtype: str = "bf16"
    #: Threads of torch on a CPU.
    threads: int = 1


def load_model(
    where: str | Path, loading: LoadOptions, *, name: str = ""
) -> TransformersModel:
    """Load a model from a folder or from the Hub.

    Raises:
        NoInput: there is no such model, or it cannot be had.
        BadConfiguration: the device or number type is not there.
    """
    if loading.dtype not in DTYPES:
        message = f"--dtype {loading.dtype}: no such number type; say one of"
        raise BadConfiguration(f"{message} {', '.join(DTYPES)}")
    device = choose_device(loading.device)
    torch.set_num_threads(loading.threads)
    logging.disable_progress_bar()
    revision = loading.revision
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(where), revision=revision)
        model = AutoModelForCausalLM.from_pretrained(
            str(where),
            revision=revision,
            dtype=DTYPES[loading.dtype],
            device_map=str(device),
        )
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        message = f"--model {where}: cannot be loaded ({reason}); name a folder with"
        raise NoInput(f"{message} a model, or a model of the Hub") from error
    commit = getattr(model.config, "_commit_hash", None)
    folder = Path(where)
    return TransformersModel(
        model,
        tokenizer,
        name=name or str(where),
        revision=folder_digest(folder)
        if folder.is_dir()
        else str(commit or revision or ""),
        folder=folder if folder.is_dir() else _download_folder(tokenizer),
    )


def _download_folder(tokenizer: PreTrainedTokenizerBase) -> Path:
    file = tokenizer.init_kwargs.get("tokenizer_file") or tokenizer.vocab_file
    return Path(os.fspath(file)).parent
