"""The generator of rows, and requests that a model reworded."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pytest
from msgspec.structs import replace
from scipy.stats import chisquare

from curation.system.errors import BadConfiguration
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.data_files import (
    EntityFile,
    entity_kinds,
    escapes,
    mixes,
    voices,
)
from evaluation.suites.ifstruct.generator import (
    draw_fields,
    draw_row,
    generate_rows,
    identity,
)
from evaluation.suites.ifstruct.rewriting import (
    accept,
    last_words,
    lost_requirements,
)
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Choice,
    Fence,
    FenceWish,
    Field,
    FieldType,
    Presentation,
    all_fields,
    read_record,
)
from evaluation.suites.ifstruct.settings import IfstructSettings
from evaluation.suites.ifstruct.suite import SUITE, read_rows, suite_record
from tests.evaluation.suites.ifstruct.rows import published_lines, rows, source
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.suites.ifstruct.data_files import EntityKind, Mix
    from evaluation.suites.ifstruct.rows import IfstructRecord, RowSpec


_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
#: Fields without a text that needs escaping that a kind has at least.
_FEWEST: Final = 4


def kind_faults(kind: EntityKind) -> Iterator[str]:
    """Yield the faults of a kind of thing."""
    fields = [field for _, field in all_fields(kind.fields)]
    names = [field.name for field in fields]
    for name in (kind.name, *names):
        if not _NAME.fullmatch(name):
            yield f"{name!r} is not several words of a-z and 0-9 joined by `_`"
        if names.count(name) > 1:
            yield f"two fields are called {name}"
    for field in fields:
        yield from _field_faults(field)
    if not any(field.stress for field in kind.fields):
        yield "no field has a `stress`, so no text of it could need escaping"
    if len([field for field in kind.fields if not field.stress]) < _FEWEST:
        yield f"under {_FEWEST} fields have no `stress`"
    if not kind.contexts or not kind.manners:
        yield "it has no `contexts`, or its file no `manners`"
    texts = (*kind.contexts, *kind.manners, *(field.about for field in fields))
    for text in texts:
        words = last_words(text, kind.label, kind.plural)
        if any(word is not None for word in words.values()):
            yield f"{text!r} reads like a choice of format, fence, count or comments"


def _field_faults(field: Field) -> Iterator[str]:
    unknown = set(field.stress) - set(escapes())
    if unknown:
        yield f"{field.name}: no such stress: {', '.join(sorted(unknown))}"
    if (field.type is FieldType.ENUM) != (len(field.values) > 1):
        yield f"{field.name}: an enum, and nothing else, has two `values` at least"
    holds = field.type in {FieldType.OBJECT, FieldType.OBJECTS}
    if holds != bool(field.fields):
        yield f"{field.name}: objects, and nothing else, have `fields`"
    elif field.fields and all(inner.stress for inner in field.fields):
        yield f"{field.name}: one of its fields at least has no `stress`"
    if field.type in (FieldType.OBJECTS, FieldType.STRINGS):
        if field.min_items is None or field.max_items is None:
            yield f"{field.name}: a list has `min_items` and `max_items`"
        elif not 0 < field.min_items <= field.max_items:
            yield f"{field.name}: its lengths are no range"
    if field.type in (FieldType.INTEGER, FieldType.NUMBER):
        low, high = field.minimum, field.maximum
        if low is None or high is None or not low < high:
            yield f"{field.name}: a number has a `minimum` below its `maximum`"


#: The alternatives of each choice, to which a mix gives weights.
CHOICES: Final = {
    "format": ("json", "yaml"),
    "wrapper": ("wrapped", "bare"),
    "commentary": ("banned", "allowed"),
    "fence": ("required", "required_language", "forbidden", "free"),
    "count": ("exact", "range"),
    "escaping": ("stressed", "plain"),
    "presentation": tuple(Presentation),
    "voice": tuple(voices()),
}


def shares(mix: Mix, choice: str) -> dict[str, float]:
    """Return the share of rows with each alternative of a choice."""
    weights: dict[str, float] = getattr(mix, choice)
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


_BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_KIND = """
manners = ["Write it plainly."]
[[entity]]
name = "garden_gate"
label = "garden gate"
plural = "garden gates"
contexts = ["for a catalogue"]
fields = [
  { name = "gate_name", type = "string" },
  { name = "gate_cm", type = "integer", minimum = 40, maximum = 400 },
  { name = "is_locked", type = "boolean" },
  { name = "gate_wood", type = "enum", values = ["oak", "pine"] },
  { name = "gate_story", type = "string", stress = ["quotes"] },
]
"""


def test_there_are_kinds_enough_and_the_taxonomies_share_none() -> None:
    """At least 60 kinds, 20 of them for tests, and no name or noun in both."""
    train, test = entity_kinds("train"), entity_kinds("test")
    assert len(train) + len(test) >= 60
    assert len(test) >= 20
    for part in ("name", "label", "plural"):
        assert not {getattr(k, part) for k in train} & {getattr(k, part) for k in test}
    assert all(len({kind.label, kind.plural}) == 2 for kind in (*train, *test))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    table(__file__, "faults"),
)
def test_a_fault_of_a_kind_is_seen(before: str, after: str, said: str) -> None:
    """The check of the kinds sees each fault, and none in a right one."""
    assert before in _KIND
    (right,) = _kinds(_KIND)
    (wrong,) = _kinds(_KIND.replace(before, after))
    assert list(kind_faults(right)) == []
    assert said in "; ".join(kind_faults(wrong))


def _kinds(text: str) -> tuple[EntityKind, ...]:
    return msgspec.toml.decode(text, type=EntityFile).kinds()


def test_no_kind_mix_or_voice_has_a_fault() -> None:
    """Kinds are as rows need them; mixes weigh all choices; a doubter has musings."""
    for split in ("train", "test"):
        for kind in entity_kinds(split):
            assert list(kind_faults(kind)) == [], kind.name
    for name, mix in mixes().items():
        for choice, alternatives in CHOICES.items():
            assert set(shares(mix, choice)) <= set(alternatives), (name, choice)
            assert min(shares(mix, choice).values()) >= 0, (name, choice)
    for name, voice in voices().items():
        assert set(voice.musings) == (set(Choice) if voice.revises else set()), name


def _drawn(spec: RowSpec) -> dict[str, str]:
    """Return which alternative of each choice a row has."""
    fence = Fence.parse(spec.fence)
    return {
        "format": str(spec.format),
        "wrapper": "bare" if spec.wrapper is None else "wrapped",
        "commentary": "allowed" if spec.commentary else "banned",
        "fence": "required_language" if fence.language else str(fence.wish),
        "count": "exact" if spec.least == spec.most else "range",
        "escaping": "stressed" if spec.escaping else "plain",
        "presentation": str(spec.presentation),
        "voice": spec.voice,
    }


@pytest.mark.parametrize("mix", ["published", "even"])
def test_choices_have_the_shares_that_are_asked_for(mix: str) -> None:
    """Of 1,200 rows each choice has the mix's shares (chi squared, p over 0.001)."""
    drawn = [_drawn(draw_row(source(mix), seed, 0)) for seed in range(1200)]
    for choice in CHOICES:
        wanted = shares(mixes()[mix], choice)
        if choice == "commentary":
            # Nothing but a block tells an answer from the words around it.
            fenced = sum(
                share
                for fence, share in shares(mixes()[mix], "fence").items()
                if fence.startswith("required")
            )
            allowed = fenced * wanted["allowed"]
            wanted = {"allowed": allowed, "banned": 1 - allowed}
        counts = Counter(row[choice] for row in drawn)
        assert set(counts) <= set(wanted)
        observed = [counts[name] for name in wanted]
        expected = [share * len(drawn) for share in wanted.values()]
        assert chisquare(observed, expected).pvalue > 0.001, choice


