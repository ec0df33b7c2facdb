"""The generator of rows, and requests that a model reworded."""

from __future__ import annotations

import random
import re
from collections import Counter
from hashlib import sha256
from itertools import product
from operator import le, lt
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import msgspec
import pytest
from msgspec.structs import replace
from scipy.stats import chisquare

from curation.system.errors import BadConfiguration
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.generator import (
    MIXES,
    draw_fields,
    draw_row,
    entity_kinds,
    generate_rows,
    identity,
    read_kinds,
)
from evaluation.suites.ifstruct.rewriting import accept, last_words, lost_requirements
from evaluation.suites.ifstruct.rows import (
    Choice,
    IfstructSettings,
    RowSpec,
    all_fields,
    read_record,
)
from evaluation.suites.ifstruct.suite import SUITE, read_rows, suite_record
from evaluation.suites.ifstruct.wording import ESCAPES, VOICES, Wording
from tests.evaluation.suites.ifstruct.rows import EVEN, published_lines, rows, specs
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import Json
    from evaluation.suites.ifstruct.generator import EntityKind
    from evaluation.suites.ifstruct.rows import Field, Retraction


_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_NUMBERS: Final = ("integer", "number")
_HOLDERS: Final = ("object", "objects")
_LISTS: Final = ("objects", "strings")


def kind_faults(kind: EntityKind) -> Iterator[str]:
    """Yield the faults of a kind of thing."""
    fields = [field for _, field in all_fields(kind.fields)]
    names = [kind.name, *(field.name for field in fields)]
    plain = [field for field in kind.fields if not field.stress]
    if not all(map(_NAME.fullmatch, names)):
        yield "a name is not several words of a-z and 0-9 joined by `_`"
    if len({*names}) < len(names):
        yield "two fields of one name"
    if len(plain) < 4:
        yield "under 4 fields have no `stress`"
    if plain == [*kind.fields]:
        yield "no field has a `stress`, so no text of it could need escaping"
    if not kind.contexts or not kind.manners:
        yield "it has no `contexts`, or its file no `manners`"
    for field in fields:
        yield from _field_faults(field)
    for text in (*kind.contexts, *kind.manners, *(field.about for field in fields)):
        if last_words(text, kind.label, kind.plural) != last_words("", "a", "as"):
            yield f"{text!r} reads like a choice of format, fence, count or comments"


def _field_faults(field: Field) -> Iterator[str]:
    if not {*field.stress} <= {*ESCAPES}:
        yield f"{field.name}: no such stress"
    if (field.type == "enum") != (len(field.values) > 1):
        yield f"{field.name}: an enum, and nothing else, has two `values` at least"
    if (field.type in _HOLDERS) != any(not inner.stress for inner in field.fields):
        yield f"{field.name}: objects, and nothing else, have plain `fields`"
    if (field.type in _LISTS) != _holds(le, field.min_items or None, field.max_items):
        yield f"{field.name}: a list, and nothing else, has lengths"
    if (field.type in _NUMBERS) != _holds(lt, field.minimum, field.maximum):
        yield f"{field.name}: a number has a `minimum` below its `maximum`"


def _holds(
    relation: Callable[[float, float], bool], low: float | None, high: float | None
) -> bool:
    return low is not None and high is not None and relation(low, high)


#: The alternatives of each choice, to which a mix gives weights.
CHOICES: Final = {choice: [*names] for choice, names in MIXES["even"].items()}


def shares(mix: str, choice: str) -> dict[str, float]:
    """Return the share of rows with each alternative of a choice."""
    weights = MIXES[mix][choice]
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def test_there_are_kinds_enough_and_the_taxonomies_share_none() -> None:
    """At least 60 kinds, 20 of them for tests, and no name or noun in both."""
    train, test = entity_kinds("train"), entity_kinds("test")
    assert len(train) + len(test) >= 60
    assert len(test) >= 20
    for part in ("name", "label", "plural"):
        assert not {getattr(k, part) for k in train} & {getattr(k, part) for k in test}
    assert all(len({kind.label, kind.plural}) == 2 for kind in (*train, *test))


