"""Requests that a model reworded, taken where they say all that their row asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadData, NoInput
from evaluation.answers.thinking import split_thinking
from evaluation.core.suite_records import SuiteResponse
from evaluation.suites.ifstruct.records.asked import as_asked, read_asked
from evaluation.suites.ifstruct.rewriter.text_check import lost_requirements

if TYPE_CHECKING:
    from evaluation.core.suite_records import SuiteRecord

_RESPONSES: Final = "responses.jsonl"
#: What the `voice` of a row is called whose text a model wrote.
BY_MODEL: Final = "model"


def lost_in_rewrite(record: SuiteRecord, text: str) -> tuple[str, ...]:
    """Return what a reworded request lost; a row without `spec` cannot be checked."""
    row = read_asked(record)
    if row.spec is None:
        return ("the row has no `spec` to check the text against",)
    # What our own text stated and took back need not be in another one.
    spec = msgspec.structs.replace(row.spec, retractions=())
    return lost_requirements(spec, text)


def read_rewrites(path: str) -> dict[str, str]:
    """Return the texts of a file of responses, or of a run's folder, by record.

    Raises:
        NoInput: it cannot be read.
        BadData: a line is no response.
    """
    place = Path(path)
    place = place / _RESPONSES if place.is_dir() else place
    try:
        lines = place.read_bytes().splitlines()
    except OSError as error:
        why = error.strerror or type(error).__name__
        then = "csbdata suite ifstruct-rewrite run makes one"
        raise NoInput(why, str(place), then) from error
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        try:
            response = msgspec.json.decode(line, type=SuiteResponse)
        except msgspec.DecodeError as error:
            raise BadData(f"no response: {error}", f"{place}:{number}") from None
        if response.text and response.finish != "length" and not response.error:
            texts[response.record] = split_thinking(response.text).answer.strip()
    return texts


def reworded(record: SuiteRecord, texts: dict[str, str]) -> SuiteRecord:
    """Return a row with the text of a model, if that lost nothing; else as it was."""
    text = texts.get(record.key, texts.get(record.id, ""))
    row = read_asked(record)
    if not text or row.spec is None or lost_in_rewrite(record, text):
        return record
    spec = msgspec.structs.replace(row.spec, voice=BY_MODEL, retractions=())
    changed = {"prompt": text, "voice": BY_MODEL, "spec": spec}
    return as_asked(msgspec.structs.replace(row, **changed))
