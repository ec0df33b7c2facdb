"""Have a model reword the requests of generated records."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadConfiguration
from evaluation.answers.extraction import split_thinking
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.runner.participants import list_engines
from evaluation.runner.request import ModelOptions, RunRequest, SuiteChoice
from evaluation.runner.writers import open_writers
from evaluation.servers.pacing import Spending

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.download.cache import FetchSettings
    from evaluation.core.records import Record

#: Requests that are under way at the same time.
_AT_ONCE: Final = 8


def reworded_records(
    choice: SuiteChoice,
    records: Sequence[Record],
    model: ModelOptions,
    fetch: FetchSettings,
    log: Callable[[str], None],
) -> list[Record]:
    """Return the records with a model's texts, each kept as it was if that lost a fact.

    Args:
        choice: The suite, with its settings.
        records: Generated records.
        model: The model that rewords.
        fetch: Settings of fetching a model's files.
        log: Prints progress.

    Raises:
        BadConfiguration: the suite cannot have its records reworded.
        CsbdataError: the model cannot be loaded, or its server does not answer.
    """
    rewording = choice.suite.rewording
    if rewording is None:
        hint = "leave --rewriter out"
        raise BadConfiguration(f"suite {choice.suite.name} has no rewriter", hint=hint)
    request = RunRequest(suite=choice, models=(model,), fetch=fetch)
    (writer,) = open_writers(request, list_engines(request), log, Spending())
    reworded = list(records)

    def take(start: int, offset: int, generation: Generation) -> None:
        place = start + offset
        text = ""
        if generation.generated and generation.ending is TextEnding.END:
            text = split_thinking(generation.text).answer.strip()
        reworded[place] = rewording.accept(records[place], text)

    try:
        if writer.unavailable:
            raise BadConfiguration(f"{model.recorded_model}: {writer.unavailable}")
        requests = []
        for record in records:
            prompt = rewording.prompt(record, choice.settings)
            free = msgspec.structs.replace(record, schema=None)
            messages, budget = prompt.messages, prompt.budget
            requests.append(
                GenerationRequest(record=free, messages=messages, budget=budget)
            )
        for start in range(0, len(requests), _AT_ONCE):
            part = requests[start : start + _AT_ONCE]
            writer.model.generate(part, writer.constraint, partial(take, start))
    finally:
        writer.model.close()
    changed = sum(new != old for new, old in zip(reworded, records, strict=True))
    log(f"{changed:,} of {len(records):,} requests reworded; the others lost a fact")
    return reworded
