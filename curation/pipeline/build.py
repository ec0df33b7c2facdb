"""One build, from sources to a dataset folder: fetch, read, decide, write.

The folder appears whole or not at all. The same request with nothing changed
finds its work done; the same request after a kill goes on where it was.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from curation.core.benchmark import CONFIGS, in_benchmark_order
from curation.core.documents import Origin
from curation.dataset.summary import ConfigSummary, RuleNote, Summary, summarise
from curation.download.acquire import FetchSettings
from curation.instances.dataset.build_step import InstanceStep, tasks_of
from curation.packaging.derived_files import carry_over
from curation.packaging.folder import write_folder
from curation.pipeline.decide_benchmark import settle
from curation.pipeline.document_worker import setup_of
from curation.pipeline.inputs import BuildInput, ExtraSource, MissingSource, choose
from curation.pipeline.read_batches import BatchReader, work
from curation.pipeline.up_to_date import remember, standing
from curation.rules.sets import RuleSet, rule_set
from curation.sources.registry import source_named
from curation.system.atomic_files import atomic_write_bytes
from curation.system.atomic_folders import atomic_folder, refuse_foreign
from curation.system.errors import Unavailable
from curation.validation.fastjsonschema_check import tried
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.limits import Limits
from curation.workers.pool import Pool
from curation.workers.process import Program
from curation.workers.run_folder import RunFolder, run_folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from curation.dataset.decisions import DecidedDocument
    from curation.system.progress import Progress

_WORKER = Path(__file__).with_name("document_worker.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is to be built, and how."""

    out: Path
    rules: str = "clean"
    extras: tuple[ExtraSource, ...] = ()
    #: Use the embedded sample alone.
    sample: bool = False
    #: Fail unless every source is upstream.
    strict: bool = False
    #: Go on without a subset whose pin cannot be had (rule set `paper`).
    allow_partial: bool = False
    #: Try fastjsonschema on every record.
    fastjsonschema: bool = False
    #: Make witnesses and near misses of every record.
    instances: bool = False
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    @property
    def run_folder(self) -> Path:
        """Where the run keeps what differs from run to run."""
        return run_folder_of(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What a build did."""

    request: BuildRequest
    #: What the folder's `manifest.json` says.
    manifest: Mapping[str, UntypedJson]
    #: Seconds by phase, in order.
    phases: Mapping[str, float]
    #: Most memory held at once by this process and its workers, in MiB.
    peak_rss_mb: float
    #: Whether everything was there already.
    unchanged: bool


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.phases[phase] = round(now - self._last, 3)
        self._last = now


def build(request: BuildRequest, progress: Progress) -> BuildResult:
    """Build the dataset folder of a request, or find it built.

    Raises:
        CsbdataError: a source is damaged or cannot be had, the folder cannot be
            written, or another run is busy with it.
    """
    clock = _Clock()
    refuse_foreign(request.out)
    rules = rule_set(request.rules)
    inputs, missing = choose(
        rules.name,
        request.extras,
        request.fetch,
        sample=request.sample,
        say=progress.say,
    )
    _insist(request, inputs, missing)
    clock.lap("fetch")
    identity = _identity(request, inputs, missing)
    with RunFolder.open(request.run_folder, identity) as run:
        manifest = standing(request.out, run)
        peak = 0.0
        if manifest is None:
            settled, peak = _decide(request, rules, inputs, run, progress)
            clock.lap("decide")
            summary = _summary(
                rules, inputs, missing, summarise(each.entry() for each in settled)
            )
            compiled = _compiled(request, settled, progress)
            clock.lap("fastjsonschema")
            made = _instances(request, settled, run, progress)
            summary = replace(summary, instances=made.counts())
            clock.lap("instances")
            peak = max(peak, made.peak_rss_mb)
            progress.say(f"Writing {request.out}")
            with atomic_folder(request.out) as folder:
                carry_over(request.out, folder)
                manifest = write_folder(
                    folder,
                    summary,
                    settled,
                    compiled,
                    made.results(),
                )
            remember(request.out, run)
            clock.lap("write")
        else:
            clock.lap("check")
        built = BuildResult(
            request=request,
            manifest=manifest,
            phases=clock.phases,
            peak_rss_mb=peak,
            unchanged="check" in clock.phases,
        )
        atomic_write_bytes(
            run.folder / "last.json", orjson.dumps(_journal(built, inputs))
        )
    return built


def _insist(
    request: BuildRequest,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
) -> None:
    """Refuse what `--strict` and the rule set do not allow.

    Raises:
        Unavailable: naming each source that is not as it must be.
    """
    if missing and not request.allow_partial:
        raise Unavailable(
            "; ".join(f"{each.source.name} ({each.why})" for each in missing),
            "cannot be had here",
            "give a mirror with --mirror, or go on without them: --allow-partial",
        )
    lesser = [
        f"{each.source.name} ({each.reading.origin})"
        for each in inputs
        if each.reading.origin not in {Origin.UPSTREAM, Origin.LOCAL}
    ]
    if request.strict and lesser:
        raise Unavailable(
            ", ".join(lesser),
            "not from upstream",
            "give a mirror with --mirror, or leave --strict out",
        )


def _identity(
    request: BuildRequest,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
) -> str:
    """Return the fingerprint of everything that decides the output's bytes."""
    return fingerprint(
        code=code_digest(),
        versions=versions(),
        rules=request.rules,
        fastjsonschema=request.fastjsonschema,
        instances=request.instances,
        limits=asdict(Limits()),
        inputs=[
            [
                each.source.name,
                each.reading.archive,
                each.digest,
                each.configs,
                each.partial,
            ]
            for each in inputs
        ],
        missing=[each.source.name for each in missing],
    )


def _decide(
    request: BuildRequest,
    rules: RuleSet,
    inputs: Sequence[BuildInput],
    run: RunFolder,
    progress: Progress,
) -> tuple[list[DecidedDocument], float]:
    """Return every raw document with its decision, and the peak memory in MiB."""
    reader = BatchReader(inputs)
    program = Program(file=_WORKER, setup=setup_of(rules, inputs))
    with (
        Pool(program, jobs=request.jobs, limits=Limits()) as pool,
        progress.bar(f"Applying the {rules.name} rules") as advance,
    ):
        outcomes = work(reader, pool, run, advance)
        peak = pool.peak_rss_mb
    sources = {each.source.name: each.source for each in inputs}
    return settle(reader.seen, outcomes, rules, sources), peak


def _compiled(
    request: BuildRequest, settled: Sequence[DecidedDocument], progress: Progress
) -> Mapping[str, str]:
    """Return fastjsonschema's verdict by digest; empty where it is not asked.

    Records of a source that is too large for it are never asked.
    """
    if not request.fastjsonschema:
        return {}
    records = [
        each.record()
        for each in settled
        if each.kept and source_named(each.seen.provenance.source).tries_fastjsonschema
    ]
    with progress.bar("Compiling with fastjsonschema") as advance:
        tried_records = tried(
            records, request.fetch.cache, jobs=request.jobs, progress=advance
        )
    return {each.sha256: each.fastjsonschema or "" for each in tried_records}


def _instances(
    request: BuildRequest,
    settled: Sequence[DecidedDocument],
    run: RunFolder,
    progress: Progress,
) -> InstanceStep:
    """Return the instances of every record; of none where they are not asked for."""
    step = InstanceStep(tasks_of(settled) if request.instances else (), run)
    if request.instances:
        with progress.bar("Making instances") as advance:
            step.work(jobs=request.jobs, progress=advance)
    return step


def _summary(
    rules: RuleSet,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
    configs: tuple[ConfigSummary, ...],
) -> Summary:
    """Return what the card and the manifest say of the build."""
    whys: dict[str, list[str]] = {}
    for each in inputs:
        if each.partial:
            whys.setdefault(each.partial, []).extend(each.configs)
    for absent in missing:
        whys.setdefault(f"missing ({absent.why})", []).extend(absent.configs)
    partial = tuple(
        f"{', '.join(in_benchmark_order(configs))}: {why}."
        for why, configs in whys.items()
    )
    return Summary(
        rules=rules.name,
        rule_notes=tuple(
            RuleNote(name=each.name, summary=each.summary, source=each.source)
            for each in rules.all_rules
        ),
        configs=configs,
        extras=frozenset(each.config for each in configs) - frozenset(CONFIGS),
        pins=tuple(each.pin for each in inputs),
        partial=partial,
    )


def _journal(built: BuildResult, inputs: Sequence[BuildInput]) -> UntypedJson:
    """Return what differs from run to run, for the run folder."""
    return {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.platform(),
        "jobs": built.request.jobs,
        "phases": dict(built.phases),
        "peak_rss_mb": built.peak_rss_mb,
        "unchanged": built.unchanged,
        "routes": {each.reading.archive: each.route for each in inputs},
    }
