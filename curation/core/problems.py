"""One problem of a schema, as `csbdata check` and `csbdata fit` report it."""

from __future__ import annotations

import msgspec

#: The level of remarks that are not faults.
NOTE = "note"


class SchemaProblem(msgspec.Struct, frozen=True):
    """One problem of a schema."""

    #: JSON pointer of the schema location; empty for the root.
    pointer: str
    #: A reject reason, the name of a rule, or a lint code.
    code: str
    message: str
    #: `error` where a build would drop the schema, otherwise `warning`; `note` of
    #: fault: a reference to the web, which is not followed.
    level: str = "warning"
    #: Where the pointer is in the text, or the innermost value on the way there; from
    #: 1.
    line: int = 1
    column: int = 1
    #: The file that it is in, if that is another than the checked one.
    file: str = ""
