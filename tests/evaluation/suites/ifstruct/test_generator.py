"""The generator of rows, and requests that a model reworded."""

from __future__ import annotations

import json
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

from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.generator import (
    MIXES,
    draw_fields,
    draw_row,
    entity_kinds,
    generate_rows,
    read_kinds,
)
from evaluation.suites.ifstruct.rows import (
    Choice,
    IfstructSettings,
    RowSpec,
    all_fields,
    list_schema,
    read_record,
    row_slices,
)
from evaluation.suites.ifstruct.suite import SUITE, read_rows, suite_record
from evaluation.suites.ifstruct.wording import (
    ESCAPES,
    VOICES,
    Wording,
    accept,
    last_words,
)
from tests.evaluation.known import known
from tests.evaluation.suites.ifstruct.rows import COLUMNS, EVEN, published_lines, rows
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import Json
    from evaluation.suites.ifstruct.generator import EntityKind
    from evaluation.suites.ifstruct.rows import Field, IfstructRecord


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
        if last_words(text, kind.plural, kind.label) != last_words("", "as", "a"):
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
    revising = {"opening", "corrections", "limit", "field", "musings"}
    for name, voice in VOICES.items():
        others = revising if name == "thinking_aloud" else set()
        assert set(voice) == set(VOICES["plain"]) | others, name
    assert set(VOICES["thinking_aloud"]["musings"]) == set(get_args(Choice))


def _drawn(row: IfstructRecord) -> dict[str, str]:
    """Return which alternative of each choice a row has."""
    slices = {name: str(drawn) for name, drawn in row_slices(row).items()}
    fence = re.sub(":.*", "_language", slices["fence"])
    return slices | {"fence": fence, "presentation": slices["style"]}


@pytest.mark.parametrize("mix", ["published", "even"])
def test_choices_have_the_shares_that_are_asked_for(mix: str) -> None:
    """Of 1,200 rows each choice has the mix's shares, and none tells of another.

    Chi squared, p over 0.001.
    """
    source = replace(EVEN, mix=mix)
    drawn = [_drawn(draw_row(source, seed)) for seed in range(1200)]
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


def test_rows_are_the_same_every_time() -> None:
    """The same seed gives the same rows, in every version, and another one others."""
    digest = sha256(published_lines(rows())).hexdigest()
    assert digest[:16] == "6333c3f75e70ca34"
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
        spec = known(row.spec)
        fields = [field for _, field in all_fields(spec.fields)]
        least, most = row.counts
        wish, _, language = row.fence.partition(":")
        assert last_words(row.prompt, spec.plural, spec.label) == [
            [row.output_format],
            [(str(least), "" if least == most else str(most))],
            [row.wrapper or ""],
            [(language, "")] if language else [],
            [] if wish == "free" else [wish == "required"],
            not row.require_no_commentary,
        ]
        assert row.require_code_block == (wish == "required")
        assert all(f"{field.name}" in row.prompt for field in fields)
        assert row.entity_type.startswith("test__")
        assert any(field.stress for field in fields) == spec.escaping
        groups = [spec.fields, *(field.fields for field in fields if field.fields)]
        assert all(any(not field.optional for field in group) for group in groups)
        assert not _BAD_ENGLISH.search(row.prompt), row.prompt
        assert bool(spec.retractions) == (row.voice == "thinking_aloud")
    assert len({row.prompt for row in rows()}) == 240
    assert len({row.seed for row in rows()}) == 240
    kinds = {"multiline", "quotes", "code", "paths", "trace", "regex"}
    assert set(ESCAPES) == kinds
    pairs = {(row.presentation, row.voice) for row in rows()}
    styles = ("prose", "bullets", "schema", "annotated", "glossary", "table")
    assert pairs == {*product(styles, VOICES)}


@pytest.mark.parametrize(("columns", "choices", "text"), table(__file__, "texts"))
def test_a_request_is_worded(
    columns: dict[str, Json], choices: dict[str, Json], text: list[str]
) -> None:
    """Each style shows paths, types, limits, values, lengths and what is optional."""
    documented, own, _ = table(__file__, "texts")[0]
    spec = msgspec.convert(own | choices, RowSpec)
    columns = COLUMNS | {"fence": "free"} | documented | columns
    columns["require_wrapper_key"] = columns["top_level_key"] is not None
    least, most = read_record(columns).counts
    row = replace(
        read_record(columns), json_schema=list_schema(spec.fields, least, most)
    )
    assert Wording(row, spec, random.Random(1)).prompt().split("\n") == text


