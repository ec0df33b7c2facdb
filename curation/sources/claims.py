"""URIs that documents claim as their own, and repositories that they name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from curation.core.documents import Origin
from curation.sources.readers import lines

if TYPE_CHECKING:
    from curation.sources.base import Reading


# A cheap sieve: most documents claim nothing and are never parsed here.
_CLAIM = re.compile(rb'"\$?id"\s*:\s*"https?:', re.IGNORECASE)
_ABSOLUTE = re.compile(r"https?://[^/?#]", re.IGNORECASE)


def claimed_uri(content: bytes) -> str | None:
    """Return the absolute http(s) URI, without fragment, that a document claims.

    `$id` counts before `id`. None if there is none, its fragment is not empty, or the
    text cannot be read.
    """
    if not (b'id"' in content and _CLAIM.search(content)):
        return None
    try:
        schema = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(schema, dict):
        return None
    claims = (schema.get("$id"), schema.get("id"))
    claim = next((claimed for claimed in claims if isinstance(claimed, str)), None)
    if claim is None or not _ABSOLUTE.match(claim):
        return None
    uri, _, fragment = claim.partition("#")
    return None if fragment else uri


def claimed_uris(read: Callable[[str], bytes], paths: Iterable[str]) -> dict[str, str]:
    """Return the URI to path of every document that alone claims its URI.

    Copies, equal byte for byte, count as one document: the first path stands for
    them. A URI that two different documents claim leads nowhere.

    Args:
        read: Returns the JSON text of a path.
        paths: The documents' paths.
    """
    claims: dict[str, tuple[str, bytes]] = {}
    contested: set[str] = set()
    for path in paths:
        content = read(path)
        uri = claimed_uri(content)
        if uri is None:
            continue
        digest = hashlib.sha256(content).digest()
        if claims.setdefault(uri, (path, digest))[1] != digest:
            contested.add(uri)
    return {uri: path for uri, (path, _) in claims.items() if uri not in contested}


#: The source whose archive holds files of other repositories.
COLLECTED = "github"
#: Our list of licences, among the lists of ids: repository, SPDX expression, and where
#: that was seen, with tabs between.
LICENCES = "repository_licences.tsv"
#: Our list of addresses below which a repository publishes its schemas: the address
#: without scheme, the repository, and where that was seen, with tabs between.
ADDRESSES = "repository_addresses.tsv"
_HOME = "https://github.com/"
# Only letters that GitHub takes in names, so that no text of a stranger's gets further.
_ADDRESS = re.compile(
    r"https?://(?:(?:www\.|raw\.)?github\.com|raw\.githubusercontent\.com"
    r"|(?:cdn\.)?rawgit\.com|rawgithub\.com|cdn\.jsdelivr\.net/gh)"
    r"/(?P<owner>[a-z0-9](?:-?[a-z0-9])*)/(?P<name>[\w.-]+)(?:[/?#@]|$)",
    re.IGNORECASE | re.ASCII,
)


def repository_at(address: str) -> str | None:
    """Return `https://github.com/OWNER/NAME` of an address there; None for others.

    Addresses of raw files count, also those of the services that passed them on
    (RawGit, jsDelivr).
    """
    match = _ADDRESS.match(address)
    if match is None:
        return None
    name = match["name"].removesuffix(".git")
    return f"{_HOME}{match['owner']}/{name}" if name.strip(".") else None


def repository_licences(lists: Path) -> dict[str, str]:
    """Return repository to SPDX expression, names in lower case, as our list says.

    Raises:
        OSError: the list is not there.
    """
    rows = (line.split("\t") for line in lines(lists, LICENCES))
    return {row[0].casefold(): row[1] for row in rows}


def repository_addresses(lists: Path) -> dict[str, str]:
    """Return address, without scheme, to the repository that publishes below it.

    Raises:
        OSError: the list is not there.
    """
    rows = (line.split("\t") for line in lines(lists, ADDRESSES))
    return {row[0]: row[1] for row in rows}


class OriginalRepositories:
    """The repository of each file of one archive, as far as the file names it."""

    def __init__(self, reading: Reading) -> None:
        """Read our lists of licences and addresses, if the archive has no licence."""
        #: The sample was written for this project, whatever its identifiers say.
        self._is_sample = reading.origin is Origin.SAMPLE
        self._archive_licence = reading.licence
        self._licences: Mapping[str, str] = {}
        self._addresses: Mapping[str, str] = {}
        if self._archive_licence == "NOASSERTION" and not self._is_sample:
            self._licences = repository_licences(reading.lists)
            self._addresses = repository_addresses(reading.lists)

    def of(self, content: bytes) -> str | None:
        """Return the repository that a file was found in; None if it names none."""
        if self._is_sample:
            return None
        return claimed_repository(content, self._addresses)

    def licence(self, repository: str | None) -> str:
        """Return the SPDX expression of a file from a repository.

        It is the archive's own where that has one for single files, and where nothing
        is known of the repository.
        """
        licence = self._licences.get((repository or "").casefold())
        return licence or self._archive_licence


def claimed_repository(content: bytes, addresses: Mapping[str, str]) -> str | None:
    """Return the repository that a schema's own `$id` or `id` leads to.

    Args:
        content: The schema's text.
        addresses: As `repository_addresses` returns them.
    """
    uri = claimed_uri(content)
    if uri is None:
        return None
    place = uri.partition("://")[2]
    published = (addresses[prefix] for prefix in addresses if place.startswith(prefix))
    return repository_at(uri) or next(published, None)
