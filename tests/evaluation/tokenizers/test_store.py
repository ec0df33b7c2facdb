"""Getting a tokenizer: ids, bytes, padding, the cache, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from curation.download.acquire import FetchSettings
from curation.system.atomic_files import UNFINISHED
from curation.system.errors import BadConfiguration, BadData, NoInput, Unavailable
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.gguf import from_gguf
from evaluation.tokenizers.vocabulary import check_tokenizer
from evaluation.tokenizers.wheels import from_tiktoken, pinned_tokenizers
from tests.evaluation.tokenizers import made


@pytest.fixture
def settings(tmp_path: Path) -> FetchSettings:
    """Keep everything below one folder, and ask nobody."""
    return FetchSettings(mirror=None, cache=tmp_path / "cache", offline=True)


def test_a_byte_level_tokenizer_has_bytes_special_ids_and_padding(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """Special ids have no bytes, added ones have, padding counts and has no entry."""
    files = get_tokenizer(str(made.byte_level(tmp_path / "a", padding=9)), settings)
    known = files.token_bytes()
    assert files.kind == "byte_level"
    assert files.special_ids == (0, 1)
    assert files.eos_id == 1
    assert known[:2] == [None, None]
    assert known[-1] == made.ADDED.encode()
    assert files.vocab_size == len(known) + 9
    assert b" " in known
    assert files.encoder()([made.ADDED]) == [[len(known) - 1]]


def test_tiktoken_joins_what_comes_first(tmp_path: Path) -> None:
    """Bytes are merged by rank, and the end token stands behind the last."""
    files = made.tiktoken_files(tmp_path)
    assert files.kind == "tiktoken"
    assert files.eos_id == len(made.ranks())
    assert files.special_ids == (files.eos_id,)
    assert files.token_bytes() == [*made.ranks(), None]
    ids = files.encoder()(["abc the"])[0]
    assert ids is not None
    assert [files.token_bytes()[each] for each in ids] == [b"abc", b" ", b"the"]


def test_a_tokenizer_is_made_once_and_mended(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """The second call reads the cache; what is damaged or changed is made anew."""
    where = made.byte_level(tmp_path / "a")
    first = get_tokenizer(str(where), settings)
    stamp = first.tokens.stat().st_mtime_ns
    assert get_tokenizer(str(where), settings) == first
    assert first.tokens.stat().st_mtime_ns == stamp
    content = first.tokens.read_bytes()
    first.tokens.write_bytes(content[:-9])
    assert get_tokenizer(str(where), settings) == first
    assert first.tokens.read_bytes() == content
    (where / "config.json").write_text(json.dumps({"vocab_size": 5000}))
    changed = get_tokenizer(str(where), settings)
    assert (changed.vocab_size, changed.folder == first.folder) == (5000, False)
    assert not list(first.folder.parent.glob(".*"))


def test_what_a_killed_process_left_is_removed(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """A half-written folder is neither read nor kept."""
    where = made.byte_level(tmp_path / "a")
    first = get_tokenizer(str(where), settings)
    left = first.folder.parent / f".{first.folder.name}.1{UNFINISHED}"
    first.folder.rename(left)
    assert get_tokenizer(str(where), settings) == first
    assert not left.exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", b"{", "not a tokenizer.json"),
        ("tokenizer.json", b'{"model": {"vocab": {}}}', "no certain bytes"),
        (
            "tokenizer.json",
            b'{"model": {"type": "WordPiece", "vocab": {"a": 0}}}',
            "WordPiece",
        ),
        ("tokenizer.json", b"[" * 100_000, "not a tokenizer.json"),
        (
            "tokenizer.json",
            b'{"model": {"vocab": {"a": 99999999}}, "decoder": {"type": "ByteLevel"}}',
            "no ids of a vocabulary",
        ),
        (
            "tokenizer.json",
            b'{"model": {"vocab": {"a": -1}}, "decoder": {"type": "ByteLevel"}}',
            "no ids of a vocabulary",
        ),
        ("tokenizer.model", b"\x0a\x01", "not a tokenizer.json"),
    ],
)
def test_what_is_no_tokenizer_is_named(
    tmp_path: Path, settings: FetchSettings, name: str, content: bytes, said: str
) -> None:
    """Broken and hostile files end in one line that says which and why."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadData, match=said) as caught:
        get_tokenizer(str(path), settings)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"YQ== 0\nYg== 99999999\n", "no ids"),
        (b"YQ== 0\n", "no token for 94 ASCII characters"),
        (b"!!! 0\n", "not a tiktoken file"),
    ],
)
def test_what_is_no_tiktoken_file_is_refused(content: bytes, said: str) -> None:
    """Ranks that are no ids, text that is no base64, too few tokens."""
    with pytest.raises(BadData, match=said):
        check_tokenizer(
            from_tiktoken(
                content, split=[], special=["e"], eos="e", vocab_size=0, where="made"
            ),
            "made",
        )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("tokens", [1], "no byte-level tokenizer"),
        ("token_type", [1, 1], "no byte-level tokenizer"),
        ("model", "llama", "no byte-level tokenizer"),
        ("pre", "chess", "'chess', which is not known"),
    ],
)
def test_a_gguf_file_without_a_known_tokenizer_is_refused(
    tmp_path: Path, key: str, value: object, said: str
) -> None:
    """Numbers for texts, too many of them, another kind, another way to cut."""
    keys: dict[str, object] = {
        "model": "gpt2",
        "pre": "smollm",
        "tokens": ["a"],
        "token_type": [1],
        "merges": ["a a"],
        "eos_token_id": 0,
        key: value,
    }
    named = [(f"tokenizer.ggml.{name}", each) for name, each in keys.items()]
    with pytest.raises((BadConfiguration, BadData), match=said):
        from_gguf(made.gguf(tmp_path / "a.gguf", named), "made")


