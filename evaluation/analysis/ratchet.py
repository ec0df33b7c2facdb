"""A ratchet: the outcome of every schema under one engine, one line each.

Small, sorted text for the engine's own repository. Outcomes are ordered as in
`regression_gate.RANKS`: a schema may become better, not worse.

    # csbdata ratchet: llguidance faithful
    masks<TAB>Github_easy/o1<TAB>passed

Fields are percent-encoded if they hold white space, `%` or `#`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, unquote

from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.words import counted
from evaluation.analysis.regression_gate import criterion_of, rank_of
from evaluation.reporting.tables import Cell, Table
from evaluation.results.measurements import measure_run
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

#: Task, and config and id with a slash between them.
Place: TypeAlias = tuple[str, str]
_FIELDS = 3
#: What stays as it is in a field; `quote` encodes white space, `%` and `#`.
_PLAIN = "/!$&'()*+,:;<=>?@[\\]^`{|}~\""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetDifference:
    """What a run says beside the file."""

    #: Schemas that are worse now, with what they were and are.
    worse: Mapping[Place, tuple[Outcome, Outcome]]
    better: Mapping[Place, tuple[Outcome, Outcome]]
    #: Schemas of the file that the run has not.
    missing: Sequence[Place]
    #: Schemas of the run that the file has not.
    new: Sequence[Place]
    #: How many schemas both have.
    common: int
    #: The file's outcomes with what is better or new; what is worse is as it was.
    tightened: Mapping[Place, Outcome]

    @property
    def holds(self) -> bool:
        """Whether nothing is worse, nothing missing, and anything was compared."""
        return not self.worse and not self.missing and self.common > 0

    def summary(self) -> str:
        """Return all counts in one line."""
        return (
            f"{counted(self.common, 'schema')} compared, {len(self.worse):,} worse, "
            f"{len(self.missing):,} missing, {len(self.better):,} better, "
            f"{len(self.new):,} new"
        )


def outcomes_by_place(
    run: RecordedRun, engine: str | None, tasks: Sequence[str]
) -> tuple[str, dict[Place, Outcome]]:
    """Return an engine's label, and the outcome of every schema under it.

    Args:
        run: The run.
        engine: The engine's label; None where the run has only one.
        tasks: The tasks that count; empty for all of the run.

    Raises:
        BadUsage: the run has several engines, and none was named.
        NoInput: the run has no schema of these tasks, or not this engine.
    """
    by_engine: dict[str, dict[Place, Outcome]] = {}
    for task in tasks or run.tasks:
        for label, cases in measure_run(run, task, criterion_of(task)).items():
            own = by_engine.setdefault(label, {})
            for case in cases:
                place = (task, "/".join(case.case_key))
                now = Outcome.PASSED if case.passed else case.outcome
                # Of a schema that was asked again the worst counts.
                own[place] = max(own.get(place, now), now, key=rank_of)
    if not by_engine:
        raise NoInput("no schema of these tasks", str(run.folder))
    if engine is None and len(by_engine) > 1:
        raise BadUsage(
            f"a ratchet is of one engine, the run has {len(by_engine)}",
            then=f"--engine with one of: {'; '.join(by_engine)}",
        )
    label = next(iter(by_engine)) if engine is None else engine
    if label not in by_engine:
        raise NoInput(
            f"the run has no engine {label!r}", then=f"it has {'; '.join(by_engine)}"
        )
    return label, by_engine[label]


def read_ratchet(path: Path) -> dict[Place, Outcome]:
    """Return the outcomes that a ratchet file holds.

    Raises:
        NoInput: there is no file.
        BadData: it is no text, or a line is none of a ratchet's.
    """
    if path.exists() and not path.is_file():
        raise NoInput("not a file", str(path))
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise NoInput(why, str(path), "--update makes it") from error
    except UnicodeDecodeError as error:
        raise BadData(f"byte {error.start:,} is not UTF-8", str(path)) from error
    outcomes: dict[Place, Outcome] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = [unquote(field) for field in line.split("\t")]
        if len(fields) != _FIELDS or fields[2] not in set(Outcome):
            what = "a line has a task, CONFIG/ID and an outcome, with tabs between them"
            raise BadData(f"{what}: {line[:60]!r}", f"{path}:{number}")
        outcomes[fields[0], fields[1]] = Outcome(fields[2])
    return outcomes


def write_ratchet(path: Path, outcomes: Mapping[Place, Outcome], about: str) -> None:
    """Write a ratchet file, sorted.

    Args:
        path: The file.
        outcomes: The outcome of every schema.
        about: What stands in its first line: the engine, without version.

    Raises:
        CannotCreate: it cannot be written.
    """
    lines = [f"# csbdata ratchet: {' '.join(about.split())}"]
    for (task, place), outcome in sorted(outcomes.items()):
        lines.append("\t".join((quote(task), quote(place, _PLAIN), outcome)))
    atomic_write_bytes(path, ("\n".join(lines) + "\n").encode())


def undecided_places(run: RecordedRun, label: str) -> set[Place]:
    """Return the cases of an engine that a busy machine left undecided."""
    return {
        (task, f"{config}/{name}")
        for engine, task, config, name in run.undecided
        if engine == label
    }


def hold_against(
    ratchet: Mapping[Place, Outcome],
    now: Mapping[Place, Outcome],
    undecided: Collection[Place] = (),
) -> RatchetDifference:
    """Return what is worse, better, missing and new.

    Args:
        ratchet: The outcomes of the file.
        now: Those of the run.
        undecided: Places of the run without an outcome, which are not missing.
    """
    both = {
        place: (before, now[place]) for place, before in ratchet.items() if place in now
    }
    change = {place: rank_of(b) - rank_of(a) for place, (a, b) in both.items()}
    better = {place: pair for place, pair in both.items() if change[place] < 0}
    new = [place for place in now if place not in ratchet]
    known = {*now, *undecided}
    return RatchetDifference(
        worse={place: pair for place, pair in both.items() if change[place] > 0},
        better=better,
        missing=[place for place in ratchet if place not in known],
        new=new,
        common=len(both),
        tightened={**ratchet, **{place: now[place] for place in (*better, *new)}},
    )


def difference_table(difference: RatchetDifference, limit: int | None) -> Table:
    """List what is worse, then missing, then better."""
    ways = {"worse": difference.worse, "better": difference.better}
    rows: list[tuple[Cell, ...]] = [
        (way, *place, before.replace("_", " "), now.replace("_", " "))
        for way, moved in ways.items()
        for place, (before, now) in moved.items()
    ]
    worse = len(difference.worse)
    rows[worse:worse] = [
        ("missing", *place, None, None) for place in difference.missing
    ]
    more = 0 if limit is None else len(rows) - limit
    return Table(
        title="Schemas beside the ratchet",
        columns=("way", "task", "schema", "before", "now"),
        rows=tuple(rows[:limit]),
        note=f"{more:,} more: --format json" if more > 0 else "",
    )
