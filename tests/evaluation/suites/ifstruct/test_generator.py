"""The generator: kinds of things, shares of choices, rows that are never the same."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace
from scipy.stats import chisquare

from curation.system.errors import BadConfiguration, CsbdataError
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
    prompt_of,
)
from evaluation.suites.ifstruct.rows import Fence, FenceWish, Presentation, all_fields
from tests.evaluation.suites.ifstruct.data_faults import CHOICES, kind_faults, shares
from tests.evaluation.suites.ifstruct.rows import published_lines, rows, source

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.data_files import EntityKind
    from evaluation.suites.ifstruct.rows import RowSpec

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
    [
        ('"gate_name"', '"name"', "several words"),
        ('"gate_cm", type', '"gate_name", type', "two fields are called gate_name"),
        ('values = ["oak", "pine"]', 'values = ["oak"]', "two `values`"),
        ("minimum = 40, ", "", "a `minimum` below"),
        ('stress = ["quotes"]', 'stress = ["smells"]', "no such stress: smells"),
        (', stress = ["quotes"]', "", "no field has a `stress`"),
        ("Write it plainly.", "Answer in YAML.", "reads like a choice"),
        ("for a catalogue", "without a code block", "reads like a choice"),
        ('contexts = ["for a catalogue"]', "contexts = []", "contexts"),
        ('{ name = "is_locked", type = "boolean" },', "", "under 4 fields"),
    ],
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
        assert bool(voice.revises) is (voice.musings is not None), name


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
    for row in rows(60):
        assert row.spec is not None
        assert row.spec.requirements == row.requirements


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


def test_a_voice_that_loses_a_requirement_is_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text that does not say its outermost shape is never handed out."""
    (row, *_) = [row for row in rows(240) if row.voice == "plain"]
    assert row.spec
    silent = replace(voices()["plain"], bare=("",), wrapped=("",))
    monkeypatch.setattr(
        "evaluation.suites.ifstruct.generator.voices", lambda: {"plain": silent}
    )
    with pytest.raises(CsbdataError, match="lost: wrapper"):
        prompt_of(row.spec, row.seed)


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
