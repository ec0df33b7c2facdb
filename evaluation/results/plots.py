"""Plots of any run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evaluation.reporting.charts import Plot, stack, survival
from evaluation.results.headline import shared_schemas, with_keys
from evaluation.results.outcomes import Outcome
from evaluation.results.overview import firsts

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Green passes, grey was not asked or refused, warm colours are wrong, dark ones died.
_COLOURS = {
    Outcome.PASSED: "#009E73",
    Outcome.UNTESTED: "#E5E5E5",
    Outcome.COMPILE_ERROR: "#B3B3B3",
    Outcome.OVER_CONSTRAINED: "#F0E442",
    Outcome.MASK_GAP: "#F7F0A0",
    Outcome.UNDER_CONSTRAINED: "#E69F00",
    Outcome.WRONG_BOTH_WAYS: "#D55E00",
    Outcome.NOT_COMPLIANT: "#F0B088",
    Outcome.LIED: "#CC79A7",
    Outcome.CONTRADICTED: "#E39ECB",
    Outcome.ENGINE_ERROR: "#56B4E9",
    Outcome.ERROR: "#A6D8F0",
    Outcome.TOO_MUCH_OUTPUT: "#7A9CB8",
    Outcome.PROTOCOL_ERROR: "#8FD0F0",
    Outcome.TIMEOUT: "#0072B2",
    Outcome.OUT_OF_MEMORY: "#5B2C6F",
    Outcome.CRASH: "#000000",
}


def plots(attempts: pl.DataFrame, task: str) -> Iterator[Plot]:
    """Yield the outcomes, and each kind of time on the schemas that all compile."""
    cases = firsts(attempts)
    counts = {
        str(engine): dict(cases_of_engine["outcome"].value_counts().iter_rows())
        for (engine,), cases_of_engine in cases.group_by("engine", maintain_order=True)
    }
    yield stack(
        f"{task}-outcomes",
        "Outcomes",
        {
            engine: {
                outcome.replace("_", " "): counts_of_engine.get(outcome, 0)
                for outcome in Outcome
            }
            for engine, counts_of_engine in counts.items()
        },
        x_label="schemas",
        colours={
            outcome.replace("_", " "): colour for outcome, colour in _COLOURS.items()
        },
    )
    keyed = with_keys(cases)
    shared = keyed.filter(pl.col("key").is_in(shared_schemas(keyed)[0]))
    for column, title in (("compile_ns", "Compile"), ("between_ns", "Mask")):
        times = {
            str(engine): cases_of_engine[column].drop_nulls().to_numpy()
            for (engine,), cases_of_engine in shared.group_by(
                "engine", maintain_order=True
            )
        }
        if any(map(len, times.values())):
            yield survival(f"{task}-{title.lower()}", title, times)
