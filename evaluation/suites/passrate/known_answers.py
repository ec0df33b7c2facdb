"""Answers whose verdicts are known: right ones, and wrong ones of many kinds.

The right ones are witnesses: instances that two validators accept. Each wrong one is
a witness with one thing done to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.instances.dataset.make_instances import make_instances
from evaluation.core.suite import KnownAnswer
from evaluation.suites.passrate.settings import FailureClass, Mode
from evaluation.suites.passrate.undeclared import undeclared_members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.suite_records import SuiteRecord
    from evaluation.suites.passrate.settings import PassrateSettings

#: Witnesses that are made of one schema.
_WITNESSES: Final = 2


def known_answers(
    record: SuiteRecord, settings: PassrateSettings
) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none where no witness is found."""
    for text in _witnesses(record, settings):
        yield KnownAnswer(kind="reference", text=text)
        yield KnownAnswer(kind="fenced", text=f"```json\n{text}\n```")
        yield from _not_json(text)


def _witnesses(record: SuiteRecord, settings: PassrateSettings) -> Iterator[str]:
    if record.schema is None:
        return
    compiled = read_schema(record.schema, record.dialect)
    if isinstance(compiled, Rejected):
        return
    made = make_instances(record.schema, record.dialect, 0, count=_WITNESSES, lean=True)
    for instance in made.witnesses:
        value = json.loads(instance.text)
        if settings.mode is Mode.SCHEMA or not undeclared_members(compiled, value):
            yield instance.text


def _not_json(text: str) -> Iterator[KnownAnswer]:
    """Yield what is no JSON any more."""
    if len(text) > 2:  # noqa: PLR2004 (shorter ones may be whole without their end)
        yield KnownAnswer(
            kind="cut",
            text=text[:-1],
            expected=FailureClass.SYNTAX_ERROR,
            because="not JSON",
        )
    yield KnownAnswer(kind="null", text=None, expected=FailureClass.EMPTY)
