"""Our readers of what others wrote, each with valid inputs of it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.download.archives import FILE_BYTES, read_archive
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack, write_pack
from curation.json.text import Merged, Policy, canonical, parse, write
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import read_facts, read_manifest
from curation.system import checksums
from curation.system.errors import CsbdataError
from evaluation.analysis.compare_runs import read_outcomes
from evaluation.data import open_data
from evaluation.results.reader import HEADER, list_gaps, open_run
from evaluation.runner.response_files import read_responses
from evaluation.servers.answers import (
    BrokenStream,
    ErrorEvent,
    ServerAnswer,
    read_stream,
)
from evaluation.servers.provider import providers
from evaluation.servers.refusals import read_refusal
from evaluation.tokenizers import get_tokenizer
from tests.builds import write_build
from tests.curation.archives_made import FILES, github_pin, github_tarball, zipped
from tests.evaluation.made_runs import many, write_run
from tests.evaluation.tokenizers import made
from tests.made import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_POLICIES = (
    Policy(),
    Policy(last_key_counts=True, large_integers_are_floats=True),
    Policy(merge_equal_members=True),
)
_SCHEMAS = b'{"type": "object", "properties": {"a": {"pattern": "^a+$"}}}\n' * 2
_OPENAPI = b"""openapi: 3.1.0
info: {title: made, version: "1"}
paths: {/a: {get: {responses: {"200": {description: b, content: {
  application/json: {schema: {$ref: "#/components/schemas/A"}}}}}}}}
components: {schemas: {A: {type: object, properties: {a: {type: string}}}}}
"""
_TOOLS = b'[{"name": "a", "description": "b", "inputSchema": {"type": "object"}}]'


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What reads an input, and valid inputs of it.

    Attributes:
        read: Raises only what its reader documents, `CsbdataError` apart.
        corpus: Valid inputs.
    """

    read: Callable[[bytes], object]
    corpus: Sequence[bytes]

    def check(self, content: bytes) -> None:
        """Read an input, which may be refused."""
        with suppress(CsbdataError):
            self.read(content)


def _json(_folder: Path) -> Reader:
    schema = {"$ref": "#/$defs/é", "minimum": 1.5, "enum": [10**30, -0.0, None, "\0"]}

    def read(content: bytes) -> None:
        for policy in _POLICIES:
            merged: Merged | None = [] if policy.merge_equal_members else None
            value = parse(content, policy, merged)
            if not isinstance(value, Rejected):
                again = parse(write(value).encode())
                assert not isinstance(again, Rejected)
                assert canonical(again) == canonical(value)

    texts = (
        '{"a": 1.50, "b": [1E3, -0], "a": 1.50}',
        '\ufeff["\\ud83d\\ude00", 1e-400]',
    )
    return Reader(
        read=read, corpus=[json.dumps(schema).encode(), *map(str.encode, texts)]
    )


def _archives(folder: Path, suffix: str, *corpus: bytes) -> Reader:
    path = folder / f"archive{suffix}"

    def read(content: bytes) -> None:
        path.write_bytes(content)
        for name, text in read_archive(github_pin(), path):
            assert ".." not in name
            assert len(text) <= FILE_BYTES

    return Reader(read=read, corpus=corpus)


def _manifest(folder: Path) -> Reader:
    build = write_build(folder / "build")

    def read(content: bytes) -> None:
        (build / MANIFEST).write_bytes(content)
        read_facts(build)
        read_manifest(build)

    return Reader(read=read, corpus=[(build / MANIFEST).read_bytes()])


def _pack(folder: Path) -> Reader:
    pack = write_pack(folder, "made", FILES.items())

    def read(content: bytes) -> None:
        pack.unlink(missing_ok=True)  # what is mapped must not change
        pack.write_bytes(content)
        for path in (opened := open_pack(pack)).paths:
            opened.read(path)

    return Reader(read=read, corpus=[pack.read_bytes()])


def _data(folder: Path, name: str, prefix: str, *corpus: bytes) -> Reader:
    """Return the reader of what `--data` names: a file, or a folder with this file."""
    path = folder / "data" / name
    path.parent.mkdir(parents=True)
    where = prefix + str(path.parents[1] if path.suffix == ".parquet" else path)
    settings = FetchSettings(cache=folder / "cache", offline=True)

    def read(content: bytes) -> None:
        path.write_bytes(content)
        list(open_data(where, settings=settings, instances=False).records())

    return Reader(read=read, corpus=corpus)