@pytest.mark.parametrize(("before", "after", "said"), table(__file__, "faults"))
def test_a_fault_of_a_kind_is_seen(before: str, after: str, said: str) -> None:
    """The check of the kinds sees each fault in the documented kind, which has none."""
    page = Path(__file__).parents[4] / "docs" / "suites" / "ifstruct.md"
    (block,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", page.read_text("utf-8"))
    assert before in block
    texts = (block, block.replace(before, after))
    right, broken = (read_kinds(text.encode())[0] for text in texts)
    assert list(kind_faults(right)) == []
    assert said in "; ".join(kind_faults(broken))
    fields = draw_fields(right, escaping=True, draw=random.Random(0))
    assert any(field.stress for field in fields)


def test_no_kind_mix_or_voice_has_a_fault() -> None:
    """Kinds are as rows need them; mixes weigh all choices; a doubter has musings."""
    for kind in (*entity_kinds("train"), *entity_kinds("test")):
        assert list(kind_faults(kind)) == [], kind.name
    for (name, mix), choice in product(MIXES.items(), CHOICES):
        assert set(mix) == set(CHOICES)
        assert set(mix[choice]) <= set(CHOICES[choice]), (name, choice)
        assert min(mix[choice].values()) >= 0, (name, choice)
    revising = {"opening", "corrections", "limit", "dropped", "musings"}
    for name, voice in VOICES.items():
        others = revising if name == "thinking_aloud" else set()
        assert set(voice) == set(VOICES["plain"]) | others, name
    assert set(VOICES["thinking_aloud"]["musings"]) == set(get_args(Choice))


def _drawn(spec: RowSpec) -> dict[str, str]:
    """Return which alternative of each choice a row has."""
    return {
        "format": spec.format,
        "wrapper": "bare" if spec.wrapper is None else "wrapped",
        "commentary": "allowed" if spec.commentary else "banned",
        "fence": re.sub(":.*", "_language", spec.fence),
        "count": "exact" if spec.least == spec.most else "range",
        "escaping": "stressed" if spec.escaping else "plain",
        "presentation": spec.presentation,
        "voice": spec.voice,
    }


@pytest.mark.parametrize("mix", ["published", "even"])
def test_choices_have_the_shares_that_are_asked_for(mix: str) -> None:
    """Of 1,200 rows each choice has the mix's shares, and none tells of another.

    Chi squared, p over 0.001.
    """
    source = replace(EVEN, mix=mix)
    drawn = [_drawn(draw_row(source, seed, 0)) for seed in range(1200)]
    for choice in CHOICES:
        wanted = shares(mix, choice)
        if choice == "commentary":
            # Nothing but a block tells an answer from the words around it.
            fences = shares(mix, "fence")
            required = fences["required"] + fences["required_language"]
            allowed = wanted["allowed"] * required
            wanted = {"allowed": allowed, "banned": 1 - allowed}
        counts = Counter(row[choice] for row in drawn)
        assert set(counts) <= set(wanted)
        observed = [counts[name] for name in wanted]
        expected = [share * len(drawn) for share in wanted.values()]
        assert chisquare(observed, expected).pvalue > 0.001, choice
    for one, other in (("presentation", "voice"), ("format", "fence")):
        pairs = Counter((row[one], row[other]) for row in drawn)
        assert len(pairs) == len(CHOICES[one]) * len(CHOICES[other])
        if mix == "even":
            assert chisquare(list(pairs.values())).pvalue > 0.001


def test_the_published_mix_is_the_published_one() -> None:
    """Halves of format, wrapper, commentary and voice; 0.63 blocks; 0.3 escaping."""
    share = {choice: shares("published", choice) for choice in CHOICES}
    required = share["fence"]["required"] + share["fence"]["required_language"]
    halves = (
        share["format"]["json"],
        share["wrapper"]["bare"],
        share["voice"]["plain"],
    )
    allowed = required * share["commentary"]["allowed"]
    figures = [*halves, allowed, required, share["escaping"]["stressed"]]
    assert figures == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.63, 0.3])


