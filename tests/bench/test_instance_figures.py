"""What the bench of generators draws, counts and says, without any generator."""

from __future__ import annotations

from bench.generators.instance_figures import (
    NOT_RUN,
    OURS,
    Drawn,
    Score,
    drawn,
    not_run,
    ratios,
    summarised,
)


def _row(digest: str) -> Drawn:
    return Drawn(
        unique_id=f"o{digest}", json_schema="{}", dialect="draft-07", sha256=digest
    )


def _score(valid: int, seconds: float = 0.2, ended: str = "in time") -> Score:
    return Score(
        dialect="draft-07", made=2 * valid, valid=valid, seconds=seconds, ended=ended
    )


def test_the_draw_depends_on_digests_alone() -> None:
    """The least digests are drawn, whatever the order of the rows, each once."""
    rows = [_row("c"), _row("a"), _row("d"), _row("b"), _row("a")]
    assert [row.sha256 for row in drawn(rows, 3)] == ["a", "b", "c"]
    assert drawn(reversed(rows), 3) == drawn(rows, 3)


def test_the_draw_takes_what_there_is() -> None:
    """Fewer records than asked for are all drawn."""
    assert len(drawn([_row("a"), _row("b")], 300)) == 2


def test_a_summary_counts_schemas_and_values() -> None:
    """A killed schema counts as one without an instance, and its time is charged."""
    scores = [_score(30), _score(10), _score(0, ended="killed"), _score(0)]
    figures = summarised(scores, "1.2")
    assert figures["version"] == "1.2"
    assert (figures["with_valid"], figures["schemas"]) == (2, 4)
    assert figures["share"] == 0.5
    assert (figures["made"], figures["distinct_valid"]) == (80, 40)
    assert (figures["seconds"], figures["per_second"]) == (0.8, 50.0)
    assert figures["with_valid_by_dialect"] == {"draft-07": "2 of 4"}
    assert figures["ended"] == {"in time": 3, "killed": 1}


def test_ratios_are_ours_over_the_peers() -> None:
    """Share and rate are compared separately."""
    generators = {
        OURS: summarised([_score(40), _score(40)], ""),
        "peer": summarised([_score(20), _score(0)], ""),
    }
    assert ratios(generators) == {f"{OURS} / peer": {"share": 2.0, "per_second": 4.0}}


def test_a_peer_that_is_not_here_has_a_reason_and_no_figure() -> None:
    """What did not run is neither nought nor beaten."""
    generators = {OURS: summarised([_score(40)], ""), "peer": not_run("no npm")}
    assert generators["peer"] == {NOT_RUN: "no npm"}
    assert ratios(generators) == {f"{OURS} / peer": {NOT_RUN: "no npm"}}


def test_a_peer_without_any_instance_has_no_ratio() -> None:
    """Division by nothing is null, not infinity."""
    generators = {
        OURS: summarised([_score(40)], ""),
        "peer": summarised([_score(0)], ""),
    }
    assert ratios(generators)[f"{OURS} / peer"] == {"share": None, "per_second": None}
