"""The verdict on one answer: cleaned, parsed, validated, and put into one class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.answers.extraction import (
    POLICIES,
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
    triage,
)
from evaluation.answers.json_answers import read_json_answer
from evaluation.answers.schema_cache import SchemaCache
from evaluation.core.suite_records import Verdict
from evaluation.suites.passrate.settings import FailureClass, Mode
from evaluation.suites.passrate.undeclared import undeclared_members
from evaluation.suites.passrate.violations import KEPT, answer_faults

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suites.passrate.settings import PassrateSettings

#: The class of a response without an answer.
_CLASSES: Final = {
    NoAnswer.FAILED: FailureClass.API_ERROR,
    NoAnswer.ENGINE_FAILED: FailureClass.ENGINE_ERROR,
    NoAnswer.REFUSED: FailureClass.REFUSAL,
    NoAnswer.TRUNCATED: FailureClass.TRUNCATED,
    NoAnswer.THINKING: FailureClass.EMPTY,
    NoAnswer.EMPTY: FailureClass.EMPTY,
}


class PassrateScorer:
    """Judges responses.

    Example:
        >>> scorer = PassrateScorer(PassrateSettings())
        >>> record = SuiteRecord(id="a", schema='{"type": "object"}')
        >>> scorer(record, SuiteResponse(record="a", text="[]")).failure_class
        'schema_violation'
    """

    def __init__(self, settings: PassrateSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._rules = TriageRules(
            policy=POLICIES[settings.cleaning],
            refusals=Refusals.BY_WORDS,
            null_fails=False,
        )
        self._schemas = SchemaCache()

    def __call__(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response."""
        compiled = self._schemas.compiled(record.schema, record.dialect)
        if isinstance(compiled, str):
            return _failed(FailureClass.SCHEMA_ERROR, compiled, counted=False)
        text = triage(response, self._rules)
        if isinstance(text, MissingAnswer):
            return _failed(_CLASSES[text.kind], text.reason)
        answer = read_json_answer(text)
        if answer.problem is not None:
            kind = FailureClass.SYNTAX_ERROR
            if response.finish == "length":
                kind = FailureClass.TRUNCATED
            details: dict[str, Json] = {"problem": answer.problem.value}
            return _failed(kind, f"not JSON: {answer.detail}", details)
        verdict = self._validated(compiled, answer.value)
        if answer.duplicates:
            names: list[Json] = [*answer.duplicates]
            noted = {**verdict.details, "duplicate_members": names}
            return Verdict(
                passed=verdict.passed,
                failure_class=verdict.failure_class,
                reasons=verdict.reasons,
                scores=verdict.scores,
                details=noted,
            )
        return verdict

    def _validator(self, compiled: CompiledSchema) -> jsonschema_rs.Validator:
        if self._settings.formats:
            return compiled.validator
        return compiled.validator_without_formats

    def _validated(self, compiled: CompiledSchema, value: Json) -> Verdict:
        validator = self._validator(compiled)
        if validator.is_valid(value):
            return self._accepted(undeclared_members(compiled, value))
        found = answer_faults(validator, compiled.schema, value)
        only_undeclared = all(fault.undeclared for fault in found)
        kind = (
            FailureClass.HALLUCINATION
            if only_undeclared
            else FailureClass.SCHEMA_VIOLATION
        )
        errors: list[Json] = [fault.as_json() for fault in found[:KEPT]]
        details: dict[str, Json] = {
            "errors": errors,
            "keyword": _keyword([fault.keyword for fault in found]),
            "also_extra_fields": not only_undeclared
            and any(fault.undeclared for fault in found),
        }
        return Verdict(
            passed=False,
            failure_class=kind.value,
            reasons=tuple(fault.reason for fault in found[:KEPT]),
            scores={"strict": 0.0, "schema": 0.0},
            details=details,
        )

    def _accepted(self, extra: tuple[str, ...]) -> Verdict:
        """Return the verdict on a value that the schema itself accepts."""
        passed = not extra or self._settings.mode is Mode.SCHEMA
        fields: list[Json] = [*extra]
        named = tuple(f"{place}: the schema declares no such field" for place in extra)
        return Verdict(
            passed=passed,
            failure_class="" if passed else FailureClass.HALLUCINATION.value,
            reasons=() if passed else named,
            scores={"strict": float(not extra), "schema": 1.0},
            details={"extra_fields": fields} if extra else {},
        )


def _failed(
    kind: FailureClass,
    reason: str,
    details: dict[str, Json] | None = None,
    *,
    counted: bool = True,
) -> Verdict:
    return Verdict(
        passed=False,
        failure_class=kind.value,
        reasons=(reason,),
        scores={"strict": 0.0, "schema": 0.0} if counted else {},
        details=details or {},
        counted=counted,
    )


def _keyword(names: list[str]) -> str:
    """Return the one keyword that fails; `mixed` for several."""
    return names[0] if len(set(names)) == 1 else "mixed"
