"""What an engine's row says of one case of the test suite, and what cases add up to.

The paper, section 5.3 and appendix D: a case is passed if every valid instance can be
generated to the end, the end token included, and no invalid one can; a compile error
passes a case that has only invalid instances. A failed case is a compile error,
over-constrained (a valid instance is refused) or under-constrained (an invalid one is
let through), or both of these; the paper stops at the first failure, we look at all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained
from evaluation.core.cases import Result, WalkVerdict
from evaluation.reporting.tables import Rate
from evaluation.results.labels import number_in
from evaluation.results.outcomes import FAULTS, engine_is_right

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluation.core.cases import InstanceResult, Row


class SuiteFailure(Explained):
    """Why a case is not passed."""

    COMPILE_ERROR = (
        "compile_error",
        "the schema was refused, though there is a valid instance",
    )
    OVER_CONSTRAINED = ("over_constrained", "a valid instance cannot be generated")
    UNDER_CONSTRAINED = ("under_constrained", "an invalid instance can be generated")
    DIED = ("died", "a time-out, a crash, or no answer: not all was walked")
    ENGINE_ERROR = ("engine_error", "the engine failed while an instance was walked")
    LIED = ("lied", "mask and commit disagree about a token")
    CONTRADICTED = ("contradicted", "two answers after the same tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """One engine on one case."""

    category: str
    failures: frozenset[SuiteFailure]
    #: Valid instances that were accepted, of those that were walked.
    valid: Rate
    #: Invalid instances that were blocked, of those that were walked.
    invalid: Rate

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def outcome(row: Row) -> CaseOutcome:
    """Judge one row of the task `test-suite`."""
    walked = [walk for walk in row.walks if walk.verdict is not WalkVerdict.NOT_RUN]
    return CaseOutcome(
        category=str(row.label.get("category")),
        failures=frozenset(_failures(row, walked)),
        valid=_rate(walked, valid=True),
        invalid=_rate(walked, valid=False),
    )


def _failures(row: Row, walked: list[InstanceResult]) -> Iterable[SuiteFailure]:
    valid = sum(walk.valid for walk in row.walks)
    wanted_valid = number_in(row, "valid", valid)
    wanted = number_in(row, "tests", len(row.walks))
    if row.result is Result.COMPILE_ERROR:
        return {SuiteFailure.COMPILE_ERROR} if wanted_valid else set()
    found = {_WRONG[walk.valid] for walk in walked if engine_is_right(walk) is False}
    found |= {
        SuiteFailure(walk.verdict.value) for walk in walked if walk.verdict in FAULTS
    }
    ended = row.result in {Result.OK, Result.ENGINE_ERROR}
    if not ended or len(walked) < wanted:
        found.add(SuiteFailure.DIED)
    return found


_WRONG: Final = {
    True: SuiteFailure.OVER_CONSTRAINED,
    False: SuiteFailure.UNDER_CONSTRAINED,
}


def _rate(walked: list[InstanceResult], *, valid: bool) -> Rate:
    found = [engine_is_right(walk) for walk in walked if walk.valid is valid]
    return Rate(found.count(True), len(found))


def by_category(outcomes: Iterable[CaseOutcome]) -> Mapping[str, Rate]:
    """Return the share of passed cases of each category, in alphabetical order."""
    found: dict[str, list[bool]] = defaultdict(list)
    for case in outcomes:
        found[case.category].append(case.passed)
    return {name: Rate(sum(found[name]), len(found[name])) for name in sorted(found)}


def failing_categories(outcomes: Iterable[CaseOutcome]) -> Mapping[SuiteFailure, int]:
    """Count for each kind of failure the categories in which it occurs (Table 5)."""
    found: dict[SuiteFailure, set[str]] = {failure: set() for failure in SuiteFailure}
    for case in outcomes:
        for failure in case.failures:
            found[failure].add(case.category)
    return {failure: len(names) for failure, names in found.items()}


#: Table 6: a level's name, and whether a share reaches it.
LEVELS: Final = {
    "> 0 %": lambda share: share > 0,
    "> 25 %": lambda share: share > 1 / 4,
    "> 50 %": lambda share: share > 1 / 2,
    "> 75 %": lambda share: share > 3 / 4,
    "100 %": lambda share: share == 1,
}


def levels(coverage: Mapping[str, Rate]) -> tuple[int, ...]:
    """Count the categories that reach each level of coverage (Table 6)."""
    shares = [rate.share for rate in coverage.values() if rate.share is not None]
    return tuple(sum(map(reaches, shares)) for reaches in LEVELS.values())


@dataclass(frozen=True, slots=True)
class Leaders:
    """In which categories an engine's coverage is the highest above 0."""

    #: Alone or with others, as the paper counts "tied".
    highest: frozenset[str]
    #: Alone.
    single: frozenset[str]


def find_leaders(coverage: Mapping[str, Mapping[str, Rate]]) -> Mapping[str, Leaders]:
    """Return for each engine where it leads; takes engine to category to coverage."""
    best: dict[str, float] = defaultdict(float)
    holders: dict[str, list[str]] = defaultdict(list)
    for engine, categories in coverage.items():
        for name, rate in categories.items():
            share = rate.share or 0.0
            if share > best[name]:
                best[name], holders[name] = share, [engine]
            elif share == best[name] > 0:
                holders[name].append(engine)
    return {
        engine: Leaders(
            frozenset(name for name, who in holders.items() if engine in who),
            frozenset(name for name, who in holders.items() if who == [engine]),
        )
        for engine in coverage
    }
