"""One build: its request and plan, then fetch, read, decide, write."""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from curation.core.benchmark import (
    CANARY,
    CONFIGS,
    NOTICES,
    in_benchmark_order,
    is_notice,
    natural_key,
)
from curation.core.rule import Candidate
from curation.dataset.decisions import (
    DecidedDocument,
    HeldResult,
    SourceDocument,
)
from curation.download.acquire import UnavailableArchive
from curation.download.cache import FetchSettings
from curation.instances.dataset.make_instances import RecordInstances
from curation.packaging.derived_files import write_folder
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import (
    NAME,
    PARTIAL_NAME,
    BuildFacts,
    Manifest,
    Pin,
    RuleNote,
    read_manifest,
    versions_here,
)
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    MissingSource,
    choose_inputs,
)
from curation.pipeline.instance_step import InstanceStep, make_tasks
from curation.pipeline.process_document import LIMITS
from curation.pipeline.read_batches import (
    BatchReader,
    count_documents,
    find_rule_faults,
    make_setup,
    process_batches,
    read_opt_outs,
)
from curation.rules.sets import RuleSet, rule_set
from curation.schema.near_duplicates import cluster_weights, clusters
from curation.sources.readers import Source
from curation.system.atomic_files import atomic_folder, refuse_foreign
from curation.system.checksums import FILE, read_sums
from curation.system.errors import BadData, CannotCreate, NoInput, Unavailable
from curation.system.progress import Phases, Progress, Quiet, announce
from curation.system.user_files import file_digest
from curation.validation.fastjsonschema_check import fastjsonschema_verdicts
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.process import Program
from curation.workers.ray_pool import LOCAL, OpenPool, open_pools, ray_address
from curation.workers.run_folder import RunFolder, find_run_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """A build: its sources, rules and options.

    Attributes:
        out: The dataset folder to write.
        rules: Name of the rule set: `clean` or `paper`.
        extras: Sources in addition to those that every build reads.
        only: Sources in place of those, if any.
        sample: Use the embedded sample for every source that it has.
        skip_missing: Skip unavailable configs, where rules `paper` would fail.
        fastjsonschema: Try fastjsonschema on every record.
        instances: Make witnesses and near misses of every record.
        replace: Replace a build made from other inputs, rules or options.
        jobs: Number of workers; None for one a core. On a Ray cluster: one a CPU.
        executor: `local`, or `ray[:ADDRESS]`: each batch is a task of a Ray cluster
            (`curation.workers.ray_pool`).
        fetch: Places of archives, and whether the network may be used.

    Example:
        The embedded sample, and a build with your schemas::

            BuildRequest(out=Path("build/sample"), sample=True)
            own = ExtraSource(source="schemas", config="Acme")
            BuildRequest(out=Path("build/JSONSchemaBench"), extras=(own,))
    """

    out: Path
    rules: str = "clean"
    extras: tuple[ExtraSource, ...] = ()
    only: tuple[ExtraSource, ...] = ()
    sample: bool = False
    skip_missing: bool = False
    fastjsonschema: bool = False
    instances: bool = False
    replace: bool = False
    jobs: int | None = None
    executor: str = LOCAL
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    @property
    def options(self) -> tuple[str, ...]:
        """The request's options besides the rules, as the manifest names them."""
        names = ("fastjsonschema", "instances")
        return tuple(name for name in names if getattr(self, name))

    @property
    def run_folder(self) -> Path:
        """Where the run keeps what differs from run to run."""
        return find_run_folder(self.out)

    @property
    def workers(self) -> int:
        """The number of workers on this machine."""
        return self.jobs or os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What a request comes to on this machine, before any document is read."""

    rules: RuleSet
    inputs: Sequence[BuildInput]
    missing: Sequence[MissingSource]
    #: Configs of the ten that are not asked for.
    left_out: Sequence[str]
    #: The digest of what decides the records.
    fingerprint: str


def compute_fingerprint(
    rules: str, inputs: Sequence[BuildInput], missing: Sequence[MissingSource]
) -> str:
    """Return the digest of what decides the records of a build here and now.

    Options are not part of it: finished batches are reused when they come back.

    Args:
        rules: Name of the rule set.
        inputs: What is read.
        missing: What could not be had.

    Raises:
        OSError: a file of the installation cannot be read.
    """
    return fingerprint(
        code=code_digest(),
        versions=versions(),
        rules=rules,
        limits=asdict(LIMITS),
        inputs=[
            {
                "source": item.source.name,
                "archive": item.reading.archive,
                "digest": item.pin.sha256,
                "configs": [*item.configs],
                "partial": item.partial,
            }
            for item in inputs
        ],
        missing=[absent.source.name for absent in missing],
    )


def make_plan(request: BuildRequest, progress: Progress) -> BuildPlan:
    """Return the plan of a request, with its sources available.

    Raises:
        Unavailable: sources that must not be left out, each named.
        CsbdataError: a source is damaged, or no such rule set.
    """
    rules = rule_set(request.rules)
    inputs, missing = choose_inputs(
        rules.name,
        request.extras,
        request.fetch,
        only=request.only,
        sample=request.sample,
        progress=progress,
    )
    named = {extra.source for extra in (*request.only, *request.extras)}
    needed = [
        absent
        for absent in missing
        if absent.source.name in named or not absent.source.by_default
    ]
    if needed and not request.skip_missing:
        raise Unavailable(
            "; ".join(f"{absent.source.name} ({absent.why})" for absent in needed),
            "cannot be had here",
            "give a mirror with --mirror, or leave them out: --skip-missing",
        )
    read = {config for item in inputs for config in item.configs}
    read.update(config for absent in missing for config in absent.configs)
    left_out = [config for config in CONFIGS if config not in read]
    return BuildPlan(
        rules=rules,
        inputs=inputs,
        missing=missing,
        left_out=left_out if request.only else (),
        fingerprint=compute_fingerprint(rules.name, inputs, missing),
    )


def refuse_other_build(
    out: Path, rules: str, options: Sequence[str], inputs: Sequence[BuildInput]
) -> None:
    """Refuse a folder that holds another build than the requested one.

    Args:
        out: The dataset folder to write.
        rules: Name of the requested rule set.
        options: The other options (`BuildRequest.options`).
        inputs: What the new build would read.

    Raises:
        CannotCreate: the folder holds another build; names the differences.
    """
    if not (out / MANIFEST).is_file():
        return
    differences = []
    try:
        manifest = read_manifest(out)
    except BadData as error:
        differences.append(f"its manifest.json cannot be read ({error.message})")
    else:
        if manifest.rules != rules:
            differences.append(f"rules {manifest.rules}, not {rules}")
        before, now = set(manifest.options), set(options)
        if before - now:
            differences.append(f"made with {', '.join(sorted(before - now))}")
        if now - before:
            differences.append(f"made without {', '.join(sorted(now - before))}")
        old, new = _archives(manifest.pins), _archives(item.pin for item in inputs)
        if changed := {source for source, *_ in old ^ new}:
            differences.append(f"other files of {', '.join(sorted(changed))}")
    if differences:
        raise CannotCreate(
            f"a build made otherwise stands there: {'; '.join(differences)}",
            str(out),
            "--replace overwrites it, --out DIR writes elsewhere",
        )


def _archives(pins: Iterable[Pin]) -> set[tuple[str, str, str, str]]:
    return {(pin.source, pin.archive, pin.origin, pin.sha256) for pin in pins}


#: Why configs of the ten are missing that nobody has asked for.
LEFT_OUT = "left out, as --only names other sources"


def write_notices(inputs: Iterable[BuildInput], folder: Path) -> None:
    """Write every licence text and notice of the archives into a dataset folder.

    Raises:
        BadData: the cache's bytes have changed since they were packed.
        OSError: a file cannot be written.
    """
    for item in inputs:
        files = item.reading.files
        # The user's own folder has schemas in it, or nothing.
        is_extra = item.reading.config is not None
        for name in () if is_extra else files.paths:
            if is_notice(name):
                path = folder / NOTICES / item.reading.archive / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files.read(name))


def collect_facts(
    options: tuple[str, ...], plan: BuildPlan, configs: Iterable[str]
) -> BuildFacts:
    """Return the facts of a build, for its manifest.

    Args:
        options: The options besides the rules.
        plan: Rules, inputs, and sources that could not be had.
        configs: The config of each document.
    """
    whys: dict[str, list[str]] = {}
    for item in plan.inputs:
        if item.partial:
            whys.setdefault(item.partial, []).extend(item.configs)
    for absent in plan.missing:
        whys.setdefault(f"missing ({absent.why})", []).extend(absent.configs)
    if plan.left_out:
        whys[LEFT_OUT] = list(plan.left_out)
    partial, lacking = list[str](), list[str]()
    for why, incomplete in whys.items():
        ten = [config for config in incomplete if config in CONFIGS]
        names = in_benchmark_order(ten or incomplete)
        (partial if ten else lacking).append(f"{', '.join(names)}: {why}.")
    return BuildFacts(
        name=PARTIAL_NAME if partial else NAME,
        canary=CANARY,
        partial=partial,
        lacking=lacking,
        rules=plan.rules.name,
        versions=versions_here(),
        pins=[item.pin for item in plan.inputs],
        rule_list=[
            RuleNote(name=rule.name, summary=rule.summary, source=rule.source)
            for rule in plan.rules.all_rules
        ],
        extras=sorted({*configs} - {*CONFIGS}),
        options=list(options),
    )


def _name(options: Sequence[str]) -> str:
    """Name the completion that holds the digest of the folder's `SHA256SUMS`."""
    return "-".join(["published", *options])


