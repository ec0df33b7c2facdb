"""The benchmark's configs and splits in their order, and how ids sort.

Order decides which of two equal records survives, and where a row stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The ten configs, in the order in which the first of equal records survives.
CONFIGS = (
    "Glaiveai2K",
    "Github_trivial",
    "Github_easy",
    "Github_medium",
    "Github_hard",
    "Github_ultra",
    "Snowplow",
    "Kubernetes",
    "WashingtonPost",
    "JsonSchemaStore",
)
#: The config whose raw files the paper's Table 9 counts, before any rule.
RAW_IN_TABLE_9 = "Kubernetes"
#: The config that holds the rows of all ten.
DEFAULT = "default"
#: The folder of the archives' own licence texts and notices, as they were read.
NOTICES = "NOTICES"
#: The folder of what became of every raw document, and of every instance.
LEDGER = "ledger"
#: The folder with a folder of instances for each config.
INSTANCES = "instances"
#: Folders of a dataset folder that are no configs, and whose names none may have.
OTHER_FOLDERS = (INSTANCES, "LICENSES", NOTICES, LEDGER, "plots")
#: What the names of tables of schemas end with.
SCHEMA_TABLE = ".parquet"
#: What the names of instances' and the ledger's tables end with: parquet too, but who
#: takes `**/*.parquet` wants schemas.
OTHER_TABLE = ".pq"
#: The splits, in the order in which they are listed.
SPLITS = ("train", "val", "test")
# Sixty, ten and thirty of a hundred parts of the keys, whose number is 2^64.
_UPPER_BOUNDS = (60, 70, 100)
_DIGITS = re.compile(r"([0-9]+)")
#: Names at the root of an archive, in any spelling and with any ending.
_NOTICE = re.compile(r"(?:COPYING|LICEN[CS]E|NOTICE)(?:[._-][\w.-]+)?", re.IGNORECASE)


def is_notice(path: str) -> bool:
    """Return whether a file of an archive is its licence text or a notice."""
    return _NOTICE.fullmatch(path) is not None


def split_of(split_key: str) -> str:
    """Return the split of every record that has this key of 16 hex digits.

    It depends on nothing else, so that a record never moves when others come or go.
    """
    part = int(split_key, 16) * 100 >> 64
    return SPLITS[bisect_right(_UPPER_BOUNDS, part)]


def bounds_of(split: str) -> tuple[int, int]:
    """Return the least key of a split as a number, and the least above its own."""
    place = SPLITS.index(split)
    lower, upper = (0, *_UPPER_BOUNDS)[place : place + 2]
    # Rounded up: no key of another split is among them.
    return -(-(lower << 64) // 100), -(-(upper << 64) // 100)


def natural_key(text: str) -> tuple[tuple[int, str | int], ...]:
    """Return the sort key of natural order: digits as numbers, `o9` before `o10`.

    Texts that differ have keys that differ: equal numbers with more leading zeros
    come later.
    """
    key: list[tuple[int, str | int]] = []
    for part in _DIGITS.split(text):
        if part and part[0] in "0123456789":
            key += ((0, int(part)), (0, len(part)))
        elif part:
            key.append((1, part))
    return tuple(key)


def instances_folder(config: str) -> str:
    """Return the folder, with `/`, that holds the instances of a config."""
    return f"{INSTANCES}/{config}"


def holds_instances(folder: str) -> bool:
    """Return whether a folder of a dataset folder, with `/`, holds instances."""
    return folder.startswith(f"{INSTANCES}/")


def records_config(folder: str) -> str:
    """Return the config whose instances a folder holds."""
    return folder.removeprefix(f"{INSTANCES}/")


def is_table(name: str) -> bool:
    """Return whether a file, by its name, is a table."""
    return name.endswith((SCHEMA_TABLE, OTHER_TABLE))


def in_benchmark_order(configs: Iterable[str]) -> list[str]:
    """Return the ten configs in their order, then any others by name."""
    ranks = {name: rank for rank, name in enumerate(CONFIGS)}
    return sorted(configs, key=lambda name: (ranks.get(name, len(ranks)), name))
