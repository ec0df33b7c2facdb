"""Glaive: the parameters of the functions that a chat corpus offers to a model.

The file is a JSON array of rows. The `system` text of a row holds function definitions
as concatenated JSON objects; a document is the `parameters` of a definition, yielded
once, at its first place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from curation.core.benchmark import natural_key
from curation.core.documents import RawDocument
from curation.core.json_types import UntypedJson
from curation.json import text as jsontext
from curation.sources.readers import Reading, Source, document, function_name
from curation.system.errors import BadData

_NAME = "glaive"
_CONFIG = "Glaiveai2K"
_FILE = "glaive-function-calling-v2.json"
_DECODER = json.JSONDecoder()


class _Row(msgspec.Struct, frozen=True):
    system: str = ""


def systems(content: bytes) -> Iterator[str]:
    """Yield the text `system` of each row of a JSON array; empty if it has none.

    Two thirds of the file are chats, which are never decoded.

    Raises:
        BadData: the text is not a JSON array, or not UTF-8.
    """
    try:
        rows: list[UntypedJson] = msgspec.json.decode(content, type=list[msgspec.Raw])
        parse = msgspec.json.Decoder(_Row).decode
    except msgspec.DecodeError:
        # It refuses half of a surrogate pair, which Python reads.
        parse = partial(msgspec.convert, type=_Row)
        try:
            rows = msgspec.convert(json.loads(content), list[Any])
        except (ValueError, RecursionError) as error:
            raise BadData(f"not a JSON array of rows ({error})", _FILE) from error
    for row in rows:
        try:
            yield parse(row).system
        except msgspec.ValidationError:  # another kind of row
            yield ""
        except UnicodeDecodeError as error:
            raise BadData(f"not UTF-8 ({error})", _FILE) from error


def definitions(system: str) -> Iterator[str]:
    """Yield the texts of the JSON objects concatenated after free text.

    One that cannot be read ends before the next line that begins with a brace.
    """
    start = system.find("{")
    while start >= 0:
        try:
            end = _DECODER.raw_decode(system, start)[1]
        except (ValueError, RecursionError):
            following = system.find("\n{", start)
            end = following if following >= 0 else len(system)
        yield system[start:end].strip()
        start = system.find("{", end)


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `<name>_<8 hex digits of the digest>` for each name and canonical form.

    Of definitions that differ only in spelling or in their description, the first
    in the file counts.
    """
    policy = jsontext.Policy(last_key_counts=reading.rules == "paper")
    texts: set[bytes] = set()
    documents: dict[tuple[str, str], RawDocument] = {}
    for number, system in enumerate(systems(reading.files.read(_FILE))):
        for index, text in enumerate(definitions(system)):
            encoded = text.encode("utf-8", "surrogatepass")
            known = hashlib.sha256(encoded).digest()
            if known in texts:
                continue
            texts.add(known)
            definition = jsontext.parse(encoded, policy)
            if isinstance(definition, dict):
                # Without parameters it is `null`.
                parameters = definition.get("parameters")
                name, digest = function_name(definition), jsontext.digest(parameters)
                content = jsontext.write(parameters).encode()
            else:
                # The ledger names the fault.
                name, content = "unreadable", encoded
                digest = hashlib.sha256(encoded).hexdigest()
            if (name, digest) not in documents:
                documents[name, digest] = document(
                    reading,
                    source=_NAME,
                    config=_CONFIG,
                    unique_id=f"{name}_{digest[:8]}",
                    path=f"{_FILE}#row/{number}/function/{index}",
                    content=content,
                )
    yield from sorted(
        documents.values(), key=lambda document: natural_key(document.unique_id)
    )


SOURCE = Source(
    name=_NAME,
    title="Glaive function calling v2",
    configs=(_CONFIG,),
    archives={"paper": ("glaive",), "clean": ("glaive",)},
    read=read,
    quota=2000,
    least_fields=15,
)