_WORDS: Final = ("format", "count", "wrapper", "language", "block", "commentary")


@pytest.mark.parametrize(("text", "part", "meant"), table(__file__, "last_words"))
def test_the_last_word_counts(text: str, part: str, meant: object) -> None:
    """A reader who takes the last word on everything reads what is meant."""
    words = dict(zip(_WORDS, last_words(text, "birds", "bird"), strict=True))
    assert json.loads(json.dumps(words[part])) == meant


def _lossy_texts() -> Iterator[tuple[IfstructRecord, str]]:
    """Yield rows with texts that do not state all of them, in every style."""
    limit = re.compile(r"(?<=≤)\d+|(?<=and )\d+(?=[.;,)\n])")
    for row in rows():
        spec, text = known(row.spec), row.prompt
        head, _, shape = text.rpartition("\n\n")
        other = "YAML" if row.output_format == "json" else "JSON"
        yield row, head
        yield row, f"{text} In the end, make it {other}."
        yield row, f"{text} Or rather {row.counts[1] + 1} {spec.plural}."
        yield row, f"{text} The key is `payload`."
        yield row, f"{text} Not in a code block." * (row.fence != "forbidden")
        yield row, f"{text.partition(chr(10))[0]}\n\n{shape}"
        for _, field in all_fields(spec.fields):
            yield row, text.replace(f"{field.name}", "some_other_field")
        if enums := [field for field in spec.fields if field.values]:
            yield row, text.replace(f'"{enums[0].values[-1]}"', '"other"')
        if row.voice != "thinking_aloud" and limit.search(text):
            yield row, limit.sub("77", text, count=1)
        for one in spec.retractions:
            if one.choice not in ("limit", "field"):
                yield row, f"{text} After all, {one.wrong}."


def test_a_text_that_lost_something_is_not_taken() -> None:
    """A dropped or changed choice, field, limit or value, in every style."""
    taken = [
        text
        for row, text in _lossy_texts()
        if accept(suite_record(row), text) != suite_record(row)
    ]
    assert taken == []
    assert len([*_lossy_texts()]) > 2000


@pytest.mark.parametrize("choice", get_args(Choice))
def test_thinking_aloud_states_and_takes_back(choice: str) -> None:
    """What was stated first stands in the text, before what holds.

    The last sentence about a limit has the final one; a field is dropped.
    """
    aloud = [
        (row.prompt, one)
        for row in rows()
        for one in known(row.spec).retractions
        if one.choice == choice
    ]
    assert len(aloud) > 3
    for text, one in aloud:
        assert one.wrong in text
        if choice == "limit":
            told = text[text.rindex(one.field) - 60 :].partition("\n\n")[0]
            assert re.search(rf"\b{re.escape(one.final)}\b", told), told
        elif choice == "field":
            start = text.rindex(one.wrong)
            near = text[start - 60 : start + len(one.wrong) + 60]
            assert re.search(r"\b(forget|drop|scrap|leave|without|remove|no)\b", near)


def test_a_wrapper_is_taken_back_for_another_or_for_none() -> None:
    """A row without a wrapper takes back a key; it has no list to take back."""
    assert {
        (row.wrapper is None, one.wrong == "a bare list")
        for row in rows()
        for one in known(row.spec).retractions
        if one.choice == "wrapper"
    } == {(True, False), (False, False), (False, True)}


def test_texts_that_pass_take_the_place_of_ours() -> None:
    """A row gets the text of a model where nothing is lost, and keeps its own else.

    The model is given the row's text, character by character. A published row cannot
    be checked.
    """
    rewording = known(SUITE.rewording)
    for row in rows():
        record = suite_record(row)
        (turn,) = rewording.prompt(record, IfstructSettings()).messages
        assert row.prompt in turn.content
        text = f"Hello there. {row.prompt} Many thanks."
        changed = read_record(rewording.accept(record, text).fields)
        assert (changed.prompt, changed.voice) == (text, "model")
        assert known(changed.spec).retractions == ()
        for lost in ("Give me some JSON.", ""):
            assert rewording.accept(record, lost) == record
    (record,) = read_rows(json_rows(published_lines(rows()[:1]), "rows"))
    assert accept(record, f"Hi. {record.fields['prompt']}") == record