def test_a_config_that_pads_beyond_measure_is_refused(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """A mask of so many ids would fill the memory of every engine."""
    where = made.byte_level(tmp_path / "a", padding=10**12)
    with pytest.raises(BadData, match="no ids of a vocabulary"):
        get_tokenizer(str(where), settings)


def test_an_end_token_that_is_no_id_is_refused(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """Engines would look for it behind the end of every mask."""
    where = made.byte_level(tmp_path / "a")
    (where / "tokenizer_config.json").write_text('{"eos_token_id": 10000}')
    with pytest.raises(BadData, match="end token 10000 is none of its ids"):
        get_tokenizer(str(where), settings)


def test_no_end_token_is_said(tmp_path: Path, settings: FetchSettings) -> None:
    """Where nothing says what ends an answer, the line says where to put it."""
    where = made.byte_level(tmp_path / "a")
    (where / "tokenizer_config.json").write_text("{}")
    text = (where / "tokenizer.json").read_text().replace(made.END, "<|stop|>")
    (where / "tokenizer.json").write_text(text)
    with pytest.raises(BadData, match="which token ends an answer: put"):
        get_tokenizer(str(where), settings)


@pytest.mark.parametrize(
    ("name", "said"),
    [("smolm2", "did you mean smollm2"), ("no such one", "known: smollm2, llama3.1")],
)
def test_an_unknown_name_is_said(settings: FetchSettings, name: str, said: str) -> None:
    """A name that is nothing gets the nearest, or the list."""
    with pytest.raises(NoInput, match=said):
        get_tokenizer(name, settings)


def test_without_network_a_known_name_cannot_be_had(settings: FetchSettings) -> None:
    """Offline and not in the cache: said, not tried."""
    with pytest.raises(Unavailable, match="smollm2 is neither mirrored nor cached"):
        get_tokenizer("smollm2", settings)


def test_an_empty_folder_is_said(tmp_path: Path, settings: FetchSettings) -> None:
    """A folder without a tokenizer lists the names that would do."""
    with pytest.raises(NoInput, match=r"no tokenizer\.json in it"):
        get_tokenizer(str(tmp_path), settings)


def test_a_text_that_cannot_be_spelled_has_no_ids(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """A vocabulary may lack a byte; the text that needs it says so, others go on."""
    where = made.byte_level(tmp_path / "a")
    given = json.loads((where / "tokenizer.json").read_bytes())
    # U+0104 stands for the byte 4.
    number = given["model"]["vocab"].pop("\u0104")
    given["model"]["vocab"]["ab ab"] = number
    (where / "tokenizer.json").write_text(json.dumps(given))
    encoder = get_tokenizer(str(where), settings).encoder()
    assert encoder(["\x04", "a"])[0] is None
    assert encoder(["\x04", "a"])[1]


def test_a_tokenizer_needs_no_model_library(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """Neither transformers nor torch is imported by getting and encoding."""
    where = made.byte_level(tmp_path / "a")
    script = (
        "import sys; from pathlib import Path;"
        "from curation.download.acquire import FetchSettings;"
        "from evaluation.tokenizers import get_tokenizer;"
        "s = FetchSettings(mirror=None, cache=Path(sys.argv[2]), offline=True);"
        "get_tokenizer(sys.argv[1], s).encoder()(['a']);"
        "sys.exit(bool({'torch', 'transformers', 'gguf'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(where), str(tmp_path / "c")], check=False
    )
    assert done.returncode == 0


def test_a_tokenizer_that_its_library_cannot_read_is_said(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """Merges of no tokens, ids that it gives anew: one line, and no traceback."""
    where = made.byte_level(tmp_path / "a")
    given = json.loads((where / "tokenizer.json").read_bytes())
    for member, value, said in (
        ("model", given["model"] | {"merges": [["no", "such"]]}, "out of vocabulary"),
        ("added_tokens", _renumbered(given["added_tokens"]), "of another"),
    ):
        broken = json.dumps({**given, member: value})
        (where / "tokenizer.json").write_text(broken)
        files = get_tokenizer(str(where), settings)
        with pytest.raises(BadData, match=f"tokenizers cannot read it .*{said}"):
            files.encoder()


def _renumbered(added: list[dict[str, object]]) -> list[dict[str, object]]:
    return [*added[:-1], added[-1] | {"id": 999}]


def test_the_known_tokenizers_are_documented() -> None:
    """docs/evaluation.md names each with its size and its wheel."""
    text = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text()
    for name, pinned in pinned_tokenizers().items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert f"{pinned.pin.repository} {pinned.pin.commit}" in row
        size = pinned.facts.vocab_size
        assert not size or f"{size:,}" in row
