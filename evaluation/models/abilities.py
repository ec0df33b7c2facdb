"""Find the operations that a model's key-value cache supports.

Most models keep the keys and values of every token; some keep a window, or a state that
each token changes. Operations that would silently give wrong logits are turned off:
such a model writes the texts of a batch one by one, feeds forced tokens one by one, or
reads the whole text for every token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

from evaluation.models.forward import CacheAbilities, ForwardPass, SharedRows, TextRow

#: Share of the range of the logits by which two ways to them may differ.
_TOLERANCE: Final = {torch.float32: 1e-3, torch.float64: 1e-3}
_TOLERANCE_OF_HALVES: Final = 0.05


#: Implementations of attention under a given mask.
_ATTENTION: Final = ("sdpa", "eager")
#: Kinds of rotary positions whose angles follow the longest text of a pass.
_LENGTH_DEPENDENT: Final = ("'dynamic'", "'longrope'")


def find_abilities(module: PreTrainedModel, tokens: Sequence[int]) -> CacheAbilities:
    """Return the abilities of a model's cache: by its layers, then by a trial.

    A short text read with the cache must give the logits that it gives without.

    Args:
        module: The model, loaded.
        tokens: A text of eight tokens or more.
    """
    abilities = _from_layers(module)
    if not abilities.keeps:
        return abilities
    try:
        return _tried(module, abilities, tokens)
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        return _nothing_kept(f"{type(error).__name__} with its cache")


def _nothing_kept(why: str) -> CacheAbilities:
    return CacheAbilities(keeps=False, several=False, batch=False, why=why)


def _from_layers(module: PreTrainedModel) -> CacheAbilities:
    if ForwardPass(module).cache_name is None:
        return _nothing_kept("its cache is of a kind of its own")
    layers = DynamicCache(config=module.config).layers
    if any(isinstance(layer, LinearAttentionCacheLayerMixin) for layer in layers):
        return CacheAbilities(several=False, batch=False, why="recurrent layers")
    if any(type(layer) is not DynamicLayer for layer in layers):
        return CacheAbilities(batch=False, why="layers that keep a window of the text")
    if not ForwardPass(module).takes_positions:
        return CacheAbilities(batch=False, why="positions cannot be handed to it")
    config = module.config.get_text_config(decoder=True)
    rope = str(config.to_dict().get("rope_parameters"))
    if any(kind in rope for kind in _LENGTH_DEPENDENT):
        why = "positions that change with the longest text"
        return CacheAbilities(batch=False, why=why)
    attention = str(module.config._attn_implementation)  # noqa: SLF001 - no public name
    if attention not in _ATTENTION:
        return CacheAbilities(
            batch=False, why=f"attention by {attention} takes no mask"
        )
    return CacheAbilities()


def _tried(
    module: PreTrainedModel, abilities: CacheAbilities, tokens: Sequence[int]
) -> CacheAbilities:
    """Return the rest of the known abilities after a trial of each."""
    forward = ForwardPass(module)
    expected = forward.everywhere(tokens)
    share = _TOLERANCE.get(module.dtype, _TOLERANCE_OF_HALVES)
    limit = share * float(expected.max() - expected.min())
    half = len(tokens) // 2

    def read(*, several: bool) -> bool:
        row = TextRow(forward, CacheAbilities(several=several))
        first, last = row.feed(tokens[:half]), row.feed(tokens[half:])
        logits, right = torch.stack([first, last]), expected[[half - 1, -1]]
        return _distance(logits, right) <= limit

    if not read(several=False):
        return _nothing_kept("with its cache a text comes out differently")
    # Some keep their state in the module, where another text would write over it.
    both = [TextRow(forward, CacheAbilities(several=False)) for _ in range(2)]
    turns = [row.feed(tokens[at : at + half]) for at in (0, half) for row in both]
    if _distance(torch.stack(turns[1:]), expected[[half - 1, -1, -1]]) > limit:
        return _nothing_kept("beside another text it comes out differently")
    if not abilities.several:
        return abilities
    if not read(several=True):
        why = "several tokens at once come out differently"
        return CacheAbilities(several=False, batch=False, why=why)
    if not abilities.batch:
        return abilities
    # Two passes over two texts of different lengths.
    rows = SharedRows(forward)
    passes = [tokens[2:4], tokens[4:5]], [tokens[4:5], tokens[5:6]]
    try:
        for length in (2, 4):
            rows.admit(tokens[:length])
        logits = torch.cat([rows.feed(fed) for fed in passes])
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        why = f"{type(error).__name__} in a batch"
        return CacheAbilities(batch=False, why=why)
    if _distance(logits, expected[[3, 4, 4, 5]]) > limit:
        why = "in a batch a text comes out differently"
        return CacheAbilities(batch=False, why=why)
    return abilities


def _distance(logits: torch.Tensor, right: torch.Tensor) -> float:
    """Return the largest difference between logits and the right ones."""
    return float((logits - right).abs().max())
