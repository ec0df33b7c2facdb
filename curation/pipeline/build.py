"""One build, from sources to a dataset folder: fetch, read, decide, write.

The folder appears whole or not at all. The same request with nothing changed
finds its work done; the same request after a kill goes on where it was.
"""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.cluster.executor import ExecutorChoice, open_executor
from curation.dataset.summary import summarise
from curation.download.acquire import FetchSettings
from curation.instances.dataset.build_step import InstanceStep, tasks_of
from curation.packaging.derived_files import carry_over
from curation.packaging.folder import write_folder
from curation.pipeline.decide_benchmark import decide_benchmark
from curation.pipeline.document_messages import setup_of
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    MissingSource,
    choose_inputs,
)
from curation.pipeline.notices import write_notices
from curation.pipeline.opt_out import read_opt_outs
from curation.pipeline.process_document import LIMITS
from curation.pipeline.read_batches import (
    BatchReader,
    distinct_documents,
    process_batches,
)
from curation.pipeline.refusals import refuse_incomplete, refuse_other_build
from curation.pipeline.rule_faults import RuleFault, find_rule_faults
from curation.pipeline.summarise_build import summary_of
from curation.pipeline.up_to_date import find_finished_build, remember_build
from curation.rules.sets import RuleSet, rule_set
from curation.sources.registry import source_named
from curation.system.atomic_files import atomic_write_bytes
from curation.system.atomic_folders import atomic_folder, refuse_foreign
from curation.system.progress import Progress, Quiet, announce
from curation.validation.fastjsonschema_check import try_fastjsonschema
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.process import Program
from curation.workers.run_folder import RunFolder, run_folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from curation.dataset.decisions import DecidedDocument
    from curation.download.acquire import UnavailableArchive
    from curation.packaging.manifest import Manifest
    from curation.workers.executor import Executor

