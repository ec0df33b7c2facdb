"""Fit schemas to a provider before anything is sent, and decode answers.

A schema that the profile of a provider refuses (`curation.fit.profile`) is rewritten by
`curation.fit.rewriting`; one that cannot be is not declared, and not sent. Fits are
kept in the run's folder, so that a resumed run does not make them again.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.fit.answers import fit_schema
from curation.fit.decoding import Codec
from curation.fit.profile import Profile, load_profile
from curation.fit.shapes import SHAPE, Shaped
from curation.fit.verdict import is_sendable, judge_fit
from curation.relation.comparer import Comparer
from curation.schema.dialects import BY_NAME
from curation.system.errors import BadData
from curation.system.words import counted
from curation.workers.fingerprint import fingerprint
from evaluation.core.records import Adapt
from evaluation.masks.run_folder import AppendedLines, whole_lines
from evaluation.servers.provider import PROMPT_ALONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.system.progress import Progress
    from evaluation.core.records import Record

#: The file of a folder with the fits.
FITS: Final = "fits.jsonl"
#: Maximum number of printed reasons.
_SHOWN: Final = 5


class AdaptedSchema(msgspec.Struct, frozen=True, kw_only=True):
    """The schema sent for a record."""

    #: Fingerprint of profile, mode and record.
    key: str = ""
    #: The sent text.
    text: str = ""
    #: With marks where answers have another shape (`curation.fit.shapes`).
    marked: Any = True
    #: As in `Shaped`.
    is_closed: bool = True
    dialect: str = ""
    #: One line a rewrite; empty if the record's own schema is sent.
    edits: tuple[str, ...] = ()
    #: Why it is not sent, and the keyword or rule to blame; empty if it is sent.
    refusal: str = ""
    reason: str = ""

    def decoded(self, answer: str) -> str:
        """Return the text of an answer's decoded value; otherwise the answer."""
        if SHAPE not in msgspec.json.encode(self.marked).decode():
            return answer
        try:
            dialect = BY_NAME[self.dialect]
            codec = Codec(Shaped(self.marked, dialect, is_closed=self.is_closed))
            value = codec.decode(json.loads(answer))
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            # Half a surrogate pair stays the escape that the answer has.
            return text.encode("utf-8", "backslashreplace").decode()
        except (ValueError, TypeError, LookupError, RecursionError):
            return answer


def _parsed(schema: str) -> Json:
    """Return a schema that is to be sent.

    Raises:
        BadData: its text is not JSON.
    """
    try:
        parsed: Json = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not declared: no JSON ({error})") from error
    return parsed


