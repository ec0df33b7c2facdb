"""The edition published with the paper: its listing on the Hub, with small tables.

Its repository holds the ten configs twice: by config and split, and, from an earlier
upload, with a file for each config and for each split in `data/`.
"""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

NAME = "epfl-dlab/JSONSchemaBench"
CONFIGS = (
    *("Github_trivial", "Github_easy", "Github_medium", "Github_hard", "Github_ultra"),
    *("Glaiveai2K", "JsonSchemaStore", "Kubernetes", "Snowplow", "WashingtonPost"),
)
SPLITS = ("train", "val", "test")
_PART = "00000-of-00001.parquet"
#: The folder of each config's tables.
_FOLDERS = {"default": "data", **{config: config for config in CONFIGS}}


def published() -> dict[str, bytes]:
    """Return the files of the repository, but for the Hub's own."""
    tables = [f"{config}/{split}-{_PART}" for config in CONFIGS for split in SPLITS]
    unnamed = (*CONFIGS, "Github", "Handwritten", "Synthesized", *SPLITS)
    tables += [f"data/{name}-{_PART}" for name in unnamed]
    return {
        "README.md": _card().encode(),
        **{table: _table(f"published_{table}") for table in tables},
    }


def _card() -> str:
    lines = ["---", "license: mit", "configs:"]
    for config, folder in _FOLDERS.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        lines += [
            f"  - {{split: {split}, path: {folder}/{split}-*}}" for split in SPLITS
        ]
    return "\n".join([*lines, "---", "# JSONSchemaBench", ""])


def _table(unique_id: str) -> bytes:
    columns = {"json_schema": ['{"type": "object"}'], "unique_id": [unique_id]}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
