"""Print the pin of another state of an archive, for `raw/sources.toml`.

Usage: python -m bench.data.pins ARCHIVE COMMIT [FILE]

ARCHIVE is a name in `raw/sources.toml`, COMMIT a commit, revision or version, FILE the
published file's name where it is not the pinned one with the version replaced. The file
is fetched as a build would fetch it. What is printed replaces these lines of the table
by hand; whether the names of the licences still hold is for a person to judge.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace

from curation.core.benchmark import is_notice
from curation.download.acquire import fetch_archive
from curation.download.archives import make_pack
from curation.download.cache import Cache, FetchSettings
from curation.download.packs import SUFFIX, open_pack
from curation.download.pins import ArchivePin, load_pins
from curation.system.user_files import file_digest


def moved(pin: ArchivePin, commit: str, file: str) -> ArchivePin:
    """Return the pin of another state, fetched into the user's cache."""
    settings = FetchSettings.from_environment()
    cache = Cache(settings.cache)
    patterns = tuple(name.replace(pin.commit, commit) for name in pin.paths)
    new = replace(pin, commit=commit, file=file, sha256="", paths=patterns)
    with cache.lock(pin.name, print):
        path = fetch_archive(new, settings, print)
        pack = make_pack(new, path, cache.packs)
        sha256 = file_digest(path) if pin.sha256 else ""
        cache.clear_downloads(pin.name)
    files = open_pack(pack)
    texts = [
        f"{hashlib.sha256(files.read(name)).hexdigest()}  {name}"
        for name in files.paths
        if is_notice(name)
    ]
    digest = pack.name.removesuffix(SUFFIX)
    return replace(new, digest=digest, sha256=sha256, texts=tuple(texts))


def main(archive: str, commit: str, file: str = "") -> None:
    """Print the lines of an archive's table that its new state changes."""
    pin = load_pins()[archive]
    new = moved(pin, commit, file or pin.file.replace(pin.commit, commit))
    lines = {
        "version" if pin.kind.is_package else "commit": new.commit,
        "file": new.file,
        "paths": list(new.paths),
        "sha256": new.sha256,
        "digest": new.digest,
        "texts": list(new.texts),
    }
    for key, value in lines.items():
        if value:
            print(f"{key} = {json.dumps(value)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
