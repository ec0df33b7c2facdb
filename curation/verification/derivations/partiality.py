"""Does the manifest say that a build is partial wherever it is, and why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import CONFIGS, in_benchmark_order
from curation.core.documents import Origin
from curation.core.github_subsets import VACUOUS
from curation.dataset.ledger import DOCUMENTS
from curation.dataset.summary import NAME, PARTIAL_NAME
from curation.sources.base import SAMPLE_REASON
from curation.sources.registry import sources
from curation.verification.derivations.contradiction import Contradiction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.folder_contents import FolderContents


def contradictions(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield what the manifest conceals of what the build lacks."""
    named = {
        config
        for sentence in facts.partial
        for config in sentence.partition(": ")[0].split(", ")
    }
    for reason, configs in _reasons(facts, contents).items():
        if concealed := in_benchmark_order(configs - named):
            yield Contradiction(
                f"`partial` does not name {', '.join(concealed)}: {reason}"
            )
    # Github_vacuous has no source of its own: where GitHub is named, it is too.
    sample = _configs_of(contents, sample=True) - {VACUOUS}
    if sample:
        wanted = f"{', '.join(in_benchmark_order(sample))}: {SAMPLE_REASON}."
        said = {
            config
            for sentence in facts.partial
            if sentence.endswith(f": {SAMPLE_REASON}.")
            for config in sentence.partition(": ")[0].split(", ")
        }
        if not sample <= said:
            yield Contradiction(f"`partial` does not say: {wanted}")
    name = PARTIAL_NAME if facts.partial else NAME
    if facts.name != name:
        yield Contradiction(f"`name` is {facts.name!r}; it is {name!r} by `partial`")


def _reasons(facts: BuildFacts, contents: FolderContents) -> dict[str, set[str]]:
    """Return why a build lacks something, to the configs that are not whole."""
    read = {pin.source: pin.archive for pin in facts.pins}
    filled = _configs_of(contents, sample=False)
    found: dict[str, set[str]] = {
        "no raw document of it is in the ledger": set(CONFIGS) - filled
    }
    for source in sources().values():
        configs = set(source.configs)
        if source.name not in read:
            if not source.extra:
                found[f"no archive of {source.name} is pinned"] = configs
        elif read[source.name] in source.incomplete and not _was_completed(
            contents, source.name
        ):
            found[source.incomplete[read[source.name]]] = configs
    return found


def _documents(contents: FolderContents) -> pl.LazyFrame:
    if DOCUMENTS not in contents.tables:
        empty = dict.fromkeys(("config", "source", "origin", "path"), pl.String)
        return pl.LazyFrame(schema=empty)
    return pl.scan_parquet(contents.files[DOCUMENTS], glob=False)


def _configs_of(contents: FolderContents, *, sample: bool) -> set[str]:
    """Return the configs with raw documents: of the embedded sample, or of any."""
    documents = _documents(contents)
    if sample:
        documents = documents.filter(pl.col("origin") == Origin.SAMPLE.value)
    found = set(documents.select("config").unique().collect()["config"])
    # What was rejected before its subset was known is of no config.
    return found & {*CONFIGS, *(table.folder for table in contents.records())}


def _was_completed(contents: FolderContents, source: str) -> bool:
    """Return whether documents of a source were fetched beside its archive.

    Their path is the address that they were fetched from.
    """
    fetched = _documents(contents).filter(
        (pl.col("source") == source) & pl.col("path").str.contains("^https?://")
    )
    return bool(fetched.select(pl.len()).collect().item())
