"""Compare two editions of the benchmark, record by record.

Records are matched by config and id, then by id alone (moved), then by canonical form
(renamed). The comparison is symmetric.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import NamedTuple

from curation.core.benchmark import in_benchmark_order
from curation.core.documents import Rejected
from curation.dataset.editions import Edition
from curation.json.text import canonical, parse


class EditionRow(NamedTuple):
    """One record of one edition."""

    config: str
    split: str | None
    unique_id: str
    json_schema: str


class RecordPair(NamedTuple):
    """One record in both editions, or in one of them."""

    before: EditionRow | None
    after: EditionRow | None
    #: The kinds of its changes: `changed` means other schemas, `textual` another key
    #: order or number spelling; empty for none.
    kinds: tuple[str, ...]


#: Every kind that `RecordPair.kinds` can name, in the order of the summary's columns.
KINDS = (
    *("added", "removed", "changed", "textual", "moved_config", "moved_split"),
    "renamed",
)


def compare(old: Edition, new: Edition) -> list[RecordPair]:
    """Return every pair of records in which something differs.

    Example:
        >>> pairs = compare(open_edition("build/old"), open_edition("build/new"))
        >>> [pair.kinds for pair in pairs]
    """
    pairs: list[RecordPair] = []
    before, after = (
        [
            EditionRow(*row)
            for row in edition.rows.select(EditionRow._fields).iter_rows()
        ]
        for edition in (old, new)
    )
    # By config and id, by id, by content, each in the order of the rows.
    keys: Sequence[Callable[[EditionRow], Hashable]] = (
        itemgetter(0, 2),
        itemgetter(2),
        _identity,
    )
    for key in keys:
        if not before or not after:
            break
        waiting: defaultdict[Hashable, list[EditionRow]] = defaultdict(list)
        for row in reversed(after):
            waiting[key(row)].append(row)
        unpaired = []
        for row in before:
            if partners := waiting[key(row)]:
                pairs.append(_pair(row, partners.pop()))
            else:
                unpaired.append(row)
        unmatched = {id(row) for rows in waiting.values() for row in rows}
        before, after = unpaired, [row for row in after if id(row) in unmatched]
    pairs += (RecordPair(row, None, ("removed",)) for row in before)
    pairs += (RecordPair(None, row, ("added",)) for row in after)
    return [pair for pair in pairs if pair.kinds]


def _identity(row: EditionRow) -> bytes:
    """Return the canonical form; broken text stays as it is."""
    text = row.json_schema.encode()
    value = parse(text)
    return text if isinstance(value, Rejected) else canonical(value)


def _pair(before: EditionRow, after: EditionRow) -> RecordPair:
    differs = before.json_schema != after.json_schema
    is_equal = differs and _identity(before) == _identity(after)
    have_splits = before.split is not None and after.split is not None
    kinds = {
        "changed": differs and not is_equal,
        "textual": is_equal,
        "moved_config": before.config != after.config,
        "moved_split": have_splits and before.split != after.split,
        "renamed": before.unique_id != after.unique_id,
    }
    named = tuple(kind for kind, is_so in kinds.items() if is_so)
    return RecordPair(before, after, named)


def config_counts(
    old: Edition, new: Edition, pairs: Sequence[RecordPair]
) -> dict[str, dict[str, int]]:
    """Return the number of rows in both editions and of pairs of each kind, by config.

    A moved record counts in its old config.

    Args:
        old: The edition `a`.
        new: The edition `b`.
        pairs: Their differences, of `compare`.
    """
    sizes = [Counter(edition.rows["config"].to_list()) for edition in (old, new)]
    kinds: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        row = pair.before or pair.after
        kinds.update((row.config, kind) for kind in pair.kinds if row)
    return {
        config: {
            "a": sizes[0][config],
            "b": sizes[1][config],
            **{kind: kinds[config, kind] for kind in KINDS},
        }
        for config in in_benchmark_order(sizes[0] | sizes[1])
    }
