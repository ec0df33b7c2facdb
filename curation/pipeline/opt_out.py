"""Documents that are left out because whoever has rights in them asked for it.

The list is `raw/opt_out.toml`. A document that it names is read, counted and never
worked on: its ledger row has the reason `opted_out`, and none of its text.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import UNDIVIDED, is_github_config
from curation.core.documents import Reason, Rejected
from curation.download.path_patterns import Selection
from curation.system.errors import BadConfiguration
from curation.system.package_data import raw_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.core.documents import RawDocument

_GITHUB = "https://github.com/"


class OptOut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request: exactly one of `id`, `path` and `repository` says what of."""

    #: Day of the request.
    asked: dt.date
    #: `CONFIG/unique_id`.
    id: str = ""
    #: A pattern of paths (`curation.download.path_patterns`).
    path: str = ""
    #: `OWNER/NAME` at GitHub.
    repository: str = ""

    def names(self, raw: RawDocument, archive_url: str) -> bool:
        """Return whether a document is asked to be left out.

        Args:
            raw: The document.
            archive_url: Home of the archive that it was read from.
        """
        if self.id:
            config, _, unique_id = self.id.partition("/")
            if is_github_config(config):
                config = UNDIVIDED
            return (config, unique_id) == (raw.config, raw.unique_id)
        path = raw.provenance.path
        if self.path:
            return path in Selection((self.path,))
        wanted = self.repository.casefold()
        homes = (archive_url, raw.provenance.original_repository or "")
        named = {home.casefold().removeprefix(_GITHUB).strip("/") for home in homes}
        return wanted in named or f"/{wanted}/" in path.casefold()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the list's file holds."""

    opt_out: list[OptOut] = []


@dataclass(frozen=True, slots=True)
class OptOuts:
    """All requests."""

    requests: Sequence[OptOut]

    def refuse(self, raw: RawDocument, archive_url: str) -> Rejected | None:
        """Return why a document is left out; None where nobody asked for it."""
        for request in self.requests:
            if request.names(raw, archive_url):
                detail = f"asked for on {request.asked.isoformat()}"
                return Rejected(reason=Reason.OPTED_OUT, detail=detail, rule="opt-out")
        return None


def read_opt_outs(path: Path | None = None) -> OptOuts:
    """Return the requests of a list; by default those of `raw/opt_out.toml`.

    Raises:
        BadConfiguration: it is not such a list (exit 78).
    """
    path = path or raw_folder() / "opt_out.toml"
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        requests = msgspec.convert(tables, _File).opt_out
    except (OSError, ValueError) as error:
        raise BadConfiguration(f"no list of requests ({error})", str(path)) from error
    for number, request in enumerate(requests, start=1):
        said = [part for part in (request.id, request.path, request.repository) if part]
        if len(said) != 1 or (request.id and "/" not in request.id):
            what = f"request {number} must say one of id (CONFIG/unique_id), path, "
            raise BadConfiguration(what + "repository", str(path))
    return OptOuts(requests)
