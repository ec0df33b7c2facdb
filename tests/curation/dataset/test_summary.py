"""The figures of a build are those of its ledger."""

from __future__ import annotations

from curation.core.documents import Origin, Reason
from curation.dataset.summary import total_of
from tests.made import ADDED, change, count_entries, entry, in_split, record, rejected

ENTRIES = [
    rejected("x", "Snowplow", Reason.TEMPLATE),
    rejected("y", "Snowplow", Reason.BAD_ENCODING),
    rejected("z", "Snowplow", Reason.TEMPLATE, changes=(change(),)),
    entry(in_split("val", "sp"), "Snowplow", changes=(change(), change(), ADDED)),
    entry(record("a"), "Glaiveai2K", origin=Origin.SAMPLE),
]


def test_documents_are_counted_by_outcome() -> None:
    """Raw is kept and rejected together; reasons stand in the enum's order."""
    _, snowplow = count_entries(ENTRIES)
    assert (snowplow.raw, snowplow.kept) == (4, 1)
    assert list(snowplow.rejected.items()) == [("bad_encoding", 1), ("template", 2)]
    assert dict(snowplow.splits) == {"train": 0, "val": 1, "test": 0}


def test_a_rule_counts_once_for_a_record() -> None:
    """Two edits by one rule are one changed record; rejected ones do not count."""
    _, snowplow = count_entries(ENTRIES)
    assert dict(snowplow.changed) == {"dialect": 1, "pattern": 1}


def test_configs_stand_in_benchmark_order() -> None:
    """The order is the benchmark's, not the ledger's."""
    found = count_entries(ENTRIES)
    assert [each.config for each in found] == ["Glaiveai2K", "Snowplow"]
    assert [each.origin for each in found] == ["sample", "upstream"]


def test_a_total_is_the_sum() -> None:
    """Every figure of the total is the sum of the configs'."""
    total = total_of(count_entries(ENTRIES), "all")
    assert (total.config, total.raw, total.kept) == ("all", 5, 2)
    assert total.origin == "upstream+sample"
    assert total.rejected["template"] == 2
    assert sum(total.splits.values()) == 2
