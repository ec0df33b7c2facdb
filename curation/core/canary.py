"""The canary: a GUID that says that a text is from the benchmark.

It stands in the card, the manifest and the metadata of every parquet file, never
inside a schema, and is the same for all editions of one major version. To look for
the benchmark in training data, or in what a model completes, is to look for one string
(Srivastava et al., 2022, "Beyond the Imitation Game", section on canaries).
"""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

#: Major version of the data that this code builds: it goes up when ids or splits of
#: the released data change. The edition published with the paper is 1.
MAJOR = 2
#: Key in the metadata of every parquet file.
METADATA_KEY = "csbdata.canary"
_NAMESPACE = uuid5(NAMESPACE_URL, "https://arxiv.org/abs/2501.10868")


def canary(major: int = MAJOR) -> str:
    """Return the GUID of a major version of the data, in lower case."""
    return str(uuid5(_NAMESPACE, f"JSONSchemaBench data {major}"))
