"""The worker process of a build: raw documents in, outcomes out.

Run by path (`curation.workers.pool`). What crosses the channel is JSON: contents
travel as Latin-1 text, one character a byte, since they need not be UTF-8.
"""

from __future__ import annotations

import dataclasses
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from curation.core.documents import (
    Change,
    Origin,
    Provenance,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.records import Record
from curation.core.rule import Context
from curation.dataset.decisions import DocumentResult
from curation.dataset.raw_figures import RawFigures
from curation.download.local_files import open_files
from curation.pipeline.process_document import apply
from curation.references.library import NoLibrary, PackLibrary
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import UntypedJson
    from curation.pipeline.inputs import BuildInput
    from curation.rules.sets import RuleSet

_TUPLES = tuple(
    each.name for each in dataclasses.fields(Record) if "tuple" in str(each.type)
)


def setup_of(rules: RuleSet, inputs: Sequence[BuildInput]) -> UntypedJson:
    """Return what every worker of a build is told once, as a JSON value."""
    return {
        "rules": rules.name,
        "sys_path": sys.path,
        "libraries": [
            {
                "files": str(each.files),
                # Only a rule set that bundles looks at other documents.
                "uris": dict(each.source.uris(each.reading)) if rules.bundles else {},
            }
            for each in inputs
        ],
    }


def unit_of(raw: RawDocument, given: int) -> UntypedJson:
    """Return a raw document of the input at position `given` as a JSON value."""
    return {
        "input": given,
        "config": raw.config,
        "unique_id": raw.unique_id,
        "provenance": dataclasses.asdict(raw.provenance),
        "content": raw.content.decode("latin-1"),
        "base_uri": raw.base_uri,
    }


def _raw_of(unit: UntypedJson) -> RawDocument:
    provenance = {**unit["provenance"], "origin": Origin(unit["provenance"]["origin"])}
    return RawDocument(
        config=unit["config"],
        unique_id=unit["unique_id"],
        provenance=Provenance(**provenance),
        content=unit["content"].encode("latin-1"),
        base_uri=unit["base_uri"],
    )


def outcome_of(answer: UntypedJson) -> DocumentResult:
    """Return the outcome that a worker has answered with."""
    record, rejected, raw = answer["record"], answer["rejected"], answer["raw"]
    if record is not None:
        record = Record(**{**record, **{each: tuple(record[each]) for each in _TUPLES}})
    if rejected is not None:
        rejected = Rejected(**{**rejected, "reason": Reason(rejected["reason"])})
    return DocumentResult(
        config=answer["config"],
        record=record,
        rejected=rejected,
        changes=tuple(Change(**each) for each in answer["changes"]),
        raw=None if raw is None else RawFigures(**raw),
    )


def _context(given: UntypedJson) -> Context:
    if not given["uris"]:
        return Context(library=NoLibrary())
    files = open_files(Path(given["files"]))
    return Context(library=PackLibrary(files, given["uris"]))


def start(setup: UntypedJson) -> Callable[[UntypedJson], DocumentResult]:
    """Open the rule set and the libraries; return the handler of units."""
    sys.path.extend(each for each in setup["sys_path"] if each not in sys.path)
    from curation.rules.sets import rule_set  # noqa: PLC0415 (needs sys.path)

    rules = rule_set(setup["rules"])
    contexts = [_context(each) for each in setup["libraries"]]
    # Documents are trees without cycles: reference counts free them, and the
    # collector would only walk them again and again.
    gc.disable()

    def handle(unit: UntypedJson) -> DocumentResult:
        # orjson writes a dataclass as the object of its fields.
        return apply(_raw_of(unit), rules, contexts[unit["input"]])

    return handle


if __name__ == "__main__":
    serve(start, encode=orjson.dumps, decode=orjson.loads)