def test_a_draw_that_would_repeat_a_row_is_drawn_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Equal draws give different rows, and an end where no other is to be had."""
    module = "evaluation.suites.ifstruct.generator.draw_row"
    monkeypatch.setattr(module, lambda one, _seed, attempt: draw_row(one, 0, attempt))
    first, second = generate_rows(EVEN, 0, 2)
    assert first.prompt != second.prompt
    monkeypatch.setattr(module, lambda one, _seed, _attempt: draw_row(one, 0, 0))
    with pytest.raises(BadConfiguration, match="no new one"):
        list(generate_rows(EVEN, 0, 2))


def test_rows_are_the_same_every_time() -> None:
    """The same seed gives the same rows, in every version, and another one others."""
    digest = sha256(msgspec.json.encode(rows())).hexdigest()
    assert digest[:16] == "afa8f5143b05f2df"
    other = {row.prompt for row in generate_rows(EVEN, 4, 20)}
    assert not other & {row.prompt for row in rows()}


#: A number that disagrees with its noun, and an article before the name of a field.
_BAD_ENGLISH: Final = re.compile(
    r"\b1 (?:items|objects|strings|texts)\b|\ban? `[a-z_]+`"
)


def test_a_row_requires_and_says_what_was_drawn() -> None:
    """Columns, text and choices agree; a row has a text to escape only if so drawn.

    Every object has a required member: YAML cannot write an empty one in blocks. Only
    the voice that thinks aloud states what does not hold.
    """
    for row in rows():
        spec = row.spec
        assert spec
        fields = [field for _, field in all_fields(spec.fields)]
        choices = (spec.format, spec.wrapper, spec.least, spec.most, spec.fence)
        assert row.requirements == (*choices, spec.commentary, spec.schema)
        assert row.require_code_block == spec.fence.startswith("required")
        assert row.entity_type.startswith("test__")
        assert any(field.stress for field in fields) == spec.escaping
        groups = [spec.fields, *(field.fields for field in fields if field.fields)]
        assert all(any(not field.optional for field in group) for group in groups)
        assert not _BAD_ENGLISH.search(row.prompt), row.prompt
        assert bool(spec.retractions) == (spec.voice == "thinking_aloud")
        assert list(lost_requirements(spec, row.prompt)) == []
    assert len({identity(row) for row in rows()}) == 240
    assert len({row.seed for row in rows()}) == 240
    kinds = {"multiline", "quotes", "code", "paths", "trace", "regex"}
    assert set(ESCAPES) == kinds
    pairs = {(row.presentation, row.voice) for row in rows()}
    styles = ("prose", "bullets", "schema", "annotated", "glossary", "table")
    assert pairs == {*product(styles, VOICES)}


@pytest.mark.parametrize(("choices", "text"), table(__file__, "texts"))
def test_a_request_is_worded(choices: dict[str, Json], text: list[str]) -> None:
    """Each style shows paths, types, limits, values, lengths and what is optional."""
    documented, *_ = table(__file__, "texts")
    spec = msgspec.convert(documented[0] | choices, RowSpec)
    assert Wording(spec, random.Random(1)).prompt().split("\n") == text


@pytest.mark.parametrize(("text", "part", "meant"), table(__file__, "last_words"))
def test_the_last_word_counts(text: str, part: str, meant: object) -> None:
    """A reader who takes the last word on everything reads what is meant."""
    word = last_words(text, "bird", "birds")[part]
    assert (list(word) if isinstance(word, tuple) else word) == meant


#: A spec, a text that does not say all of it, and the choice that it lost, if known.
_Lossy = tuple["RowSpec", str, str]


def _without_choices() -> Iterator[_Lossy]:
    """Drop the last paragraph: format, shape, fence and commentary."""
    for spec, text in specs():
        head = text.rpartition("\n\n")[0]
        if spec.voice != "thinking_aloud":
            yield spec, head, "wrapper"
        if spec.fence != "free":
            yield spec, head, "fence"
        if not spec.commentary:
            yield spec, head, "commentary"


def _of_other_choices() -> Iterator[_Lossy]:
    for spec, text in specs()[:40]:
        other = "yaml" if spec.format == "json" else "json"
        fence = "required" if spec.fence == "forbidden" else "forbidden"
        wrapper = None if spec.wrapper else "payload"
        first, *others = spec.fields
        flipped = replace(first, optional=not first.optional)
        yield replace(spec, format=other), text, "format"
        yield replace(spec, most=spec.most + 1), text, "count"
        yield replace(spec, wrapper=wrapper), text, "wrapper"
        yield replace(spec, fence=fence), text, "fence"
        yield replace(spec, fields=(flipped, *others)), text, ""
        yield spec, f"{text} In the end, make it {other.upper()}.", "format"
        yield spec, text.partition("\n")[0], ""


def _of_other_facts() -> Iterator[_Lossy]:
    """Drop lines with a field, change a maximum and a value, in every style."""
    limit = re.compile(r"(?<=≤)\d+|(?<=and )\d+(?=[.;,)\n])")
    for spec, text in specs():
        enums = [field for field in spec.fields if field.values]
        if enums:
            lost = "the schema" if spec.presentation == "schema" else enums[0].name
            yield spec, text.replace(f'"{enums[0].values[-1]}"', '"other"'), lost
        if spec.voice == "thinking_aloud":
            continue
        if limit.search(text):
            yield spec, limit.sub("77", text, count=1), ""
        names = [field.name for _, field in all_fields(spec.fields)]
        named = re.compile(rf"\b(?:{'|'.join(names)})\b")
        if spec.presentation in ("bullets", "glossary", "table"):
            for line in [*filter(named.search, text.split("\n"))][-3:]:
                yield spec, text.replace(f"{line}\n", "", 1), ""


@pytest.mark.parametrize(
    ("lossy", "least"),
    [(_without_choices, 400), (_of_other_choices, 280), (_of_other_facts, 400)],
)
def test_a_text_that_lost_something_is_noticed(
    lossy: Callable[[], Iterator[_Lossy]], least: int
) -> None:
    """A dropped or changed choice, field, limit or value, in every style."""
    checked = 0
    for spec, text, choice in lossy():
        lost = list(lost_requirements(spec, text))
        assert lost, text
        assert not choice or choice in lost, text
        checked += 1
    assert checked >= least


def _aloud(choice: str) -> Iterator[tuple[RowSpec, str, Retraction]]:
    for spec, text in specs():
        for retraction in spec.retractions:
            if retraction.choice == choice:
                yield spec, text, retraction


@pytest.mark.parametrize("choice", get_args(Choice))
def test_thinking_aloud_states_and_takes_back(choice: str) -> None:
    """What was stated first stands in the text, before what holds.

    The last sentence about a limit has the final one; a field is dropped.
    """
    assert len([*_aloud(choice)]) > 3
    for spec, text, one in _aloud(choice):
        assert one.wrong in text
        if choice == "limit":
            told = text[text.rindex(one.field) - 60 :].partition("\n\n")[0]
            assert re.search(rf"\b{re.escape(one.final)}\b", told), told
        elif choice == "field":
            start = text.rindex(one.wrong)
            near = text[start - 60 : start + len(one.wrong) + 60]
            assert re.search(r"\b(forget|drop|scrap|leave|without|remove|no)\b", near)
        else:
            late = f"{text} After all, {one.wrong}."
            assert choice in lost_requirements(spec, late)


def test_a_wrapper_is_taken_back_for_another_or_for_none() -> None:
    """A row without a wrapper takes back a key; it has no list to take back."""
    assert {
        (spec.wrapper is None, one.wrong == "a bare list")
        for spec, _, one in _aloud("wrapper")
    } == {(True, False), (False, False), (False, True)}


def test_texts_that_pass_take_the_place_of_ours() -> None:
    """A row gets the text of a model where nothing is lost, and keeps its own else.

    The model is given the row's text, character by character. A published row cannot
    be checked.
    """
    assert SUITE.rewording
    for row in rows()[:20]:
        record = suite_record(row)
        (turn,) = SUITE.rewording.prompt(record, IfstructSettings()).messages
        assert row.prompt in turn.content
        text = f"Hello there. {row.prompt} Many thanks."
        changed = read_record(SUITE.rewording.accept(record, text).fields)
        assert (changed.prompt, changed.voice) == (text, "model")
        assert changed.spec
        assert changed.spec.retractions == ()
        for lost in ("Give me some JSON.", ""):
            assert SUITE.rewording.accept(record, lost) == record
    (published,) = read_rows(json_rows(published_lines(rows()[:1]), "rows"))
    record = suite_record(published)
    assert accept(record, f"Hi. {published.prompt}") == record
