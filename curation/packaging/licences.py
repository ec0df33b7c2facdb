"""The licences of a dataset folder, and their texts.

`cards/licences/` holds the text of every licence that `raw/sources.toml` names, under
its SPDX identifier. A folder has the texts of its records' and archives' licences, and
the text of csbdata's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any

from curation.core.benchmark import NOTICES
from curation.packaging.manifest import Pin
from curation.system.user_files import cards_folder

#: The folder of texts in a dataset folder.
FOLDER = "LICENSES"
#: The file with the terms of each part.
FILE = "LICENSE"
#: The terms of what csbdata adds: columns, instances, plots, this card, and of the
#: ledger all but the texts of others that it quotes.
OWN = "Apache-2.0"
#: SPDX's word for terms that are not stated.
UNSTATED = "NOASSERTION"
_WORDS = re.compile(r"[^\s()]+")
_OPERATORS = frozenset({"AND", "OR", "WITH"})


def archive_terms(
    pins: Iterable[Pin],
    licences: Mapping[tuple[str, str], Mapping[str, int]],
    notices: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the terms of each archive, and of the records from it, for the templates.

    Args:
        pins: The archives that the build read.
        licences: Source and commit to SPDX expression to records.
        notices: Paths of the archives' own texts in the folder, sorted.
    """
    return [
        {
            "pin": pin,
            "records": licences.get((pin.source, pin.commit), {}),
            "notices": [
                path for path in notices if path.startswith(f"{NOTICES}/{pin.archive}/")
            ],
        }
        for pin in pins
    ]


def identifiers(expression: str) -> list[str]:
    """Return the SPDX identifiers of an expression, in order, without `NOASSERTION`."""
    words = _WORDS.findall(expression)
    return [word for word in words if word not in {*_OPERATORS, UNSTATED}]


def named_licences(terms: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return every SPDX identifier in the folder, sorted."""
    named = {OWN}
    for archive in terms:
        for expression in (archive["pin"].licence, *archive["records"]):
            named.update(identifiers(expression))
    return sorted(named)


def shipped_texts() -> dict[str, Path]:
    """Return the files of the licence texts that csbdata ships, by SPDX identifier."""
    return {path.stem: path for path in (cards_folder() / "licences").iterdir()}


def write_texts(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Copy the shipped texts of licences into a folder.

    Args:
        names: SPDX identifiers, or other words.
        folder: The dataset folder.

    Returns:
        The path of each text in the folder, by its identifier.

    Raises:
        OSError: a file cannot be written.
    """
    shipped = shipped_texts()
    texts = {name: f"{FOLDER}/{name}.txt" for name in names if name in shipped}
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, path in texts.items():
        copyfile(shipped[name], folder / path)
    return texts