def test_choices_are_drawn_apart_from_each_other() -> None:
    """Style and voice say nothing of one another (chi squared, p over 0.001)."""
    drawn = [_drawn(draw_row(source(), seed, 0)) for seed in range(1200)]
    for one, other in (("presentation", "voice"), ("format", "fence")):
        pairs = Counter((row[one], row[other]) for row in drawn)
        cells = len(CHOICES[one]) * len(CHOICES[other])
        assert len(pairs) == cells
        assert chisquare(list(pairs.values())).pvalue > 0.001


def test_the_published_mix_is_the_published_one() -> None:
    """Halves of format, wrapper, commentary and voice; 0.63 blocks; 0.3 escaping."""
    mix = mixes()["published"]
    for choice in ("format", "wrapper"):
        assert set(shares(mix, choice).values()) == {0.5}
    fence = shares(mix, "fence")
    required = fence["required"] + fence["required_language"]
    assert required == pytest.approx(0.63)
    assert required * shares(mix, "commentary")["allowed"] == pytest.approx(0.5)
    assert shares(mix, "escaping")["stressed"] == pytest.approx(0.3)
    assert shares(mix, "voice")["plain"] == pytest.approx(0.5)


def test_no_two_rows_are_the_same() -> None:
    """Kind, item schema, style and wishes together occur once in a file."""
    made = rows(240)
    assert len({identity(row.spec) for row in made if row.spec}) == 240
    assert len({row.seed for row in made}) == 240


