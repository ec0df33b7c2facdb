"""What the worker of a build makes of hostile documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from curation.pipeline import document_worker
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    request_of,
)
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.pool import Pool
from curation.workers.process import Program
from tests.curation.rules.documents_made import PROVENANCE, raw_document

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES = ("clean", "paper")
#: Seconds for one schema on a busy machine; a hang takes for ever.
LIMITS = Limits(seconds=60)


def _request(name: str, content: bytes) -> DocumentRequest:
    provenance = replace(PROVENANCE, source="github", path=f"{name}.json")
    raw = raw_document(content, config="Github", unique_id=name, provenance=provenance)
    return request_of(raw, 0)


def judged(
    rules: str, named: Mapping[str, bytes], limits: Limits = LIMITS
) -> dict[str, ProcessResult]:
    """Return what the worker of a build makes of each document."""
    setup = BuildSetup(rules=rules, libraries=(LibraryFiles(files="", uris={}),))
    program = Program(file=Path(document_worker.__file__), setup=setup)
    units = [_request(name, content) for name, content in named.items()]
    batches = [units[start : start + 32] for start in range(0, len(units), 32)]
    jobs = min(2, len(batches))
    with Pool(program, jobs=jobs, limits=limits, attempts=1) as pool:
        results = sorted(pool.run_batches(batches), key=lambda each: each.index)
    outcomes = [each for result in results for each in result.results]
    return dict(zip(named, outcomes, strict=True))


def reason_of(outcome: ProcessResult) -> str | None:
    """Return the reason of a rejection; None where the document is kept."""
    assert outcome.ending is Ending.OK, outcome
    rejected = outcome.answer["rejected"]
    return rejected["reason"] if rejected else None
