"""The worker process of a build: raw documents in, their results out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.rule import Context
from curation.download.packs import open_files
from curation.pipeline.process_document import (
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
    apply_rules,
)
from curation.references.library import NO_LIBRARY, PackLibrary
from curation.rules.sets import rule_set

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.dataset.decisions import DocumentResult


def _context(library: LibraryFiles) -> Context:
    if not library.uris:
        return Context(library=NO_LIBRARY)
    files = open_files(Path(library.files))
    return Context(library=PackLibrary(files, library.uris))


def start(setup: Json) -> Callable[[Json], DocumentResult]:
    """Open the rule set and the libraries; return the handler of requests."""
    build_setup = msgspec.convert(setup, BuildSetup)
    rules = rule_set(build_setup.rules)
    contexts = [_context(library) for library in build_setup.libraries]

    def handle(request: Json) -> DocumentResult:
        document = msgspec.convert(request, DocumentRequest)
        return apply_rules(document.raw_document(), rules, contexts[document.input])

    return handle
