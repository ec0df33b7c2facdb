"""Do extras, options and versions of the manifest follow from the tables?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from curation.core.benchmark import CONFIGS, holds_instances
from curation.dataset.ledger import DOCUMENTS
from curation.verification.derivations.contradiction import Contradiction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.folder_contents import FolderContents

_COMPILED = "fastjsonschema"
_INSTANCES = "instances"
#: What a parquet file says of the library that wrote it.
_WRITER = "parquet-cpp-arrow version "


def contradictions(
    facts: BuildFacts, contents: FolderContents
) -> Iterator[Contradiction]:
    """Yield where they do not."""
    extras = sorted(_configs(contents) - {*CONFIGS})
    if facts.extras != extras:
        yield Contradiction(f"`extras` is {facts.extras}, not {extras}")
    made = any(holds_instances(table.folder) for table in contents.tables.values())
    compiled = any(_tells_of_compiling(contents, path) for path in contents.tables)
    if isinstance(facts.options, list):
        for name, there in ((_INSTANCES, made), (_COMPILED, compiled)):
            if there != (name in facts.options):
                word = "lacks" if there else "has"
                yield Contradiction(f"`options` {word} {name!r}, unlike the tables")
    version = facts.versions.get("pyarrow", "")
    for table in contents.tables.values():
        if table.metadata.created_by != _WRITER + version:
            yield Contradiction(
                f"{table.path} was written by {table.metadata.created_by}, not by "
                f"pyarrow {version}"
            )


def _configs(contents: FolderContents) -> set[str]:
    """Return the configs of the ledger; what never got a subset has one, too."""
    if DOCUMENTS not in contents.tables:
        return {table.folder for table in contents.records()}
    column = pq.read_table(contents.files[DOCUMENTS], columns=["config"])["config"]
    return set(column.unique().to_pylist())


def _tells_of_compiling(contents: FolderContents, path: str) -> bool:
    """Return whether any row of a table of records says how it compiled."""
    table = contents.tables[path]
    if not table.holds_records or _COMPILED not in table.metadata.schema.names:
        return False
    column = pq.read_table(contents.files[path], columns=[_COMPILED])[_COMPILED]
    return bool(column.null_count < len(column))
