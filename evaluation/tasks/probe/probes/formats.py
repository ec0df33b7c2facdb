"""Probes of `format`, one for every value that a draft defines, and of annotations.

Since 2019-09 `format` only annotates unless it is asked to assert; engines generate,
so what counts is whether they write what the format promises. Sources: JSON Schema
validation 2020-12, sections 7.3, 8 and 9, and the earlier drafts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import NOTHING, Probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Format: valid, violating, the oldest draft that defines it.
_FORMATS: Final = {
    "date-time": ("2020-01-31T10:00:00Z", "2020-01-31", "draft-04"),
    "date": ("2020-01-31", "2020-13-31", "draft-07"),
    "time": ("10:00:00Z", "10:00", "draft-07"),
    "duration": ("P1D", "1D", "2019-09"),
    "email": ("a@example.com", "a", "draft-04"),
    "idn-email": ("ä@example.com", "ä", "draft-07"),
    "hostname": ("example.com", "-a.example", "draft-04"),
    "idn-hostname": ("bücher.example", "-ü.example", "draft-07"),
    "ipv4": ("127.0.0.1", "127.0.0", "draft-04"),
    "ipv6": ("::1", "::g", "draft-04"),
    "uri": ("https://example.com/a", "a", "draft-04"),
    "uri-reference": ("/a", "\\a", "draft-06"),
    "iri": ("https://example.com/ä", "ä", "draft-07"),
    "iri-reference": ("/ä", "\\ä", "draft-07"),
    "uuid": ("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08", "2019-09"),
    "uri-template": ("/{a}", "/{a", "draft-06"),
    "json-pointer": ("/a", "a", "draft-06"),
    "relative-json-pointer": ("1/a", "/a", "draft-07"),
    "regex": ("^a+$", "(a", "draft-07"),
}
#: Annotation: its value, the oldest draft that has it.
_ANNOTATIONS: Final[dict[str, tuple[Json, str]]] = {
    "title": ("a title", "draft-04"),
    "description": ("a text", "draft-04"),
    "default": ("b", "draft-04"),
    "examples": (["a"], "draft-06"),
    "$comment": ("a remark", "draft-07"),
    "readOnly": (True, "draft-07"),
    "writeOnly": (True, "draft-07"),
    "deprecated": (True, "2019-09"),
    "contentEncoding": ("base64", "draft-07"),
    "contentMediaType": ("text/plain", "draft-07"),
    "contentSchema": ({"type": "integer"}, "2019-09"),
    "x-unknown": ({"a": 1}, "draft-04"),
}

#: The values of `format` that are probed.
VALUES: Final = tuple(_FORMATS)
#: How the probe of a value is called.
NAME: Final = "format ({})"
#: The value that no draft defines.
UNKNOWN: Final = "unknown"

PROBES: Final = (
    *(
        Probe(
            name=NAME.format(name),
            keyword="format",
            schema={"type": "string", "format": name},
            valid=valid,
            violating=violating,
            since=since,
        )
        for name, (valid, violating, since) in _FORMATS.items()
    ),
    Probe(
        name=NAME.format(UNKNOWN),
        keyword="format",
        schema={"type": "string", "format": "x-unknown"},
        valid="a",
        violating=NOTHING,
    ),
    *(
        Probe(
            name=name,
            keyword=name,
            schema={"type": "string", name: value},
            # Whatever reads these as assertions finds it as base64, too.
            valid="YQ==",
            violating=NOTHING,
            since=since,
        )
        for name, (value, since) in _ANNOTATIONS.items()
    ),
)
