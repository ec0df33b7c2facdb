"""The verdict on an answer of task 1: read, held against the schema's root, validated.

Validation is that of jsonschema-rs in the record's dialect. Formats are off in the
headline unless a setting says otherwise; `scores` has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.json.values import type_of
from curation.system.escaping import shortened
from evaluation.core.suite_records import FREE, Verdict
from evaluation.suites.concodeeval.answers.model import NotRead, Unreadable
from evaluation.suites.concodeeval.answers.read_answer import (
    Output,
    fenced_answer,
    read_output,
)
from evaluation.suites.concodeeval.compatibility import SuiteReading
from evaluation.suites.concodeeval.generation_task.locality import Places
from evaluation.suites.concodeeval.generation_task.violations import violations
from evaluation.suites.concodeeval.settings import AnswerClass

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.suite_records import SuiteResponse
    from evaluation.suites.concodeeval.answers.model import Read
    from evaluation.suites.concodeeval.fields import RecordFields
    from evaluation.suites.concodeeval.settings import ConcodeSettings

_SHOWN: Final = 200
#: What counts as incomplete; every other class without a value is invalid.
_INCOMPLETE: Final = frozenset({Unreadable.NO_FENCE, Unreadable.NO_ANSWER})
#: No value, and so neither a wrong root nor a violation.
_NO_SCORES: Final = {
    "gen_acc": 0.0,
    "with_formats": 0.0,
    "rtv": 0.0,
    "invalid": 0.0,
    "incomplete": 0.0,
}


class GenerationScorer:
    """Judges answers of task 1."""

    def __init__(self, settings: ConcodeSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._places: dict[CompiledSchema, Places] = {}

    def score(
        self, fields: RecordFields, compiled: CompiledSchema, response: SuiteResponse
    ) -> Verdict:
        """Return the verdict on a response that is there."""
        read = self._read(fields, compiled, response)
        if isinstance(read, NotRead):
            return _unreadable(read)
        return self._validated(compiled, read.value)

    def _read(
        self, fields: RecordFields, compiled: CompiledSchema, response: SuiteResponse
    ) -> Read | NotRead:
        text: str | NotRead = (response.text or "").strip()
        if not text:
            return NotRead(Unreadable.NO_ANSWER, "no text")
        # Under an engine nothing but the sample can be written, and no fence.
        if response.condition == FREE or fields.output is not Output.JSON:
            continues = self._settings.form == "base"
            text = fenced_answer(str(text), continues=continues)
        if isinstance(text, NotRead):
            return text
        return read_output(
            text,
            fields.output,
            compiled.schema,
            reading=self._settings.reading,
            xml=self._settings.xml_reading,
        )

    def _validated(self, compiled: CompiledSchema, value: Json) -> Verdict:
        plain, strict = compiled.validator_without_formats, compiled.validator
        accepted, with_formats = plain.is_valid(value), strict.is_valid(value)
        passed = with_formats if self._settings.formats else accepted
        wrong_root = self._has_wrong_root(compiled.schema, value)
        scores = {
            **_NO_SCORES,
            "gen_acc": float(passed),
            "with_formats": float(with_formats),
            "rtv": float(wrong_root),
        }
        if passed:
            return Verdict(passed=True, scores=scores)
        found = violations(strict if self._settings.formats else plain, value)
        kind = AnswerClass.WRONG_ROOT if wrong_root else AnswerClass.VIOLATION
        places = self._places_of(compiled)
        keywords: dict[str, Json] = {**found.keywords}
        counts: list[Json] = [*places.counts(found.schema_pointers)]
        constraints: list[Json] = [*places.constraints]
        return Verdict(
            passed=False,
            failure_class=kind.value,
            reasons=found.reasons,
            scores=scores,
            details={
                "keywords": keywords,
                "locality": counts,
                "constraints": constraints,
            },
        )

    def _has_wrong_root(self, schema: Json, value: Json) -> bool:
        """Return whether a value's type is none that the schema's root names.

        In the paper's reading null is never of a wrong type.
        """
        named = schema.get("type") if isinstance(schema, dict) else None
        types = named if isinstance(named, list) else [named]
        if named is None or (
            value is None and self._settings.reading is SuiteReading.PAPER
        ):
            return False
        found = type_of(value)
        return found not in types and not (found == "integer" and "number" in types)

    def _places_of(self, compiled: CompiledSchema) -> Places:
        """Return the places of a schema, listed once while it is kept."""
        found = self._places.get(compiled)
        if found is None:
            found = Places.of(compiled.schema, self._settings.locality)
            if len(self._places) > _MOST_PLACES:
                self._places.clear()
            self._places[compiled] = found
        return found


_MOST_PLACES: Final = 1_024


def _unreadable(read: NotRead) -> Verdict:
    incomplete = read.why in _INCOMPLETE
    return Verdict(
        passed=False,
        failure_class=AnswerClass(read.why.value).value,
        reasons=(shortened(f"{read.why.value}: {read.detail}", _SHOWN),),
        scores={
            **_NO_SCORES,
            "incomplete": float(incomplete),
            "invalid": float(not incomplete),
        },
    )
