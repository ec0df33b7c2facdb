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
from typing import TYPE_CHECKING, Final

import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

from evaluation.models.forward import BatchRows, CachedRow, ForwardPass

if TYPE_CHECKING:
    from evaluation.models.kept_step import SlotRows

#: Share of the range of the logits by which two ways to them may differ.
_TOLERANCE: Final = {torch.float32: 1e-3, torch.float64: 1e-3}
_TOLERANCE_OF_HALVES: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAbilities:
    """What may be done with the cache of one model."""

    #: Whether what was read can be kept at all.
    keeps: bool = True
    #: Whether several tokens can be fed at once to a cache that holds some.
    several: bool = True
    #: Whether texts of different lengths can share a pass.
    batch: bool = True
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
        return CacheAbilities(several=False, batch=False, why="recurrent layers")
    if any(type(layer) is not DynamicLayer for layer in layers):
        return CacheAbilities(batch=False, why="layers that keep a window of the text")
    if "position_ids" not in inspect.signature(module.forward).parameters:
        return CacheAbilities(batch=False, why="positions cannot be handed to it")
    return CacheAbilities()


def _tried(
    module: PreTrainedModel, abilities: CacheAbilities, tokens: Sequence[int]
) -> CacheAbilities:
    """Return what is left of the known abilities after a trial of each."""
    forward = ForwardPass(module)
    expected = forward.everywhere(tokens)
    limit = tolerated(expected, module.dtype)
    half = len(tokens) // 2

    def read(*, several: bool) -> bool:
        row = CachedRow(forward, several=several)
        first, last = row.feed(tokens[:half]), row.feed(tokens[half:])
        logits, right = torch.stack([first, last]), expected[[half - 1, -1]]
        return distance(logits, right) <= limit

    if not read(several=False):
        return _nothing_kept("with its cache a text comes out differently")
    if not abilities.several:
        return abilities
    if not read(several=True):
        why = "several tokens at once come out differently"
        return CacheAbilities(several=False, batch=False, why=why)
    if not abilities.batch:
        return abilities
    logits = feed_two_texts(forward, BatchRows(forward), tokens)
    if distance(logits, expected[3:5]) > limit:
        why = "in a batch a text comes out differently"
        return CacheAbilities(batch=False, why=why)
    return abilities


def tolerated(expected: torch.Tensor, dtype: torch.dtype) -> float:
    """Return by how much two ways to logits may differ in a number type."""
    share = _TOLERANCE.get(dtype, _TOLERANCE_OF_HALVES)
    return share * float(expected.max() - expected.min())


def distance(logits: torch.Tensor, right: torch.Tensor) -> float:
    """Return the largest difference between logits and the right ones."""
    return float((logits - right).abs().max())


def feed_two_texts(
    forward: ForwardPass, rows: BatchRows | SlotRows, tokens: Sequence[int]
) -> torch.Tensor:
    """Return the logits after four and after five tokens, read beside each other."""
    for length in (2, 4):
        cache = DynamicCache(config=forward.module.config)
        forward.over(tokens[:length], cache)
        rows.admit(cache)
    return rows.feed([tokens[2:4], tokens[4:5]])