class SchemaAdapter:
    """Adapts schemas to one profile, each once."""

    def __init__(self, profile: str, mode: Adapt, way: str = "strict") -> None:
        """Prepare; an empty profile, or the mode `none`, sends schemas as they are.

        Args:
            profile: Its name.
            mode: What is done with a schema that it refuses.
            way: How the server is asked for a schema.
        """
        self._sends, self._tool = way != PROMPT_ALONE, way == "tool"
        used = profile and mode is not Adapt.NONE and self._sends and way != "json"
        self._profile: Profile | None = load_profile(profile) if used else None
        self._mode = mode
        self._fits: dict[str, AdaptedSchema] = {}

    @cached_property
    def facts(self) -> dict[str, Json]:
        """The profile, its date and content, and the mode, for a run's header."""
        if self._profile is None:
            return {}
        return {
            "adapt": self._mode.value,
            "tool": self._tool,
            "profile": self._profile.name,
            "profile_date": self._profile.date,
            "profile_sha256": fingerprint(profile=msgspec.to_builtins(self._profile)),
        }

    def prepare(
        self,
        records: Sequence[Record],
        folder: Path,
        label: str,
        progress: Progress,
    ) -> None:
        """Adapt the schemas of a run, and report the number of failures.

        Args:
            records: The records of the run.
            folder: The run's, which is locked; keeps the fits.
            label: The participant.
            progress: Shows how far it is.
        """
        records = [record for record in records if record.schema is not None]
        if self._profile is None or not records:
            return
        for line in whole_lines(folder / FITS):
            with suppress(msgspec.DecodeError):
                fit = msgspec.json.decode(line, type=AdaptedSchema)
                self._fits[fit.key] = fit
        found = sum(self.key(record) in self._fits for record in records)
        with (
            closing(AppendedLines(folder / FITS)) as lines,
            progress.bar("Adapting schemas", len(records), found) as advance,
            Comparer() as comparer,
        ):
            advance(found)
            for record in records:
                key = self.key(record)
                if key not in self._fits:
                    self._fits[key] = self._fit(record, key, comparer)
                    lines.write(msgspec.json.encode(self._fits[key]))
                    advance(1)
        fits = [self._fits[self.key(record)] for record in records]
        progress.log(f"{label}: {_summary(fits, self._profile, self._mode)}")

    def of(self, record: Record) -> AdaptedSchema:
        """Return the sent schema of a prepared record."""
        if self._profile is not None and record.schema is not None:
            return self._fits[self.key(record)]
        try:
            if self._sends:
                _parsed(record.constraint)
        except BadData as error:
            return AdaptedSchema(refusal=error.message, reason="unusable")
        return AdaptedSchema(text=record.constraint)

    def key(self, record: Record) -> str:
        """Return the key of a record's fit."""
        return fingerprint(
            **self.facts, schema=record.constraint, dialect=record.dialect
        )

    def _fit(self, record: Record, key: str, comparer: Comparer) -> AdaptedSchema:
        profile = self._profile
        try:
            schema = _parsed(record.constraint)
            # Every request asks for strict outputs, and its tools are strict.
            sent = {"tool": self._tool, "strict": True}
            if profile is None or is_sendable(judge_fit(schema, profile, **sent)):
                return AdaptedSchema(key=key, text=record.constraint)
            fit = fit_schema(
                record.constraint,
                profile,
                dialect=record.dialect,
                allow="safe" if self._mode is Adapt.SAFE else "any",
                comparer=comparer,
                **sent,
            )
        except BadData as error:
            return AdaptedSchema(key=key, refusal=error.message, reason="unusable")
        if fit.failing:
            first = fit.failing[0]
            place = first.pointer or "the root"
            late = " (given up at its deadline)" if fit.is_late else ""
            why = f"not declared: {place}: {first.sentence}{late}"
            reason = first.keyword or first.rule
            return AdaptedSchema(key=key, refusal=why, reason=reason)
        return AdaptedSchema(
            key=key,
            text=json.dumps(fit.schema),
            marked=fit.shaped.marked,
            is_closed=fit.shaped.is_closed,
            dialect=fit.shaped.dialect.name,
            edits=tuple(f"{step.rewrite}: {step.claim}" for step in fit.steps),
        )


def _summary(fits: Sequence[AdaptedSchema], profile: Profile, mode: Adapt) -> str:
    """Return how many schemas are sent as they are, rewritten, or not sent, and why."""
    reasons = Counter(fit.reason for fit in fits if fit.refusal)
    edited = sum(bool(fit.edits) for fit in fits)
    refused = reasons.total()
    kind = "safe" if mode is Adapt.SAFE else "the nearest"
    line = (
        f"of {counted(len(fits), 'schema')}, {profile.name} ({profile.date}) takes "
        f"{len(fits) - edited - refused:,} as they are and {edited:,} after {kind} "
        f"rewrites; {refused:,} are not declared"
    )
    parts = [f"{name} {n:,}" for name, n in reasons.most_common(_SHOWN)]
    further = [n for _, n in reasons.most_common()[_SHOWN:]]
    if further:
        parts.append(f"and {sum(further):,} for {len(further)} more")
    return f"{line} ({', '.join(parts)})" if parts else line
