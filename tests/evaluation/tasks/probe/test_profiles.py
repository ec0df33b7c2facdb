"""Profiles for `csbdata fit` are made of what probes measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.fit.profile import Effect, read_profile
from curation.fit.verdict import judge_fit, untold_keywords
from evaluation.results.reader import open_run
from evaluation.tasks.probe.outcomes import ProbeOutcome
from evaluation.tasks.probe.profiles import profile_text, write_profiles
from tests.evaluation.made_runs import accepted, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

_OUTCOMES = {
    "minimum": {
        "minimum": [ProbeOutcome.ENFORCED],
        "minimum (0)": [ProbeOutcome.ENFORCED],
    },
    "not": {"not": [ProbeOutcome.REFUSED, ProbeOutcome.REFUSED]},
    "uniqueItems": {"uniqueItems": [ProbeOutcome.IGNORED, ProbeOutcome.WARNED]},
    "pattern": {
        "pattern": [ProbeOutcome.ENFORCED],
        "pattern (lookahead)": [ProbeOutcome.REFUSED],
    },
    "contains": {"contains": [ProbeOutcome.OVER_STRICT]},
    "x-unknown": {"x-unknown": [ProbeOutcome.TOLERATED]},
    "format": {
        "format (date)": [ProbeOutcome.ENFORCED],
        "format (uuid)": [ProbeOutcome.IGNORED],
        "format (unknown)": [ProbeOutcome.TOLERATED],
    },
}


def test_what_depends_on_use_is_not_told(tmp_path: Path) -> None:
    """All probes alike make a rule; the note names a keyword that is partly held."""
    file = tmp_path / "mine.toml"
    text = profile_text("mine", "mine 1.2 faithful", "2026-11-25", _OUTCOMES)
    file.write_text(text, "utf-8")
    profile = read_profile(file)
    assert profile.sources["probes"].title == "probes of mine 1.2 faithful"
    assert profile.note.endswith("pattern, contains")
    schema: UntypedJson = {
        "minimum": 1,
        "not": {"uniqueItems": True},
        "anyOf": [{"format": "date"}, {"format": "uuid"}, {"format": "x"}],
        "pattern": "a",
    }
    effects = {it.pointer: it.effect for it in judge_fit(schema, profile)}
    assert effects == {
        "/not": Effect.REFUSED,
        "/not/uniqueItems": Effect.IGNORED,
        "/anyOf/1/format": Effect.IGNORED,
        "/anyOf/2/format": Effect.IGNORED,
    }
    assert untold_keywords(schema, profile) == ("anyOf", "pattern")


def test_a_run_tells_a_keyword_apart_from_the_place_it_is_probed_in(
    tmp_path: Path,
) -> None:
    """Inside `allOf`, which the engine ignores, `minimum` is as little held as all.

    Probes of pairs count as little. Where no format is held, the keyword has the rule.
    """
    ignored = (accepted(), accepted(valid=False))
    probes = [
        ("minimum", "root", {}),
        ("minimum", "property", {}),
        ("minimum", "allOf", {"walks": ignored}),
        ("format", "root", {"walks": ignored}),
    ]
    rows = [
        row(
            task="probe",
            id=f"{keyword}/{place}",
            label={
                "keyword": keyword,
                "probe": "format (unknown)" if keyword == "format" else keyword,
                "context": place,
            },
            **walks,
        )
        for keyword, place, walks in probes
    ]
    head = {"engines": [{"engine": "alpha 1.0"}], "started": "2026-11-26"}
    pair = {"keyword": "minimum", "pair": "minimum + type", "context": "root"}
    rows.append(row(task="probe", id="pair", label=pair, walks=ignored))
    (file,) = write_profiles(open_run(write_run(tmp_path, rows, head)), tmp_path)
    profile = read_profile(file)
    assert profile.taken[0] == "minimum"
    schema: UntypedJson = {"minimum": 1, "format": "date"}
    assert [it.pointer for it in judge_fit(schema, profile)] == ["/format"]


def test_two_presets_of_an_engine_have_a_file_each(tmp_path: Path) -> None:
    """And no name leads out of the folder."""
    labels = {"x 1.0 faithful": "x", "x 1.0 vendor": "x", "y": "../y"}
    label = {"keyword": "minimum", "probe": "minimum", "context": "root"}
    rows = [row(task="probe", id="p", engine=it, label=label) for it in labels]
    engines = [{"engine": label, "name": name} for label, name in labels.items()]
    head = {"engines": engines, "started": "2026-11-26"}
    files = write_profiles(open_run(write_run(tmp_path, rows, head)), tmp_path)
    assert len({*files}) == 3
    assert {file.parent for file in files} == {tmp_path}
