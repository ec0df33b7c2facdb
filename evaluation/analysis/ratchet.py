"""A ratchet: the outcome of every schema under one engine, one line each.

Small, sorted text for the engine's own repository. Outcomes are ordered as in
`regression_gate.CaseStanding`: a schema may become better, not worse.

    # csbdata ratchet: llguidance faithful
    masks<TAB>Github_easy/o1<TAB>passed
    masks<TAB>Github_easy/o2<TAB>over_constrained<TAB>3:17 5:2

Behind an outcome stand the texts that are wrong, from 0, each with the number of
tokens before that. Fields are percent-encoded if they hold white space, `%` or `#`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, unquote

from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.user_files import read_utf8
from curation.system.words import counted
from evaluation.analysis.regression_gate import CaseStanding, criterion_of, standing
from evaluation.reporting.tables import Cell, Table
from evaluation.results.measurements import measure_run
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

#: Task, and config and id with a slash between them.
Place: TypeAlias = tuple[str, str]
_FIELDS = (3, 4)
#: A text that is wrong, and the tokens before that.
_WRONG = re.compile(r"(\d{1,9}):(\d{1,9})")
#: What stays as it is in a field; `quote` encodes white space, `%` and `#`.
_PLAIN = "/!$&'()*+,:;<=>?@[\\]^`{|}~\""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetDifference:
    """What a run says beside the file."""

    #: Schemas that are worse now, with what they were and are.
    worse: Mapping[Place, tuple[CaseStanding, CaseStanding]]
    better: Mapping[Place, tuple[CaseStanding, CaseStanding]]
    #: Schemas of the file that the run has not.
    missing: Sequence[Place]
    #: Schemas of the run that the file has not.
    new: Sequence[Place]
    #: How many schemas both have.
    common: int
    #: The file's outcomes with what is better or new; what is worse is as it was.
    tightened: Mapping[Place, CaseStanding]
    #: The run's outcomes, with those of the file that it decides nothing about.
    accepted: Mapping[Place, CaseStanding]

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
) -> tuple[str, dict[Place, CaseStanding]]:
    """Return an engine's label, and the outcome of every schema under it.

    Args:
        run: The run.
        engine: The engine's label or name; None where the run has only one.
        tasks: The tasks that count; empty for all of the run.

    Raises:
        BadUsage: the run has several engines of the name, or none was named.
        NoInput: the run has no schema of these tasks, or not this engine.
    """
    by_engine: dict[str, dict[Place, CaseStanding]] = {}
    for task in tasks or run.tasks:
        for label, cases in measure_run(run, task, criterion_of(task)).items():
            by_engine.setdefault(label, {}).update(
                ((task, "/".join(case.case_key)), standing(case)) for case in cases
            )
    if not by_engine:
        raise NoInput("no schema of these tasks", str(run.folder))
    names = run.header.names()
    labels = [own for own in by_engine if engine in (None, own, names.get(own))]
    if not labels:
        have = "; ".join(by_engine)
        raise NoInput(f"the run has no engine {engine!r}", then=f"it has {have}")
    if len(labels) > 1:
        raise BadUsage(
            f"a ratchet is of one engine, the run has {len(labels)}",
            then=f"--engine with one of: {'; '.join(labels)}",
        )
    return labels[0], by_engine[labels[0]]


def read_ratchet(path: Path) -> dict[Place, CaseStanding]:
    """Return the outcomes that a ratchet file holds.

    Raises:
        NoInput: there is no file.
        BadData: it is no text, or a line is none of a ratchet's.
    """
    if path.exists() and not path.is_file():
        raise NoInput("not a file", str(path))
    try:
        text = read_utf8(path)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise NoInput(why, str(path), "--update makes it") from error
    outcomes: dict[Place, CaseStanding] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = [unquote(field) for field in line.split("\t")]
        wrong = _WRONG.findall(fields[3]) if len(fields) > _FIELDS[0] else []
        if (
            len(fields) not in _FIELDS
            or fields[2] not in set(Outcome)
            or (len(fields) == _FIELDS[1] and _written(wrong) != fields[3])
        ):
            what = "a line has a task, CONFIG/ID, an outcome and texts that are wrong"
            what += ", with tabs between them"
            raise BadData(f"{what}: {line[:60]!r}", f"{path}:{number}")
        places = {int(text): int(place) for text, place in wrong}
        outcomes[fields[0], fields[1]] = CaseStanding(Outcome(fields[2]), places)
    return outcomes


def write_ratchet(
    path: Path, outcomes: Mapping[Place, CaseStanding], about: str
) -> None:
    """Write a ratchet file, sorted.

    Args:
        path: The file.
        outcomes: The outcome of every schema.
        about: What stands in its first line: the engine, without version.

    Raises:
        CannotCreate: it cannot be written.
    """
    lines = [f"# csbdata ratchet: {' '.join(about.split())}"]
    for (task, place), case in sorted(outcomes.items(), key=itemgetter(0)):
        fields = [quote(task), quote(place, _PLAIN), case.outcome]
        if case.wrong:
            fields.append(_written(sorted(case.wrong.items())))
        lines.append("\t".join(fields))
    atomic_write_bytes(path, ("\n".join(lines) + "\n").encode())


def undecided_places(run: RecordedRun, label: str) -> set[Place]:
    """Return the cases of an engine that a busy machine left undecided."""
    return {
        (task, f"{config}/{name}")
        for engine, task, config, name in run.undecided
        if engine == label
    }


def _written(wrong: Iterable[tuple[object, object]]) -> str:
    return " ".join(f"{text}:{place}" for text, place in wrong)


def hold_against(
    ratchet: Mapping[Place, CaseStanding],
    now: Mapping[Place, CaseStanding],
    undecided: Collection[Place] = (),
) -> RatchetDifference:
    """Return what is worse, better, missing and new.

    Args:
        ratchet: The outcomes of the file.
        now: Those of the run.
        undecided: Places that the run decides nothing about, which are not missing.
    """
    both = {
        place: (before, now[place]) for place, before in ratchet.items() if place in now
    }
    better = {place: (a, b) for place, (a, b) in both.items() if b.is_better(a)}
    new = [place for place in now if place not in ratchet]
    known = {*now, *undecided}
    return RatchetDifference(
        worse={place: (a, b) for place, (a, b) in both.items() if b.is_worse(a)},
        better=better,
        missing=[place for place in ratchet if place not in known],
        new=new,
        common=len(both),
        tightened={**ratchet, **{place: now[place] for place in (*better, *new)}},
        accepted={**{p: ratchet[p] for p in undecided if p in ratchet}, **now},
    )


def difference_table(difference: RatchetDifference, limit: int | None) -> Table:
    """List what is worse, then missing, then better."""
    ways = {"worse": difference.worse, "better": difference.better}
    rows: list[tuple[Cell, ...]] = [
        (way, *place, str(before), str(now))
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
