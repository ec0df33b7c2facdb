"""Writing a `tokenizer.json` for a tokenizer that came in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.core.json_types import Json

#: What SentencePiece writes for a space.
SPACE: Final = "▁"
#: The step of a `tokenizer.json` that writes spaces so.
MARKED_SPACES: Final[dict[str, Json]] = {
    "type": "Replace",
    "pattern": {"String": " "},
    "content": SPACE,
}
_BYTE_LEVEL: Final[dict[str, Json]] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def byte_level_json(
    *,
    vocabulary: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    added: Mapping[int, tuple[str, bool]],
    split: Sequence[Json],
    whole_first: bool,
) -> dict[str, Json]:
    """Return a byte-level tokenizer.

    Args:
        vocabulary: The id of every token by its text, one character a byte.
        merges: The pairs of tokens that are joined, in order.
        added: By id, the text of each added token and whether it is special.
        split: How a text is cut before bytes are merged.
        whole_first: Whether a piece that is itself a token is taken as it is, without
            merging (what tiktoken does).
    """
    model: dict[str, Json] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": whole_first,
        # The library numbers added tokens anew unless they stand here as well.
        "vocab": {**vocabulary, **{text: n for n, (text, _) in added.items()}},
        # A token of characters for bytes holds no space, and texts load faster.
        "merges": [" ".join(pair) for pair in merges],
    }
    steps: dict[str, Json] = {
        "type": "Sequence",
        "pretokenizers": [*split, _BYTE_LEVEL],
    }
    return {
        **_frame(added),
        "normalizer": None,
        "pre_tokenizer": steps,
        "decoder": _BYTE_LEVEL,
        "model": model,
    }


def sentencepiece_json(
    model: Mapping[str, Json], added: Mapping[int, tuple[str, bool]]
) -> dict[str, Json]:
    """Return a SentencePiece tokenizer that puts no space before a text.

    Args:
        model: The vocabulary, with how it is applied.
        added: By id, the text of each added token and whether it is special.
    """
    back: dict[str, Json] = {
        "type": "Replace",
        "pattern": {"String": SPACE},
        "content": " ",
    }
    steps: list[Json] = [back, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return {
        **_frame(added),
        "normalizer": MARKED_SPACES,
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": steps},
        "model": dict(model),
    }


def all_merges(order: Iterable[str]) -> list[tuple[str, str]]:
    """Return every way to join two tokens to a third, in the order of the third.

    Both tiktoken and SentencePiece join the neighbours whose whole comes first,
    however it is split; `tokenizer.json` lists pairs instead.

    Example:
        >>> all_merges(["a", "b", "ab"])
        [('a', 'b')]
    """
    tokens = list(order)
    rank = {token: place for place, token in enumerate(tokens)}
    merges: list[tuple[str, str]] = []
    for token in tokens:
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        known = [pair for pair in halves if pair[0] in rank and pair[1] in rank]
        known.sort(key=lambda pair: (rank[pair[0]], rank[pair[1]]))
        merges += known
    return merges


def _frame(added: Mapping[int, tuple[str, bool]]) -> dict[str, Json]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "added_tokens": [
            {
                "id": number,
                "content": text,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": special,
            }
            for number, (text, special) in sorted(added.items())
        ],
    }
