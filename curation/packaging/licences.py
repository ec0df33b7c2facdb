"""The licences of a dataset folder, and their texts.

`cards/licences/` holds the text of every licence that `raw/sources.toml` names, under
its SPDX identifier. A folder has the texts of its records' and archives' licences, and
the text of csbdata's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
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
    notices: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """Return the terms of each archive, and of the records from it, for the templates.

    Args:
        pins: The archives that the build read.
        licences: Source and commit to SPDX expression to records.
        notices: Paths of the archives' own texts in the folder.
    """
    texts = sorted(notices)
    return [
        {
            "pin": pin,
            "records": licences.get((pin.source, pin.commit), {}),
            "notices": [
                path for path in texts if path.startswith(f"{NOTICES}/{pin.archive}/")
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
    expressions = {OWN}
    for archive in terms:
        expressions |= {archive["pin"].licence, *archive["records"]}
    return sorted(set(chain.from_iterable(map(identifiers, expressions))))


def shipped_text(identifier: str) -> Path | None:
    """Return the file of a licence's text; None if csbdata ships none."""
    folder = cards_folder() / "licences"
    texts = {path.name: path for path in folder.iterdir()}
    return texts.get(f"{identifier}.txt")


def text_name(identifier: str) -> str | None:
    """Return the path of a licence's text in a dataset folder, or None."""
    return None if shipped_text(identifier) is None else f"{FOLDER}/{identifier}.txt"


def write_texts(names: Iterable[str | None], folder: Path) -> list[str]:
    """Copy licence texts into a folder; return their names there.

    Args:
        names: Of `text_name`.
        folder: The dataset folder.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    written = [name for name in names if name is not None]
    for name in written:
        copyfile(cards_folder() / "licences" / Path(name).name, folder / name)
    return written
