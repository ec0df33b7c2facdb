"""What an engine's messages mean, as its own file says or as csbdata knows it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

#: Why a schema is refused. `keyword`: one that is not supported; `reference`: a `$ref`
#: that is not followed; `regex`: a pattern that is not read; `limit`: too large or too
#: deep; `unsatisfiable`: nothing fits, the engine finds; `malformed`: no schema to it;
#: `defect`: it stumbles over itself.
RefusalKind: TypeAlias = Literal[
    "keyword", "reference", "regex", "limit", "unsatisfiable", "malformed", "defect"
]


class RefusalPattern(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of message of an engine, when it refuses a schema or warns about it."""

    #: A regular expression that is searched for in the message. Groups that it may
    #: have: `keys`, text with keywords in double quotes, each of them meant; `keyword`,
    #: one keyword; `format`, a value of `format`; `node`, the schema that is refused,
    #: as JSON or as Python writes it: the keywords at its top are meant.
    pattern: str
    kind: RefusalKind = "keyword"
    #: Keywords that are meant beside those that a group finds.
    keywords: tuple[str, ...] = ()