#: Seconds of one worker for one record: the benchmark's 8,978 took two workers 108 and
#: 100 seconds.
_COMPILE_SECONDS = 0.024
_INSTANCE_SECONDS = 0.022
_WORKER = Path(__file__).with_name("document_worker.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is to be built, and how.

    Example:
        The embedded sample, and a build with schemas of one's own::

            BuildRequest(out=Path("build/sample"), sample=True)
            own = ExtraSource(source="local", path=Path("schemas"), config="Acme")
            BuildRequest(out=Path("build/JSONSchemaBench"), extras=(own,))
    """

    #: The dataset folder to write.
    out: Path
    #: Name of the rule set: `clean` or `paper`.
    rules: str = "clean"
    #: Sources beside those of the ten configs.
    extras: tuple[ExtraSource, ...] = ()
    #: Use the embedded sample alone.
    sample: bool = False
    #: Fail unless every source is upstream.
    strict: bool = False
    #: Read no archive whose collection is under the GPL or AGPL.
    no_gpl: bool = False
    #: Go on without a subset whose pin cannot be had (rule set `paper`).
    allow_partial: bool = False
    #: Try fastjsonschema on every record.
    fastjsonschema: bool = False
    #: Make witnesses and near misses of every record.
    instances: bool = False
    #: Replace a build made from other inputs, rules or options.
    replace: bool = False
    #: Number of workers; None for one a core, or a CPU of the cluster.
    jobs: int | None = None
    #: Where these are: child processes here, or the nodes of a Ray cluster.
    executor: ExecutorChoice = field(default_factory=ExecutorChoice)
    #: Where archives are looked for, and whether the network may be used.
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    @property
    def options(self) -> tuple[str, ...]:
        """What is asked beside the rules, as the manifest names it."""
        asked = {
            "fastjsonschema": self.fastjsonschema,
            "instances": self.instances,
            "no-gpl": self.no_gpl,
        }
        return tuple(name for name, wanted in asked.items() if wanted)

    @property
    def run_folder(self) -> Path:
        """Where the run keeps what differs from run to run."""
        return run_folder_of(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What a build did."""

    request: BuildRequest
    #: What the folder's `manifest.json` says.
    manifest: Manifest
    #: Seconds by phase, in order.
    phases: Mapping[str, float]
    #: Most memory held at once by this process and its workers, in MiB.
    peak_rss_mb: float
    #: Whether everything was there already.
    unchanged: bool
    #: Rules that raised an exception.
    rule_faults: tuple[RuleFault, ...]
    #: Archives that would have come first and could not be had, each once.
    not_had: tuple[UnavailableArchive, ...]


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.phases[phase] = round(now - self._last, 3)
        self._last = now


def build(request: BuildRequest, progress: Progress | None = None) -> BuildResult:
    """Build the dataset folder of a request, or find it built.

    The folder appears whole or not at all. The same request with nothing changed finds
    its work done; the same request after a kill goes on where it was. A build made
    from other inputs, rules or options is replaced only where the request says so.

    Args:
        request: What is to be built.
        progress: Told what takes time; nothing is shown by default.

    Raises:
        CsbdataError: a source is damaged or cannot be had, the folder cannot be
            written or holds another build, another run is busy with it, or there is
            no such rule set.

    Example:
        The embedded sample, without a network::

            result = build(BuildRequest(out=Path("build/sample"), sample=True))
            print(result.manifest.name, result.unchanged)
    """
    progress = progress or Quiet()
    refuse_foreign(request.out)
    with open_executor(request.executor, request.jobs, progress.say) as executor:
        return _build_with(request, executor, progress)


def _build_with(
    request: BuildRequest, executor: Executor, progress: Progress
) -> BuildResult:
    """Build, or find built, with an executor that is open."""
    clock = _Clock()
    rules = rule_set(request.rules)
    inputs, missing = choose_inputs(
        rules.name,
        request.extras,
        request.fetch,
        sample=request.sample,
        no_gpl=request.no_gpl,
        progress=progress,
    )
    refuse_incomplete(
        inputs, missing, strict=request.strict, allow_partial=request.allow_partial
    )
    clock.lap("fetch")
    if not request.replace:
        refuse_other_build(request.out, rules.name, request.options, inputs)
    identity = _identity(request, inputs, missing)
    with RunFolder.open(request.run_folder, identity) as run:
        manifest, peak = find_finished_build(request.out, run, request.options), 0.0
        unchanged = manifest is not None
        if manifest is None:
            work = _Work(
                request, rules, inputs, missing, run, executor, progress, clock
            )
            manifest, peak = work.write()
        else:
            clock.lap("check")
        result = BuildResult(
            request=request,
            manifest=manifest,
            phases=clock.phases,
            peak_rss_mb=peak,
            unchanged=unchanged,
            rule_faults=find_rule_faults(request.out),
            not_had=tuple(
                dict.fromkeys(absent for given in inputs for absent in given.not_had)
            ),
        )
        atomic_write_bytes(
            run.folder / "last.json",
            msgspec.json.encode(_journal(result, inputs, executor.jobs)),
        )
    return result


@dataclass(frozen=True, slots=True)
class _Work:
    """What a build does whose folder is not there yet."""

    request: BuildRequest
    rules: RuleSet
    inputs: Sequence[BuildInput]
    missing: Sequence[MissingSource]
    run: RunFolder
    executor: Executor
    progress: Progress
    clock: _Clock

    def write(self) -> tuple[Manifest, float]:
        """Write the folder; return its manifest, and the peak memory in MiB."""
        documents, peak = self._decide()
        self.clock.lap("decide")
        summary = summary_of(
            self.request.options,
            self.rules,
            self.inputs,
            self.missing,
            summarise(document.ledger_row() for document in documents),
        )
        compiled = self._compile(documents)
        self.clock.lap("fastjsonschema")
        instances = self._make_instances(documents)
        summary = replace(summary, instances=instances.counts())
        self.clock.lap("instances")
        out = self.request.out
        self.progress.say(f"Writing {out}")
        with atomic_folder(out) as folder:
            carry_over(out, folder)
            write_notices(self.inputs, folder)
            manifest = write_folder(
                folder, summary, documents, compiled, instances.results()
            )
        remember_build(out, self.run, self.request.options)
        self.clock.lap("write")
        return manifest, max(peak, instances.peak_rss_mb)

    def _decide(self) -> tuple[list[DecidedDocument], float]:
        """Return every raw document with its decision, and the peak memory in MiB."""
        opt_outs = read_opt_outs()
        reader = BatchReader(self.inputs, opt_outs)
        program = Program(file=_WORKER, setup=setup_of(self.rules, self.inputs))
        with (
            self.executor.pool(program, LIMITS) as pool,
            self.progress.bar(
                f"Applying the {self.rules.name} rules",
                distinct_documents(self.inputs, opt_outs),
            ) as advance,
        ):
            results = process_batches(reader, pool, self.run, advance)
            peak = pool.peak_rss_mb
        sources = {given.source.name: given.source for given in self.inputs}
        decided = decide_benchmark(reader.documents, results, self.rules, sources)
        return decided, peak

    def _compile(self, documents: Sequence[DecidedDocument]) -> Mapping[str, str]:
        """Return fastjsonschema's verdict by digest; empty where it is not asked.

        Records of a source that is too large for it are never asked.
        """
        if not self.request.fastjsonschema:
            return {}
        records = [
            document.record()
            for document in documents
            if document.kept
            and source_named(document.source.provenance.source).tries_fastjsonschema
        ]
        title, count = "Compiling with fastjsonschema", len(records)
        announce(self.progress, title, count * _COMPILE_SECONDS / self.executor.jobs)
        with self.progress.bar(title, count) as advance:
            compiled = try_fastjsonschema(
                records,
                self.request.fetch.cache,
                executor=self.executor,
                progress=advance,
            )
        return {record.sha256: record.fastjsonschema or "" for record in compiled}

    def _make_instances(self, documents: Sequence[DecidedDocument]) -> InstanceStep:
        """Return the instances of every record; of none where they are not wanted."""
        wanted = self.request.instances
        step = InstanceStep(tasks_of(documents) if wanted else (), self.run)
        if wanted:
            title, count = "Making instances", step.count
            announce(
                self.progress, title, count * _INSTANCE_SECONDS / self.executor.jobs
            )
            with self.progress.bar(title, count) as advance:
                step.work(executor=self.executor, progress=advance)
        return step


def _identity(
    request: BuildRequest,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
) -> str:
    """Return the fingerprint of everything that decides the records.

    Options are no part of it: what was finished is found again when they come back.
    """
    return fingerprint(
        code=code_digest(),
        versions=versions(),
        rules=request.rules,
        limits=asdict(LIMITS),
        inputs=[
            [
                given.source.name,
                given.reading.archive,
                given.digest,
                given.configs,
                given.partial,
            ]
            for given in inputs
        ],
        missing=[absent.source.name for absent in missing],
    )


def _journal(
    built: BuildResult, inputs: Sequence[BuildInput], jobs: int
) -> dict[str, Json]:
    """Return what differs from run to run, for the run folder."""
    return {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.platform(),
        "jobs": jobs,
        "executor": built.request.executor.name,
        "phases": dict(built.phases),
        "peak_rss_mb": built.peak_rss_mb,
        "unchanged": built.unchanged,
        "not_had": [absent.why for absent in built.not_had],
        "routes": {given.reading.archive: given.route for given in inputs},
    }
