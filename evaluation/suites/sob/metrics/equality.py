"""Are two JSON values the same, as one reading of the benchmark has it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.leaves import Path
    from evaluation.suites.sob.metrics.rules import ScoringRules


def same_leaf(one: Json, other: Json, rules: ScoringRules) -> bool:
    """Return whether two leaves hold the same value.

    Under JSON's equality 1 and 1.0 are the same and 1 and true are not (JSON Schema
    2020-12 core, section 4.2.2); under Python's all three are. NaN equals nothing.
    """
    if one != other:
        return False
    return not rules.json_equality or isinstance(one, bool) is isinstance(other, bool)


def same_leaves(
    one: dict[Path, Json], other: dict[Path, Json], rules: ScoringRules
) -> bool:
    """Return whether two values are the same, whatever the order of keys.

    Args:
        one: All leaves of the first value (`leaves.all_leaves`), empty ones included.
        other: Those of the second.
        rules: What makes two leaves the same.
    """
    return one.keys() == other.keys() and all(
        same_leaf(value, other[path], rules) for path, value in one.items()
    )
