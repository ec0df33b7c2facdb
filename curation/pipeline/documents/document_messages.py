"""What a build sends to its worker processes; they answer with `DocumentResult`s."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from curation.core.documents import Provenance, RawDocument


class LibraryFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The other documents of one input, to which a `$ref` may lead."""

    #: A pack, or a folder.
    files: str
    #: Absolute URI without fragment to the path inside; empty where none is read.
    uris: Mapping[str, str]


class BuildSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What every worker of a build is told once."""

    #: Name of the rule set.
    rules: str
    #: Where the parent finds modules: plug-ins may be outside the installation.
    sys_path: tuple[str, ...]
    #: One for each input, in their order.
    libraries: tuple[LibraryFiles, ...]


class DocumentUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One raw document."""

    #: Position of its input.
    input: int
    config: str
    unique_id: str
    provenance: Provenance
    #: Its bytes as Latin-1, one character a byte: they need not be UTF-8.
    content: str
    base_uri: str | None

    def raw_document(self) -> RawDocument:
        """Return the document, with its bytes."""
        return RawDocument(
            config=self.config,
            unique_id=self.unique_id,
            provenance=self.provenance,
            content=self.content.encode("latin-1"),
            base_uri=self.base_uri,
        )


def unit_of(raw: RawDocument, position: int) -> DocumentUnit:
    """Return a raw document of the input at a position as a unit of work."""
    return DocumentUnit(
        input=position,
        config=raw.config,
        unique_id=raw.unique_id,
        provenance=raw.provenance,
        content=raw.content.decode("latin-1"),
        base_uri=raw.base_uri,
    )
