"""Kubernetes: the API's object types as JSON Schema.

Both rule sets can read the edited copies `kb_<N>_Normalized`; the package index has
v1.37.0 in the plain variant, its files under their own names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from curation.core.documents import RawDocument
from curation.sources.readers import (
    EDITED,
    Reading,
    Source,
    claimed_uris,
    documents,
    files_in,
)

_NAME = "kubernetes"
_CONFIG = "Kubernetes"
_WHEEL = "kubernetes-validate"
#: The texts' licence. The collection's covers its edits, which `clean` undoes.
_LICENCE = "Apache-2.0"
_FOLDER = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local"
#: The base of the `$id` of the wheel's files.
_ADDRESS = "https://kubernetes.io/api/"
# `_definitions` only holds the definitions of the others, and `all` is the choice
# between them: neither is a type of the API.
_TYPES = r"(?!(?:_definitions|all)$).+"


def _uri(name: str) -> str:
    return f"{_ADDRESS}{name}.json"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `kb_<N>_Normalized`, or a file of v1.37.0 under its own name."""
    if reading.archive != _WHEEL:
        files = files_in(reading, f"{EDITED}/kubernetes/sat", r"kb_[0-9]+_Normalized")
        if reading.rules == "clean":
            reading = replace(reading, licence=_LICENCE)
        return documents(reading, _NAME, _CONFIG, files)
    files = files_in(reading, _FOLDER, _TYPES)
    return documents(reading, _NAME, _CONFIG, files, lambda name, _: _uri(name))


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where the wheel's references lead; the edited copies have none."""
    if reading.archive != _WHEEL:
        return {}
    files = files_in(reading, _FOLDER)
    places = {_uri(name): path for name, path in files}
    return claimed_uris(reading.files.read, places.values()) | places


SOURCE = Source(
    name=_NAME,
    title="Kubernetes API",
    configs=(_CONFIG,),
    archives={
        "paper": ("witness-generation",),
        "clean": ("witness-generation", _WHEEL),
    },
    read=read,
    uris=uris,
)
