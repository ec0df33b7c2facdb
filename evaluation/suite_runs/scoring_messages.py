"""What is said to a worker that scores."""

from __future__ import annotations

import msgspec

from curation.core.json_types import UntypedJson
from evaluation.core.suite_records import SuiteRecord, SuiteResponse


class ScoringSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Which suite scores, and how."""

    #: The suite's name, or the path of its folder.
    suite: str
    settings: UntypedJson


class ScoringUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One response to score."""

    record: SuiteRecord
    response: SuiteResponse
