"""The dataset card: its YAML, its body, and hostile names in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from huggingface_hub import DatasetCardData

from curation.documents import Origin, Reason
from curation.packaging.card import card, columns, metadata
from curation.packaging.parquet import COLUMNS
from curation.summary import NAME, PARTIAL_NAME
from tests.made import change, entry, in_split, record, rejected, summary

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden" / "card.md"
ENTRIES = [
    *(entry(in_split(split), "Github_easy") for split in ("train", "val", "test")),
    entry(in_split("test", "k"), "Kubernetes", changes=(change(),)),
    rejected("kb_1", "Kubernetes", Reason.TEMPLATE),
    entry(in_split("train", "m"), "mine", origin=Origin.LOCAL),
]
EXTRAS = frozenset({"mine"})


def test_the_card_is_as_it_was(compare_golden: Callable[[Path, str], None]) -> None:
    """A fixed build gives the checked-in card, byte by byte."""
    compare_golden(GOLDEN, card(summary(ENTRIES, extras=EXTRAS)))


def test_the_hub_reads_the_yaml_as_meant() -> None:
    """huggingface_hub's own model of a card takes the metadata and gives it back."""
    known = metadata(summary(ENTRIES, extras=EXTRAS))
    modelled = DatasetCardData(**known)
    assert yaml.safe_load(modelled.to_yaml()) == known


def test_extras_are_outside_the_default_config() -> None:
    """`default` holds every config's files but the extras'."""
    configs = metadata(summary(ENTRIES, extras=EXTRAS))["configs"]
    names = [each["config_name"] for each in configs]
    assert names == ["default", "Github_easy", "Kubernetes", "mine"]
    assert "mine" not in str(configs[0])
    assert [each for each in configs if each.get("default")] == configs[:1]


def test_splits_without_rows_are_not_announced() -> None:
    """`datasets` cannot open an empty split, so the YAML does not name one."""
    configs = metadata(summary(ENTRIES, extras=EXTRAS))["configs"]
    splits = [each["split"] for each in configs[2]["data_files"]]
    assert splits == ["test"]


def test_a_config_without_records_is_not_announced() -> None:
    """A config all of whose documents were rejected is in the table only."""
    entries = [rejected("o1", "Snowplow", Reason.EMPTY)]
    assert metadata(summary(entries))["configs"] == []
    assert "| `Snowplow` | upstream | 1 | 0 |" in card(summary(entries))


def test_a_partial_build_says_so() -> None:
    """The name and one plain sentence say that a part is missing."""
    partial = summary(ENTRIES, partial=("Kubernetes is not complete.",))
    assert f"# {PARTIAL_NAME}\n\nThis build is partial: Kubernetes is" in card(partial)
    assert metadata(partial)["pretty_name"] == PARTIAL_NAME
    assert "partial" not in card(summary(ENTRIES))
    assert metadata(summary(ENTRIES))["pretty_name"] == NAME


def test_totals_leave_sample_rows_out() -> None:
    """The last row of the table counts no row of the embedded sample."""
    sample = entry(record("kb_7"), "Kubernetes", origin=Origin.SAMPLE)
    text = card(summary([*ENTRIES[:3], sample]))
    assert "| all but the sample's | | 3 | 3 | 1 | 1 | 1 |" in text


def test_every_reason_is_explained() -> None:
    """The table of reasons is that of the enum."""
    text = card(summary(ENTRIES))
    assert all(f"| `{reason.value}` |" in text for reason in Reason)
    assert "| `template` | a template" in text


def test_every_column_has_a_meaning() -> None:
    """The table of columns is `Record` with its comments."""
    assert [each.name for each in columns()] == COLUMNS.names
    assert all(each.meaning for each in columns())


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "a | b",
        "`code` ![x](javascript:y)",
        "\x1b[31mred",
        "\u202egnp.exe",
        "line\nbreak",
        "{{ summary }}",
        "=cmd|' /C calc'!A0",
    ],
)
def test_hostile_names_stay_in_their_cell(name: str) -> None:
    """A name cannot end its table cell, become HTML or reach a terminal."""
    entries = [entry(record("o1"), name), entry(record("o2"), "Snowplow")]
    text = card(summary(entries, partial=(name,)))
    body = text.split("\n---\n", 1)[1]
    rows = [line for line in body.splitlines() if "| upstream | 1 | 1 |" in line]
    assert len(rows) == 2
    assert all(line.replace("\\|", "").count("|") == 8 for line in rows)
    assert "<script>" not in body.replace("`<script>alert(1)</script>`", "")
    assert not any(character in text for character in "\x1b\u202e")
    assert yaml.safe_load(text.split("---\n")[1])["pretty_name"] == PARTIAL_NAME
