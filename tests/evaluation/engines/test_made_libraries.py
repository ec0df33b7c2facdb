"""Engine files over made libraries: what no development environment has installed."""

from __future__ import annotations

import ctypes
import importlib.metadata
import runpy
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import pytest

from evaluation.setup.engine_files import choose_options, find_engine
from tests.evaluation.engines.contract import allowed, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

np = pytest.importorskip("numpy")
_END, _WORD = 33, [1, 9]


class _State:
    """The grammar of one text in a library: its tokens, then the end."""

    place: int | None = 0

    def next(self, place: int | None) -> list[int]:
        return [[_WORD[0]], [_WORD[1]], [_END]][place or 0]

    def deep_copy(self) -> Self:
        return type(self)()

    def take(self, token: int) -> bool:
        good = self.place is not None and token in self.next(self.place)
        self.place = (self.place or 0) + good
        return good


class _Interpreter(_State):
    """Of llguidance before 0.6: a byte a token, and reasons to stop."""

    reason = "NoExtension"

    def stop_reason(self) -> str:
        return self.reason if self.place == len(_WORD) else "NotStopped"

    def compute_mask(self) -> tuple[bytes, None]:
        return bytes(token in self.next(self.place) for token in range(40)), None

    def commit_token(self, token: int) -> None:
        if token == 39:
            raise ValueError("limit")
        if not self.take(token):
            raise ValueError("token doesn't satisfy the grammar")


class _Index(_State):
    """Of outlines-core 0.1: states by number, and none behind the end."""

    def get_initial_state(self) -> int:
        return 0

    def get_allowed_tokens(self, state: int) -> list[int] | None:
        return None if state == len(_WORD) else self.next(state)

    def get_next_state(self, state: int, token: int) -> int | None:
        return state + 1 if token in self.next(state) and token != _END else None

    def is_final_state(self, state: int) -> bool:
        return state == len(_WORD)


class _Filled(_State):
    """Of XGrammar: fills a mask where not everything is allowed."""

    everything = False

    def fill_next_token_bitmask(self, bits: bytearray) -> bool:
        bits[:] = bytes(len(bits))
        for token in self.next(self.place):
            bits[token >> 3] |= 1 << (token & 7)
        return not self.everything

    def accept_token(self, token: int) -> bool:
        return self.take(token)

    def find_jump_forward_string(self) -> str:
        return "ba"


