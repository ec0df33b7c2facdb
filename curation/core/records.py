"""A record: one row of the benchmark, with its columns in order.

The row is what `curation.pipeline.process_document` computes of a kept document;
packaging only writes it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRecord:
    """One kept schema. Field order is column order."""

    #: The schema's text: key order and number spelling as its author wrote them.
    json_schema: str
    #: The record's name, unique within its config.
    unique_id: str
    #: The source that it was read from.
    source: str
    #: Path of the upstream file.
    path: str
    #: Commit, revision or version of the upstream archive.
    commit: str
    #: SPDX expression of the single file.
    licence: str
    #: SPDX expression of the archive as a whole: of its editors' additions.
    collection_licence: str = "NOASSERTION"
    #: Address of the repository from which the GitHub corpus has the file, as the
    #: address in the file's own `$id` names; null if it does not.
    original_repository: str | None = None
    #: Path of the file there, from that address; null if it has none.
    original_path: str | None = None
    #: Commit, tag or branch there, from that address; null if it has none.
    original_revision: str | None = None
    #: `upstream`, `index`, `sample` or `local`.
    origin: str
    #: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`.
    dialect: str
    #: Its evidence: `declared`, `repaired`, `upgraded` or `fitting`; for an
    #: undeclared schema its `words`, the `prior` of its source, or both where drafts
    #: are `mixed`.
    dialect_found: str
    #: The keywords that speak against some draft; empty if the schema declares one.
    dialect_words: tuple[str, ...] = ()
    #: The drafts under whose metaschema it is valid, oldest first.
    valid_under: tuple[str, ...]
    #: Keys of all nested objects, arrays not entered (Table 8).
    field_count: int
    #: Most keys of one object, those inside arrays included (Table 8).
    max_fan_out: int
    #: Nesting of objects, arrays not entered (Table 8).
    depth: int
    #: Bytes of the JSON text with Python's default separators.
    size: int
    #: Percentage of its keywords that some value can violate.
    live: int
    #: The size that the fields leading to such a keyword give: `trivial` (below 10),
    #: `easy` (30), `medium` (100), `hard` (500) or `ultra`. GitHub's configs go by
    #: `field_count`.
    live_size: str
    #: Whether nothing but the type of the root can fail.
    vacuous: bool
    #: Feature names as in the paper's Figure 4, sorted.
    features: tuple[str, ...]
    #: Values of `format` in keyword position, sorted.
    formats: tuple[str, ...]
    #: Lint codes, sorted, each once.
    lints: tuple[str, ...]
    #: Names of the rules that changed it, in order.
    changes: tuple[str, ...]
    #: Those of them that are mechanical repairs: one slip explains the old text,
    #: but no draft gives it a meaning.
    repaired: tuple[str, ...]
    #: sha256 of the canonical form.
    sha256: str
    #: sha256 of the canonical form of its skeleton.
    skeleton_sha256: str
    #: 16 hex digits that decide the split: from the min-hash of its shingles, or in
    #: rule set `paper` the beginning of `skeleton_sha256`.
    split_key: str
    #: The near-duplicate cluster: the smallest `sha256` among the records of the build
    #: that it is connected with by pairs that share nine of ten shingles. This column
    #: and `weight` alone may change when other records come or go.
    cluster: str
    #: One over the number of records of its config in its cluster: in a mean with these
    #: weights every cluster counts once.
    weight: float = 1.0
    #: `satisfiable`: a witness is in `instances`; `unsatisfiable`: there is a proof;
    #: `unknown`: neither was found, and default results leave the record out. Null
    #: where no instances were made.
    answer: str | None = None
    #: `compiles`, or in which way fastjsonschema failed; null where it was not tried.
    fastjsonschema: str | None = None
    #: The providers, servers and engines that accept it unchanged (`csbdata fit`),
    #: sorted; null where no instances were made.
    fits: tuple[str, ...] | None = None
    #: `TARGET: RULE` for each other that refuses it by one rule alone.
    fits_but_for: tuple[str, ...] | None = None
    #: Those that accept it, or a safe rewrite of it, by the newest published results;
    #: null where this was not measured for every target as it is today.
    fits_rewritten: tuple[str, ...] | None = None
