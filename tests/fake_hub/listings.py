"""What may be read of a repository: trees, references, commits."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

if TYPE_CHECKING:
    from tests.fake_hub.server import Handler
    from tests.fake_hub.store import Blob, Commit, Repository

#: The Hub knows when; here it is always the same moment.
_WHEN = "2026-01-01T00:00:00.000Z"


def split_revision(repository: Repository, rest: str) -> tuple[Commit | None, str]:
    """Split `revision/path`, where a revision may itself hold slashes."""
    parts = rest.split("/")
    for count in (1, 3):
        commit = repository.resolve("/".join(parts[:count]))
        if commit is not None:
            return commit, "/".join(parts[count:])
    return None, ""


def info(handler: Handler, repository: Repository, rest: str) -> None:
    """Answer what a dataset is, at a revision."""
    commit = repository.resolve(rest or "main")
    if commit is None:
        handler.refuse(404, f"Invalid rev id: {rest}", "RevisionNotFound")
        return
    handler.reply(
        200,
        {
            "_id": "0" * 24,
            "id": repository.name,
            "author": repository.name.partition("/")[0],
            "sha": commit.oid,
            "private": repository.private,
            "gated": "auto" if repository.gated else False,
            "disabled": False,
            "lastModified": _WHEN,
            "createdAt": _WHEN,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": [{"rfilename": each} for each in sorted(commit.files)],
        },
    )


def _entry(path: str, blob: Blob) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "file",
        "oid": blob.git_oid,
        "size": len(blob.content),
        "path": path,
    }
    if blob.large:
        entry["lfs"] = {
            "oid": blob.sha256,
            "size": len(blob.content),
            "pointerSize": len(blob.pointer),
        }
    return entry


def _folder(path: str) -> dict[str, Any]:
    oid = hashlib.sha1(path.encode()).hexdigest()  # noqa: S324 (shaped as git's)
    return {"type": "directory", "oid": oid, "size": 0, "path": path}


def _entries(commit: Commit, below: str, *, deep: bool) -> list[dict[str, Any]]:
    prefix = f"{below}/" if below else ""
    found: dict[str, dict[str, Any]] = {}
    for path, blob in sorted(commit.files.items()):
        if not path.startswith(prefix):
            continue
        parts = path.removeprefix(prefix).split("/")
        for depth in range(1, len(parts)):
            folder = prefix + "/".join(parts[:depth])
            if deep or depth == 1:
                found[folder] = _folder(folder)
        if deep or len(parts) == 1:
            found[path] = _entry(path, blob)
    return list(found.values())


def tree(handler: Handler, repository: Repository, rest: str) -> None:
    """Answer one page of the entries below a path."""
    commit, below = split_revision(repository, rest)
    if commit is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    deep = handler.query.get("recursive", "false").lower() == "true"
    entries = _entries(commit, below, deep=deep)
    if below and not entries:
        handler.refuse(404, f"{below} does not exist", "EntryNotFound")
        return
    first, page = int(handler.query.get("cursor", "0")), handler.hub.page
    headers = {}
    if first + page < len(entries):
        link = f"{handler.hub.endpoint}{handler.route}?recursive={deep}"
        headers["Link"] = f'<{link}&cursor={first + page}>; rel="next"'
    handler.reply(200, entries[first : first + page], headers)


def paths(handler: Handler, repository: Repository, rest: str) -> None:
    """Answer the entries of paths in a form: what old clients ask for."""
    commit = repository.resolve(rest)
    if commit is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    named = parse_qs(handler.body.decode()).get("paths", [])
    entries = _entries(commit, "", deep=True)
    handler.reply(200, [each for each in entries if each["path"] in named])


def refs(handler: Handler, repository: Repository, _rest: str) -> None:
    """Answer every name for a commit."""
    answer: dict[str, Any] = {
        "branches": _refs("refs/heads/", repository.branches),
        "converts": [],
        "tags": _refs("refs/tags/", repository.tags),
    }
    handler.reply(200, answer)


def _refs(prefix: str, names: dict[str, str]) -> list[dict[str, str]]:
    return [
        {"name": name, "ref": prefix + name, "targetCommit": oid}
        for name, oid in names.items()
    ]


def commits(handler: Handler, repository: Repository, rest: str) -> None:
    """Answer the history of a revision, newest first."""
    commit = repository.resolve(rest)
    if commit is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    history = repository.history(commit)
    first, page = int(handler.query.get("p", "0")), handler.hub.page
    headers = {}
    if first + page < len(history):
        link = f"{handler.hub.endpoint}{quote(handler.route)}?p={first + page}"
        headers["Link"] = f'<{link}>; rel="next"'
    found = [
        {
            "id": each.oid,
            "title": each.title,
            "message": each.message,
            "date": _WHEN,
            "authors": [{"user": each.author}],
        }
        for each in history[first : first + page]
    ]
    handler.reply(200, found, headers)
