"""Judge the texts of a command line by profiles of targets, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from curation.checking.problems import NOTE, SchemaProblem
from curation.core.documents import Rejected
from curation.fit.profile import Effect
from curation.fit.verdict import (
    NOT_A_SCHEMA,
    FitFinding,
    is_taken,
    judge_fit,
    judge_request,
    untold_keywords,
)
from curation.json import text as jsontext
from curation.json.positions import TextPositions
from curation.sources.tools import LISTS

if TYPE_CHECKING:
    from curation.checking.schema_files import SchemaFile
    from curation.core.json_types import Json
    from curation.fit.profile import Profile

#: What source expressions of tools begin with: all tools of one are one request.
_TOOLS: Final = ("tools:", "mcp:")
_LEVELS: Final = {Effect.IGNORED: "warning", Effect.ROUTED: NOTE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFit:
    """What each target does with one schema, or with all tools of a request."""

    name: str
    content: bytes
    #: The tool list that it is part of; empty for a schema by itself.
    request: str = ""
    #: By the name of the target.
    findings: Mapping[str, tuple[FitFinding, ...]]
    #: Keywords of which no source tells anything.
    untold: Mapping[str, tuple[str, ...]]

    def is_taken_by(self, target: str) -> bool:
        """Return whether the target takes it, ignored parts or not."""
        return is_taken(self.findings[target])

    def problems(self) -> Iterator[SchemaProblem]:
        """Yield the findings of all targets at their places in the text."""
        if not any(self.findings.values()):
            return
        positions = TextPositions(self.content.decode("utf-8-sig", "replace"))
        for target, findings in self.findings.items():
            for finding in findings:
                line, column = positions.of(finding.pointer)
                yield SchemaProblem(
                    level=_LEVELS.get(finding.effect, "error"),
                    pointer=finding.pointer,
                    line=line,
                    column=column,
                    code=f"{target}/{finding.rule}",
                    message=f"{finding.sentence} ({cited(finding)})",
                )


def cited(finding: FitFinding) -> str:
    """Return the source of a finding, and how it is known."""
    return f"{finding.source}, {finding.evidence}"


def judge_files(
    files: Sequence[SchemaFile], profiles: Sequence[Profile]
) -> Iterator[SchemaFit]:
    """Yield a fit for each text, and one for each request whose tools are too many.

    Args:
        files: The texts. Those of one tool list are one request.
        profiles: The targets.
    """
    requests: dict[str, list[Json]] = {}
    for file in files:
        read = jsontext.parse(file.content)
        value = None if isinstance(read, Rejected) else read
        own = file.name.partition("#")[0] if file.name.startswith(_TOOLS) else ""
        if own:
            requests.setdefault(own, []).append(value)
        fault = _fault(read, file.name)
        yield SchemaFit(
            name=file.name,
            content=file.content,
            request=own,
            findings={
                it.name: (fault,) if fault else judge_fit(value, it, tool=bool(own))
                for it in profiles
            },
            untold={}
            if fault
            else {it.name: untold_keywords(value, it) for it in profiles},
        )
    for name, schemas in requests.items():
        whole = {it.name: judge_request(schemas, it) for it in profiles}
        if any(whole.values()):
            yield SchemaFit(
                name=f"{name} (one request)",
                content=b"",
                request=name,
                findings=whole,
                untold={},
            )


def _fault(value: Json | Rejected, name: str) -> FitFinding | None:
    """Return why a text is no schema; None if it may be one."""
    if isinstance(value, Rejected):
        detail = f": {value.detail}" if value.detail else ""
        sentence = f"{value.reason.explanation}{detail}"
        return replace(NOT_A_SCHEMA, rule=value.reason, sentence=sentence)
    members = (
        [value[it] for it in LISTS if it in value] if isinstance(value, dict) else []
    )
    listed = next((it for it in (value, *members) if isinstance(it, list)), None)
    if listed and all(isinstance(it, dict) for it in listed):
        sentence = f"a list is no schema; if its members are tools, write tools:{name}"
        return replace(NOT_A_SCHEMA, sentence=sentence)
    return None
