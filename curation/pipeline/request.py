"""A build request, and the plan that it comes to on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.download.acquire import FetchSettings
from curation.pipeline.identity import BuildIdentity, identity_of
from curation.pipeline.inputs import (
    BuildInput,
    ExtraSource,
    MissingSource,
    choose_inputs,
)
from curation.pipeline.refusals import refuse_incomplete
from curation.ray_shards import LOCAL
from curation.rules.sets import RuleSet, rule_set
from curation.workers.run_folder import run_folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.system.progress import Progress


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
    #: Number of workers; None for one a core. On a Ray cluster: of each shard.
    jobs: int | None = None
    #: `local`, or `ray[:ADDRESS]`: each shard is a task of a Ray cluster
    #: (`curation.ray_shards`).
    executor: str = LOCAL
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
