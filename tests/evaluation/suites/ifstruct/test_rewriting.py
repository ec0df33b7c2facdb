"""The check of a request, and requests that a model reworded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.rewriting import (
    last_words,
    lost_in_rewording,
    lost_requirements,
    reworded,
)
from evaluation.suites.ifstruct.rows import (
    AnswerFormat,
    Choice,
    Fence,
    FenceWish,
    Presentation,
    all_fields,
    read_record,
)
from evaluation.suites.ifstruct.settings import IfstructSettings
from evaluation.suites.ifstruct.suite import (
    SUITE,
    read_rows,
    suite_record,
)
from tests.evaluation.suites.ifstruct.rows import published_lines, rows

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import IfstructRecord, RowSpec


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
    assert getattr(last_words(text, "bird", "birds"), part) == meant


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


def test_a_limit_or_field_that_reads_as_final_is_missed() -> None:
    """A retracted limit said last, and a field that nobody takes back, are named."""
    for spec, text in _aloud(Choice.LIMIT):
        (one,) = [one for one in spec.retractions if one.choice is Choice.LIMIT]
        late = f"{text} And `{one.field}` is at most {one.wrong}."
        assert f"{one.wrong} is not taken back" in lost_requirements(spec, late)
    for spec, text in _aloud(Choice.FIELD):
        (one,) = [one for one in spec.retractions if one.choice is Choice.FIELD]
        late = f"{text}{' ' * 80}Give `{one.wrong}` as well, it is vital.{' ' * 80}"
        assert f"{one.wrong} is not taken back" in lost_requirements(spec, late)


def test_rows_that_nobody_rewrote_take_nothing_back() -> None:
    """Only the voice that thinks aloud states what does not hold."""
    for row in rows(240):
        assert row.spec
        assert bool(row.spec.retractions) == (row.voice == "thinking_aloud")


def _lost(row: IfstructRecord, text: str) -> tuple[str, ...]:
    return lost_in_rewording(row, text)


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
    assert "no `spec`" in _lost(row, row.prompt)[0]
    assert reworded(row, f"Hi. {row.prompt}") == row
