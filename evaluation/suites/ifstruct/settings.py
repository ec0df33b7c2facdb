"""The settings of IFStruct and of its extended track."""

from __future__ import annotations

from typing import Literal

import msgspec

from evaluation.suites.ifstruct.verifier.findings import RuleReading
from evaluation.suites.ifstruct.verifier.verify import VerifierOptions

#: Tokens of an answer; the published run allows 16,000.
DEFAULT_BUDGET = 2048


class IfstructSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How rows are drawn, asked and judged."""

    #: The taxonomy of the rows that are drawn.
    split: Literal["train", "test"] = "test"
    #: How often each choice is drawn: `published`, `even`, or a TOML file.
    mix: str = "published"
    #: A folder of files of kinds that takes the place of ours; empty for ours.
    entities: str = ""
    #: A run of suite `ifstruct-rewrite` on the same rows, or its file of responses:
    #: its texts take the place of ours where they say all that their row asks for.
    rewrites: str = ""
    #: Whose rules decide: `recommended`, or `published` (`--compat paper`).
    reading: Literal["recommended", "published"] = "recommended"
    #: Most tokens of an answer.
    budget: int = DEFAULT_BUDGET
    #: Read raw JSON with text around it where commentary is allowed.
    lenient_raw: bool = False
    #: Let `1.0` count as a whole number.
    whole_floats: bool = False
    #: Refuse members that stand twice in one object.
    no_duplicate_keys: bool = False
    #: Refuse NaN and infinities.
    no_nan: bool = False

    @property
    def decides(self) -> RuleReading:
        """The reading that decides whether a response passes."""
        published = self.reading == "published"
        return RuleReading.PUBLISHED if published else RuleReading.RECOMMENDED

    @property
    def options(self) -> VerifierOptions:
        """What the verifier reads otherwise."""
        return VerifierOptions(
            lenient_raw=self.lenient_raw,
            whole_floats=self.whole_floats,
            no_duplicate_keys=self.no_duplicate_keys,
            no_nan=self.no_nan,
        )


def as_published(settings: IfstructSettings) -> IfstructSettings:
    """Return the settings of the published verifier."""
    return msgspec.structs.replace(
        settings,
        reading="published",
        lenient_raw=False,
        whole_floats=False,
        no_duplicate_keys=False,
        no_nan=False,
    )
