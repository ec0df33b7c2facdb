"""Read every raw document once, and send each distinct one to the workers.

Documents of one source with the same bytes have the same result. A finished batch is
stored in the run folder, where the same build finds it again.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl

from curation.core.benchmark import UNDIVIDED, is_github_config
from curation.core.documents import RawDocument, Reason, Rejected
from curation.dataset.decisions import (
    DocumentResult,
    HeldResult,
    SourceDocument,
    held_results,
)
from curation.dataset.ledger import open_ledger
from curation.download.pins import selects
from curation.pipeline.inputs import BuildInput
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    too_long_to_read,
)
from curation.rules.benchmark import quota
from curation.rules.sets import RuleSet
from curation.system.errors import BadConfiguration
from curation.system.user_files import raw_folder
from curation.system.words import counted
from curation.workers.limits import Ending, ProcessResult, refuse_endless
from curation.workers.pool import Pool, in_batches
from curation.workers.run_folder import RunFolder

_GITHUB = "https://github.com/"


class OptOut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request: exactly one of `id`, `path` and `repository` is set."""

    #: Day of the request.
    day: dt.date
    #: `CONFIG/unique_id`.
    id: str = ""
    #: A pattern of paths (`curation.download.pins`).
    path: str = ""
    #: `OWNER/NAME` at GitHub.
    repository: str = ""

    def names(self, raw: RawDocument, archive_url: str) -> bool:
        """Return whether a document is asked to be left out.

        Args:
            raw: The document.
            archive_url: Home of the archive that it was read from.
        """
        if self.id:
            config, _, unique_id = self.id.partition("/")
            if is_github_config(config):
                config = UNDIVIDED
            return (config, unique_id) == (raw.config, raw.unique_id)
        path = raw.provenance.path
        if self.path:
            return selects((self.path,), path)
        repository = self.repository.casefold()
        homes = (archive_url, raw.provenance.original_repository or "")
        named = {home.casefold().removeprefix(_GITHUB).strip("/") for home in homes}
        return repository in named or f"/{repository}/" in path.casefold()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    opt_out: list[OptOut] = []


def _opted_out(
    requests: Sequence[OptOut], raw: RawDocument, archive_url: str
) -> Rejected | None:
    """Return why a document is left out; None if no one asked for it."""
    for request in requests:
        if request.names(raw, archive_url):
            detail = f"asked for on {request.day.isoformat()}"
            return Rejected(reason=Reason.OPTED_OUT, detail=detail, rule="opt-out")
    return None


def read_opt_outs(path: Path | None = None) -> Sequence[OptOut]:
    """Return the requests of a list; by default from `raw/opt_out.toml`.

    Raises:
        BadConfiguration: it is not such a list.
    """
    path = path or raw_folder() / "opt_out.toml"
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        requests = msgspec.convert(tables, _File).opt_out
    except (OSError, ValueError) as error:
        raise BadConfiguration(f"no list of requests ({error})", str(path)) from error
    for number, request in enumerate(requests, start=1):
        criteria = [
            part for part in (request.id, request.path, request.repository) if part
        ]
        if len(criteria) != 1 or (request.id and "/" not in request.id):
            fault = f"request {number} must say one of id (CONFIG/unique_id), path, "
            raise BadConfiguration(fault + "repository", str(path))
    return requests


#: What the ledger names where the process died under a document, and no rule raised.
NO_RULE = "limits"


def find_rule_faults(folder: Path) -> tuple[str, ...]:
    """Return a clause on each rule that raised in a build, by name.

    It has the count, and of the first document the error and its location.

    Args:
        folder: The build.

    Raises:
        NoInput: it has no ledger.
    """
    documents = open_ledger(folder).documents()
    crashed = documents.filter(
        pl.col("outcome") == Reason.CRASHED.value, pl.col("rule") != NO_RULE
    )
    faults = crashed.group_by("rule").agg(
        pl.len(),
        pl.concat_str("config", "unique_id", separator="/").first(),
        pl.col("detail").first(),
    )
    return tuple(
        f"rule {rule} raised for {counted(times, 'document')}, first {where} ({detail})"
        for rule, times, where, detail in faults.sort("rule").collect().iter_rows()
    )


#: A batch is closed at this many documents or bytes, whichever comes first.
BATCH_DOCUMENTS = 64
BATCH_BYTES = 2**20
#: Contents processed of a source with a quota, for each record that it may
#: have: many have too few fields, are copies or are refused.
DRAWN = 5


