"""Writing a `tokenizer.json` for what came as something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.core.json_types import UntypedJson

#: What SentencePiece writes for a space.
SPACE: Final = "▁"
#: The step of a `tokenizer.json` that writes spaces so.
MARKED_SPACES: Final = {
    "type": "Replace",
    "pattern": {"String": " "},
    "content": SPACE,
}
_BYTE_LEVEL: Final = {
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
    split: Sequence[UntypedJson],
    whole_first: bool,
) -> dict[str, UntypedJson]:
    """Return a byte-level tokenizer.

    `added` gives text and whether it is special by id; `split` how a text is cut
    before bytes are merged; `whole_first` takes a cut that is itself a token as it
    is, without merging (what tiktoken does).
    """
    model = {
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
        "merges": [" ".join(each) for each in merges],
    }
    steps = {"type": "Sequence", "pretokenizers": [*split, _BYTE_LEVEL]}
    return {
        **_frame(added),
        "normalizer": None,
        "pre_tokenizer": steps,
        "decoder": _BYTE_LEVEL,
        "model": model,
    }


def sentencepiece_json(
    model: Mapping[str, UntypedJson], added: Mapping[int, tuple[str, bool]]
) -> dict[str, UntypedJson]:
    """Return a SentencePiece tokenizer that puts no space before a text."""
    back = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
    steps = [back, {"type": "ByteFallback"}, {"type": "Fuse"}]
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
    """
    tokens = list(order)
    rank = {token: place for place, token in enumerate(tokens)}
    merges: list[tuple[str, str]] = []
    for token in tokens:
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        known = [each for each in halves if each[0] in rank and each[1] in rank]
        known.sort(key=lambda each: (rank[each[0]], rank[each[1]]))
        merges += known
    return merges


def _frame(added: Mapping[int, tuple[str, bool]]) -> dict[str, UntypedJson]:
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
