"""A build request, and the plan that it comes to on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS
from curation.core.documents import Missing, Origin
from curation.download.acquire import FetchSettings
from curation.packaging.manifest import FILE, read_manifest
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    MissingSource,
    choose_inputs,
    pinned_inputs,
)
from curation.pipeline.process_document import LIMITS
from curation.rules.sets import RuleSet, rule_set
from curation.system.errors import BadData, CannotCreate, Unavailable
from curation.system.progress import Progress
from curation.workers.fingerprint import code_digest, fingerprint, versions
from curation.workers.ray_pool import LOCAL
from curation.workers.run_folder import run_folder_of

if TYPE_CHECKING:
    from curation.packaging.manifest import Pin


def fingerprint_of(
    rules: str, inputs: Sequence[BuildInput], missing: Sequence[MissingSource]
) -> str:
    """Return the digest of what decides the records of a build here and now.

    Options are no part of it: what was finished is found again when they come back.

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


def refuse_other_build(
    out: Path, rules: str, options: Sequence[str], inputs: Sequence[BuildInput]
) -> None:
    """Refuse a place where another build stands than the one that is asked.

    Args:
        out: The dataset folder to write.
        rules: Name of the rule set that is asked.
        options: What is asked beside it (`BuildRequest.options`).
        inputs: What the new build would read.

    Raises:
        CannotCreate: another build stands there; says in what it differs.
    """
    if not (out / FILE).is_file():
        return
    differences = []
    try:
        manifest = read_manifest(out)
    except BadData as error:
        differences.append(f"its manifest.json cannot be read ({error.what})")
    else:
        if manifest.rules != rules:
            differences.append(f"rules {manifest.rules}, not {rules}")
        before, now = set(manifest.options), set(options)
        if before - now:
            differences.append(f"made with {', '.join(sorted(before - now))}")
        if now - before:
            differences.append(f"made without {', '.join(sorted(now - before))}")
        old, new = _archives(manifest.pins), _archives(item.pin for item in inputs)
        if others := {source for source, *_ in old ^ new}:
            differences.append(f"other files of {', '.join(sorted(others))}")
    if differences:
        raise CannotCreate(
            f"a build made otherwise stands there: {'; '.join(differences)}",
            str(out),
            "--replace overwrites it, --out DIR writes elsewhere",
        )


def _archives(pins: Iterable[Pin]) -> set[tuple[str, str, str, str]]:
    return {(pin.source, pin.archive, pin.origin, pin.sha256) for pin in pins}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is to be built, and how.

    Example:
        The embedded sample, and a build with schemas of one's own::

            BuildRequest(out=Path("build/sample"), sample=True)
            own = ExtraSource(source="schemas", config="Acme")
            BuildRequest(out=Path("build/JSONSchemaBench"), extras=(own,))
    """

    #: The dataset folder to write.
    out: Path
    #: Name of the rule set: `clean` or `paper`.
    rules: str = "clean"
    #: Sources beside those of the ten configs.
    extras: tuple[ExtraSource, ...] = ()
    #: Sources in place of those of the ten configs, if any.
    only: tuple[ExtraSource, ...] = ()
    #: Use the embedded sample for every source that it has.
    sample: bool = False
    #: Read these sources from these archives and no others, as a manifest lists them;
    #: by default each source comes from the best archive that can be reached.
    pins: tuple[Pin, ...] = ()
    #: None: the sample stands in for a source that cannot be had; rules paper fail.
    missing: Missing | None = None
    #: Try fastjsonschema on every record.
    fastjsonschema: bool = False
    #: Make witnesses and near misses of every record.
    instances: bool = False
    #: Replace a build made from other inputs, rules or options.
    replace: bool = False
    #: Number of workers; None for one a core. On a Ray cluster: one a CPU.
    jobs: int | None = None
    #: `local`, or `ray[:ADDRESS]`: each batch is a task of a Ray cluster
    #: (`curation.workers.ray_pool`).
    executor: str = LOCAL
    #: Places of archives, and whether the network may be used.
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)

    @property
    def options(self) -> tuple[str, ...]:
        """What is asked beside the rules, as the manifest names it."""
        names = ("fastjsonschema", "instances")
        return tuple(name for name in names if getattr(self, name))

    @property
    def run_folder(self) -> Path:
        """Where the run keeps what differs from run to run."""
        return run_folder_of(self.out)

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


def plan_of(request: BuildRequest, progress: Progress) -> BuildPlan:
    """Return what a request comes to, with its sources available.

    Raises:
        Unavailable: a source is not as `--missing` and the rule set want it; each is
            named.
        CsbdataError: a source is damaged, or there is no such rule set.
    """
    rules = rule_set(request.rules)
    if request.pins:
        inputs = pinned_inputs(request.pins, rules.name, request.fetch, progress)
        missing: list[MissingSource] = []
    else:
        inputs, missing = choose_inputs(
            rules.name,
            request.extras,
            request.fetch,
            only=request.only,
            sample=request.sample,
            progress=progress,
        )
    if missing and request.missing is not Missing.SKIP:
        raise Unavailable(
            "; ".join(f"{absent.source.name} ({absent.why})" for absent in missing),
            "cannot be had here",
            "give a mirror with --mirror, or go on without them: --missing skip",
        )
    lesser = [
        f"{item.source.name} ({item.reading.origin})"
        for item in inputs
        if item.reading.origin not in {Origin.UPSTREAM, Origin.LOCAL}
    ]
    if request.missing is Missing.FAIL and lesser:
        raise Unavailable(
            ", ".join(lesser),
            "not from upstream",
            "give a mirror with --mirror, or leave --missing out",
        )
    read = {config for item in inputs for config in item.configs}
    read.update(config for absent in missing for config in absent.configs)
    left_out = [config for config in CONFIGS if config not in read]
    return BuildPlan(
        rules=rules,
        inputs=inputs,
        missing=missing,
        left_out=left_out if request.only or request.pins else (),
        fingerprint=fingerprint_of(rules.name, inputs, missing),
    )
