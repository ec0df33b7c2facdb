"""Hand-checked patches of single records, listed in `raw/patches.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

import msgspec

from curation.core.rule import Context, Document, RepairKind, Rule
from curation.json.pointer import Put, at, rewritten, tokens_of
from curation.json.text import digest
from curation.rules.editing import with_schema
from curation.system.package_data import raw_folder

_NAME = "patches"


class Patch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The edits of one record: members that get another name."""

    unique_id: str
    #: sha256 of the canonical form of the document as read; another is not patched.
    sha256: str
    #: Why this was meant, for the ledger.
    reason: str
    #: JSON pointer of a member to its name.
    rename: dict[str, str]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patch: tuple[Patch, ...]


@cache
def patches() -> Mapping[str, Patch]:
    """Return the patches by the id of their record."""
    text = (raw_folder() / "patches.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _File)
    return {patch.unique_id: patch for patch in file.patch}


def _apply(document: Document, _context: Context) -> Document:
    patch = patches().get(document.unique_id)
    if patch is None or digest(document.schema) != patch.sha256:
        return document
    places = {tokens_of(place): name for place, name in patch.rename.items()}
    edits = {
        place: Put(at(document.schema, place), name) for place, name in places.items()
    }
    patched = rewritten(document.schema, edits)
    return with_schema(document, _NAME, patched, note=patch.reason)


RULE = Rule(
    name=_NAME,
    summary="Slips of single records, each edit checked by hand, with its reason.",
    source="`raw/patches.toml`: the record, the sha256 of its file, edits and reason",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
