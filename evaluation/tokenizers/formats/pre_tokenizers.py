"""How known byte-level tokenizers cut a text before they merge bytes.

Regular expressions are those that the tokenizers' authors publish; each is a list of
`pre_tokenizers` as `tokenizer.json` writes them, without the last, which is always
the mapping of bytes to characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json

_GPT_2: Final = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)
_CONTRACTED: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS: Final = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CL100K: Final = rf"{_CONTRACTED}|{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
_QWEN: Final = rf"{_CONTRACTED}|{_WORDS}|\p{{N}}|{_REST}"
_UPPER: Final = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER: Final = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_O200K: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTED}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTED}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_TEKKEN: Final = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def split_by(pattern: str) -> list[Json]:
    """Return the one step that cuts at every match of a regular expression."""
    return [
        {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated",
            "invert": False,
        }
    ]


_DIGITS: Final[list[Json]] = [{"type": "Digits", "individual_digits": True}]
#: By the names that GGUF files and tiktoken's encodings use.
_KNOWN: Final[dict[str, Sequence[Json]]] = {
    "gpt-2": split_by(_GPT_2),
    "default": split_by(_GPT_2),
    "smollm": [*_DIGITS, *split_by(_GPT_2)],
    "starcoder": [*_DIGITS, *split_by(_GPT_2)],
    "cl100k": split_by(_CL100K),
    "llama-bpe": split_by(_CL100K),
    "qwen": split_by(_QWEN),
    "qwen2": split_by(_QWEN),
    "o200k": split_by(_O200K),
    "gpt-4o": split_by(_O200K),
    "tekken": split_by(_TEKKEN),
}


def pre_tokenizer(name: str, where: str) -> Sequence[Json]:
    """Return how a tokenizer cuts a text, by its well-known name.

    Raises:
        BadConfiguration: the name is not known here.
    """
    found = _KNOWN.get(name)
    if found is None:
        raise BadConfiguration(
            f"it cuts texts in a way called {name!r}, which is not known here",
            where,
            f"known: {', '.join(sorted(_KNOWN))}; or use its tokenizer.json",
        )
    return found
