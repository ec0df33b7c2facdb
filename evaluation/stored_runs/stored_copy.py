"""A run whose folder is a URL, copied here: then it is read like any other.

The header of a finished run lists its objects, so that a list of the store that lags
leaves nothing out; of any other run the store's own list is all there is.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

import orjson

from curation.stores.object_store import open_store
from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadData, NoInput
from evaluation.execution.appended_lines import whole_lines
from evaluation.execution.results_folder import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.stores.object_store import ObjectStore

#: Names of `evaluation.results.reader`, for objects.
_HEADER: Final = "run.json"
#: How the names of batches begin: of rows, and of the responses of a suite's run.
_BATCHES: Final = ("units-", "responses-")
#: Names of `evaluation.suite_runs`: what the models were asked, and all that they have
#: answered, which is made of the batches here.
_RECORDS: Final = "records.jsonl"
_RESPONSES: Final = "responses.jsonl"
#: Members of the header that only a run at a URL has: a name drawn for it, and the
#: objects that hold its rows, once it has ended.
IDENTITY: Final = "stored_as"
OBJECTS: Final = "objects"


def copy_run(url: str, cache: Path) -> Path:
    """Copy the run at a URL into the cache; return the folder, which can be opened.

    Objects that an earlier copy has are not read again: none ever changes.

    Raises:
        NoInput: there is no run (exit 66).
        BadData: the header cannot be read, or an object that it lists is missing.
        CsbdataError: the store cannot be read.
    """
    store = open_store(url)
    there = header_there(store)
    if there is None:
        raise NoInput(
            "no run is here", store.shown, "name the --run-dir of csbdata eval"
        )
    folder = copy_folder(cache, "read", str(there.get(IDENTITY, "")), store.name)
    copy_objects(store, folder, there)
    join_responses(folder)
    return folder


def header_there(store: ObjectStore) -> Mapping[str, Json] | None:
    """Return the header of the run at a URL; None where there is none.

    Raises:
        BadData: it cannot be read.
    """
    content = store.get(_HEADER)
    if content is None:
        return None
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadData(f"{_HEADER} is not JSON ({error})", store.shown) from error
    if not isinstance(found, dict) or not isinstance(found.get(IDENTITY), str):
        raise BadData(f"{_HEADER} is not that of a run at a URL", store.shown)
    return found


def copy_folder(cache: Path, kind: str, identity: str, name: str) -> Path:
    """Return where the copy of a run is."""
    return cache / "stored-runs" / kind / identity / name


def copy_objects(store: ObjectStore, folder: Path, header: Mapping[str, Json]) -> None:
    """Bring a copy to the state of the store: the header, and all batches.

    Raises:
        BadData: an object that the header or the store lists is not there.
        CsbdataError: the store cannot be read, or the copy not be written.
    """
    listed = header.get(OBJECTS)
    named = map(str, listed if isinstance(listed, list) else ())
    names = sorted({*filter(_stays, named), *filter(_stays, store.names())})
    wanted = [name for name in names if not (folder / name).exists()]
    for name, content in store.get_all(wanted).items():
        atomic_write_bytes(folder / name, content)
    missing = [name for name in wanted if not (folder / name).exists()]
    if missing:
        raise BadData(
            f"{len(missing)} of {len(names)} objects are not there ({missing[0]})",
            store.shown,
            "run the same command again where it was run",
        )
    atomic_write_bytes(
        folder / _HEADER, orjson.dumps(header, option=orjson.OPT_INDENT_2)
    )


def join_responses(folder: Path) -> None:
    """Write the file of all responses of a copy, if there are batches of any.

    Where a list lagged, an answer was asked for twice: the first one counts.
    """
    batches = sorted(folder.glob("responses-*.jsonl"))
    kept: dict[object, bytes] = {}
    for line in (line for path in batches for line in whole_lines(path)):
        kept.setdefault(fingerprint_of(line) or len(kept), line)
    if batches:
        atomic_write_bytes(folder / _RESPONSES, b"".join(kept.values()))


def prepare_to_send(folder: Path) -> None:
    """Give a run that has ended the header of a run at a URL, before it is sent there.

    Raises:
        OSError: it cannot be read, or not be written.
    """
    path = folder / _HEADER
    header: dict[str, Json] = orjson.loads(path.read_bytes())
    header[IDENTITY] = uuid.uuid4().hex
    header[OBJECTS] = [each.name for each in lasting_files(folder)]
    atomic_write_bytes(path, orjson.dumps(header, option=orjson.OPT_INDENT_2))


def lasting_files(folder: Path) -> list[Path]:
    """Return the files of a copy that never change, in the order of their names.

    These are the batches, and the records of a suite's run.
    """
    return sorted(path for path in folder.glob("*.jsonl") if _stays(path.name))


def _stays(name: str) -> bool:
    """Return whether an object of this name is the same for ever."""
    return name == _RECORDS or (
        name.startswith(_BATCHES) and name.endswith(".jsonl") and "/" not in name
    )
