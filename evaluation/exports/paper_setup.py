"""How the paper measured, and what of a run is otherwise (arXiv 2501.10868)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.results.reader import RecordedRun

#: How the paper names engines, by their names here.
_FRAMEWORKS: Final[Mapping[str, str]] = {
    "none": "LM only",
    "llguidance": "Guidance",
    "llama_cpp": "Llamacpp",
    "outlines_core": "Outlines",
    "xgrammar": "XGrammar",
    "openai": "OpenAI",
    "gemini": "Gemini",
}
#: The versions that its appendix names; empty where it names none.
_VERSIONS: Final[Mapping[str, str]] = {
    "LM only": "",
    "Guidance": "0.2.0rc",
    "Llamacpp": "0.3.2",
    "Outlines": "0.1.8",
    "XGrammar": "0.1.6",
    "OpenAI": "",
    "Gemini": "",
}
_OUR_LOOP: Final = "csbdata's on transformers"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperSetup:
    """How one table of the paper was measured."""

    model: str
    #: What ran the model.
    loop: str
    device: str
    budget: int
    #: Frameworks in the order of the tables, with their versions.
    versions: Mapping[str, str]
    #: Whether the tables are of times.
    timed: bool


def _setup(model: str, loop: str, *, timed: bool) -> PaperSetup:
    return PaperSetup(
        model=model,
        loop=loop,
        device="A100",
        budget=2048,
        versions=_VERSIONS,
        timed=timed,
    )


_LLAMA_CPP: Final = _setup("Llama-3.1-8B-Instruct", "llama.cpp, Q8", timed=True)
_TRANSFORMERS: Final = _setup(
    "Llama-3.1-8B-Instruct", "Hugging Face Transformers", timed=True
)
_COVERAGE: Final = _setup("Llama-3.2-1B-Instruct", "each framework's own", timed=False)
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
    return _FRAMEWORKS.get(name, participant.engine)


def differences(run: RecordedRun, label: str, setup: PaperSetup) -> Iterator[str]:
    """Yield what of a participant and its run is not as in the paper, a phrase each.

    Args:
        run: The run.
        label: The participant, as the run's rows name it.
        setup: How the paper measured the table.
    """
    participant = run.header.participant(label)
    framework = framework_of(participant)
    theirs = setup.versions.get(framework)
    if theirs is None:
        yield "not in the paper"
    elif framework != "LM only":
        yield f"{label}, not {framework} {theirs or 'as it was then'}"
    found = run.raw_header.get("models")
    models: Mapping[str, UntypedJson] = found if isinstance(found, dict) else {}
    model = str(models.get("model") or "no model named")
    if setup.model not in model:
        yield f"model {model}, not {setup.model}"
    yield from _conditions(models, framework, setup)


def _conditions(
    models: Mapping[str, UntypedJson], framework: str, setup: PaperSetup
) -> Iterator[str]:
    served = "://" in str(models.get("model"))
    yield f"loop {'the server' if served else _OUR_LOOP}, not {setup.loop}"
    device = str(models.get("device") or "not known")
    if setup.timed and setup.device not in device:
        yield f"device {device}, not {setup.device}"
    shots = models.get("shots")
    asked = f"{models.get('prompt')}, {len(shots) if isinstance(shots, list) else 0}"
    if asked != "sections, 2":
        yield f"prompt {asked} shots, not sections, 2"
    budget = models.get("budget")
    if budget != setup.budget:
        yield f"budget {budget or 'by witnesses'}, not {setup.budget}"
    batch = models.get("batch")
    if setup.timed and batch not in {None, 1}:
        yield f"batch {batch}, not 1"
    options = models.get("options")
    forced = isinstance(options, dict) and bool(options.get("forced"))
    if setup.timed and framework == "Guidance" and not forced:
        yield "forced tokens not taken (--forced)"