def test_a_draw_that_would_repeat_a_row_is_drawn_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Equal draws give different rows, and an end where no other is to be had."""
    module = "evaluation.suites.ifstruct.generator.draw_row"
    monkeypatch.setattr(module, lambda one, _seed, attempt: draw_row(one, 0, attempt))
    first, second = generate_rows(source(), 0, 2)
    assert first.prompt != second.prompt
    monkeypatch.setattr(module, lambda one, _seed, _attempt: draw_row(one, 0, 0))
    with pytest.raises(BadConfiguration, match="no new one"):
        list(generate_rows(source(), 0, 2))


def test_rows_are_the_same_every_time() -> None:
    """The same seed gives the same rows, and another one others."""
    again = tuple(generate_rows(source(), 3, 20))
    assert again == rows(240)[:20]
    other = {row.prompt for row in generate_rows(source(), 4, 20)}
    assert not other & {row.prompt for row in again}


def test_a_row_requires_what_was_drawn() -> None:
    """The columns and the choices beside them say the same."""
    names = ("format", "wrapper", "least", "most", "commentary", "schema")
    for row in rows(60):
        assert row.spec is not None
        wanted = row.requirements
        assert str(wanted.fence) == row.spec.fence
        for name in names:
            assert getattr(wanted, name) == getattr(row.spec, name), name


def test_published_columns_say_what_they_can() -> None:
    """`require_code_block` is true where a block is required, and only there."""
    for row in rows(240):
        line = json.loads(published_lines([row]))
        wish = row.requirements.fence.wish
        assert line["require_code_block"] == (wish is FenceWish.REQUIRED)
        assert row.entity_type.startswith("test__")


def test_half_of_the_rows_have_a_text_to_escape() -> None:
    """A row has a text that needs escaping if and only if it was drawn so."""
    for row in rows(240):
        assert row.spec
        fields = [field for _, field in all_fields(row.spec.fields)]
        assert any(field.stress for field in fields) == row.spec.escaping
    kinds = {"multiline", "quotes", "code", "paths", "trace", "regex"}
    assert set(escapes()) == kinds


def test_an_item_is_never_empty() -> None:
    """Every object has a required member: YAML cannot write an empty one in blocks."""
    for row in rows(240):
        assert row.spec
        groups = [row.spec.fields]
        groups += [f.fields for _, f in all_fields(row.spec.fields) if f.fields]
        assert all(any(not f.optional for f in group) for group in groups)


def test_a_number_and_its_noun_agree() -> None:
    """No list of 1 objects, and no article before the name of a field."""
    wrong = re.compile(r"\b1 (?:items|objects|strings|texts)\b|\ban? `[a-z_]+`")
    for row in rows(240):
        assert not wrong.search(row.prompt), row.prompt


def test_every_style_is_told_by_every_voice() -> None:
    """All pairs of style and voice occur, and their texts differ."""
    pairs = {(row.presentation, row.voice) for row in rows(240)}
    assert len(pairs) == len(Presentation) * len(voices())


def test_the_kind_of_the_documentation_is_one() -> None:
    """The very lines of docs/suites/ifstruct.md are a kind without a fault."""
    page = Path(__file__).parents[4] / "docs" / "suites" / "ifstruct.md"
    (block,) = re.findall(
        r"^```toml\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (kind,) = _kinds(block)
    assert list(kind_faults(kind)) == []
    fields = draw_fields(kind, escaping=True, draw=random.Random(0))
    assert any(field.stress for field in fields)


@pytest.mark.parametrize(
    ("text", "part", "meant"),
    [
        ("Return JSON. No, return YAML.", "format", AnswerFormat.YAML),
        ("It has to fit this JSON Schema. Answer in YAML", "format", AnswerFormat.YAML),
        ("I need 4 or 5 birds; no, exactly 3 birds", "count", (3, 3)),
        ("two to four birds", "count", (2, 4)),
        ("2-4 birds", "count", (2, 4)),
        ("14 bird tables, 1 bird", "count", (1, 1)),
        ("under the key `a`. Scrap that, a bare list", "wrapper", ""),
        ('a bare list. Hm, an object with the key "b_c"', "wrapper", "b_c"),
        ("In a code block. No wait, no code block.", "fence", "forbidden"),
        ("Without a code block? No, put it in a code block.", "fence", "required"),
        ("Use a ```yaml code block.", "fence", "required:yaml"),
        ("It is not to be fenced.", "fence", "forbidden"),
        ("Add no commentary.", "commentary", False),
        ("No fuss, commentary is fine.", "commentary", True),
        ("Nothing is said.", "format", None),
        ("Nothing is said.", "count", None),
        ("Nothing is said.", "wrapper", None),
        ("Nothing is said.", "fence", None),
        ("Nothing is said.", "commentary", None),
    ],
)
def test_the_last_word_counts(text: str, part: str, meant: object) -> None:
    """A reader who takes the last word on everything reads what is meant."""
    if part == "fence" and isinstance(meant, str):
        meant = Fence.parse(meant)
    assert last_words(text, "bird", "birds")[part] == meant


def _without_last_choice(text: str) -> str:
    """Return a text without its last paragraph: format, shape, fence, comments."""
    return text.rpartition("\n\n")[0]


def test_every_text_says_all() -> None:
    """Of 120 rows in every style and voice no requirement is lost."""
    for row in rows(240)[:120]:
        assert row.spec
        assert lost_requirements(row.spec, row.prompt) == ()


def test_a_choice_that_is_dropped_is_missed() -> None:
    """Without its last paragraph a text lacks format, shape and what else it said."""
    for row in rows(240):
        assert row.spec
        lost = lost_requirements(row.spec, _without_last_choice(row.prompt))
        assert {"wrapper"} <= set(lost) or row.voice == "thinking_aloud"
        if Fence.parse(row.spec.fence).wish is not FenceWish.FREE:
            assert "fence" in lost
        if not row.spec.commentary:
            assert "commentary" in lost


def test_another_choice_is_missed() -> None:
    """A text is no text of a row that wants another format, count, key or fence."""
    for row in rows(240)[:40]:
        spec = row.spec
        assert spec
        is_json = spec.format is AnswerFormat.JSON
        other = AnswerFormat.YAML if is_json else AnswerFormat.JSON
        wrapper = None if spec.wrapper else "payload"
        fence = "required" if spec.fence == "forbidden" else "forbidden"
        for name, changed in (
            ("format", replace(spec, format=other)),
            ("count", replace(spec, most=spec.most + 1)),
            ("wrapper", replace(spec, wrapper=wrapper)),
            ("fence", replace(spec, fence=fence)),
        ):
            assert name in lost_requirements(changed, row.prompt)


def _field_lines(row: IfstructRecord) -> list[str]:
    assert row.spec
    names = [field.name for _, field in all_fields(row.spec.fields)]
    return [
        line
        for line in row.prompt.split("\n")
        if any(re.search(rf"\b{name}\b", line) for name in names)
    ]


def test_a_line_of_a_field_that_is_dropped_is_missed() -> None:
    """Each line that names a field is needed, in every style of one line a field."""
    styles = (Presentation.BULLETS, Presentation.GLOSSARY, Presentation.TABLE)
    checked = 0
    for row in rows(240):
        if row.presentation not in styles or row.voice == "thinking_aloud":
            continue
        assert row.spec
        for line in _field_lines(row)[-3:]:
            text = row.prompt.replace(f"{line}\n", "", 1)
            assert lost_requirements(row.spec, text), line
            checked += 1
    assert checked > 100


_LIMITS = re.compile(r"(?<=≤)\d+|(?<=and )\d+(?=[.;,)\n])")


def test_a_limit_that_is_changed_is_missed() -> None:
    """Another maximum than the row's is noticed, in words, signs and schemas."""
    checked = 0
    for row in rows(240):
        assert row.spec
        found = _LIMITS.search(row.prompt)
        if found is None or row.voice == "thinking_aloud":
            continue
        changed = row.prompt[: found.start()] + "77" + row.prompt[found.end() :]
        assert lost_requirements(row.spec, changed)
        checked += 1
    assert checked > 50