def _table(folder: Path) -> Reader:
    row = ("Github_easy", record("o1", vacuous=False))
    table = next((write_build(folder / "build", [row]) / row[0]).glob("*.parquet"))
    return _data(folder / "tables", table.name, "", table.read_bytes())


def _responses(folder: Path) -> Reader:
    line = b'{"record": "a/b", "text": "{\\"a\\": 1}", "finish": "stop"}\n'

    def read(content: bytes) -> None:
        (folder / "responses.jsonl").write_bytes(content)
        read_responses(folder / "responses.jsonl")

    return Reader(read=read, corpus=[3 * line])


def _outcomes(folder: Path) -> Reader:
    line = b'{"engine":"a","task":"masks","schema":"a/o1","outcome":"passed"}\n'

    def read(content: bytes) -> None:
        (folder / "expected.jsonl").write_bytes(content)
        read_outcomes(folder / "expected.jsonl")

    return Reader(read=read, corpus=[2 * line])


def _sums(folder: Path) -> Reader:
    corpus = b"".join(b"%064x  %s\n" % (number, b"a b/c") for number in range(3))

    def read(content: bytes) -> None:
        (folder / checksums.FILE).write_bytes(content)
        checksums.read_sums(folder)

    return Reader(read=read, corpus=[corpus])


def _run(folder: Path, name: str) -> Reader:
    run = write_run(folder / "run", [*many("alpha 1.0", 3), *many("beta 2.0", 3)])

    def read(content: bytes) -> None:
        (run / name).write_bytes(content)
        opened = open_run(run)
        list(opened.rows())
        list_gaps(opened)

    return Reader(read=read, corpus=[(run / name).read_bytes()])


def _stream(_folder: Path) -> Reader:
    delta = {"choices": [{"delta": {"content": '{"a": 1}', "reasoning": "so"}}]}
    usage = {"prompt_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage}
    refusal = {"error": {"message": "no", "code": 400, "param": "response_format"}}
    events = b"".join(
        b"data: %s\n\n" % json.dumps(each).encode() for each in (delta, end)
    )

    def read(content: bytes) -> None:
        read_refusal(400, content.decode("utf-8", "replace"))
        with suppress(BrokenStream, ErrorEvent):
            read_stream(content.split(b"\n"), ServerAnswer(), providers()[""].answer)

    return Reader(
        read=read,
        corpus=[events + b"data: [DONE]\n", json.dumps({**end, **delta}).encode()]
        + [
            json.dumps(each).encode() for each in (refusal, {"detail": [{"msg": "no"}]})
        ],
    )


def _tokenizer(path: Path) -> Reader:
    settings = FetchSettings(mirror=None, cache=path.parent / "cache", offline=True)

    def read(content: bytes) -> None:
        path.write_bytes(content)
        get_tokenizer(str(path), settings)

    return Reader(read=read, corpus=[path.read_bytes()])


#: Each makes its reader in an empty folder.
READERS: Final[Mapping[str, Callable[[Path], Reader]]] = {
    "json": _json,
    "tar.gz": lambda folder: _archives(folder, ".tar.gz", github_tarball()),
    "tar.xz": lambda folder: _archives(folder, ".tar.xz", github_tarball(form="xz")),
    "zip": lambda folder: _archives(folder, ".zip", zipped(FILES)),
    "manifest": _manifest,
    "checksums": _sums,
    "pack": _pack,
    "parquet": _table,
    "schemas": lambda folder: _data(folder, "a.jsonl", "", _SCHEMAS),
    "openapi": lambda folder: _data(folder, "a.yaml", "", _OPENAPI),
    "tools": lambda folder: _data(folder, "a.json", "", _TOOLS),
    "responses": _responses,
    "expected outcomes": _outcomes,
    "run header": lambda folder: _run(folder, HEADER),
    "run rows": lambda folder: _run(folder, "attempts.jsonl"),
    "server stream": _stream,
    "tokenizer.json": lambda folder: _tokenizer(
        made.byte_level(folder / "made") / "tokenizer.json"
    ),
}
