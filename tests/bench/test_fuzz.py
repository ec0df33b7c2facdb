"""`python -m bench fuzz`: draws, judging, shrinking, and a corpus that is resumed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from bench.engine.fuzz import Fuzzer, is_as_said, open_fuzzed, place_in
from bench.engine.fuzz_corpus import Corpus, Finding
from bench.engine.fuzz_draws import Text, agreed, drawn, mutated, read, texts_of
from curation.download.acquire import FetchSettings
from curation.instances.validators import Verdicts
from evaluation.setup.engine_files import FAITHFUL
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer
from tests.evaluation import measuring

if TYPE_CHECKING:
    from curation.core.json_types import Json

_ROOT = Path(__file__).parents[2]
_COMMITTED = sorted((_ROOT / "docs" / "findings" / "fuzz").glob("*.json"))
_LONG: dict[str, Json] = {
    "title": "names",
    "type": "object",
    "properties": {"a": {"type": "string", "minLength": 3}, "b": {"type": "null"}},
    "required": ["a"],
}


def _fuzz(folder: Path, engine: str, schema: dict[str, Json]) -> tuple[Corpus, str]:
    """Put one schema to a miniature engine; return the corpus and what was told."""
    corpus, told = Corpus(folder / "corpus"), list[str]()
    (chosen,) = select_engines(folder, [measuring.miniature(engine)], FAITHFUL, ())
    with open_fuzzed(chosen, measuring.tokenizer(folder)) as fuzzed:
        Fuzzer(corpus, [fuzzed], told.append).try_schema(schema, random.Random(0))
    return corpus, "\n".join(told)


def test_what_an_engine_ignores_is_found_and_shrunk(tmp_path: Path) -> None:
    """One small schema and text a keyword; both validators still refuse the text."""
    corpus, told = _fuzz(tmp_path, "accept_all", _LONG)
    found = {each.keyword: each for each in corpus.findings()}
    assert found["required"].schema == {"required": ["a"]}
    assert found["required"].text == "{}"
    assert {"minLength", "required", "type"} <= found.keys()
    for each in found.values():
        assert each.kind == "accepts an invalid text"
        assert "title" not in each.schema
        assert each.title in told
        text = Text(text=each.text, valid=each.valid, keyword=each.keyword)
        assert is_as_said(each.schema, text)
    (wrong,) = corpus.state.wrong.values()
    assert wrong >= len(found)


def test_a_refusal_is_counted_and_no_finding(tmp_path: Path) -> None:
    """An engine says what it does not support."""
    corpus, told = _fuzz(tmp_path, "refuse_all", _LONG)
    assert (corpus.findings(), told) == ([], "")
    assert list(corpus.state.refused.values()) == [1]
    assert corpus.state.wrong == {}


def test_a_process_that_dies_is_a_finding(tmp_path: Path) -> None:
    """It is shrunk like any other."""
    corpus, _ = _fuzz(tmp_path, "crash", {**_LONG, "title": "crash"})
    assert {each.kind for each in corpus.findings()} == {"dies"}


def test_a_corpus_goes_on_where_it_ended(tmp_path: Path) -> None:
    """A class keeps its smallest reproducer; the state is read again."""
    corpus = Corpus(tmp_path)
    large, small = (
        Finding(
            engine="x 1 faithful",
            kind="accepts an invalid text",
            place="",
            schema={"minLength": bound},
            text='"a"',
            valid=False,
            keyword="minLength",
        )
        for bound in (1000, 2)
    )
    assert corpus.wants(large)
    corpus.add(large)
    corpus.add(small)
    corpus.state.seeds = 7
    corpus.save()
    again = Corpus(tmp_path)
    assert (again.findings(), again.state.seeds) == ([small], 7)
    assert not again.wants(large)
    assert [path.name for path in tmp_path.glob("[!.]*")] == [f"{small.id}.json"]
    assert again.section().count("\n") == 3


def test_two_classes_of_one_schema_are_two_files(tmp_path: Path) -> None:
    """What is blocked at a string does not replace what is blocked at a number."""
    corpus = Corpus(tmp_path)
    findings = [
        Finding(
            engine="x 1 faithful",
            kind="blocks a valid text",
            place=place,
            schema={"properties": {"a": {"additionalProperties": False}}},
            text=text,
            valid=True,
        )
        for place, text in (("a number", '{"a": 1}'), ("a string", '{"a": "b"}'))
    ]
    for finding in findings:
        corpus.add(finding)
    assert len(Corpus(tmp_path).findings()) == len(findings)


def test_a_seed_draws_the_same_schemas() -> None:
    """From the grammar, and mutated; each is a schema to read or to leave out."""
    first, second = drawn(3, 5), drawn(3, 5)
    assert first == second
    crossed = [list(mutated(first, random.Random(1), 8)) for _ in range(2)]
    assert crossed[0] == crossed[1]
    assert crossed[0] != first


def test_texts_are_those_on_which_all_agree() -> None:
    """Validators that differ, or formats that decide, leave a text out."""
    readings = read({"type": "string", "format": "date", "minLength": 2})
    assert readings is not None
    texts = texts_of(readings, 0)
    assert {each.keyword for each in texts} >= {"", "type"}
    assert "format" not in {each.keyword for each in texts}
    both = Verdicts(
        jsonschema_rs=True,
        jsonschema_rs_plain=True,
        jsonschema=True,
        jsonschema_plain=True,
    )
    assert agreed(both) is True
    assert agreed(msgspec.structs.replace(both, jsonschema=False)) is None
    assert agreed(msgspec.structs.replace(both, heeding=both)) is True


@pytest.mark.parametrize(
    ("before", "rest", "place"),
    [
        ('{"a": "', '\\n"}', "an escape"),
        ('{"a": "b', '"}', "the end of a string"),
        ('{"a\\"', 'b": 1}', "the inside of a string"),
        ('{"a": 1', ', "b": 2}', "a name"),
        ('{"a": ', '"b"}', "a string"),
        ("[1", ", -2]", "a number"),
        ("[", "true]", "a literal"),
        ("[1", "]", "the end of an array"),
        ("", "{}", "an object"),
    ],
)
def test_a_place_is_what_stands_there(before: str, rest: str, place: str) -> None:
    """Told from the text alone."""
    assert place_in(before + rest, before) == place


def test_a_committed_finding_is_as_both_validators_say(
    subtests: pytest.Subtests,
) -> None:
    """Its text is valid, or one keyword refuses it."""
    for path in _COMMITTED:
        with subtests.test(path=path):
            content = json.loads(path.read_bytes())
            (test,) = content["tests"]
            text = Text(
                text=test["text"],
                valid=test["valid"],
                keyword=content["csbdata"]["keyword"],
            )
            assert is_as_said(content["schema"], text)


def test_the_table_in_the_documents_is_that_of_the_corpus() -> None:
    """Generated, and not written by hand."""
    page = (_ROOT / "docs" / "findings.md").read_text("utf-8")
    assert Corpus(_COMMITTED[0].parent).section() in page


@pytest.mark.nightly
@pytest.mark.parametrize("path", _COMMITTED, ids=lambda path: path.stem)
def test_a_committed_finding_is_seen_again(path: Path) -> None:
    """In a new process of the engine's version."""
    finding = next(e for e in Corpus(path.parent).findings() if e.id == path.stem)
    fetch = FetchSettings.from_environment()
    name, version, *_ = finding.engine.split()
    (engine,) = select_engines(fetch.cache, [f"{name}=={version}"], FAITHFUL, ())
    if engine.unavailable:
        pytest.skip(f"{engine.unavailable}: csbdata engines add {name}=={version}")
    with open_fuzzed(engine, get_tokenizer("smollm2", fetch)) as fuzzed:
        text = Text(text=finding.text, valid=finding.valid, keyword=finding.keyword)
        (seen,) = fuzzed.walk(finding.schema, [text])[1]
    assert seen is not None
    assert (seen.kind, seen.place) == (finding.kind, finding.place)
