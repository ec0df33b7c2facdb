"""Shapes: the architectures of published models, by name, with drawn weights.

Nothing heavy is loaded to list them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import msgspec

from curation.system.errors import BadUsage, NoInput
from curation.system.registry import closest_names

#: How `--model` names a shape: `shape:llama-3.1-8b`.
PREFIX: Final = "shape:"


class ModelShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The architecture of a published model, without its weights."""

    title: str
    #: One of our tokenizers, with the model's own vocabulary.
    tokenizer: str
    #: Where the numbers come from.
    source: str
    #: What transformers calls its architecture.
    model_type: str
    #: Members of a transformers config.
    config: dict[str, bool | int | float]


class _Shapes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shape: dict[str, ModelShape]


@cache
def shapes() -> Mapping[str, ModelShape]:
    """Return every shape by its name.

    Example:
        >>> shapes()["llama-3.1-8b"].config["num_hidden_layers"]
        32
    """
    text = files(__package__).joinpath("shapes.toml").read_bytes()
    return MappingProxyType(msgspec.toml.decode(text, type=_Shapes).shape)


def is_shape(model: str) -> bool:
    """Return whether a model is named by its shape alone."""
    return model.startswith(PREFIX)


def shape_named(model: str) -> ModelShape:
    """Return the shape that `--model shape:NAME` names.

    Raises:
        NoInput: there is no such shape; says which there are.
    """
    name = model.removeprefix(PREFIX)
    shape = shapes().get(name)
    if shape is None:
        close = closest_names(name, shapes(), most=1)
        then = f"did you mean {PREFIX}{close[0]}?" if close else ""
        names = f"known: {', '.join(shapes())}"
        raise NoInput("no such shape", model, then or names)
    return shape


def check_learnt(model: str, purpose: str) -> None:
    """Check that a model has weights of its own.

    Args:
        model: As `--model` names it.
        purpose: What it is to be measured for, as the beginning of a sentence.

    Raises:
        BadUsage: it is a shape, whose texts say nothing about any model.
    """
    if is_shape(model):
        message = f"{purpose} is about what a model has learnt, and {model} has random"
        raise BadUsage(
            f"{message} weights",
            then="name a model with its own; eval --task efficiency measures times",
        )


def seed_of(revision: str | None) -> int:
    """Return the seed of drawn weights: the number behind the `@`, 0 by default.

    Raises:
        BadUsage: it is no whole number.
    """
    if revision is None:
        return 0
    if not revision.isdecimal() or len(revision) > math.log10(2**63):
        raise BadUsage(f"@{revision}: the seed of a shape's weights is a whole number")
    return int(revision)
