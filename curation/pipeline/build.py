"""One build, from sources to a dataset folder: fetch, read, decide, write.

The folder appears whole or not at all. The same request with nothing changed
finds its work done; the same request after a kill goes on where it was.
"""

from __future__ import annotations

import gc
import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from curation.cluster.executor import ExecutorChoice, open_executor
from curation.dataset.decisions import ResultFile
from curation.dataset.summary import summarise
from curation.download.acquire import FetchSettings
from curation.packaging.derived_files import carry_over
from curation.packaging.folder import write_folder
from curation.packaging.plots.plot_process import PlotProcess
from curation.packaging.plots.tables import tables_of_documents
from curation.pipeline.decide_benchmark import in_clusters
from curation.pipeline.identity import BuildIdentity, identity_of
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    MissingSource,
    choose_inputs,
)
from curation.pipeline.notices import write_notices
from curation.pipeline.refusals import refuse_incomplete, refuse_other_build
from curation.pipeline.rule_faults import RuleFault, find_rule_faults
from curation.pipeline.shards import WHOLE, JoinedShards, ShardHeader
from curation.pipeline.steps import BuildSteps
from curation.pipeline.summarise_build import summary_of
from curation.pipeline.up_to_date import find_finished_build, remember_build
from curation.rules.sets import RuleSet, rule_set
from curation.system.atomic_files import atomic_write_bytes
from curation.system.atomic_folders import atomic_folder, refuse_foreign
from curation.system.progress import Progress, Quiet
from curation.workers.run_folder import RunFolder, run_folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.download.acquire import UnavailableArchive
    from curation.packaging.manifest import Manifest
    from curation.workers.executor import Executor


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
    #: The folders of the shards of this build, whose work is joined; none where all
    #: of it is done here.
    shards: tuple[Path, ...] = ()
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
    with (
        _without_collector(),
        open_executor(request.executor, request.jobs, progress.say) as executor,
    ):
        return _build_with(request, executor, progress)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Collect no reference cycles meanwhile; afterwards it is as it was before.

    A build makes a million objects that last as long as it does, and few cycles: the
    collector would go through all of them again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What a request comes to on this machine, before any document is read."""

    rules: RuleSet
    inputs: Sequence[BuildInput]
    missing: Sequence[MissingSource]
    identity: BuildIdentity


def plan_of(request: BuildRequest, progress: Progress) -> BuildPlan:
    """Return what a request comes to, with its sources at hand.

    Raises:
        CsbdataError: a source is damaged or cannot be had, or there is no such rule
            set.
    """
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
    identity = identity_of(rules.name, inputs, missing)
    return BuildPlan(rules=rules, inputs=inputs, missing=missing, identity=identity)


def _build_with(
    request: BuildRequest, executor: Executor, progress: Progress
) -> BuildResult:
    """Build, or find built, with an executor that is open."""
    clock = _Clock()
    plan = plan_of(request, progress)
    joined = _joined(request, plan)
    clock.lap("fetch")
    if not request.replace:
        refuse_other_build(request.out, plan.rules.name, request.options, plan.inputs)
    with RunFolder.open(request.run_folder, plan.identity.fingerprint) as run:
        manifest, peak = find_finished_build(request.out, run, request.options), 0.0
        unchanged = manifest is not None
        if manifest is None:
            with ResultFile(run.folder) as file, PlotProcess() as drawing:
                steps = BuildSteps(
                    rules=plan.rules,
                    inputs=plan.inputs,
                    run=run,
                    executor=executor,
                    progress=progress,
                    file=file,
                    cache=request.fetch.cache,
                    joined=joined,
                )
                manifest, peak = _write(request, plan, steps, drawing, clock)
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
                dict.fromkeys(
                    absent for given in plan.inputs for absent in given.not_had
                )
            ),
        )
        atomic_write_bytes(
            run.folder / "last.json",
            msgspec.json.encode(_journal(result, plan.inputs, executor.jobs)),
        )
    return result


def _joined(request: BuildRequest, plan: BuildPlan) -> JoinedShards:
    """Return the shards that a request joins; none where it joins none."""
    if not request.shards:
        return JoinedShards()
    wanted = ShardHeader(shard=WHOLE, options=request.options, identity=plan.identity)
    return JoinedShards.open(request.shards, wanted)


def _write(
    request: BuildRequest,
    plan: BuildPlan,
    steps: BuildSteps,
    drawing: PlotProcess,
    clock: _Clock,
) -> tuple[Manifest, float]:
    """Write the folder; return its manifest, and the peak memory in MiB."""
    # While instances are made, for minutes, the process would only wait.
    documents, peak = steps.decide(None if request.instances else drawing.start)
    clock.lap("decide")
    summary = summary_of(
        request.options,
        plan.rules,
        plan.inputs,
        plan.missing,
        summarise(documents),
    )
    compiled = steps.compile_records(documents) if request.fastjsonschema else {}
    clock.lap("fastjsonschema")
    instances = steps.make_instances(documents, wanted=request.instances)
    summary = replace(summary, instances=instances.counts())
    clock.lap("instances")
    out = request.out
    steps.progress.say(f"Writing {out}")
    with atomic_folder(out) as folder:
        drawing.begin(tables_of_documents(documents))
        documents = in_clusters(documents)
        carry_over(out, folder)
        write_notices(plan.inputs, folder)
        manifest = write_folder(
            folder,
            summary,
            documents,
            compiled=compiled,
            products=instances.results(),
            drawing=drawing,
        )
    remember_build(out, steps.run, request.options)
    clock.lap("write")
    return manifest, max(peak, instances.peak_rss_mb)


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
