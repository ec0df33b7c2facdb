"""Everything that a record refers to, directly or through other documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.core.documents import Reason, Rejected
from curation.json.pointer import pointer
from curation.references.metaschema_documents import standard_document
from curation.references.resolution import (
    Reference,
    Scan,
    SchemaDocument,
    Spot,
    join,
    scan,
)
from curation.schema.dialect_uris import statement
from curation.schema.dialects import DRAFT_04
from curation.schema.translation import CannotPortError, ported
from curation.validation.metaschemas import is_valid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.core.rule import Library
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Schemas that one record may refer to beyond its own places.
MOST_REGIONS = 20_000
#: Longest piece of a reference that a message repeats.
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to."""

    document: SchemaDocument
    spot: Spot


@dataclass(frozen=True, slots=True)
class Lead:
    """A reference and its target."""

    reference: Reference
    target: Target


@dataclass(slots=True, kw_only=True)
class Region:
    """A schema that is reached, with the references that stand in it."""

    document: SchemaDocument
    spot: Spot
    scan: Scan
    leads: list[Lead] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, Tokens]:
        """Its identity within one closure."""
        return id(self.document), self.spot.tokens


class NotResolvedError(Exception):
    """A reference that leads nowhere, or further than the source reaches."""

    def __init__(self, reason: Reason, detail: str) -> None:
        """Carry the rejection that it makes."""
        super().__init__(detail)
        self.rejected = Rejected(reason=reason, detail=detail)


class Closure:
    """The regions that a record's references reach, gathered on creation.

    Raises:
        NotResolvedError: one of the references cannot be resolved.
    """

    def __init__(
        self, schema: UntypedJson, dialect: Dialect, uri: str, library: Library
    ) -> None:
        """Follow every reference of a schema that was found under a URI."""
        self.record = SchemaDocument(schema=schema, dialect=dialect, uri=uri)
        self._library = library
        self._documents: dict[int, SchemaDocument] = {}
        self._regions: dict[tuple[int, Tokens], Region] = {}
        root = self.record.root
        first = Region(document=self.record, spot=root, scan=self.record.scanned)
        self._regions[first.key] = first
        self._follow_all([first])
        self._settle_dynamic()

    def _follow_all(self, waiting: list[Region]) -> None:
        while waiting:
            waiting = [new for each in waiting for new in self._follow(each)]

    def own_regions(self) -> list[Region]:
        """Return the regions of the record itself, its root first."""
        return [each for each in self.regions() if each.document is self.record]

    def outside_regions(self) -> list[Region]:
        """Return the regions of other documents, in the order of need."""
        return [each for each in self.regions() if each.document is not self.record]

    def regions(self) -> Iterator[Region]:
        """Yield every region, in the order in which they were reached."""
        yield from self._regions.values()

    def _follow(self, region: Region) -> Iterator[Region]:
        """Resolve the references of a region; yield what they reach first."""
        known: dict[tuple[str, type, str], Target] = {}
        for reference in region.scan.references:
            # The type keeps 1, true and "1" apart.
            text = (reference.base, type(reference.value), str(reference.value))
            target = known.get(text)
            if target is None:
                target = known[text] = self._target(reference, region.document)
            region.leads.append(Lead(reference, target))
            document, spot = target.document, target.spot
            if document is self.record and spot.is_place:
                continue
            if (id(document), spot.tokens) not in self._regions:
                yield self._reach(target)

    def _reach(self, target: Target) -> Region:
        if len(self._regions) >= MOST_REGIONS:
            detail = f"refers to more than {MOST_REGIONS} schemas"
            raise NotResolvedError(Reason.TOO_LARGE, detail)
        document, spot = target.document, target.spot
        new = Region(
            document=document,
            spot=spot,
            scan=scan(spot.value, document.dialect, spot.outer, spot.tokens),
        )
        self._regions[new.key] = new
        return new

    def _settle_dynamic(self) -> None:
        """Let dynamic references in other documents lead where they always lead.

        A dynamic reference leads to the outermost schema in scope that bears the
        anchor. If all references from documents without the anchor into those with
        it enter one document, that one is always outermost.
        """
        for region in self.outside_regions():
            for index, lead in enumerate(region.leads):
                name = anchor_name(lead)
                if name is None:
                    continue
                entry = self._entry(name, lead)
                region.leads[index] = Lead(lead.reference, entry)
                if (id(entry.document), entry.spot.tokens) not in self._regions:
                    self._follow_all([self._reach(entry)])
                if self._entry(name, lead) != entry:
                    raise _ambiguous(lead)

    def _entry(self, name: str, dynamic: Lead) -> Target:
        family = {
            id(each.document): bearer
            for each in self.regions()
            if (bearer := bearer_of(name, each.document)) is not None
        }
        entries = {
            id(lead.target.document): lead.target.document
            for region in self.regions()
            if id(region.document) not in family
            for lead in region.leads
            if id(lead.target.document) in family
        }
        if id(self.record) in family or len(entries) != 1:
            raise _ambiguous(dynamic)
        document = next(iter(entries.values()))
        return Target(document, family[id(document)])

    def _target(self, reference: Reference, document: SchemaDocument) -> Target:
        try:
            text = isinstance(reference.value, str)
            found = self._found(reference, document) if text else None
        except (LookupError, ValueError):
            raise NotResolvedError(
                Reason.UNRESOLVED_REFERENCE, _complaint(reference, "leads nowhere")
            ) from None
        if not text:
            raise NotResolvedError(
                Reason.UNRESOLVED_REFERENCE, _complaint(reference, "is no text")
            )
        if found is None:
            raise NotResolvedError(
                Reason.REMOTE_REFERENCE,
                _complaint(reference, "leads out of the source"),
            )
        if not _is_schema(found):
            raise NotResolvedError(
                Reason.UNRESOLVED_REFERENCE, _complaint(reference, "leads to no schema")
            )
        return found

    def _found(self, reference: Reference, document: SchemaDocument) -> Target | None:
        uri, fragment = join(reference.base, reference.value)
        for each in (document, self.record):
            spot = each.find(uri, fragment)
            if spot is not None:
                return Target(each, spot)
        other = self._document(uri)
        spot = None if other is None else other.find(uri, fragment)
        return None if other is None or spot is None else Target(other, spot)

    def _document(self, uri: str) -> SchemaDocument | None:
        if not uri:
            return None
        schema = self._library.get(uri)
        if schema is None:
            schema = standard_document(uri)
        if schema is None:
            return None
        known = self._documents.get(id(schema))
        if known is None:
            known = self._read(schema, uri)
            self._documents[id(schema)] = known
        return known

    def _read(self, schema: UntypedJson, uri: str) -> SchemaDocument:
        own = self.record.dialect
        dialect = statement(schema).dialect or own
        if dialect is not own:
            try:
                schema = ported(schema, dialect, own)
            except CannotPortError as error:
                detail = (
                    f"{uri} is {dialect.name}, which {own.name} cannot say: {error}"
                )
                raise NotResolvedError(Reason.UNRESOLVED_REFERENCE, detail) from None
        return SchemaDocument(schema=schema, dialect=own, uri=uri)


