"""Engines keep the contract of `engine_protocol`; what is special about three files."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from evaluation.core.cases import LONG_TEXT, WalkVerdict
from evaluation.setup.engine_files import choose_options, find_engine
from tests.evaluation.engines.contract import TEXTS, examine, walk
from tests.evaluation.measuring import measured, miniature, request_of, sample
from tests.evaluation.small_tokenizer import SmallTokenizer, doubled, small_tokenizer
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson

_ROOT = Path(__file__).parents[3]
_MODULES = {
    "llguidance": "llguidance",
    "lm_format_enforcer": "lmformatenforcer",
    "outlines_core": "outlines_core",
}
TYPE_STRING = '{"type": "string"}'
_ALL = sorted(
    [*_MODULES, "formatron", "guidance", "llama_cpp", "llama_cpp_gbnf", "xgrammar"]
)


def _loaded(name: str, tokenizer: SmallTokenizer, **options: UntypedJson) -> Any:  # noqa: ANN401 (an engine)
    """Load an engine under preset `faithful` with options laid over it."""
    pytest.importorskip(_MODULES[name])
    file = find_engine(name)
    chosen = {**choose_options(file, "faithful", {}), **options}
    return runpy.run_path(str(file.path))["load"](tokenizer, chosen)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "single") for name in _MODULES),
        *((name, "doubled") for name in ("lm_format_enforcer", "outlines_core")),
    ],
)
@pytest.mark.parametrize("preset", ["faithful", "vendor"])
def test_an_engine_keeps_the_contract(
    name: str, kind: str, preset: str, tmp_path: Path
) -> None:
    """All that the driver relies on, also where a vocabulary has letters twice."""
    pytest.importorskip(_MODULES[name])
    tokenizer = doubled() if kind == "doubled" else small_tokenizer(tmp_path)
    file = find_engine(name)
    options = choose_options(file, preset, {})
    found = examine(str(file.path), options, tokenizer, tokenizer.encode)
    does_more = name == "llguidance"
    assert found.pop("version")
    # A mask has a bit for every id, padding included.
    assert found.pop("bits") >= tokenizer.vocab_size
    # Forced tokens are a list where there is such a thing, otherwise None.
    assert (found.pop("forced") is None) is not does_more
    assert found == {
        # A walk through the masks ends where the schema says.
        "verdicts": {
            text: "accepted" if valid else "blocked" for text, valid in TEXTS.items()
        },
        # The end token is in the mask at the end of a document and not before it.
        "ends_at_once": (False, False),
        "ends_at_end": (True, True),
        "special": [],
        "refuses": True,
        # A token that is offered is committed, or refused with nothing changed.
        "offered": [True, False, True] if does_more else None,
        "warnings": [],
    }


@pytest.mark.parametrize(("tokens", "words"), [(31, 1), (32, 1), (33, 2)])
def test_no_engine_allows_every_token(tokens: int, words: int) -> None:
    """Its mask has as many words of 32 bits as the vocabulary needs."""
    load = runpy.run_path(str(find_engine("none").path))["load"]
    matcher = load(SimpleNamespace(vocab_size=tokens), {}).start(None)
    assert matcher.mask() == b"\xff" * 4 * words


@pytest.mark.parametrize("name", _ALL)
def test_has_presets_of_declared_options(name: str) -> None:
    """The three presets know only declared options, with values of their types.

    Under `vendor` every one is null, which leaves it to the library, or empty.
    """
    file = find_engine(name)
    assert list(file.presets) == ["faithful", "vendor", "paper"]
    assert set(file.presets["vendor"].values()) <= {None, ""}
    for preset, options in file.presets.items():
        assert set(options) <= set(file.options)
        again = {
            option: value if isinstance(value, str) else json.dumps(value)
            for option, value in options.items()
        }
        assert choose_options(file, preset, again) == options


@pytest.mark.parametrize(("name", "faithful", "paper"), table(__file__, "presets"))
def test_asks_for_what_a_preset_is_named_after(
    name: str, faithful: dict[str, UntypedJson], paper: dict[str, UntypedJson]
) -> None:
    """JSON as the specification has it, on one core; and what the paper's harness set.

    An option that is null or empty asks for nothing.
    """
    file = find_engine(name)
    asked = [
        {
            option: value
            for option, value in file.presets[preset].items()
            if value not in {None, ""}
        }
        for preset in ("faithful", "paper")
    ]
    assert asked == [faithful, paper]
    assert file.about.checks_commit is (name != "llama_cpp")
    assert file.about.forced_in_paper is (name == "llguidance")


@pytest.mark.parametrize("preset", ["faithful", "vendor", "paper"])
def test_llguidance_reads_the_schema_true(preset: str, tmp_path: Path) -> None:
    """It refuses a boolean as soon as it is given any option: none, or `{}` instead."""
    tokenizer = small_tokenizer(tmp_path)
    options = choose_options(find_engine("llguidance"), preset, {})
    engine = _loaded("llguidance", tokenizer, **options)
    grammar = engine.compile("true")
    assert walk(engine.start(grammar), tokenizer.encode("[12]")) == "accepted"
    spaced = walk(engine.start(grammar), tokenizer.encode("[ 12]"))
    assert spaced == ("blocked" if preset == "paper" else "accepted")
    with pytest.raises(ValueError, match=r"Unsatisfiable|object schema"):
        engine.compile("false")


@pytest.mark.parametrize("name", _ALL)
def test_says_what_it_is(name: str) -> None:
    """Distribution, summary, licence and how to install it are there; none is GPL.

    What `csbdata[EXTRA]` asks for is the distribution that does the work.
    """
    about = find_engine(name).about
    assert about.summary
    assert about.licence
    assert about.install is not None
    assert about.distribution
    assert "GPL" not in about.licence
    if about.extra:
        text = (_ROOT / "pyproject.toml").read_text("utf-8")
        extras = tomllib.loads(text)["project"]["optional-dependencies"]
        wanted = re.compile(rf"{about.distribution}[<>=]")
        assert any(map(wanted.match, extras[about.extra]))


@pytest.mark.parametrize("name", _MODULES)
def test_says_why_it_refuses(name: str, tmp_path: Path) -> None:
    """A schema that is not an object is refused by an exception with a message."""
    engine = _loaded(name, small_tokenizer(tmp_path))
    with pytest.raises(Exception, match=r"(?i)schema"):
        engine.compile("false")


#: Engine, options over `faithful`, schema, texts, and words of the failure: what the
#: last text meets is none of the schema's doing.
_FAILURES = dict(table(__file__, "failures"))


@pytest.mark.parametrize("name", _FAILURES)
def test_says_when_it_has_failed(name: str, tmp_path: Path) -> None:
    """Asked in its own way: no exception comes, and the mask looks like any other."""
    engine_name, options, schema, texts, words = _FAILURES[name]
    tokenizer = small_tokenizer(tmp_path)
    engine = _loaded(engine_name, tokenizer, **options)
    grammar = engine.compile(schema)
    said = ""
    for text in texts:
        matcher = engine.start(grammar)
        said = ""
        for token in tokenizer.encode(text):
            matcher.mask()
            if not matcher.error():
                matcher.commit(token)
            said = said or matcher.error()
    assert words in said


@pytest.mark.parametrize("name", _MODULES)
def test_a_refused_token_is_no_failure(name: str, tmp_path: Path) -> None:
    """What the schema does not allow is refused, and nothing has gone wrong.

    outlines-core raises what is no refusal: a token that cannot be.
    """
    tokenizer = small_tokenizer(tmp_path)
    engine = _loaded(name, tokenizer)
    matcher = engine.start(engine.compile(TYPE_STRING))
    matcher.mask()
    assert not matcher.commit(tokenizer.encode("]")[0])
    if name == "outlines_core":
        with pytest.raises(OverflowError):
            matcher.commit(-1)
    else:
        assert matcher.error() == ""


def _read(folder: Path, tokenizer: SmallTokenizer) -> Any:  # noqa: ANN401 (the reader's)
    gguf = pytest.importorskip("gguf")
    vocabulary = runpy.run_path(str(find_engine("llama_cpp").path))["vocabulary"]
    path = folder / "vocabulary.gguf"
    path.write_bytes(b"".join(vocabulary(tokenizer)))
    return gguf.GGUFReader(path)


def test_every_id_of_a_vocabulary_has_a_token_of_its_own(tmp_path: Path) -> None:
    """Bytes as letters, specials by name, the rest unused, where it is byte-level.

    With letters twice the first of two is a byte, as SentencePiece has it.
    """
    found = []
    for tokenizer in (small_tokenizer(tmp_path), doubled()):
        fields = _read(tmp_path, tokenizer).fields
        tokens, model, kinds, end = (
            fields[f"tokenizer.ggml.{name}"].contents()
            for name in ("tokens", "model", "token_type", "eos_token_id")
        )
        assert len(tokens) == len(set(tokens)) == len(tokenizer.token_bytes)
        assert end == tokenizer.eos_id
        found.append((model, tokens, kinds))
    (model, tokens, kinds), (doubled_model, doubled_tokens, _) = found
    assert (model, doubled_model) == ("gpt2", "llama")
    assert tokens[:2] == ["<|special_0|>", "<|special_1|>"]
    assert [tokens[2 + ord(letter)] for letter in " a"] == ["\u0120", "a"]
    assert (kinds[:3], kinds[-3:]) == ([3, 3, 1], [5, 5, 5])
    assert doubled_tokens[2 + ord("a")] == "<0x61>"
    assert "a" in doubled_tokens


_SCHEMA = """{"type": "object", "properties": {"a": {"type": "string",
"maxLength": 2000}}, "required": ["a"], "additionalProperties": false}"""
_SHORT, _LATE = '{"a": "x"}', '{"a": "' + 60 * "y" + '"}'


@pytest.mark.parametrize("matcher", ["copy", "fresh"])
def test_a_limit_is_the_affair_of_its_text(tmp_path: Path, matcher: str) -> None:
    """Later copies found the lexer dead; now they begin with a new one."""
    pytest.importorskip("llguidance")
    texts = (_SHORT, _LATE, _SHORT, '{"b": 1}', _LATE)
    asked = replace(sample("limits", *texts), schema=_SCHEMA)
    options = ["max_lexer_states=150", f"matcher={matcher}"]
    _, run = measured(tmp_path, ["llguidance"], request_of(tmp_path, [asked]), options)
    (row,) = run.rows()
    failed = WalkVerdict.ENGINE_ERROR
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts == ["accepted", failed, "accepted", "blocked", failed]
    assert all((walk.at or 0) > 9 for walk in row.walks if walk.verdict is failed)


def test_a_matcher_of_another_kind_is_refused(tmp_path: Path) -> None:
    """There is no third kind."""
    pytest.importorskip("llguidance")
    request = request_of(tmp_path, [sample("one", "1")])
    totals, _ = measured(tmp_path, ["llguidance"], request, ["matcher=other"])
    assert "matcher is copy or fresh" in "".join(totals.unavailable.values())


def test_long_texts_are_walked_last(tmp_path: Path) -> None:
    """What one of them does to its engine is done to none before it in the case."""
    long = f"[{', '.join(['1'] * LONG_TEXT)}]"
    texts = ("[1]", long, "[2]", "[3]")
    _, run = measured(
        tmp_path, [miniature("worn_out")], request_of(tmp_path, [sample("x", *texts)])
    )
    (row,) = run.rows()
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts[1] is not WalkVerdict.ACCEPTED
    assert {*verdicts[:1], *verdicts[2:]} == {WalkVerdict.ACCEPTED}


_PACKAGE = """
from transformers import PreTrainedTokenizerBase
import triton
import triton.language as tl
import sentencepiece

@triton.jit
def kernel(size: tl.constexpr):
    return size

class GrammarCompiler:
    pass
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Return XGrammar's file where XGrammar is an old one, and torch an empty one."""
    (tmp_path / "torch.py").write_text("", encoding="utf-8")
    (tmp_path / "xgrammar.py").write_text(_PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("torch", "xgrammar", "triton", "triton.language", "transformers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = runpy.run_path(str(find_engine("xgrammar").path))
    yield found
    for name in ("torch", "xgrammar"):
        sys.modules.pop(name, None)


def test_stands_in_for_what_is_imported_and_never_called(file: dict[str, Any]) -> None:
    """Without triton and transformers it is imported, and no stand-in stays behind."""
    module = file["import_xgrammar"]()
    assert module.GrammarCompiler
    assert not {"triton", "triton.language", "sentencepiece"} & set(sys.modules)
