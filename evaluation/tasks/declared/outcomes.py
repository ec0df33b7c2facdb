"""What an engine declares: schemas it takes, and what it refuses the others for."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.dataset.features import MIN_MAX_FEATURES
from evaluation.core.cases import Result
from evaluation.results.labels import features_of
from evaluation.tasks.declared import NAME
from evaluation.tasks.declared.refusal_messages import explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.core.cases import Row
    from evaluation.core.refusal_pattern import RefusalPattern
    from evaluation.core.task import RunRows
    from evaluation.tasks.declared.refusal_messages import Refusal

UNMAPPED: Final = "unmapped"
#: Keywords that an engine has together or not at all, by the paper's names.
_TOGETHER: Final = {"then": "if", "else": "if", **MIN_MAX_FEATURES}


@dataclass(slots=True, kw_only=True)
class EngineDeclarations:
    """What one engine declared, summed over schemas."""

    engine: str
    results: Counter[Result] = field(default_factory=Counter)
    #: Config to schemas that compile, and all of them.
    configs: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    #: Compiled, with a warning.
    warned: int = 0
    #: Keyword that a warning means to schemas.
    admitted: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    #: Kind to a message.
    examples: dict[str, str] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    #: Keywords that one refusal means, and the features of the schema.
    refusals: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list)
    #: Features of the schemas that compile.
    compiled: set[str] = field(default_factory=set)

    def add(self, row: Row, name: str, own: Sequence[RefusalPattern] = ()) -> None:
        """Count one row.

        Args:
            row: The row.
            name: The engine's name without version.
            own: What its own file says that its messages mean.
        """
        took = row.result is Result.OK
        self.results[row.result] += 1
        self.configs[row.config].append(took)
        features = frozenset(features_of(row))
        if took:
            self.compiled |= features
            self.warned += bool(row.warnings)
            warned = (explain(name, warning, own) for warning in row.warnings)
            self.admitted.update(_meant_keywords(warned))
        elif row.result is Result.COMPILE_ERROR:
            self._refused(row.detail, explain(name, row.detail, own), features)

    def _refused(
        self, detail: str, refusal: Refusal | None, features: frozenset[str]
    ) -> None:
        kind = refusal.kind if refusal else UNMAPPED
        self.kinds[kind] += 1
        self.examples.setdefault(kind, detail)
        self.refusals.append((_meant_keywords([refusal]), features))
        if refusal and refusal.format:
            self.formats[refusal.format] += 1

    @property
    def total(self) -> int:
        """The number of schemas."""
        return self.results.total()

    def keywords(self) -> list[tuple[str, int, int, int]]:
        """Return keyword, named, alone and unlocks; what unlocks most is first."""
        named = Counter(keyword for meant, _ in self.refusals for keyword in meant)
        hopeless = named.keys() - self.compiled
        alone: Counter[str] = Counter()
        unlocks: Counter[str] = Counter()
        for meant, features in self.refusals:
            if len(meant) == 1:
                (keyword,) = meant
                alone[keyword] += 1
                unlocks[keyword] += not (hopeless & features) - meant
        listed = [
            (keyword, named[keyword], alone[keyword], unlocks[keyword])
            for keyword in named
        ]
        return sorted(
            listed, key=lambda entry: (-entry[3], -entry[2], -entry[1], entry[0])
        )


def _meant_keywords(refusals: Iterable[Refusal | None]) -> frozenset[str]:
    return frozenset(
        _TOGETHER.get(keyword, keyword)
        for refusal in refusals
        if refusal is not None
        for keyword in refusal.keywords
    )


def sum_declarations(run: RunRows) -> dict[str, EngineDeclarations]:
    """Sum a run's rows of the task up, by engine."""
    names = run.header.names()
    found: dict[str, EngineDeclarations] = {}
    for row in run.rows():
        if row.task == NAME:
            label = row.engine
            name = names.get(label) or label.partition("==")[0].partition(" ")[0]
            own = run.header.participant(label).refusals
            totals = found.setdefault(label, EngineDeclarations(engine=label))
            totals.add(row, name, own)
    return found
