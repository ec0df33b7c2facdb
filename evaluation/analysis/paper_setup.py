"""The setup and the printed figures of arXiv 2501.10868."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from evaluation.core.records import is_free
from evaluation.reporting.tables import Cell, FixedFigure, MissingFigure
from evaluation.results.suite_rows import SUITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.core.suite import ScoredResponse
    from evaluation.results.reader import RecordedRun

#: By the number of a table, the dataset (empty where a table has none) and the
#: framework.
_Tables: TypeAlias = dict[str, dict[str, dict[str, list[int | float | str]]]]
#: Tables that are the first columns of another one: its number, and how many.
_PARTS: Final = {2: (12, 3), 3: (13, 3)}


def printed(number: int, dataset: str = "") -> Mapping[str, tuple[Cell, ...]]:
    """Return the figures that the paper prints, by framework, in its own order.

    Args:
        number: 2, 3, 4, 5, 6, 7, 12 or 13.
        dataset: As the paper names it; empty for a table without datasets.

    Example:
        >>> [str(cell) for cell in printed(3, "GlaiveAI")["XGrammar"]]
        ['0.12', '0.30', '66.78']
    """
    whole, columns = _PARTS.get(number, (number, None))
    rows = _figures()[str(whole)].get(dataset, {})
    return {
        framework: tuple(map(_cell, figures[:columns]))
        for framework, figures in rows.items()
    }


def _cell(figure: float | str) -> Cell:
    match figure:
        case str():
            return MissingFigure(figure)
        case int():
            return figure
        case _:
            return FixedFigure(figure)


@cache
def _figures() -> _Tables:
    text = files(__package__).joinpath("paper_figures.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Tables)


#: How the paper names engines, by their names here.
FRAMEWORKS: Final[Mapping[str, str]] = {
    "none": "LM only",
    "llguidance": "Guidance",
    "llama_cpp": "Llamacpp",
    "outlines_core": "Outlines",
    "xgrammar": "XGrammar",
    "openai": "OpenAI",
    "gemini": "Gemini",
}
#: The versions that its appendix names, in the order of the tables; empty: none.
VERSIONS: Final[Mapping[str, str]] = {
    "LM only": "",
    "Guidance": "0.2.0rc",
    "Llamacpp": "0.3.2",
    "Outlines": "0.1.8",
    "XGrammar": "0.1.6",
    "OpenAI": "",
    "Gemini": "",
}
_OUR_LOOP: Final = "csbdata's on transformers"
#: What wrote the texts of its quality tasks.
_QUALITY_MODEL: Final = "Llama-3.1-8B-Instruct"
_OWN_LOOPS: Final = "each framework's own"


#: What all tables share: the graphics card, and most tokens of a text.
_DEVICE: Final = "A100"
_BUDGET: Final = 2048


@dataclass(frozen=True, slots=True)
class PaperSetup:
    """How one table of the paper was measured."""

    model: str
    #: What ran the model.
    loop: str
    #: Whether the tables are of times.
    timed: bool = True


_LLAMA_CPP: Final = PaperSetup("Llama-3.1-8B-Instruct", "llama.cpp, Q8")
_TRANSFORMERS: Final = PaperSetup("Llama-3.1-8B-Instruct", "Hugging Face Transformers")
_COVERAGE: Final = PaperSetup("Llama-3.2-1B-Instruct", _OWN_LOOPS, timed=False)
#: By the number of the table.
PAPER_SETUPS: Final[Mapping[int, PaperSetup]] = {
    2: _LLAMA_CPP,
    3: _TRANSFORMERS,
    4: _COVERAGE,
    12: _LLAMA_CPP,
    13: _TRANSFORMERS,
}


def framework_of(participant: ParticipantHeader) -> str:
    """Return how the paper calls a participant; its own label where it does not."""
    name = participant.name or participant.engine.partition(" ")[0]
    return FRAMEWORKS.get(name, participant.engine)


class SetupDifference(NamedTuple):
    """One thing that was not as in the paper."""

    #: One word for a row: `version`, `model`, `loop`, ...
    what: str
    #: What it was, and what it was there.
    detail: str


def version_difference(label: str, framework: str) -> SetupDifference | None:
    """Return how a participant differs from the paper's; None for the model alone.

    Args:
        label: The participant, as a run's rows name it.
        framework: What `framework_of` calls it.
    """
    paper = VERSIONS.get(framework)
    if paper is None:
        return SetupDifference("framework", f"{label} is not in the paper")
    if framework == "LM only":
        return None
    then = f"{framework} {paper}".strip()
    return SetupDifference("version", f"{label}, not {then}")


def differences(
    run: RecordedRun, label: str, setup: PaperSetup
) -> Iterator[SetupDifference]:
    """Yield what of a participant and its run is not as in the paper.

    Args:
        run: The run.
        label: The participant, as the run's rows name it.
        setup: How the paper measured the table.
    """
    framework = framework_of(run.header.participant(label))
    who = version_difference(label, framework)
    if who is not None:
        yield who
    header = run.raw_header.get("models")
    models: Mapping[str, UntypedJson] = header if isinstance(header, dict) else {}
    model = str(models.get("model") or "no model named")
    if setup.model not in model:
        yield SetupDifference("model", f"{model}, not {setup.model}")
    yield from _conditions(models, framework, setup)


def _conditions(
    models: Mapping[str, UntypedJson], framework: str, setup: PaperSetup
) -> Iterator[SetupDifference]:
    served = "://" in str(models.get("model"))
    loop = "the server's" if served else _OUR_LOOP
    yield SetupDifference("loop", f"{loop}, not {setup.loop}")
    device = str(models.get("device") or "not known")
    if setup.timed and _DEVICE not in device:
        yield SetupDifference("device", f"{device}, not {_DEVICE}")
    shots = models.get("shots")
    prompt = f"{models.get('prompt')}, {len(shots) if isinstance(shots, list) else 0}"
    if prompt != "sections, 2":
        yield SetupDifference("prompt", f"{prompt} shots, not sections, 2")
    budget = models.get("budget")
    if budget != _BUDGET:
        tokens = f"{budget or 'by witnesses'}, not {_BUDGET} tokens"
        yield SetupDifference("budget", tokens)
    batch = models.get("batch")
    if setup.timed and batch not in {None, 1}:
        yield SetupDifference("batch", f"{batch}, not 1")
    options = models.get("options")
    forced = isinstance(options, dict) and bool(options.get("forced"))
    if setup.timed and framework == "Guidance" and not forced:
        yield SetupDifference("forced tokens", "not taken (--set forced=true)")


def quality_differences(
    run: RecordedRun, label: str, answer: ScoredResponse
) -> Iterator[SetupDifference]:
    """Yield what of a model and its condition is not as in the paper's Table 7.

    Args:
        run: A run of suite `quality`.
        label: The model and its condition, as the run's rows name them.
        answer: One of its answers.
    """
    name = "none" if is_free(answer.condition) else answer.condition.partition(" ")[0]
    framework = FRAMEWORKS.get(name, answer.condition)
    who = version_difference(answer.condition, framework)
    if who is not None:
        yield who
    if _QUALITY_MODEL not in answer.model:
        yield SetupDifference("model", f"{answer.model}, not {_QUALITY_MODEL}")
    yield SetupDifference("loop", f"{_loop(run, label)}, not {_OWN_LOOPS}")
    facts = run.raw_header.get(SUITE)
    origin = str(facts.get("origin")) if isinstance(facts, dict) else "not recorded"
    if "generated" in origin:
        yield SetupDifference("problems", f"{origin}, not the published ones")


def _loop(run: RecordedRun, label: str) -> str:
    entries = run.raw_header.get("engines") or ()
    entry: Mapping[str, UntypedJson] = next(
        (one for one in entries if one.get("engine") == label), {}
    )
    if "server" in entry:
        return "the server's"
    # Who scores a file of responses has not seen what wrote them.
    return _OUR_LOOP if isinstance(entry.get("model"), dict) else "not known"


def describe_differences(
    sides: Sequence[tuple[str, Sequence[SetupDifference]]],
) -> Iterator[str]:
    """Yield what was not as in the paper, a sentence each, with who it is true of.

    Args:
        sides: The name of each participant, and how it differs.
    """
    whose: dict[SetupDifference, list[str]] = {}
    for name, differing in sides:
        for one in differing:
            whose.setdefault(one, []).append(name)
    for one, named in whose.items():
        of = "" if len(named) == len(sides) else f" of {', '.join(named)}"
        yield f"{one.what[0].upper()}{one.what[1:]}{of}: {one.detail}."