class _Kbnf(_State):
    """Of Formatron: allowed tokens as words of 32 bits."""

    def is_finished(self) -> bool:
        return self.place == len(_WORD)

    def compute_allowed_token_ids(self) -> None:
        self.allowed = self.next(self.place)

    def fill_torch_bitmask(self, place: int) -> None:
        words = (ctypes.c_uint32 * 2).from_address(place)
        for token in self.allowed:
            words[token // 32] |= 1 << token % 32

    def try_accept_new_token(self, token: int) -> None:
        if token == 39:
            raise ValueError("lost")
        if not self.take(token):
            raise ValueError("Input token is rejected by the engine")


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


def _apply(state: _State, array: Any) -> None:  # noqa: ANN401 (a reference)
    kinds = [("id", np.int32), ("logit", np.float32), ("p", np.float32)]
    found = array._obj
    raw = (ctypes.c_char * (12 * found.size)).from_address(found.data)
    tokens = np.frombuffer(raw, dtype=kinds)
    tokens["logit"][~np.isin(tokens["id"], state.next(state.place))] = -np.inf


def _llama(size: int) -> dict[str, Any]:
    def to_grammar(schema: str, order: Sequence[str] = ()) -> str:
        return f"root ::= {schema}{[*order]}\nspace ::= | [ ]\nend ::= space"

    said: list[bytes] = []

    def parsed(_vocab: object, text: bytes, root: bytes) -> _State | None:
        said.append(text)
        return None if b"bad" in text or root != b"root" else _State()

    parameters = SimpleNamespace(vocab_only=False)
    return {
        "llama_cpp": SimpleNamespace(
            said=said,
            llama_grammar=SimpleNamespace(json_schema_to_gbnf=to_grammar),
            llama_model_default_params=lambda: parameters,
            llama_model_load_from_file=lambda _, it: it.vocab_only and size < 99,
            llama_model_get_vocab=lambda model: model,
            llama_vocab_n_tokens=lambda _: 40,
            llama_token_data_array=_Array,
            llama_token_data_p=ctypes.c_void_p,
            llama_sampler_init_grammar=parsed,
            llama_sampler_clone=lambda _: _State(),
            llama_sampler_free=lambda _: None,
            llama_sampler_apply=_apply,
            llama_sampler_accept=lambda state, token: state.take(token),
        )
    }


def _same(value: Any, *_: object, **__: object) -> Any:  # noqa: ANN401 (anything)
    return value


def _outlines() -> dict[str, Any]:
    reduced = SimpleNamespace(reduce=lambda: "fsm")
    pattern = SimpleNamespace(to_fsm=lambda: reduced)
    regex = SimpleNamespace(
        byte_symbol=lambda byte: f"<{byte}>",
        Vocabulary=SimpleNamespace(from_dict=_same),
        make_byte_level_fsm=_same,
        make_deterministic_fsm=lambda _: (SimpleNamespace(fsm_info=0), None),
        Index=lambda *_: _Index(),
    )
    schemas = SimpleNamespace(build_regex_from_schema=_same)
    return {
        "interegular": SimpleNamespace(parse_pattern=lambda _: pattern),
        "outlines_core.fsm": SimpleNamespace(json_schema=schemas, regex=regex),
    }


def _formatron() -> dict[str, Any]:
    built = SimpleNamespace(_engine=_Kbnf())
    builder = SimpleNamespace(
        json=_same, append_str=lambda _: None, build=lambda *_: built
    )
    return {
        "kbnf": SimpleNamespace(Vocabulary=lambda *it: it, Token=_same),
        "formatron": SimpleNamespace(),
        "formatron.formats": SimpleNamespace(json=SimpleNamespace()),
        "formatron.formatter": SimpleNamespace(FormatterBuilder=lambda: builder),
        "formatron.schemas": SimpleNamespace(
            json_schema=SimpleNamespace(create_schema=_same)
        ),
    }


def _xgrammar() -> dict[str, Any]:
    def compiled(
        _schema: str, *, any_whitespace: bool = True, strict_mode: bool = True
    ) -> tuple[bool, bool]:
        return any_whitespace, strict_mode

    compiler = SimpleNamespace(compile_json_schema=compiled)
    return {
        "torch": SimpleNamespace(
            int32=None,
            frombuffer=lambda bits, **_: SimpleNamespace(view=lambda *_: bits),
        ),
        "xgrammar": SimpleNamespace(
            GrammarMatcher=lambda _: _Filled(),
            Grammar=SimpleNamespace(from_ebnf=_same),
            TokenizerInfo=lambda *it, **named: (it, named),
            VocabType=SimpleNamespace(RAW=0),
            GrammarCompiler=lambda *_, **__: compiler,
        ),
    }


def _llguidance() -> dict[str, Any]:
    return {
        "llguidance": SimpleNamespace(
            LLTokenizer=_same,
            TokenizerWrapper=_same,
            JsonCompiler=lambda **named: SimpleNamespace(compile=_same, named=named),
            LLInterpreter=lambda *_, **__: _Interpreter(),
        )
    }


_LIBRARIES: dict[str, Any] = {
    "llguidance": lambda _: _llguidance(),
    "outlines_core": lambda _: _outlines(),
    "llama_cpp": _llama,
    "formatron": lambda _: _formatron(),
    "xgrammar": lambda _: _xgrammar(),
}


def _engine(
    name: str, patch: pytest.MonkeyPatch, size: int = 64, **options: object
) -> tuple[Any, Any]:
    """Load an engine over its made library; also return what its file defines."""
    for module, content in _LIBRARIES[name](size).items():
        patch.setitem(sys.modules, module, content)
    patch.setattr(importlib.metadata, "version", lambda _: "0.1.26")
    file = find_engine(name)
    members = runpy.run_path(str(file.path))
    tokens = [None, b"a", b"b", b"b", "\u00e9".encode(), b"\xc3", *[None] * 27, b"e"]
    tokenizer = SimpleNamespace(
        token_bytes=tokens, vocab_size=size, eos_id=_END, special_ids=(0,)
    )
    tokenizer.tokenizer_json = "no file"
    chosen = choose_options(file, "vendor", {}) | options
    return members["load"](tokenizer, chosen), members


@pytest.mark.parametrize("size", [64, 65])
@pytest.mark.parametrize("name", _LIBRARIES)
def test_a_matcher_says_what_its_library_allows(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bit a token in words of 32; what a mask lacks is not taken."""
    engine, _ = _engine(name, monkeypatch, size)
    assert engine.version.startswith("0.1.26")
    grammar = engine.compile('{"any": 1}')
    assert walk(engine.start(grammar), _WORD) == "accepted"
    assert walk(engine.start(grammar), _WORD[:1]) == "unfinished"
    assert walk(engine.start(grammar), [_WORD[0], 10]) == "blocked"
    matcher = engine.start(grammar)
    assert len(matcher.mask()) == (8 if size == 64 else 12)
    assert not matcher.commit(_WORD[1])
    for token, following in zip(_WORD, [_WORD[1], _END], strict=True):
        assert matcher.commit(token)
        bits = matcher.mask()
        assert [it for it in range(60) if allowed(bits, it)] == [following]


def test_a_limit_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another error of a commit is raised, and so is another reason to stop."""
    for name in ("llguidance", "formatron"):
        engine, _ = _engine(name, monkeypatch)
        with pytest.raises(ValueError, match=r"limit|lost"):
            engine.start(engine.compile("{}")).commit(39)
    engine, _ = _engine("llguidance", monkeypatch)
    monkeypatch.setattr(_Interpreter, "reason", "MaxTokens")
    matcher = engine.start(engine.compile("{}"))
    assert all(map(matcher.commit, _WORD))
    assert not matcher.commit(_END)
    with pytest.raises(RuntimeError, match="stopped: MaxTokens"):
        matcher.mask()


def test_an_old_llguidance_takes_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both separators or none; every byte is a token, and a special begins with 255."""
    engine, _ = _engine("llguidance", monkeypatch, item_separator=",")
    assert engine._compiler.named == {}
    both: dict[str, Any] = {
        "item_separator": ",",
        "key_separator": ":",
        "coerce_one_of": False,
    }
    engine, _ = _engine("llguidance", monkeypatch, **both)
    assert engine._compiler.named == {"separators": (",", ":"), "coerce_one_of": False}
    with pytest.raises(ValueError, match="no option lenient"):
        _engine("llguidance", monkeypatch, lenient=True)
    spelling = engine._tokens
    assert spelling.tokens[:3] == [b"\xff<0>", b"a", b"b"]
    assert len(spelling.tokens) == 64 + 256 - 4
    assert spelling(b"a\xc3\xa9\xc3b") == [1, 4, 5, 3]


def test_an_old_outlines_spells_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids by text, those of one text together, without the end; no depth is asked."""
    engine, _ = _engine("outlines_core", monkeypatch)
    assert engine._vocabulary == {"a": [1], "b": [2, 3], "\u00e9": [4], "<195>": [5]}
    with pytest.raises(ValueError, match="no option max_recursion_depth"):
        _engine("outlines_core", monkeypatch, max_recursion_depth=3)
    guide = engine.start(engine.compile("{}"))
    assert all(map(guide.commit, [*_WORD, _END]))
    assert (guide.may_end(), guide.commit(_END)) == (True, False)
    assert allowed(guide.mask(), _END)


def test_a_grammar_of_llama_cpp_is_the_converter_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But for white space and the order of members, where these are asked for."""
    chosen: dict[str, Any] = {"whitespace": r"[\s]", "property_order": "a,,b"}
    for options, text in (
        ({}, "root ::= {}[]\nspace ::= | [ ]\nend ::= space"),
        (chosen, "root ::= {}['a', 'b']\nspace ::= [\\s]\nend ::= space"),
    ):
        engine, _ = _engine("llama_cpp", monkeypatch, **options)
        engine.compile("{}")
        assert engine.library.said == [text.encode()]
    with pytest.raises(ValueError, match="cannot parse the grammar"):
        engine.compile("bad")
    with pytest.raises(RuntimeError, match="does not load this vocabulary"):
        _engine("llama_cpp", monkeypatch, 99)


def test_a_mask_that_xgrammar_need_not_fill_allows_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And forced text is cut into tokens."""
    options: dict[str, Any] = {"any_whitespace": False, "strict_mode": None}
    engine, _ = _engine("xgrammar", monkeypatch, **options)
    assert engine.compile("{}") == (False, True)
    monkeypatch.setattr(_Filled, "everything", True)
    matcher = engine.start(None)
    assert matcher.may_end()
    assert matcher.mask() == b"\xff" * 8
    assert matcher.forced() == [3, 1]
    monkeypatch.setattr(_Filled, "everything", False)
    assert not engine.start(None).may_end()


def test_an_old_xgrammar_takes_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot do is said; a refusal is the same at any time of day."""
    with pytest.raises(ValueError, match=r"0\.1\.26 has no option any_order"):
        _engine("xgrammar", monkeypatch, any_order=True)
    with pytest.raises(ValueError, match="come together"):
        _engine("xgrammar", monkeypatch, item_separator=",")
    engine, _ = _engine("xgrammar", monkeypatch, any_order=False)

    def refused(_schema: str) -> None:
        raise RuntimeError("[12:34:56] /cpp/here.cc:1: refused")

    engine._compiler.compile_json_schema = refused
    with pytest.raises(RuntimeError, match=r"^/cpp/here\.cc:1: refused$"):
        engine.compile("{}")


def test_forced_text_is_cut_into_the_longest_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What no token spells ends it; it takes a time that is linear in the text."""

    class Counted(dict[bytes, int]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            self.asked += 1
            return super().__contains__(key)

    _, members = _engine("xgrammar", monkeypatch)
    ids = Counted({b"a": 0, b"ab": 1, b"abc": 2, b"c": 3})
    engine, cut = SimpleNamespace(ids=ids, longest=3), members["parse_tokens"]
    assert (cut("abac", engine), cut("abz", engine), cut("", engine)) == (
        *([1, 0, 3], [1], []),
    )
    ids.asked = 0
    assert len(cut("a" * 2_000, engine)) == 2_000
    assert ids.asked <= 3 * 2_000