def test_a_value_that_is_dropped_is_missed() -> None:
    """A value of an enum that a text lacks is named, in every style."""
    seen = set()
    for row in rows(240):
        spec = row.spec
        assert spec
        enums = [field for field in spec.fields if field.values]
        if not enums:
            continue
        value = enums[0].values[-1]
        text = row.prompt.replace(f'"{value}"', '"other"')
        lost = lost_requirements(spec, text)
        assert any("the value" in each or "schema" in each for each in lost), lost
        seen.add(row.presentation)
    assert len(seen) == len(Presentation)


def test_a_field_that_becomes_optional_is_missed() -> None:
    """A text is no text of a row whose fields are optional where they were not."""
    for row in rows(240)[:40]:
        assert row.spec
        first, *others = row.spec.fields
        changed = replace(row.spec, fields=(_flipped(first), *others))
        assert lost_requirements(changed, row.prompt)


def _flipped(field: object) -> object:
    return replace(field, optional=not field.optional)  # type: ignore[attr-defined,type-var]  # any field


def _aloud(choice: Choice) -> list[tuple[RowSpec, str]]:
    found = [
        (row.spec, row.prompt)
        for row in rows(240)
        if row.spec and any(one.choice is choice for one in row.spec.retractions)
    ]
    assert len(found) > 3
    return found


