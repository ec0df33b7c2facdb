"""Find the operations that a model's key-value cache supports.

Most models keep the keys and values of every token; some keep a window, or a state that
each token changes. Operations that would silently give wrong logits are turned off:
such a model writes the texts of a batch one by one, feeds forced tokens one by one, or
reads the whole text for every token.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

from evaluation.models.forward import BatchRows, CachedRow, ForwardPass

#: Share of the range of the logits by which two ways to them may differ.
_TOLERANCE: Final = {torch.float32: 1e-3, torch.float64: 1e-3}
_TOLERANCE_OF_HALVES: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAbilities:
    """What may be done with the cache of one model."""

    #: Whether what was read can be kept at all.
    keeps: bool
    #: Whether several tokens can be fed at once to a cache that holds some.
    several: bool
    #: Whether texts of different lengths can share a pass.
    batch: bool
    #: Why something cannot; empty where everything can.
    why: str = ""


def find_abilities(module: PreTrainedModel, tokens: Sequence[int]) -> CacheAbilities:
    """Return what a model's cache can do: by its layers, then by a trial.

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
        why = "recurrent layers"
        return CacheAbilities(keeps=True, several=False, batch=False, why=why)
    if any(type(layer) is not DynamicLayer for layer in layers):
        why = "layers that keep a window of the text"
        return CacheAbilities(keeps=True, several=True, batch=False, why=why)
    if "position_ids" not in inspect.signature(module.forward).parameters:
        why = "positions cannot be handed to it"
        return CacheAbilities(keeps=True, several=True, batch=False, why=why)
    return CacheAbilities(keeps=True, several=True, batch=True)


def _tried(
    module: PreTrainedModel, abilities: CacheAbilities, tokens: Sequence[int]
) -> CacheAbilities:
    """Return what is left of the known abilities after a trial of each."""
    forward = ForwardPass(module)
    expected = forward.everywhere(tokens)
    share = _TOLERANCE.get(module.dtype, _TOLERANCE_OF_HALVES)
    limit = share * float(expected.max() - expected.min())
    half = len(tokens) // 2

    def read(*, several: bool) -> bool:
        row = CachedRow(forward, several=several)
        first, last = row.feed(tokens[:half]), row.feed(tokens[half:])
        logits, right = torch.stack([first, last]), expected[[half - 1, -1]]
        return _apart(logits, right) <= limit

    if not read(several=False):
        return _nothing_kept("with its cache a text comes out differently")
    if not abilities.several:
        return abilities
    if not read(several=True):
        why = "several tokens at once come out differently"
        return CacheAbilities(keeps=True, several=False, batch=False, why=why)
    if abilities.batch and _apart(_in_a_batch(forward, tokens), expected[3:5]) > limit:
        why = "in a batch a text comes out differently"
        return CacheAbilities(keeps=True, several=True, batch=False, why=why)
    return abilities


def _apart(logits: torch.Tensor, right: torch.Tensor) -> float:
    return float((logits - right).abs().max())


def _in_a_batch(forward: ForwardPass, tokens: Sequence[int]) -> torch.Tensor:
    """Return the logits after four and after five tokens, read beside each other."""
    rows = BatchRows(forward)
    for length in (2, 4):
        cache = DynamicCache(config=forward.module.config)
        forward.over(tokens[:length], cache)
        rows.admit(cache)
    return rows.feed([tokens[2:4], tokens[4:5]])
