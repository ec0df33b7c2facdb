"""The steps of a build before anything is written: decide, compile, make instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order, natural_key
from curation.core.rule import Candidate
from curation.dataset.decisions import (
    DecidedDocument,
    HeldResult,
    ResultFile,
    SourceDocument,
)
from curation.pipeline.instance_step import InstanceStep, tasks_of
from curation.pipeline.process_document import LIMITS
from curation.pipeline.read_batches import (
    BatchReader,
    count_documents,
    process_batches,
    read_opt_outs,
    setup_of,
)
from curation.schema.near_duplicates import OnDemand, cluster_weights, clusters
from curation.sources.registry import source_named
from curation.system.progress import Progress, announce
from curation.validation.fastjsonschema_check import try_fastjsonschema
from curation.workers.process import Program

if TYPE_CHECKING:
    from curation.pipeline.request import BuildPlan, BuildRequest
    from curation.rules.sets import RuleSet
    from curation.sources.base import Source
    from curation.workers.ray_pool import OpenPool
    from curation.workers.run_folder import RunFolder


def decide_benchmark(
    documents: Iterable[SourceDocument],
    results: Mapping[int, HeldResult],
    rules: RuleSet,
    sources: Mapping[str, Source],
) -> list[DecidedDocument]:
    """Return every raw document with its final decision, in benchmark order.

    `in_clusters` adds what each has in common with others.

    Args:
        documents: All raw documents, in reading order.
        results: What the document rules made of each distinct content, by its position.
        rules: The rule set, whose benchmark rules decide here.
        sources: The sources by name, with their quotas.
    """
    pairs = [(document, results[document.content]) for document in documents]
    order = in_benchmark_order({result.config for _, result in pairs})
    ranks = {name: rank for rank, name in enumerate(order)}
    pairs.sort(key=lambda pair: (ranks[pair[1].config], natural_key(pair[0].unique_id)))
    decided = [
        DecidedDocument(document, result, result.rejected) for document, result in pairs
    ]
    for rule in rules.benchmark_rules:
        positions = [position for position, one in enumerate(decided) if one.kept]
        verdicts = rule.judge(
            [_candidate(decided[position], sources) for position in positions]
        )
        for index, rejected in verdicts.items():
            position = positions[index]
            decided[position] = replace(
                decided[position], rejected=replace(rejected, rule=rule.name)
            )
    return decided


def in_clusters(documents: Sequence[DecidedDocument]) -> list[DecidedDocument]:
    """Return the documents, those that were kept with their near-duplicate cluster."""
    decided = list(documents)
    positions = [position for position, document in enumerate(decided) if document.kept]
    names = clusters(
        [decided[position].result.sha256 for position in positions],
        OnDemand(
            len(positions),
            lambda place: decided[positions[place]].result.whole().shingles,
        ),
    )
    configs = [decided[position].config for position in positions]
    weights = cluster_weights(configs, names)
    for position, name, weight in zip(positions, names, weights, strict=True):
        decided[position] = replace(decided[position], cluster=name, weight=weight)
    return decided


def _candidate(document: DecidedDocument, sources: Mapping[str, Source]) -> Candidate:
    source = sources[document.source.provenance.source]
    return Candidate(
        config=document.result.config,
        unique_id=document.source.unique_id,
        sha256=document.result.sha256,
        field_count=document.result.field_count,
        quota=source.quota,
        least_fields=source.least_fields,
        extra=document.result.config not in CONFIGS,
    )


#: Seconds of one worker for one record: the benchmark's 8,978 took two workers 108 and
#: 100 seconds.
_COMPILE_SECONDS = 0.024
_INSTANCE_SECONDS = 0.022


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSteps:
    """The steps of one build."""

    request: BuildRequest
    plan: BuildPlan
    #: Where finished work is kept, and found again.
    run: RunFolder
    progress: Progress
    #: Where results are kept while the build lasts.
    file: ResultFile
    #: Opens pools of workers.
    open_pool: OpenPool

    def decide(self) -> tuple[list[DecidedDocument], float]:
        """Return the raw documents, each with its decision.

        Near-duplicate clusters are found later (`in_clusters`).
        With it the peak memory in MiB, of this process and its workers.
        """
        opt_outs = read_opt_outs()
        reader = BatchReader(self.plan.inputs, opt_outs)
        setup = setup_of(self.plan.rules, self.plan.inputs, opt_outs)
        libraries = (library for library in setup.libraries if library.uris)
        program = Program(
            module="curation.pipeline.document_worker",
            setup=setup,
            files=tuple(Path(library.files) for library in libraries),
            unread_answers=True,
        )
        with (
            self.open_pool(program, jobs=self.request.workers, limits=LIMITS) as pool,
            self.progress.bar(
                f"Applying the {self.plan.rules.name} rules",
                count_documents(self.plan.inputs, opt_outs),
                note=lambda: reader.source,
            ) as advance,
        ):
            results = process_batches(reader, pool, self.run, advance, self.file)
        sources = {item.source.name: item.source for item in self.plan.inputs}
        decided = decide_benchmark(reader.documents, results, self.plan.rules, sources)
        return decided, pool.peak_rss_mb

    def compile_records(self, documents: Sequence[DecidedDocument]) -> dict[str, str]:
        """Return fastjsonschema's verdict by digest.

        Records of a source that is too large for it are never asked.
        """
        records = [
            document.record()
            for document in documents
            if document.kept
            and source_named(document.source.provenance.source).tries_fastjsonschema
        ]
        title, count = "Compiling with fastjsonschema", len(records)
        announce(self.progress, title, count * _COMPILE_SECONDS / self.request.workers)
        with self.progress.bar(title, count) as advance:
            compiled = try_fastjsonschema(
                records,
                self.request.fetch.cache,
                jobs=self.request.workers,
                progress=advance,
                open_pool=self.open_pool,
            )
        return {record.sha256: record.fastjsonschema or "" for record in compiled}

    def make_instances(
        self, documents: Sequence[DecidedDocument], *, enabled: bool
    ) -> InstanceStep:
        """Return the instances of every record; of none if they are not wanted."""
        step = InstanceStep(
            tasks_of(documents) if enabled else (),
            self.run,
            open_pool=self.open_pool,
        )
        if enabled:
            title, count = "Making instances", step.count
            announce(
                self.progress, title, count * _INSTANCE_SECONDS / self.request.workers
            )
            with self.progress.bar(title, count, note=lambda: step.config) as advance:
                step.work(jobs=self.request.workers, progress=advance)
        return step
