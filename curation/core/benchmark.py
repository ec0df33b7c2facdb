"""The benchmark's configs, splits, ids and kinds of instances, and its canary."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from enum import StrEnum

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
#: The config of modern schemas that a build has in addition to the ten.
TOOLS = "Tools"
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
#: The config of records that others hold too, on which engines differ.
CORE = "core"
#: Folders of a dataset folder that are not configs, and whose names configs must avoid.
OTHER_FOLDERS = (CORE, INSTANCES, "LICENSES", NOTICES, LEDGER, "plots")
#: Where the Hub keeps the files of a dataset's unnamed config, which repeats other
#: rows.
UNNAMED = "data"
#: The splits, in the order in which they are listed.
SPLITS = ("train", "val", "test")
# Sixty, ten and thirty of a hundred parts of the keys, whose number is 2^64.
_UPPER_BOUNDS = (60, 70, 100)
# More digits than Python reads as one number are several.
_DIGITS = re.compile(r"([0-9]{1,4000})")
#: Names at the root of an archive or in a wheel's metadata, in any spelling and with
#: any ending.
_NOTICE = re.compile(
    r"(?:[^/]+\.dist-info/(?:licenses/)?)?"
    r"(?:COPYING|LICEN[CS]E|NOTICE)(?:[._-][\w.-]+)?",
    re.IGNORECASE,
)


def is_notice(path: str) -> bool:
    """Return whether a file of an archive is its licence text or a notice."""
    return _NOTICE.fullmatch(path) is not None


def assign_split(split_key: str) -> str:
    """Return the split of every record that has this key of 16 hex digits.

    A record never moves when others come or go.
    """
    part = int(split_key, 16) * 100 >> 64
    return SPLITS[bisect_right(_UPPER_BOUNDS, part)]


def split_bounds(split: str) -> tuple[int, int]:
    """Return the least key of a split as a number, and the least above its own."""
    index = SPLITS.index(split)
    lower, upper = (0, *_UPPER_BOUNDS)[index : index + 2]
    # Rounded up: no key of another split is among them.
    return -(-(lower << 64) // 100), -(-(upper << 64) // 100)


def natural_key(text: str) -> tuple[tuple[int, str | int], ...]:
    """Return the sort key of natural order: digits as numbers, `o9` before `o10`.

    Equal numbers with more leading zeros come later.
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
    return name.endswith(".parquet")


def in_benchmark_order(configs: Iterable[str]) -> list[str]:
    """Return the ten configs in their order, then any others by name."""
    ranks = {name: rank for rank, name in enumerate(CONFIGS)}
    return sorted(configs, key=lambda name: (ranks.get(name, len(ranks)), name))


#: Subset and the field count it stays below, smallest first (paper, section 3.1).
LIMITS = (
    ("Github_trivial", 10),
    ("Github_easy", 30),
    ("Github_medium", 100),
    ("Github_hard", 500),
)
MAX_SIZE = "Github_ultra"
#: Config of a document whose subset is not known yet, or never will be.
UNDIVIDED = "Github"


def github_config(field_count: int) -> str:
    """Return the config that a GitHub schema of this field count belongs to."""
    return next((name for name, limit in LIMITS if field_count < limit), MAX_SIZE)


def measure_size(field_count: int) -> str:
    """Return the size of a schema of this field count: `trivial` to `ultra`."""
    return github_config(field_count).removeprefix(f"{UNDIVIDED}_")


#: The five sizes, smallest first.
SIZES = tuple(name.removeprefix(f"{UNDIVIDED}_") for name in (*dict(LIMITS), MAX_SIZE))


def final_config(config: str, field_count: int) -> str:
    """Return the config of a record whose document was read for a config.

    Args:
        config: The config for which it was read.
        field_count: Its field count.
    """
    return github_config(field_count) if config == UNDIVIDED else config


def is_github_config(config: str) -> bool:
    """Return whether a config is one of the five subsets."""
    return config in CONFIGS and config.startswith(f"{UNDIVIDED}_")


#: Key in the metadata of every parquet file.
METADATA_KEY = "csbdata.canary"
#: The GUID that marks a text as part of the benchmark: it is in the card, the
#: manifest and the metadata of every parquet file, never inside a schema. To look for
#: the benchmark in training data or in completions is to look for one string
#: (Srivastava et al., 2022, "Beyond the Imitation Game", section on canaries).
CANARY = "e54f9183-e95c-51ed-a938-f7ee984592f7"


class InstanceKind(StrEnum):
    """How an instance was made."""

    MINIMAL = "minimal"
    """Only the required parts."""
    FULL = "full"
    """Every optional property, to a sensible depth."""
    COVERING = "covering"
    """Made for parts that the witnesses before it do not reach."""
    RANDOM = "random"
    """Drawn with the seed."""
    GIVEN = "given"
    """The source of the schema itself states that it is right."""
    NEAR_MISS = "near_miss"
    """A witness with one place edited, so that it is refused."""
