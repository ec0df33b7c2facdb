"""Bring what references lead to into the schema itself.

Only what is needed comes in: the very schema that a reference leads to, and what
that one refers to in turn. Inside, identifiers and anchors are taken off, for
every reference becomes a pointer from the record's root; nothing else changes,
so a record means what the documents it came from mean together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from curation.core.documents import ABSENT, Change
from curation.json.edits import Drop, Put, rewritten
from curation.json.pointer import at, pointer
from curation.json.text import write
from curation.references.resolution import MARKS
from curation.schema.roots import local_reference, unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.references.closure import Closure, Region, Target

_UNREADABLE = re.compile(r"[^\w.-]+")
_SUFFIX = re.compile(r"(?:[._-]schema)?\.json$|\.schema$")
#: Last segments of a path that do not name what it is about.
_UNTELLING = re.compile(r"v?[\d._-]+|schema|jsonschema|draft")


class Bundle:
    """One record, made to stand alone.

    `schema` is the result, `changes` says what was done.
    """

    def __init__(self, closure: Closure, rule: str) -> None:
        """Bring in what the closure found, in the name of a rule."""
        self._closure = closure
        self._rule = rule
        self._record = closure.record
        self._keyword = self._record.dialect.definitions_keyword
        self._units = _outermost(closure.outside_regions())
        self._names = self._named()
        self.changes: list[Change] = []
        self.schema: UntypedJson = self._made()

    def _made(self) -> UntypedJson:
        schema = rewritten(self._record.schema, self._own_edits())
        if not self._units:
            return schema
        added = {self._names[each.key]: self._unit(each) for each in self._units}
        for region in self._units:
            name = self._names[region.key]
            fragment = local_reference(region.spot.tokens).removesuffix("#")
            self._change(
                (self._keyword, name),
                ABSENT,
                write(added[name]),
                f"from {region.document.uri}{fragment}",
            )
        return {**schema, self._keyword: {**schema.get(self._keyword, {}), **added}}

    def _change(self, tokens: Tokens, before: str, after: str, note: str = "") -> None:
        self.changes.append(
            Change(
                rule=self._rule,
                pointer=pointer(tokens),
                before=before,
                after=after,
                note=note,
            )
        )

    def _named(self) -> Mapping[tuple[int, Tokens], str]:
        taken = set(self._record.schema.get(self._keyword, {}))
        names: dict[tuple[int, Tokens], str] = {}
        for region in self._units:
            short, longer = _candidates(region)
            name = unused(longer if short in taken else short, taken)
            taken.add(name)
            names[region.key] = name
        return names

    def _location(self, target: Target) -> Tokens:
        """Return where a target stands in the record that is being made."""
        tokens = target.spot.tokens
        if target.document is self._record:
            return tokens
        for length in range(len(tokens) + 1):
            name = self._names.get((id(target.document), tokens[:length]))
            if name is not None:
                return (self._keyword, name, *tokens[length:])
        raise LookupError(tokens)

    def _own_edits(self) -> dict[Tokens, Put | Drop]:
        """Return the edits of the record's own references.

        A mere fragment stays as it is. Where another reference stands inside a
        resource of its own, no pointer from there reaches the root: then all the
        inner identifiers go, and every reference becomes a pointer.
        """
        leads = [lead for each in self._closure.own_regions() for lead in each.leads]
        local = [str(each.reference.value).startswith("#") for each in leads]
        flatten = any(
            not fragment and lead.reference.base != self._record.base
            for lead, fragment in zip(leads, local, strict=True)
        )
        edits: dict[Tokens, Put | Drop] = {}
        for lead, fragment in zip(leads, local, strict=True):
            if fragment and not flatten:
                continue
            tokens = (*lead.reference.tokens, lead.reference.keyword)
            value = local_reference(self._location(lead.target))
            if value != lead.reference.value:
                edits[tokens] = Put(value)
                self._change(tokens, write(lead.reference.value), write(value))
        if flatten:
            for place in self._record.scanned.inner_resources:
                tokens = (*place, self._record.dialect.id_keyword)
                edits[tokens] = Drop()
                gone = at(self._record.schema, tokens)
                self._change(tokens, write(gone), ABSENT, "pointers start at the root")
        return edits

    def _unit(self, unit: Region) -> UntypedJson:
        """Return a region's schema with its references turned to the record."""
        skip = len(unit.spot.tokens)
        words = (*MARKS, unit.document.dialect.id_keyword)
        edits: dict[Tokens, Put | Drop] = {}
        for region in self._closure.outside_regions():
            if region.document is not unit.document:
                continue
            if region.spot.tokens[:skip] != unit.spot.tokens:
                continue
            for tokens in region.scan.marked:
                for word in words:
                    edits[(*tokens[skip:], word)] = Drop()
            for lead in region.leads:
                tokens = (*lead.reference.tokens[skip:], lead.reference.keyword)
                value = local_reference(self._location(lead.target))
                edits[tokens] = Put(value, "$ref")
        return rewritten(unit.spot.value, edits)


def _outermost(regions: Iterable[Region]) -> list[Region]:
    """Return the regions that stand in no other one, in their order."""
    known = {each.key for each in regions}
    return [
        each
        for each in regions
        if not any(
            (id(each.document), each.spot.tokens[:length]) in known
            for length in range(len(each.spot.tokens))
        )
    ]


def _candidates(region: Region) -> tuple[str, str]:
    """Return a short and a longer readable name for what is brought in."""
    split = urlsplit(region.document.uri)
    path = [unquote(each) for each in split.path.split("/") if each]
    path = path or [split.netloc or "document"]
    path[-1] = _SUFFIX.sub("", path[-1]) or path[-1]
    start = len(path) - 1
    while start > 0 and _UNTELLING.fullmatch(path[start]):
        start -= 1
    stem = _readable(".".join(e for e in path[start:] if e != "jsonschema"))
    folder = _readable(".".join(path[max(start - 1, 0) : start]))
    tokens = region.spot.tokens
    if not tokens:
        return stem, f"{folder}.{stem}" if folder else stem
    named = len(tokens) % 2 == 0 and tokens[-2] in (
        "definitions",
        "$defs",
        "properties",
    )
    short = _readable(tokens[-1] if named else ".".join(tokens))
    return short, f"{stem}.{short}"


def _readable(name: str) -> str:
    return _UNREADABLE.sub("_", name) or "_"
