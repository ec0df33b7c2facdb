"""The three tasks, in the order of the paper's Table 7."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evaluation.suites.quality.tasks import (
    grade_school_maths,
    last_letter,
    shuffled_objects,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.suites.quality.problems import QualityTask

TASKS: Final[Mapping[str, QualityTask]] = MappingProxyType(
    {
        module.TASK.name: module.TASK
        for module in (last_letter, shuffled_objects, grade_school_maths)
    }
)
