"""Open the samples of a request: those that it holds, or those of its data."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from evaluation.data import Dataset, SampleSelection, open_data
from evaluation.data.dataset import SampleName
from evaluation.data.sampling import draw, is_in_shard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.system.progress import Progress
    from evaluation.asking.request import RunRequest
    from evaluation.core.cases import Sample

#: What a run's header calls samples that were handed in.
GIVEN = "given"


def open_samples(
    request: RunRequest, progress: Progress, *, instances: bool
) -> Dataset:
    """Return the data of a request.

    Args:
        request: says which data, and which of its samples.
        progress: shows what takes long.
        instances: whether samples without instances get some; those that were
            handed in stay as they are.

    Raises:
        Fault: the data cannot be read or fetched; see `evaluation.data.open_data`.
    """
    choice = SampleSelection(
        configs=tuple(request.configs),
        splits=tuple(request.splits),
        ids=frozenset(request.only),
        limit=request.limit,
        seed=request.settings.seed,
        shard=request.shard,
    )
    if request.data is None or isinstance(request.data, str | Path):
        return open_data(
            None if request.data is None else str(request.data),
            selection=choice,
            instances=instances,
            settings=request.fetch,
            progress=progress,
        )
    return _given(request.data, choice)


def _given(samples: Sequence[Sample], choice: SampleSelection) -> Dataset:
    digest = sha256()
    for sample in samples:
        digest.update(orjson.dumps(asdict(sample)))
    chosen = [sample for sample in samples if choice.allows(_name(sample))]
    if choice.limit is not None and choice.limit < len(chosen):
        named = (
            (place, sample.config, sample.id) for place, sample in enumerate(chosen)
        )
        chosen = [chosen[place] for place in draw(named, choice.limit, choice.seed)]
    shard = choice.shard
    own = [sample for sample in chosen if is_in_shard(sample.config, sample.id, shard)]
    return Dataset(
        name=GIVEN,
        origin=GIVEN,
        sha256=digest.hexdigest(),
        count=len(own),
        count_of_all_shards=len(chosen),
        instances=GIVEN if any(sample.instances for sample in chosen) else "none",
        selection=choice,
        left_out=(),
        read=lambda: iter(own),
    )


def _name(sample: Sample) -> SampleName:
    return SampleName(
        config=sample.config, id=sample.id, split=sample.split, complete=True
    )
