"""The Hub's own door: what each request means."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.fake_hub import listings, storage, xet
from tests.fake_hub.store import Blob, Commit, is_large

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_hub.server import Handler
    from tests.fake_hub.store import Repository

_NAME = r"(?P<name>[^/]+/[^/]+)"
_REST = r"(?P<rest>.*)"


def answer_hub(handler: Handler) -> None:
    """Find what a request is for, ask whether it may, and do it."""
    with handler.hub.store.lock:
        for method, pattern, needs, action in _ROUTES:
            found = re.fullmatch(pattern, handler.route)
            if found and method == handler.command:
                _permitted(handler, found, needs, action)
                return
        handler.refuse(404, f"No such route: {handler.command} {handler.route}")


def _permitted(
    handler: Handler,
    found: re.Match[str],
    needs: str,
    action: Callable[[Handler, Any, str], None],
) -> None:
    scope = handler.hub.store.tokens.get(handler.token)
    parts = found.groupdict()
    repository = handler.hub.store.repositories.get(unquote(parts.get("name", "")))
    if handler.token and scope is None:
        handler.refuse(401, "Invalid credentials in Authorization header")
    elif "name" in parts and (
        repository is None or (repository.private and scope is None)
    ):
        code = 404 if scope else 401
        handler.refuse(code, "Repository not found", "RepoNotFound")
    elif needs != "read" and scope is None:
        handler.refuse(401, "Invalid username or password.")
    elif needs == "write" and scope != "write":
        handler.refuse(
            403, "You don't have the rights to write there: a read token was given"
        )
    else:
        action(handler, repository, unquote(parts.get("rest", "")))


def _create(handler: Handler, _none: None, _rest: str) -> None:
    asked, store = handler.json(), handler.hub.store
    name = f"{asked.get('organization') or store.user}/{asked['name']}"
    url = f"{handler.hub.endpoint}/datasets/{name}"
    if name in store.repositories:
        handler.reply(
            409, {"error": "You already created this dataset repo", "url": url}
        )
        return
    store.create(name, private=asked.get("visibility") == "private")
    handler.reply(200, {"url": url, "name": name, "id": name})


def _valid_yaml(handler: Handler, _none: None, _rest: str) -> None:
    ok = handler.json()["content"].startswith("---\n")
    found = [] if ok else [{"message": "no metadata"}]
    handler.reply(200, {"warnings": found, "errors": []})


def _preupload(handler: Handler, repository: Repository, rest: str) -> None:
    head = repository.resolve(rest)
    if head is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    files = [
        {
            "path": each["path"],
            "uploadMode": "lfs" if is_large(each["path"], each["size"]) else "regular",
            "shouldIgnore": False,
            **_known(head, each["path"]),
        }
        for each in handler.json()["files"]
    ]
    handler.reply(200, {"files": files})


def _known(head: Commit, path: str) -> dict[str, str]:
    blob = head.files.get(path)
    if blob is None:
        return {}
    return {"oid": blob.sha256 if blob.large else blob.git_oid}


def _commit(handler: Handler, repository: Repository, rest: str) -> None:
    head = repository.resolve(rest)
    lines = [json.loads(line) for line in handler.body.splitlines()]
    header = lines[0]["value"]
    if head is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    if header.get("parentCommit", head.oid) != head.oid:
        handler.refuse(412, "A commit has happened since. Please refresh and try again")
        return
    files = dict(head.files)
    for line in lines[1:]:
        problem = _apply(repository, files, line["key"], line["value"])
        if problem:
            handler.refuse(400, problem)
            return
    made = repository.commit(
        files,
        parent=head,
        title=header["summary"],
        message=header["description"],
        author=handler.hub.store.user,
    )
    url = f"{handler.hub.endpoint}/datasets/{repository.name}"
    answer: dict[str, Any] = {
        "success": True,
        "commitOid": made.oid,
        "commitUrl": f"{url}/commit/{made.oid}",
    }
    repository.branches[rest] = made.oid
    handler.reply(200, answer)


def _apply(
    repository: Repository, files: dict[str, Blob], key: str, value: dict[str, Any]
) -> str:
    """Apply one line of a commit; returns what is wrong with it."""
    path = value["path"]
    if key == "file":
        files[path] = Blob(base64.b64decode(value["content"]), large=False)
    elif key == "lfsFile":
        if value["oid"] not in repository.large:
            return f"LFS pointer pointed to a file that does not exist: {path}"
        files[path] = Blob(repository.large[value["oid"]], large=True)
    elif key == "deletedFile":
        if files.pop(path, None) is None:
            return "A file with this name doesn't exist"
    else:
        return f"unknown operation {key}"
    return ""


def _tag(handler: Handler, repository: Repository, rest: str) -> None:
    commit, name = repository.resolve(rest), handler.json()["tag"]
    if commit is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
    elif name in repository.tags:
        handler.refuse(409, "Tag reference exists already")
    else:
        repository.tags[name] = commit.oid
        handler.reply(200, {})


def _resolve(handler: Handler, repository: Repository, rest: str) -> None:
    commit, path = listings.split_revision(repository, rest)
    if commit is None:
        handler.refuse(404, "Invalid rev id", "RevisionNotFound")
        return
    if repository.gated and handler.token not in handler.hub.store.tokens:
        handler.refuse(403, "Access to this dataset is restricted", "GatedRepo")
        return
    blob = commit.files.get(path)
    if blob is None:
        handler.send_response(404)
        for name, value in {
            "X-Error-Code": "EntryNotFound",
            "X-Error-Message": "Entry not found",
            "X-Repo-Commit": commit.oid,
            "Content-Length": "0",
        }.items():
            handler.send_header(name, value)
        handler.end_headers()
        return
    headers = {"X-Repo-Commit": commit.oid, "ETag": f'"{blob.git_oid}"'}
    if not blob.large:
        handler.reply(200, content=blob.content, headers=headers)
        return
    repository.large.setdefault(blob.sha256, blob.content)
    headers |= {
        "X-Linked-Etag": f'"{blob.sha256}"',
        "X-Linked-Size": str(len(blob.content)),
        "Location": storage.signed(handler.hub, f"/{repository.name}/{blob.sha256}"),
    }
    handler.reply(302, content=b"", headers=headers)


_API = rf"/api/datasets/{_NAME}"
_MODELS = rf"/api/models/{_NAME}"
#: Method, path, what the token must allow, and what is done.
_ROUTES: tuple[tuple[str, str, str, Callable[[Handler, Any, str], None]], ...] = (
    ("POST", r"/api/repos/create", "write", _create),
    ("POST", r"/api/validate-yaml", "read", _valid_yaml),
    ("GET", rf"{_API}/xet-write-token/{_REST}", "write", xet.give_token),
    ("POST", rf"{_API}/preupload/{_REST}", "write", _preupload),
    ("POST", rf"{_API}/commit/{_REST}", "write", _commit),
    ("POST", rf"{_API}/tag/{_REST}", "write", _tag),
    ("GET", rf"{_API}/revision/{_REST}", "read", listings.info),
    ("GET", rf"{_API}/tree/{_REST}", "read", listings.tree),
    ("POST", rf"{_API}/paths-info/{_REST}", "read", listings.paths),
    ("GET", rf"{_API}/refs", "read", listings.refs),
    ("GET", rf"{_API}/commits/{_REST}", "read", listings.commits),
    ("GET", _API, "read", listings.info),
    ("POST", rf"/datasets/{_NAME}\.git/info/lfs/objects/batch", "write", storage.batch),
    ("POST", rf"/verify/{_NAME}/{_REST}", "write", storage.verify),
    ("GET", rf"/datasets/{_NAME}/resolve/{_REST}", "read", _resolve),
    ("HEAD", rf"/datasets/{_NAME}/resolve/{_REST}", "read", _resolve),
    # A model is read like a dataset, by other addresses.
    ("GET", rf"{_MODELS}/revision/{_REST}", "read", listings.info),
    ("GET", rf"{_MODELS}/tree/{_REST}", "read", listings.tree),
    ("GET", _MODELS, "read", listings.info),
    ("GET", rf"/{_NAME}/resolve/{_REST}", "read", _resolve),
    ("HEAD", rf"/{_NAME}/resolve/{_REST}", "read", _resolve),
)