def _is_schema(target: Target) -> bool:
    """Tell whether what is reached can be read as a schema."""
    value, dialect = target.spot.value, target.document.dialect
    if isinstance(value, bool):
        return dialect is not DRAFT_04
    if not isinstance(value, dict):
        return False
    return target.spot.is_place or is_valid(value, dialect)


def anchor_name(lead: Lead) -> str | None:
    """Return the dynamic anchor that a reference really looks for, or None.

    `$recursiveRef` looks for the empty name.
    """
    value = lead.target.spot.value
    if not isinstance(value, dict):
        return None
    if lead.reference.keyword == "$recursiveRef":
        return "" if value.get("$recursiveAnchor") is True else None
    if lead.reference.keyword == "$dynamicRef":
        name = str(lead.reference.value).partition("#")[2]
        return name if name and value.get("$dynamicAnchor") == name else None
    return None


def bearer_of(name: str, document: SchemaDocument) -> Spot | None:
    """Return the schema of a document that bears a dynamic anchor, or None."""
    if not isinstance(document.schema, dict):
        return None
    if not name:
        recursive = document.schema.get("$recursiveAnchor") is True
        return document.root if recursive else None
    spot = document.scanned.anchors.get((document.base, name))
    if spot is None or spot.value.get("$dynamicAnchor") != name:
        return None
    return spot


def _ambiguous(lead: Lead) -> NotResolvedError:
    return NotResolvedError(
        Reason.UNRESOLVED_REFERENCE,
        _complaint(lead.reference, "leads to different places in different scopes"),
    )


def _complaint(reference: Reference, what: str) -> str:
    value = str(reference.value)
    if len(value) > _SHOWN:
        value = value[: _SHOWN - 3] + "..."
    where = pointer((*reference.tokens, reference.keyword))
    return f"{where}: {value!r} {what}"
