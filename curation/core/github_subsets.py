"""GitHub's five subsets: a schema's place among them is its field count."""

from __future__ import annotations

from bisect import bisect
from itertools import pairwise

#: Subset and the field count it stays below, smallest first (paper, section 3.1).
LIMITS = (
    ("Github_trivial", 10),
    ("Github_easy", 30),
    ("Github_medium", 100),
    ("Github_hard", 500),
)
LARGEST = "Github_ultra"
#: Config of the records of which nothing but the root's type can fail, of any size.
VACUOUS = "Github_vacuous"
#: Config of a document whose subset is not known yet, or never will be.
UNDIVIDED = "Github"


def github_config(field_count: int) -> str:
    """Return the config that a GitHub schema of this field count belongs to."""
    return next((name for name, limit in LIMITS if field_count < limit), LARGEST)


def size_names() -> tuple[str, ...]:
    """Return the five sizes by the field counts that they hold, smallest first."""
    bounds = (0, *(limit for _, limit in LIMITS))
    between = [f"{low}-{high - 1}" for low, high in pairwise(bounds)]
    return (*between, f"{bounds[-1]} or more")


def size_name(field_count: int) -> str:
    """Return which of `size_names` a field count belongs to."""
    return size_names()[bisect([limit for _, limit in LIMITS], field_count)]


def final_config(config: str, field_count: int, *, vacuous: bool = False) -> str:
    """Return the config of a record whose document was read for a config.

    Args:
        config: The config for which it was read.
        field_count: Its field count.
        vacuous: Whether nothing but its root's type can fail: such a record says
            nothing of an engine, whatever its size.
    """
    if config != UNDIVIDED:
        return config
    return VACUOUS if vacuous else github_config(field_count)


def is_github_config(config: str) -> bool:
    """Return whether a config is one of the five subsets."""
    return config == LARGEST or any(config == name for name, _ in LIMITS)