def find_finished_build(
    out: Path, run: RunFolder, options: Sequence[str]
) -> Manifest | None:
    """Return the manifest of a folder that was built by this run with these options.

    Its `SHA256SUMS` is known, and lists every other file. None if the folder is
    another build's, or any of its files has changed.
    """
    expected = run.done(_name(options))
    if expected is None:
        return None
    try:
        if file_digest(out / FILE).encode() != expected:
            return None
        sums = read_sums(out)
        if any(file_digest(out / name) != digest for name, digest in sums.items()):
            return None
        return read_manifest(out)
    except (OSError, BadData, NoInput):
        return None


def decide_benchmark(
    documents: Iterable[SourceDocument],
    results: Mapping[int, HeldResult],
    rules: RuleSet,
    sources: Mapping[str, Source],
) -> list[DecidedDocument]:
    """Return every raw document with its final decision, in benchmark order.

    `in_clusters` adds the near-duplicates of each.

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
        positions = [position for position, item in enumerate(decided) if item.kept]
        candidates = []
        for document in (decided[position] for position in positions):
            source = sources[document.source.provenance.source]
            candidates.append(
                Candidate(
                    config=document.config,
                    unique_id=document.source.unique_id,
                    sha256=document.result.sha256,
                    field_count=document.result.field_count,
                    quota=source.quota,
                    least_fields=source.least_fields,
                    extra=document.config not in CONFIGS,
                )
            )
        verdicts = rule.judge(candidates)
        for index, rejected in verdicts.items():
            position = positions[index]
            decided[position] = replace(
                decided[position], rejected=replace(rejected, rule=rule.name)
            )
    return decided


def in_clusters(documents: Sequence[DecidedDocument]) -> list[DecidedDocument]:
    """Return the documents, kept ones with their near-duplicate cluster."""
    decided = list(documents)
    positions = [position for position, document in enumerate(decided) if document.kept]
    names = clusters(
        [decided[position].result.sha256 for position in positions],
        lambda index: decided[positions[index]].result.whole().shingles,
    )
    configs = [decided[position].config for position in positions]
    weights = cluster_weights(configs, names)
    for position, name, weight in zip(positions, names, weights, strict=True):
        decided[position] = replace(decided[position], cluster=name, weight=weight)
    return decided


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What a build did."""

    request: BuildRequest
    #: The content of the folder's `manifest.json`.
    manifest: Manifest
    #: Seconds by phase, in order.
    phases: Mapping[str, float]
    #: Seconds of processor time by phase, in this process and its workers.
    processor: Mapping[str, float]
    #: Most memory held at once by this process and its workers, in MiB.
    peak_rss_mb: float
    #: Whether everything was there already.
    unchanged: bool
    #: A clause on each rule that raised an exception.
    rule_faults: tuple[str, ...]
    #: Archives that would have come first and could not be had, each once.
    not_had: tuple[UnavailableArchive, ...]