@pytest.mark.parametrize("choice", list(Choice))
def test_thinking_aloud_states_and_takes_back(choice: Choice) -> None:
    """What was stated first stands in the text, before what holds."""
    for spec, text in _aloud(choice):
        for one in spec.retractions:
            assert one.wrong in text
    if choice in (Choice.LIMIT, Choice.FIELD):
        return
    for spec, text in _aloud(choice):
        (one,) = [one for one in spec.retractions if one.choice is choice]
        late = f"{text} After all, {one.wrong}."
        assert str(choice) in lost_requirements(spec, late)


def test_a_limit_and_a_field_are_taken_back_in_the_end() -> None:
    """The last sentence about a limit has the final one; a field is dropped."""
    for spec, text in _aloud(Choice.LIMIT):
        (one,) = [one for one in spec.retractions if one.choice is Choice.LIMIT]
        told = text[text.rindex(one.field) - 60 :].partition("\n\n")[0]
        assert re.search(rf"\b{re.escape(one.final)}\b", told), told
    for spec, text in _aloud(Choice.FIELD):
        (one,) = [one for one in spec.retractions if one.choice is Choice.FIELD]
        start = text.rindex(one.wrong)
        near = text[start - 60 : start + len(one.wrong) + 60]
        assert re.search(r"\b(forget|drop|scrap|leave|without|remove|no)\b", near)


def test_rows_that_nobody_rewrote_take_nothing_back() -> None:
    """Only the voice that thinks aloud states what does not hold."""
    for row in rows(240):
        assert row.spec
        assert bool(row.spec.retractions) == (row.voice == "thinking_aloud")


def _lost(row: IfstructRecord, text: str) -> tuple[str, ...]:
    assert row.spec
    return lost_requirements(row.spec, text)


def test_a_reworded_request_keeps_its_requirements() -> None:
    """Words around it lose nothing; its first paragraph and another format lose."""
    for row in rows(240)[:20]:
        assert _lost(row, f"Good morning! {row.prompt} Many thanks.") == ()
        assert _lost(row, row.prompt.split("\n", maxsplit=1)[0])
        other = "YAML" if row.output_format == "json" else "JSON"
        assert "format" in _lost(row, f"{row.prompt} In the end, make it {other}.")


def test_the_request_holds_the_whole_text() -> None:
    """The model is given the row's text, character by character."""
    record = suite_record(rows(240)[0])
    assert SUITE.rewording
    (turn,) = SUITE.rewording.prompt(record, IfstructSettings()).messages
    assert str(record.fields["prompt"]) in turn.content


def test_texts_that_pass_take_the_place_of_ours() -> None:
    """A row gets the text of a model where nothing is lost, and keeps its own else."""
    assert SUITE.rewording
    for row in rows(240)[:3]:
        record = suite_record(row)
        text = f"Hello there. {row.prompt}"
        changed = read_record(SUITE.rewording.accept(record, text).fields)
        assert (changed.prompt, changed.voice) == (text, "model")
        assert changed.spec
        assert changed.spec.retractions == ()
        for lost in ("Give me some JSON.", ""):
            assert SUITE.rewording.accept(record, lost) == record


def test_a_published_row_cannot_be_checked() -> None:
    """Without its `spec` there is nothing to check a text against."""
    published = published_lines(rows(240)[:1])
    (row,) = read_rows(json_rows(published, "rows"))
    record = suite_record(row)
    assert accept(record, f"Hi. {row.prompt}") == record
