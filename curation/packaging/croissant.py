"""Write `croissant.json`: the folder described for machines, after Croissant 1.1.

Every table but the ledger's is a file object, every config, and the instances of every
config, a file set and a record set. The fields of MLCommons' responsible-AI vocabulary
(RAI 1.0) come from `cards/responsible.toml`, as in the card.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import CORE, holds_instances
from curation.packaging import licences
from curation.packaging.card import CardContents, card_columns, published, responsible
from curation.packaging.hub_info import HubConfig, instance_configs
from curation.system.package_data import cards_folder

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.system.checksums import Sum

#: The file's name in a dataset folder.
FILE = "croissant.json"
_PARQUET = "application/x-parquet"
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "sc:Integer",
    pa.float64(): "sc:Float",
    pa.bool_(): "sc:Boolean",
}
#: The split of a file, by its name.
_SPLIT = r"^.*/(\w+)-\d+-of-\d+\.(?:parquet|pq)$"


def _context() -> dict[str, Json]:
    """Return the JSON-LD context that the specification gives for 1.1."""
    text = (cards_folder() / "croissant_context.json").read_text(encoding="utf-8")
    context: dict[str, Json] = json.loads(text)
    return context


def croissant_description(
    contents: CardContents, sums: Mapping[str, Sum], folder: Path, into: Path
) -> dict[str, Json]:
    """Return the description.

    Args:
        contents: The contents of the dataset.
        sums: Those of its tables.
        folder: Where its tables are.
        into: Where the table of the config `core` is, if there is one.
    """
    summary = contents.summary
    edition, words = published(), responsible()
    paper = f"https://arxiv.org/abs/{edition.arxiv}"
    terms = licences.archive_terms(summary, contents.counts.licences)
    instances = instance_configs(summary, folder)
    described = [*contents.configs, *instances, *contents.core]
    files = sorted({path for config in described for path in config.paths})
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": summary.name,
        "description": words.description,
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "citeAs": f"{edition.title}. {edition.year}. {paper}",
        "url": paper,
        "version": summary.version,
        # Of this edition; before its release that of the benchmark.
        "datePublished": summary.released or edition.day,
        "license": [
            f"https://spdx.org/licenses/{name}.html"
            for name in licences.named_licences(terms)
            if licences.shipped_text(name)
        ],
        "keywords": ["JSON Schema", "structured output", "constrained decoding"],
        "inLanguage": "en",
        "isLiveDataset": False,
        "creator": {"@type": "Organization", "name": "The csbdata developers"},
        **{f"rai:{name}": _text(text) for name, text in words.rai.items()},
        "distribution": [
            *(_file_object(name, sums[name]) for name in files),
            *(_file_set(config) for config in described),
        ],
        "recordSet": [
            _record_set(config, into if config.name == CORE else folder)
            for config in described
        ],
    }


def _text(text: str | list[str]) -> Json:
    return text if isinstance(text, str) else [*text]


def _file_object(name: str, digest: Sum) -> dict[str, Json]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{digest.bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": digest.sha256,
    }


def _file_set(config: HubConfig) -> dict[str, Json]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{config.name}/files",
        "name": f"files of {config.name}",
        "description": f"The files of the config {config.name}.",
        "encodingFormat": _PARQUET,
        "includes": [*config.paths],
    }


def _record_set(config: HubConfig, folder: Path) -> dict[str, Json]:
    columns = pq.read_schema(folder / config.paths[0])
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": _description(config),
        "field": [_split(config), *(_field(config, column) for column in columns)],
    }


def _description(config: HubConfig) -> str:
    if config.default:
        return "The records of all ten configs."
    if holds_instances(config.name):
        return "Witnesses and near misses of the records of a config, by unique_id."
    return "JSON Schemas, one a record."


def _split(config: HubConfig) -> dict[str, Json]:
    source: dict[str, Json] = {
        "fileSet": {"@id": f"{config.name}/files"},
        "extract": {"fileProperty": "fullpath"},
        "transform": {"regex": _SPLIT},
    }
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/split",
        "name": "split",
        "description": "train, val or test.",
        "dataType": "sc:Text",
        "source": source,
    }


def _field(config: HubConfig, column: pa.Field) -> dict[str, Json]:
    is_list = pa.types.is_list(column.type)
    dtype = column.type.value_type if is_list else column.type
    meanings = {column.name: column.meaning for column in card_columns()}
    return {
        "@type": "cr:Field",
        # A column may be called as the field of splits is.
        "@id": f"{config.name}/columns/{column.name}",
        "name": column.name,
        "description": meanings.get(column.name, f"The column {column.name}."),
        "dataType": _TYPES[dtype],
        **({"isArray": True, "arrayShape": "-1"} if is_list else {}),
        "source": {
            "fileSet": {"@id": f"{config.name}/files"},
            "extract": {"column": column.name},
        },
    }


def write_croissant(
    contents: CardContents, sums: Mapping[str, Sum], folder: Path, into: Path
) -> str:
    """Write `croissant.json` of a folder; return its path.

    Args:
        contents: The contents of the dataset.
        sums: Those of its tables.
        folder: The dataset.
        into: Where the file goes, and where the table of the config `core` is.

    Raises:
        OSError: a file of the folder cannot be read, or this one not written.
    """
    description = croissant_description(contents, sums, folder, into)
    text = json.dumps(description, indent=1, ensure_ascii=False)
    (into / FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
    return FILE