class _Clock:
    """Seconds by phase: by the wall, and of the processor, ended children included."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        self._last = time.perf_counter(), sum(os.times()[:4])

    def lap(self, phase: str) -> None:
        previous, now = self._last, (time.perf_counter(), sum(os.times()[:4]))
        self.phases[phase] = round(now[0] - previous[0], 3)
        self.processor[phase] = round(now[1] - previous[1], 2)
        self._last = now


def build(request: BuildRequest, progress: Progress | None = None) -> BuildResult:
    """Build the dataset folder of a request, or find it built.

    The folder appears whole or not at all. The same request with nothing changed finds
    its work done, and continues after a kill. A build made from other inputs, rules or
    options is replaced only on request.

    Args:
        request: What is to be built.
        progress: Shows what takes time; nothing by default.

    Raises:
        CsbdataError: a source is damaged or unavailable, the folder cannot be written
            or holds another build, another run is busy with it, or no such
            rule set.

    Example:
        The embedded sample, without a network::

            result = build(BuildRequest(out=Path("build/sample"), sample=True))
            print(result.manifest.name, result.unchanged)
    """
    refuse_foreign(request.out, MANIFEST)
    ray_address(request.executor)
    # Sources, rules, and the folder; and the other options.
    count = 3 + request.fastjsonschema + request.instances
    # A build makes a million lasting objects and few cycles to collect.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _build_with(request, Phases(progress or Quiet(), count))
    finally:
        if was_enabled:
            gc.enable()


def _build_with(request: BuildRequest, progress: Phases) -> BuildResult:
    clock = _Clock()
    plan = make_plan(request, progress)
    clock.lap("fetch")
    if not request.replace:
        refuse_other_build(request.out, plan.rules.name, request.options, plan.inputs)
    with RunFolder.open(request.run_folder, plan.fingerprint) as run:
        manifest, peak = find_finished_build(request.out, run, request.options), 0.0
        unchanged = manifest is not None
        if manifest is None:
            with open_pools(request.executor, progress.log) as open_pool:
                steps = _Steps(
                    request=request,
                    plan=plan,
                    run=run,
                    progress=progress,
                    open_pool=open_pool,
                )
                manifest, peak = steps.write(clock)
        else:
            clock.lap("check")
        # The most memory that this process has held.
        own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        own_peak_mb = own_peak / (2**20 if sys.platform == "darwin" else 2**10)
        sources: list[BuildInput | MissingSource] = [*plan.inputs, *plan.missing]
        not_had = [absent for item in sources for absent in item.not_had]
        return BuildResult(
            request=request,
            manifest=manifest,
            phases=clock.phases,
            processor=clock.processor,
            peak_rss_mb=max(peak, round(own_peak_mb, 1)),
            unchanged=unchanged,
            rule_faults=find_rule_faults(request.out),
            not_had=tuple(dict.fromkeys(not_had)),
        )


#: Seconds of one worker for one record: the benchmark's 8,978 took two workers 100
#: seconds.
_INSTANCE_SECONDS = 0.022


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """The steps of one build."""

    request: BuildRequest
    plan: BuildPlan
    #: Where finished work is kept, and found again.
    run: RunFolder
    progress: Phases
    open_pool: OpenPool

    def write(self, clock: _Clock) -> tuple[Manifest, float]:
        """Write the folder; return its manifest, and the peak memory in MiB."""
        request, out = self.request, self.request.out
        documents, peak = self._decide()
        clock.lap("decide")
        configs = (document.config for document in documents)
        facts = collect_facts(request.options, self.plan, configs)
        compiled: dict[str, str] = {}
        if request.fastjsonschema:
            records = [document.record() for document in documents if document.kept]
            title = "Compiling with fastjsonschema"
            with self.progress.bar(title, len(records)) as advance:
                compiled = fastjsonschema_verdicts(
                    records,
                    jobs=request.workers,
                    progress=advance,
                    open_pool=self.open_pool,
                )
        clock.lap("fastjsonschema")
        tasks = make_tasks(documents) if request.instances else []
        step = InstanceStep(tasks, self.run, self.open_pool)
        if request.instances:
            title, jobs = "Making instances", request.workers
            announce(self.progress, title, step.count * _INSTANCE_SECONDS / jobs)
            with self.progress.bar(
                title, step.count, note=lambda: step.config
            ) as advance:
                step.work(jobs=jobs, progress=advance)
        clock.lap("instances")
        digests = (decided.result.sha256 for decided in documents if decided.kept)
        columns = (
            {**stored.fit._asdict(), "answer": stored.instances.answer.value}
            for _, stored in step.records()
        )
        columns_by_digest = dict(zip(digests, columns, strict=request.instances))
        self.progress.begin(f"Writing {out}")
        with atomic_folder(out) as folder:
            documents = in_clusters(documents)
            write_notices(self.plan.inputs, folder)
            manifest = write_folder(
                folder,
                facts,
                documents,
                compiled=compiled,
                columns=columns_by_digest,
                products=(
                    RecordInstances(task=task, result=stored.instances)
                    for task, stored in step.records()
                ),
            )
        self.run.store(_name(request.options), file_digest(out / FILE).encode())
        clock.lap("write")
        return manifest, max(peak, step.peak_rss_mb)

    def _decide(self) -> tuple[list[DecidedDocument], float]:
        """Return the raw documents, each with its decision, and the peak memory."""
        inputs, rules = self.plan.inputs, self.plan.rules
        opt_outs = read_opt_outs()
        reader = BatchReader(inputs, opt_outs)
        setup = make_setup(rules, inputs, opt_outs)
        program = Program(
            module="curation.pipeline.process_document",
            setup=setup,
            files=tuple(
                Path(library.files) for library in setup.libraries if library.uris
            ),
        )
        with (
            self.open_pool(program, jobs=self.request.workers, limits=LIMITS) as pool,
            self.progress.bar(
                f"Applying the {rules.name} rules",
                count_documents(inputs, opt_outs),
                note=lambda: reader.source,
            ) as advance,
        ):
            results = process_batches(reader, pool, self.run, advance)
        sources = {item.source.name: item.source for item in inputs}
        decided = decide_benchmark(reader.documents, results, rules, sources)
        return decided, pool.peak_rss_mb
