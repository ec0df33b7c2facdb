"""What is asked of models, as the command line says it; nothing is loaded here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from curation.system.errors import BadConfiguration
from evaluation.generation.text_generation import LoopOptions
from evaluation.models.store import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection

_MILLION: Final = 1_000_000
#: The one value of `--compat`: do as the paper did.
PAPER: Final = "paper"
#: A batch of as many texts as fit into the memory of the model's device.
AUTO_BATCH: Final = 0
#: Of the paper's coverage experiment (its section 5.1).
PAPER_MODEL: Final = "meta-llama/Llama-3.2-1B-Instruct"
#: Tokens that the paper's own code allowed each text.
_PAPER_BUDGET: Final = 2048
#: Its deadline of a compile, and that of what follows.
_PAPER_SECONDS: Final = 40.0
#: Whether the compile, and whether the masks, happen beside the model's passes.
_OVERLAPS: Final = {
    "both": (True, True),
    "compile": (True, False),
    "mask": (False, True),
    "none": (False, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a million tokens cost, in the currency of the user's choice."""

    prompt: float
    output: float

    def cost(self, prompt: int | None, output: int | None) -> float | None:
        """Return what a text of so many tokens costs; None if they are not known."""
        if prompt is None or output is None:
            return None
        return (prompt * self.prompt + output * self.output) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model writes, and how; recorded in the run's header."""

    #: `smollm2`, a folder, `owner/name` on the Hub, or the address of a server.
    model: str = DEFAULT
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    threads: int = 1
    #: What computes attention, as transformers calls it; empty: its own choice.
    attention: str = ""
    #: How a step of decoding is kept.
    compile: str = "auto"
    prompt: str = "sections"
    shots: int = 2
    samples: int = 1
    temperature: float = 0.0
    #: Texts under way at a time; `AUTO_BATCH`: as many as fit.
    batch: int = 1
    budget: int | None = None
    seed: int = 0
    options: LoopOptions = field(default_factory=LoopOptions)
    memory_mb: int = 4096
    #: Minutes for which a server may be in trouble without any answer.
    patience: float = 10.0
    #: What a server's tokens cost.
    prices: TokenPrices | None = None
    #: Empty, or `paper`.
    compat: str = ""
    #: Whether an engine has its forced tokens taken where the paper took them.
    forced_as_paper: bool = False
    #: The dialect for every schema; empty: its own.
    dialect: str = ""

    @property
    def over_http(self) -> bool:
        """Whether the model is behind a server."""
        return self.model.startswith(("http://", "https://"))


def as_paper(options: ModelOptions, given: Collection[str] = ()) -> ModelOptions:
    """Return the options of the paper's experiment: model, limits, prompt, validation.

    Its code's defaults where the text is silent; greedy, one text a schema, 40 s for
    a compile and 40 s for what follows, forced tokens where an engine of the paper
    had them (its Tables 12 and 13), everything validated as 2020-12.

    Args:
        options: What was asked.
        given: Names of what stays as it was asked, as the command line's options are
            named.
    """
    paper: dict[str, Any] = {
        "model": PAPER_MODEL,
        "prompt": "sections",
        "shots": 2,
        "samples": 1,
        "dtype": "bf16",
        "temperature": 0.0,
        "budget": _PAPER_BUDGET,
        "forced_as_paper": "forced" not in given,
    }
    compile_seconds, run_seconds = paper_seconds(options.options, given)
    loop = replace(
        options.options, compile_seconds=compile_seconds, run_seconds=run_seconds
    )
    wanted = {name: value for name, value in paper.items() if name not in given}
    return replace(options, **wanted, options=loop, compat=PAPER, dialect="2020-12")


class _Deadlines(Protocol):
    """What says how long a compile and what follows may take."""

    @property
    def compile_seconds(self) -> float:
        """Seconds for a compile."""

    @property
    def run_seconds(self) -> float:
        """Seconds for everything after it."""


def paper_seconds(asked: _Deadlines, given: Collection[str]) -> tuple[float, float]:
    """Return the paper's deadlines, but for those that were given."""
    return (
        asked.compile_seconds if "compile_seconds" in given else _PAPER_SECONDS,
        asked.run_seconds if "run_seconds" in given else _PAPER_SECONDS,
    )


def split_revision(model: str) -> tuple[str, str | None]:
    """Return a model's name, and the revision that follows an `@`.

    Example:
        >>> split_revision("owner/name@main")
        ('owner/name', 'main')
    """
    if model.startswith(("http://", "https://")) or Path(model).exists():
        return model, None
    name, _, revision = model.partition("@")
    return name, revision or None


def parse_batch(text: str) -> int:
    """Return a size of batches: a number above 0, or `AUTO_BATCH` for `auto`.

    Raises:
        BadConfiguration: the text is neither.
    """
    if text == "auto":
        return AUTO_BATCH
    if not (text.isdecimal() and int(text)):
        raise BadConfiguration(f"--batch takes a number above 0, or auto, not {text!r}")
    return int(text)


def parse_prices(text: str) -> TokenPrices | None:
    """Return prices given as `PROMPT/OUTPUT`, for a million tokens each.

    Raises:
        BadConfiguration: the text is no such pair of numbers.
    """
    if not text:
        return None
    first, _, second = text.partition("/")
    try:
        prices = TokenPrices(prompt=float(first), output=float(second))
    except ValueError:
        raise BadConfiguration(
            f"--price takes PROMPT/OUTPUT for a million tokens, not {text!r}"
        ) from None
    return prices


def loop_options(
    overlap: str,
    *,
    forced: bool,
    compile_seconds: float,
    run_seconds: float,
    prefix_cache: bool = False,
) -> LoopOptions:
    """Return how the generation loop is to work.

    Args:
        overlap: What happens beside the model's passes: `both`, `compile`, `mask` or
            `none`.
        forced: Whether tokens that are the only way on are taken unasked.
        compile_seconds: Deadline of one compile.
        run_seconds: Deadline of everything after it.
        prefix_cache: Whether what prompts begin with in common is read once.

    Raises:
        BadConfiguration: there is no such overlap.
    """
    if overlap not in _OVERLAPS:
        raise BadConfiguration(f"--overlap {overlap!r}: say {', '.join(_OVERLAPS)}")
    compiles, masks = _OVERLAPS[overlap]
    return LoopOptions(
        overlap_compile=compiles,
        overlap_mask=masks,
        forced=forced,
        prefix_cache=prefix_cache,
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
    )
