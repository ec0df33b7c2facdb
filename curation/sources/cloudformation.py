"""CloudFormation: the resource types of AWS, as cfn-lint ships them.

Files are named after digests, documents after their `typeName`. 373 references name
`resource-schema.json`, which is the document's own schema: each document gets a folder
of its own where that name is it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import RawDocument
from curation.sources.base import Reading, Source
from curation.sources.readers import documents, files_in, own_uri

_NAME = "cloudformation"
_CONFIG = "CloudFormation"
_FOLDER = "cfnlint/data/schemas/resources"
_TYPE = re.compile(r"\w+(?:::\w+)+", re.ASCII)


def _unique_id(name: str, content: bytes) -> str:
    """Return `AWS-EC2-VPC` for the type `AWS::EC2::VPC`, else the file's name."""
    try:
        schema = orjson.loads(content)
    except orjson.JSONDecodeError:
        return name
    kind = schema.get("typeName") if isinstance(schema, dict) else None
    if isinstance(kind, str) and _TYPE.fullmatch(kind):
        return kind.replace("::", "-")
    return name


def _uri(unique_id: str) -> str:
    return own_uri(_NAME, f"{unique_id}/resource-schema.json")


def _files(reading: Reading) -> list[tuple[str, str]]:
    files = [
        (_unique_id(name, reading.files.read(path)), path)
        for name, path in files_in(reading, _FOLDER)
    ]
    return sorted(files, key=lambda pair: natural_key(pair[0]))


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the resource types, `AWS-EC2-VPC` for `AWS::EC2::VPC`."""
    files = _files(reading)
    return documents(reading, _NAME, _CONFIG, files, lambda name, _: _uri(name))


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where each document stands for its own references."""
    return {_uri(unique_id): path for unique_id, path in _files(reading)}


SOURCE = Source(
    name=_NAME,
    title="AWS CloudFormation resource types (cfn-lint)",
    configs=(_CONFIG,),
    archives={"paper": ("cfn-lint",), "clean": ("cfn-lint",)},
    read=read,
    uris=uris,
    extra=True,
)