class BatchReader:
    """Reads the inputs in order, and cuts distinct contents into batches."""

    def __init__(
        self, inputs: Sequence[BuildInput], opt_outs: Sequence[OptOut]
    ) -> None:
        """Prepare to read; nothing is read before `batches`."""
        self._inputs = inputs
        self._opt_outs = opt_outs
        self._numbers: dict[tuple[str | Rejected | None, ...], int] = {}
        #: Name of the source that is being read.
        self.source = ""
        #: Every raw document read so far, in reading order.
        self.documents: list[SourceDocument] = []
        #: The results of contents that no worker sees, as JSON, by their number: they
        #: are left out on request, or too long to be read.
        self.refused: dict[int, bytes] = {}

    def batches(self) -> Iterator[list[tuple[int, DocumentRequest]]]:
        """Yield batches of distinct documents, each after the number of its content."""
        for position, item in enumerate(self._inputs):
            self.source = item.source.name
            yield from in_batches(
                self._distinct(position, item),
                lambda numbered: len(numbered[1].document.content),
                most=BATCH_DOCUMENTS,
                heaviest=BATCH_BYTES,
            )

    def _distinct(
        self, position: int, item: BuildInput
    ) -> Iterator[tuple[int, DocumentRequest]]:
        read, sample = item.source.read(item.reading), None
        if item.source.quota is not None:
            read = list(read)
            digests = {hashlib.sha256(raw.content).hexdigest() for raw in read}
            sample = frozenset(sorted(digests)[: item.source.quota * DRAWN])
        for raw in read:
            sha256 = hashlib.sha256(raw.content).hexdigest()
            # The base of relative references is part of a document's meaning.
            # A copy of an excluded file stays until its document is excluded, too.
            refused = _opted_out(self._opt_outs, raw, item.pin.url)
            key = raw.config, raw.base_uri, refused, sha256
            refused = refused or too_long_to_read(raw)
            if sample is not None and sha256 not in sample:
                detail = f"not among the first {len(sample):,} by digest of the content"
                refused = refused or Rejected(
                    reason=Reason.OVER_QUOTA, detail=detail, rule=quota.name
                )
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._numbers)
                if refused is None:
                    yield number, DocumentRequest(position, raw)
                else:
                    self.refused[number] = _rejection(raw.config, refused)
            self.documents.append(
                SourceDocument(
                    raw.config,
                    raw.unique_id,
                    raw.provenance,
                    sha256,
                    number,
                    raw.examples,
                )
            )


def count_documents(inputs: Sequence[BuildInput], opt_outs: Sequence[OptOut]) -> int:
    """Return how many documents are worked on: equal ones of one config count once.

    Reading all of them takes a hundredth of the time that the rules need.
    """
    return sum(map(len, BatchReader(inputs, opt_outs).batches()))


def process_batches(
    reader: BatchReader,
    pool: Pool,
    run: RunFolder,
    progress: Callable[[int], None],
) -> dict[int, HeldResult]:
    """Return the result of each distinct document, by the number of its content.

    Args:
        reader: Reads the documents, and numbers their distinct contents.
        pool: Runs `curation.pipeline.process_document`.
        run: Where finished batches are stored, and found again.
        progress: Prints how many more documents are done.

    Raises:
        WorkerDidNotStart: a worker cannot be started.
        CannotCreate: the run folder cannot be written.
        TemporarilyUnavailable: the rules do not come to an end with a document.
    """
    results: dict[int, HeldResult] = {}
    # By index in the pool: name, numbers of the contents, config and id of each.
    batches: list[tuple[str, list[int], list[tuple[str, str]]]] = []

    def hold(name: str, numbers: Iterable[int], batch: bytes) -> None:
        results.update(zip(numbers, held_results(run.path(name), batch), strict=True))

    def remaining() -> Iterator[list[DocumentRequest]]:
        for position, batch in enumerate(reader.batches()):
            name = f"batch-{position:05}"
            numbers = [number for number, _ in batch]
            stored = run.done(name)
            if stored is not None:
                hold(name, numbers, stored)
                progress(len(numbers))
                continue
            requests = [request for _, request in batch]
            places = [
                (document_request.document.config, document_request.document.unique_id)
                for document_request in requests
            ]
            batches.append((name, numbers, places))
            yield requests

    for finished in pool.run_batches(remaining()):
        name, numbers, places = batches[finished.index]
        answers = [
            result.text if result.ending is Ending.OK else _failure(key, result)
            for key, result in zip(places, finished.results, strict=True)
        ]
        batch = b"[" + b",".join(answers) + b"]"
        run.store(name, batch)
        hold(name, numbers, batch)
        progress(len(numbers))
    if reader.refused:
        batch = b"[" + b",".join(reader.refused.values()) + b"]"
        run.store("refused", batch)
        hold("refused", reader.refused, batch)
    return results


def make_setup(
    rules: RuleSet, inputs: Sequence[BuildInput], opt_outs: Sequence[OptOut]
) -> BuildSetup:
    """Return the set-up of a worker for a rule set and the inputs of a build."""
    return BuildSetup(
        rules=rules.name,
        libraries=tuple(
            LibraryFiles(
                files=str(item.files),
                # Only a rule set that bundles looks at other documents.
                uris=_uris(item, opt_outs) if rules.bundles else {},
            )
            for item in inputs
        ),
    )


def _uris(item: BuildInput, opt_outs: Sequence[OptOut]) -> dict[str, str]:
    """Return where references may lead: to nothing left out on request."""
    uris, files = dict(item.source.uris(item.reading)), item.reading.files
    left_out = {
        identifier
        for raw in (item.source.read(item.reading) if opt_outs and uris else ())
        if _opted_out(opt_outs, raw, item.pin.url)
        for identifier in (raw.content, raw.provenance.path)
    }
    paths = frozenset(files.paths if left_out else ())
    return {
        uri: path
        for uri, path in uris.items()
        if path not in left_out and not (path in paths and files.read(path) in left_out)
    }


def _failure(key: tuple[str, str], result: ProcessResult) -> bytes:
    refuse_endless(result, "/".join(key))
    short_of_memory = result.ending is Ending.OUT_OF_MEMORY
    reason = Reason.OUT_OF_MEMORY if short_of_memory else Reason.CRASHED
    # What raised outside every rule is a defect as well, and of csbdata itself.
    rule = "csbdata" if result.ending is Ending.ERROR else NO_RULE
    rejected = Rejected(reason=reason, detail=result.detail, rule=rule)
    return _rejection(key[0], rejected)


def _rejection(config: str, rejected: Rejected) -> bytes:
    return msgspec.json.encode(
        DocumentResult(config=config, record=None, rejected=rejected, changes=())
    )
