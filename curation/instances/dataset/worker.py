"""The worker of instances, and `witnesses`, which runs it for one schema."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

import msgspec

from curation.core.json_types import GivenSchema, Json
from curation.instances.dataset.make_instances import (
    DEFAULT_COUNT,
    HUGE,
    LEAN,
    SchemaInstances,
    make_instances,
)
from curation.json.text import text_of_schema
from curation.lint.satisfiability import Satisfiability
from curation.schema.dialects import BY_NAME
from curation.sources.neighbours import NeighbourFiles, neighbour_library
from curation.workers.limits import BUSY_MACHINE, Ending, Limits, ProcessResult
from curation.workers.process import Program
from curation.workers.worker import Worker


class InstanceRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One schema whose instances are to be made."""

    schema: str
    #: Name of a dialect; where empty, the worker decides.
    dialect: str
    #: Most witnesses looked for.
    count: int = DEFAULT_COUNT
    #: Instances that the source states are right, as JSON texts.
    examples: tuple[str, ...] = ()
    #: Whether only witnesses are made, judged by jsonschema-rs alone.
    lean: bool = False
    #: As for `make_instances`.
    covering: int | None = None
    #: Where relative references start, if the worker decides the dialect.
    base_uri: str | None = None


#: Seconds for one schema that a user asks about. A build has no such limit.
DEADLINE = 5.0
#: MiB that a worker may take above its memory when it is ready.
MEMORY_MB = 512
#: Seconds for a huge one.
HUGE_DEADLINE = 8.0
_REASONS = {Ending.TIMEOUT: "timed_out", Ending.OUT_OF_MEMORY: "out_of_memory"}
_CRASHED = "crashed"


class InstanceSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Configuration of a worker."""

    seed: int = 0
    #: The files that references of a user's own schemas may lead to.
    neighbours: NeighbourFiles = NeighbourFiles()


def program(seed: int = 0, neighbours: NeighbourFiles | None = None) -> Program:
    """Return the program of a worker."""
    setup = InstanceSetup(seed=seed, neighbours=neighbours or NeighbourFiles())
    return Program(module=__name__, setup=msgspec.to_builtins(setup))


def limits() -> Limits:
    """Return what one schema may cost."""
    return Limits(seconds=DEADLINE, wall_times=BUSY_MACHINE, memory_mb=MEMORY_MB)


def read_answer(
    first: ProcessResult, lean: ProcessResult | None = None
) -> SchemaInstances:
    """Return a worker's answer; without one, the end of its process is the reason.

    Args:
        first: The result of the first try.
        lean: The result of a lean try, if the first one cost too much. Its witnesses
            have a detail with the reason why near misses are missing.
    """
    if first.ending is Ending.OK:
        return msgspec.convert(first.answer, SchemaInstances)
    reason = _REASONS.get(first.ending, _CRASHED)
    if lean is None or lean.ending is not Ending.OK:
        return SchemaInstances(
            answer=Satisfiability.UNKNOWN, reason=reason, detail=first.detail
        )
    witnesses_only = msgspec.convert(lean.answer, SchemaInstances)
    if not witnesses_only.instances:
        return witnesses_only
    why = f"{LEAN}{reason}, {first.detail}"
    return msgspec.structs.replace(witnesses_only, detail=why)


def cost_too_much(reason: str, detail: str) -> bool:
    """Return whether a record has no instances, or fewer, because of their cost.

    Args:
        reason: Its reason in the ledger of instances.
        detail: Its detail there.
    """
    return reason in {*_REASONS.values(), _CRASHED} or detail.startswith(LEAN)


def witnesses(
    schema: GivenSchema,
    *,
    dialect: str | None = None,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
) -> SchemaInstances:
    """Return instances that a schema accepts, and near misses that it refuses.

    They are made in a child process, within 5 s and 512 MiB, and judged by two
    validators; a schema whose near misses cost more has witnesses alone. Nothing is
    fetched. Equal arguments give equal instances.

    Args:
        schema: The schema, its JSON text, or a model of pydantic.
        dialect: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`; None to
            decide by `$schema`, as the rule set `clean` does.
        count: Maximum of witnesses: the smallest, the fullest, then random ones.
        seed: Seed of the random ones.

    Returns:
        The instances with the verdicts of both validators; without a witness the
        reason, which may be a proof. A schema that cannot be read is not an error.

    Example:
        >>> found = witnesses({"type": "integer", "minimum": 3, "maximum": 3})
        >>> [row.value for row in found.witnesses]
        [3]
        >>> [(row.value, row.keyword) for row in found.near_misses]
        [([], 'type'), (2, 'minimum'), (4, 'maximum')]

    Raises:
        ValueError: no such dialect exists, or `count` is below 1.
        WorkerDidNotStart: the process cannot be started.
    """
    if dialect and dialect not in BY_NAME:
        raise ValueError(f"no dialect {dialect!r}; there are {', '.join(BY_NAME)}")
    if count < 1:
        raise ValueError(f"count is {count}, and must be 1 or more")
    text = text_of_schema(schema)
    request = InstanceRequest(schema=text, dialect=dialect or "", count=count)
    return next(witnesses_of_each([request], seed))


def witnesses_of_each(
    requests: Iterable[InstanceRequest],
    seed: int = 0,
    neighbours: NeighbourFiles | None = None,
) -> Generator[SchemaInstances, None, None]:
    """Yield the instances of each schema, all made in one process.

    A schema for which near misses take too much, or which is huge, gets witnesses
    alone.

    Args:
        requests: The schemas.
        seed: Seed of random choices.
        neighbours: The files that their references may lead to.

    Raises:
        WorkerDidNotStart: the process cannot be started.
    """
    with Worker(program(seed, neighbours), limits()) as worker:
        for request in requests:
            huge = len(request.schema) > HUGE
            result = worker.ask(request, HUGE_DEADLINE if huge else DEADLINE)
            lean = None
            if result.ending is not Ending.OK:
                lean = worker.ask(msgspec.structs.replace(request, lean=True))
            yield read_answer(result, lean)


def start(message: Json) -> Callable[[Json], Json]:
    """Take the seed and the neighbours; return the handler of one request."""
    setup = msgspec.convert(message, InstanceSetup)
    library = neighbour_library(setup.neighbours)

    def handle(message: Json) -> Json:
        request = msgspec.convert(message, InstanceRequest)
        return make_instances(
            seed=setup.seed, library=library, **msgspec.structs.asdict(request)
        ).to_json()

    return handle
