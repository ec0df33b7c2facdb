"""The generated texts of a run, by engine and config, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import in_benchmark_order
from evaluation.generation.generation_rows import TASK, GeneratedText, text_from_row
from evaluation.generation.local_writer import UNCONSTRAINED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.task import RunRows

#: The line over all configs.
ALL: Final = "all"


def texts_by_engine(run: RunRows) -> dict[str, list[GeneratedText]]:
    """Return every engine's texts, engines in the order of the header."""
    found: dict[str, list[GeneratedText]] = {
        engine.engine: [] for engine in run.header.engines
    }
    for row in run.rows():
        if row.task == TASK:
            found.setdefault(row.engine, []).append(text_from_row(row))
    return {engine: listed for engine, listed in found.items() if listed}


def configs_of_texts(sides: Mapping[str, Sequence[GeneratedText]]) -> list[str]:
    """Return the configs of all engines, in the benchmark's order, and `all`."""
    names = {text.config for side in sides.values() for text in side}
    ordered = list(in_benchmark_order(names))
    return [*ordered, ALL] if len(ordered) > 1 else ordered


def is_unconstrained(engine: str) -> bool:
    """Return whether a participant's label is that of the unconstrained model."""
    return engine.partition(" ")[0] == UNCONSTRAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonTexts:
    """The texts for the samples that every participant has one for."""

    #: By participant; each list has the same samples in the same order.
    sides: Mapping[str, Sequence[GeneratedText]]
    #: Participants that have no text at all: they would leave nothing for the others.
    left_out: tuple[str, ...]


def on_common_samples(sides: Mapping[str, Sequence[GeneratedText]]) -> CommonTexts:
    """Return each participant's texts for the samples that all have one for.

    The paper compares times on the intersection of covered instances (its section
    4.1): an engine that only takes easy schemas looks no faster for it. What a
    deadline cut off is a text whose times are at least so much.
    """
    timed = {
        engine: {text_key(text): text for text in side if text.timed}
        for engine, side in sides.items()
    }
    taking_part = {engine: found for engine, found in timed.items() if found}
    common = set.intersection(*map(set, taking_part.values())) if taking_part else set()
    return CommonTexts(
        sides={
            engine: [found[key] for key in sorted(common)]
            for engine, found in taking_part.items()
        },
        left_out=tuple(engine for engine, found in timed.items() if not found),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTexts:
    """What two participants wrote for the same requests."""

    a: str
    b: str
    texts: Sequence[tuple[GeneratedText, GeneratedText]]


def pair_texts(sides: Mapping[str, Sequence[GeneratedText]]) -> list[PairedTexts]:
    """Return every two participants with the texts that both were asked for."""
    keyed = {
        engine: {text_key(text): text for text in side}
        for engine, side in sides.items()
    }
    return [
        PairedTexts(
            a=a,
            b=b,
            texts=[
                (keyed[a][key], keyed[b][key]) for key in keyed[a] if key in keyed[b]
            ],
        )
        for a, b in combinations(keyed, 2)
    ]


def text_key(text: GeneratedText) -> tuple[str, str, int]:
    """Return what texts of different participants for the same request share."""
    return text.config, text.subject, text.sample


def texts_of_config(
    listed: Iterable[GeneratedText], config: str
) -> Iterator[GeneratedText]:
    """Yield the texts of one config, or of all."""
    return (text for text in listed if config in (ALL, text.config))
