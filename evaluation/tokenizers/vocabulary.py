"""A tokenizer read from any format: its ids, bytes and `tokenizer.json`.

Regular expressions for cutting texts are those that the tokenizers' authors publish.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from curation.core.json_types import Json
from curation.system.errors import BadConfiguration, BadData

#: Bytes that every JSON text of ASCII may hold.
_PRINTABLE: Final = frozenset(range(0x20, 0x7F))
#: No vocabulary has more ids: the largest known have 262,144.
_MOST: Final = 1 << 22
#: What ends an answer, where the files do not say; best first.
_END_NAMES: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"),
    *("<|end_of_text|>", "</s>", "<eos>"),
)


class VocabularyKind(StrEnum):
    """How the bytes of a token are written in its source."""

    BYTE_LEVEL = "byte_level"
    """A `tokenizer.json` whose every character stands for one byte (GPT-2)."""
    SENTENCEPIECE = "sentencepiece"
    """Text with U+2581 for a space, and `<0x0A>` for a byte that no text has."""
    TIKTOKEN = "tiktoken"
    """Bytes, in the order in which they are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTokenizer:
    """One tokenizer, ready to be written to the cache.

    Example:
        >>> ParsedTokenizer(
        ...     kind=VocabularyKind.TIKTOKEN,
        ...     tokenizer_json=b"{...}",
        ...     token_bytes=[b"a", b"b", b"ab", None],
        ...     vocab_size=4,
        ...     eos_id=3,
        ...     special_ids=(3,),
        ... )
    """

    kind: VocabularyKind
    #: A `tokenizer.json` as the library `tokenizers` reads it.
    tokenizer_json: bytes
    #: The bytes of every token by id; None for a special or an unused id.
    token_bytes: Sequence[bytes | None]
    #: Number of ids that a mask covers: at least the tokens, with a model's padding.
    vocab_size: int
    eos_id: int
    special_ids: tuple[int, ...]


def check_tokenizer(parsed: ParsedTokenizer, where: str) -> ParsedTokenizer:
    """Return a tokenizer if it can be measured with.

    Args:
        parsed: The tokenizer.
        where: What messages call it.

    Raises:
        BadData: it cannot spell JSON, has too many ids, or an end token that is none.
    """
    spelled = {
        content[0] for content in parsed.token_bytes if content and len(content) == 1
    }
    missing = sorted(_PRINTABLE - spelled)
    if missing:
        examples = "".join(map(chr, missing[:10]))
        raise BadData(
            f"it has no token for {len(missing)} ASCII characters ({examples})",
            where,
            "choose a tokenizer that can spell JSON",
        )
    id_count((parsed.vocab_size - 1,), where)
    if not 0 <= parsed.eos_id < parsed.vocab_size:
        raise BadData(f"its end token {parsed.eos_id} is none of its ids", where)
    return parsed


def id_count(ids: Collection[int], where: str) -> int:
    """Return the number of ids up to the largest of these.

    Raises:
        BadData: they are no ids of a vocabulary.
    """
    largest = max(ids)
    if min(ids) < 0 or largest >= _MOST:
        raise BadData("its ids are no ids of a vocabulary", where)
    return largest + 1


def end_token(
    configs: Sequence[Mapping[str, Json]], ids: Mapping[str, int], where: str
) -> int:
    """Return the id of the token that ends an answer.

    Args:
        configs: The contents of `tokenizer_config.json`, `generation_config.json` and
            `config.json`, where there are such; the first that names it decides.
        ids: The id of every token by its text.
        where: What messages call the tokenizer.

    Raises:
        BadData: nothing says which it is.
    """
    for config in configs:
        named = config.get("eos_token")
        name = named.get("content") if isinstance(named, dict) else named
        if isinstance(name, str) and name in ids:
            return ids[name]
        number = config.get("eos_token_id")
        first = number[0] if isinstance(number, list) and number else number
        if isinstance(first, int):
            return first
    for name in _END_NAMES:
        if name in ids:
            return ids[name]
    raise BadData(
        "nothing says which token ends an answer",
        where,
        'put {"eos_token": "..."} into tokenizer_config.json beside it',
    )


def padded_size(configs: Sequence[Mapping[str, Json]], tokens: int) -> int:
    """Return the number of ids that a model scores: its config's, or the tokens."""
    size = tokens
    for config in configs:
        inner = config.get("text_config")
        for table in (config, inner if isinstance(inner, dict) else {}):
            config_size = table.get("vocab_size")
            if isinstance(config_size, int):
                size = max(size, config_size)
    return size


_FIRST_OTHER: Final = 0x100
_THEMSELVES: Final = (range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100))


def _alphabet() -> str:
    free = iter(range(_FIRST_OTHER, 2 * _FIRST_OTHER))
    return "".join(
        chr(byte if any(byte in printable for printable in _THEMSELVES) else next(free))
        for byte in range(256)
    )


#: The character of byte i at index i.
CHARACTERS: Final = _alphabet()
_BYTES: Final = {character: byte for byte, character in enumerate(CHARACTERS)}
_TO_CHARACTERS: Final = dict(enumerate(CHARACTERS))


def to_bytes(token: str) -> bytes | None:
    """Return the bytes of a token; None if it holds a character of no byte."""
    try:
        return bytes(map(_BYTES.__getitem__, token))
    except KeyError:
        return None


def to_token(content: bytes) -> str:
    """Return bytes as a byte-level vocabulary writes them."""
    return content.decode("latin-1").translate(_TO_CHARACTERS)


_GPT_2: Final = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)
_CONTRACTED: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS: Final = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_OTHER_TEXT: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CL100K: Final = rf"{_CONTRACTED}|{_WORDS}|\p{{N}}{{1,3}}|{_OTHER_TEXT}"


def _split_by(pattern: str) -> list[Json]:
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
#: By the names of the pinned tokenizers: that of a GGUF file, and tiktoken's.
_STEPS: Final[dict[str, Sequence[Json]]] = {
    "smollm": [*_DIGITS, *_split_by(_GPT_2)],
    "cl100k": _split_by(_CL100K),
}


def pre_tokenizer(name: str, where: str) -> Sequence[Json]:
    """Return how a tokenizer cuts a text, by its well-known name.

    Raises:
        BadConfiguration: the name is not known here.
    """
    steps = _STEPS.get(name)
    if steps is None:
        raise BadConfiguration(
            f"it cuts texts in a way called {name!r}, which is not known here",
            where,
            f"known: {', '.join(sorted(_STEPS))}; or use its tokenizer.json",
        )
    return steps


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
        "normalizer": None,
        "pre_tokenizer": steps,
        "decoder": _BYTE_LEVEL,
        "model": model,
    }


def all_merges(order: Iterable[str]) -> list[tuple[str, str]]:
    """Return every way to join two tokens to a third, in the order of the third.

    tiktoken joins the neighbours whose whole comes first, however it is split;
    `tokenizer.json` lists pairs instead.

    Example:
        >>> all_merges(["a", "b", "ab"])
        [('a', 'b')]
    """
    tokens = list(order)
    rank = {token: place for place, token in enumerate(tokens)}
    merges: list[tuple[str, str]] = []
    for token in tokens:
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        pairs = [pair for pair in halves if pair[0] in rank and pair[1] in rank]
        pairs.sort(key=lambda pair: (rank[pair[0]], rank[pair[1]]))
        merges += pairs
    return merges
