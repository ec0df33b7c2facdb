"""GitHub's five subsets: a schema's place among them is its field count."""

from __future__ import annotations

#: Subset and the field count it stays below, smallest first (paper, section 3.1).
LIMITS = (
    ("Github_trivial", 10),
    ("Github_easy", 30),
    ("Github_medium", 100),
    ("Github_hard", 500),
)
LARGEST = "Github_ultra"
#: Config of a document whose subset is not known yet, or never will be.
UNDIVIDED = "Github"


def github_config(field_count: int) -> str:
    """Return the config that a GitHub schema of this field count belongs to."""
    return next((name for name, limit in LIMITS if field_count < limit), LARGEST)


def final_config(config: str, field_count: int) -> str:
    """Return the config of a record whose document was read for a config."""
    return github_config(field_count) if config == UNDIVIDED else config


def is_github_config(config: str) -> bool:
    """Return whether a config is one of the five subsets."""
    return config == LARGEST or any(config == name for name, _ in LIMITS)
