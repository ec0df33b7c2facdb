"""The verdict on one answer: cleaned, parsed, validated, and put into one class."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.instances.constraints.load_schema import read_schema
from curation.system.escaping import shortened
from evaluation.core.suite_records import Verdict
from evaluation.extraction.json_answers import read_json_answer
from evaluation.extraction.policies import POLICIES
from evaluation.extraction.thinking import split_thinking
from evaluation.suites.passrate.settings import FailureClass, Mode
from evaluation.suites.passrate.undeclared import undeclared_members
from evaluation.suites.passrate.violations import KEPT, answer_faults

if TYPE_CHECKING:
    import jsonschema_rs

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suites.passrate.settings import PassrateSettings

#: Schemas kept compiled; answers to one schema come one after the other.
_KEPT_SCHEMAS: Final = 256
_SHOWN: Final = 300
#: An answer without any bracket that begins so says that there will be none.
_REFUSAL: Final = re.compile(
    r"\A\W*(?:i['\u2019]?m (?:really |very )?sorry|i am sorry|sorry\b|i apologi[sz]e"
    r"|i can(?:no|['\u2019])t|i['\u2019]?m (?:unable|not able)|i am (?:unable|not able)"
    r"|i won['\u2019]t|as an ai\b|unfortunately, i)",
    re.IGNORECASE,
)
_REFUSED: Final = frozenset({"refusal", "content_filter"})


class PassrateScorer:
    """Judges answers; keeps the schemas compiled that were asked last.

    Example:
        >>> scorer = PassrateScorer(PassrateSettings())
        >>> record = SuiteRecord(id="a", schema='{"type": "object"}')
        >>> scorer(record, SuiteResponse(record="a", text="[]")).failure_class
        'schema_violation'
    """

    def __init__(self, settings: PassrateSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._clean = POLICIES[settings.cleaning]
        self._compiled: OrderedDict[tuple[str, str], CompiledSchema | str] = (
            OrderedDict()
        )

    def __call__(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response."""
        compiled = self._schema(record)
        if isinstance(compiled, str):
            return _failed(FailureClass.SCHEMA_ERROR, compiled, counted=False)
        if response.error:
            by_engine = response.finish == "engine_error"
            kind = FailureClass.ENGINE_ERROR if by_engine else FailureClass.API_ERROR
            return _failed(kind, shortened(response.error, _SHOWN))
        parts = split_thinking(response.text or "")
        cleaned = self._clean(parts.answer).text or ""
        missing = _no_answer(response, cleaned, thinking_unclosed=parts.unclosed)
        if missing is not None:
            return missing
        answer = read_json_answer(cleaned)
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

    def _schema(self, record: SuiteRecord) -> CompiledSchema | str:
        """Return the schema of a record, or why it cannot be used."""
        text = record.schema
        if text is None:
            return "the record has no schema"
        key = (record.dialect, text)
        found = self._compiled.get(key)
        if found is None:
            found = _compile(text, record.dialect)
            self._compiled[key] = found
            if len(self._compiled) > _KEPT_SCHEMAS:
                self._compiled.popitem(last=False)
        return found

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


def _compile(text: str, dialect: str) -> CompiledSchema | str:
    compiled = read_schema(text, dialect)
    if isinstance(compiled, Rejected):
        return shortened(f"{compiled.reason}: {compiled.detail}", _SHOWN)
    try:
        compiled.validator, compiled.validator_without_formats  # noqa: B018 - compiled here
    except ValueError as error:
        return shortened(str(error).partition("\n")[0], _SHOWN)
    return compiled


def _no_answer(
    response: SuiteResponse, cleaned: str, *, thinking_unclosed: bool
) -> Verdict | None:
    """Return the verdict where there is nothing to parse, None where there is."""
    if response.finish in _REFUSED:
        return _failed(FailureClass.REFUSAL, f"ended as {response.finish}")
    if cleaned and "{" not in cleaned and "[" not in cleaned:
        refusal = _REFUSAL.match(cleaned[:_SHOWN])
        if refusal is not None:
            return _failed(FailureClass.REFUSAL, f"begins {refusal[0].strip()!r}")
    if cleaned:
        return None
    why = "no text"
    if thinking_unclosed or response.reasoning:
        why = "thinking that never came to an answer"
    if response.finish == "length":
        return _failed(FailureClass.TRUNCATED, f"{why}; the budget was used up")
    return _failed(FailureClass.EMPTY, why)


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
