"""Task `declared`: compile every schema; count refusals by feature and by message."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.dataset.features import MIN_MAX_FEATURES, formats
from curation.json.text import parse
from curation.schema.dialects import BY_NAME
from evaluation.core.cases import Case, Result, Row
from evaluation.core.run_header import RefusalPattern, TaskSettings
from evaluation.core.task import RunRows, Task, TaskInput
from evaluation.reporting.notes import BRACKETS, BY_CLUSTER, CLUSTERS
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, ClusterRate, Rate, Table
from evaluation.results.outcomes import features_of
from evaluation.tasks.refusal_messages import Refusal, explain

if TYPE_CHECKING:
    from evaluation.core.records import Record

NAME: Final = "declared"
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
    #: Of each schema its name, whether it compiles, and its weight.
    answers: list[tuple[tuple[str, str], bool, float]] = field(default_factory=list)
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
        self.answers.append(((row.config, row.id), took, row.weight))
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
        named = Counter(
            keyword for keywords, _ in self.refusals for keyword in keywords
        )
        hopeless = named.keys() - self.compiled
        alone: Counter[str] = Counter()
        unlocks: Counter[str] = Counter()
        for keywords, features in self.refusals:
            if len(keywords) == 1:
                (keyword,) = keywords
                alone[keyword] += 1
                unlocks[keyword] += not (hopeless & features) - keywords
        rows = [
            (keyword, named[keyword], alone[keyword], unlocks[keyword])
            for keyword in named
        ]
        return sorted(
            rows, key=lambda entry: (-entry[3], -entry[2], -entry[1], entry[0])
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
    declarations: dict[str, EngineDeclarations] = {}
    for row in run.rows():
        if row.task == NAME:
            label = row.engine
            name = names.get(label) or label.partition("==")[0].partition(" ")[0]
            own = run.header.participant(label).refusals
            totals = declarations.setdefault(label, EngineDeclarations(engine=label))
            totals.add(row, name, own)
    return declarations


#: Lines of the table of keywords, for each engine.
_MOST: Final = 15
#: Characters of a message that is an example.
_LINE: Final = 70
_COVERAGE_NOTE: Final = (
    "declared: the schema compiles, whatever is enforced then. with a warning: of "
    f"these, the engine itself says that something is not. {CLUSTERS} {BRACKETS}"
)
_KEYWORDS_NOTE: Final = (
    "Named: schemas whose refusal means the keyword (several may be meant). Alone: it "
    "means no other. Unlocks: of these, the schema has no other feature that the "
    "engine's refusals mean and that no schema that compiles has; an engine stops at "
    "its first complaint, so this is the most that the keyword can unlock. Keywords "
    "that come together (if, then, else; minimum and maximum) count as one."
)
_KINDS_NOTE: Final = (
    "keyword: not supported; reference: a $ref that is not followed; regex: a pattern "
    "that is not read; limit: too large or too deep for it; unsatisfiable: it finds "
    "that nothing fits; malformed: not a schema to it; defect: it stumbles over "
    "itself; unmapped: a message that csbdata does not know."
)


def report(run: RunRows) -> Report:
    """Return coverage, reasons and keywords of every engine."""
    engines = list(sum_declarations(run).values())
    return Report(tables=tuple(_tables(engines)))


def _tables(engines: list[EngineDeclarations]) -> Iterator[Table]:
    yield _coverage(engines)
    yield _configs(engines)
    yield _kinds(engines)
    yield _keywords(engines)
    for title, column, counts in (
        ("Refused values of format", "format", [engine.formats for engine in engines]),
        ("Keywords in warnings", "keyword", [engine.admitted for engine in engines]),
    ):
        if any(counts):
            yield _counted(title, column, engines, counts)


def _coverage(engines: list[EngineDeclarations]) -> Table:
    failures = [
        result for result in Result if any(one.results[result] for one in engines)
    ]
    failures = [result for result in failures if result is not Result.OK]
    rows: list[tuple[Cell, ...]] = [
        (
            engine.engine,
            Rate(engine.results[Result.OK], engine.total),
            ClusterRate.of_answers(engine.answers),
            Rate(engine.warned, engine.results[Result.OK]),
            *(engine.results[result] for result in failures),
        )
        for engine in engines
    ]
    words = (result.replace("_", " ") for result in failures)
    return Table(
        title="Declared coverage",
        columns=("engine", "declared", BY_CLUSTER, "with a warning", *words),
        rows=tuple(rows),
        note=_COVERAGE_NOTE,
    ).without_empty_columns(BY_CLUSTER)


def _configs(engines: list[EngineDeclarations]) -> Table:
    configs = sorted({config for engine in engines for config in engine.configs})
    rows: list[tuple[Cell, ...]] = [
        (config, engine.engine, Rate(sum(took), len(took)))
        for config in configs
        for engine in engines
        if (took := engine.configs.get(config))
    ]
    return Table(
        title="Declared coverage by config",
        columns=("config", "engine", "declared"),
        rows=tuple(rows),
    )


def _kinds(engines: list[EngineDeclarations]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            engine.engine,
            kind,
            Rate(count, engine.kinds.total()),
            _line(engine.examples[kind]),
        )
        for engine in engines
        for kind, count in engine.kinds.most_common()
    ]
    return Table(
        title="Reasons of refusals",
        columns=("engine", "reason", "of refusals", "for example"),
        rows=tuple(rows),
        note=_KINDS_NOTE,
    )


def _keywords(engines: list[EngineDeclarations]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for engine in engines:
        compiled = engine.results[Result.OK]
        for keyword, named, alone, unlocks in engine.keywords()[:_MOST]:
            then = Rate(compiled + unlocks, engine.total)
            rows.append((engine.engine, keyword, named, alone, unlocks, then))
    return Table(
        title="Which one keyword would unlock the most schemas",
        columns=("engine", "keyword", "named", "alone", "unlocks", "declared then"),
        rows=tuple(rows),
        note=_KEYWORDS_NOTE,
        name="declared keywords",
    )


def _counted(
    title: str,
    column: str,
    engines: list[EngineDeclarations],
    counts: list[Counter[str]],
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (engine.engine, name, count)
        for engine, counted in zip(engines, counts, strict=True)
        for name, count in counted.most_common(_MOST)
    ]
    return Table(title=title, columns=("engine", column, "schemas"), rows=tuple(rows))


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LINE else f"{words[: _LINE - 1]}…"


def cases(records: Iterable[Record], _settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a record, without texts."""
    for record in records:
        yield Case(
            task=NAME,
            id=record.id,
            config=record.group,
            schema=record.constraint,
            weight=record.weight,
            label={
                "dialect": record.dialect,
                "features": list(record.features),
                "formats": _formats(record),
                "size": len(record.constraint),
            },
        )


def _formats(record: Record) -> list[Json]:
    """Return the values of `format`; the schema is read only if it has any."""
    dialect = BY_NAME.get(record.dialect)
    if "format" not in record.features or dialect is None:
        return []
    schema = parse(record.constraint.encode("utf-8", "surrogatepass"))
    return [] if isinstance(schema, Rejected) else list(formats(schema, dialect))


TASK: Final = Task(
    name=NAME,
    summary="Compile every schema: what is refused, and for which keyword.",
    timed=False,
    input=TaskInput.SCHEMAS,
    cases=cases,
    report=report,
    passes=lambda row: row.result is Result.OK,
)
