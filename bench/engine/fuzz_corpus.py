"""The corpus of `fuzz`: one file of MaskBench's form for each smallest reproducer.

`csbdata eval --data CORPUS --task masks` asks any engine all of it. A class is what
goes wrong, where in the text, and the keywords of the shrunk schema; the smallest
reproducer of each is kept.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from bench.engine.fuzz_draws import dialect_of
from curation.schema.keywords import ANNOTATIONS
from curation.schema.subschemas import subschemas
from curation.system.atomic_files import atomic_write_bytes

if TYPE_CHECKING:
    from pathlib import Path


_STATE = ".state.json"
_SILENT = ANNOTATIONS | {"$schema", "$defs", "definitions"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine does to one text under one schema, and should not."""

    #: The engine with its version and preset.
    engine: str
    #: What it does: `blocks a valid text`, `accepts an invalid text`, ...
    kind: str
    #: What stands where it is blocked; empty for a text that is accepted.
    place: str
    schema: Any
    text: str
    valid: bool
    #: The keyword that refuses the text; empty for a valid one.
    keyword: str = ""
    detail: str = ""
    date: str = ""

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of its schema, but for those that only describe."""
        parts = subschemas(self.schema, dialect_of(self.schema))
        return tuple(sorted({name for part in parts for name in part} - _SILENT))

    @property
    def sort(self) -> tuple[str, ...]:
        """The class that it belongs to."""
        return (self.engine, self.kind, self.place, self.keyword, *self.keywords)

    @property
    def id(self) -> str:
        """A name that the same finding always has."""
        schema = json.dumps(self.schema, sort_keys=True)
        parts = [self.engine, self.kind, self.place, self.keyword, schema]
        return sha256("\0".join(parts).encode()).hexdigest()[:12]

    @property
    def size(self) -> int:
        """Characters of its schema and text."""
        return len(json.dumps(self.schema)) + len(self.text)

    @property
    def title(self) -> str:
        """One line."""
        where = f" at {self.place}" if self.place else ""
        return f"{self.engine} {self.deed}{where}"

    @property
    def deed(self) -> str:
        """What the engine does, and the keyword that it should have heeded."""
        return f"{self.kind} (`{self.keyword}`)" if self.keyword else self.kind

    def as_file(self) -> bytes:
        """Return its file: MaskBench's form, and what is said here beside it."""
        near = f"near_miss: {self.keyword}" if self.keyword else "valid"
        test = {"description": near, "valid": self.valid, "text": self.text}
        own = {"config": "fuzz", "id": self.id, **msgspec.to_builtins(self)}
        content = {"description": self.title, "schema": own.pop("schema")}
        content |= {"tests": [test], "csbdata": own}
        return msgspec.json.encode(content) + b"\n"

    def as_issue(self) -> str:
        """Return the text of an issue for the engine's authors."""
        name, version, *_ = self.engine.split()
        told = f" ({self.detail})" if self.detail else ""
        verdict = "valid" if self.valid else "invalid"
        command = f"csbdata eval --engine {name}=={version} --task masks"
        return f"""### {self.title}

Schema: `{json.dumps(self.schema, ensure_ascii=False)}`
Text: `{self.text}`

The text is {verdict} by jsonschema and jsonschema-rs; {self.engine} {self.kind}{told}.
To see it again: `{command} --set given_only=true --data {self.id}.json`
"""


class State(msgspec.Struct, kw_only=True):
    """How much a corpus has seen; a run goes on from it."""

    seeds: int = 0
    seconds: float = 0.0
    schemas: int = 0
    texts: int = 0
    #: Wrong walks by engine, of which those of a known kind are not all shrunk.
    wrong: dict[str, int] = {}
    #: Invalid texts accepted after a warning: stated limits, not shrunk.
    warned: dict[str, int] = {}
    refused: dict[str, int] = {}
    #: Not seen again in a new process.
    unsteady: int = 0


class Corpus:
    """The folder: findings and state."""

    def __init__(self, folder: Path) -> None:
        """Read what is there."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        state = folder / _STATE
        self.state = (
            msgspec.json.decode(state.read_bytes(), type=State)
            if state.exists()
            else State()
        )
        read = (
            _read(path.read_bytes())
            for path in sorted(folder.glob("*.json"))
            if path.name != _STATE
        )
        self._classes = {finding.sort: finding for finding in read}

    def findings(self) -> list[Finding]:
        """Return the smallest reproducer of each class, the smallest first."""
        return sorted(self._classes.values(), key=lambda each: (each.size, each.id))

    def wants(self, finding: Finding) -> bool:
        """Return whether a finding is of a new class, or smaller than what is kept."""
        own = self._classes.get(finding.sort)
        return own is None or finding.size < own.size

    def add(self, finding: Finding) -> None:
        """Keep a finding in place of a larger one of its class."""
        own = self._classes.get(finding.sort)
        self._classes[finding.sort] = finding
        atomic_write_bytes(self._folder / f"{finding.id}.json", finding.as_file())
        if own is not None and own.id != finding.id:
            (self._folder / f"{own.id}.json").unlink(missing_ok=True)

    def save(self) -> None:
        """Write the state down."""
        atomic_write_bytes(self._folder / _STATE, msgspec.json.encode(self.state))

    def section(self) -> str:
        """Return the table of docs/findings.md: one row a class."""
        head = "| engine | what it does | at | schema | text |\n|---|---|---|---|---|\n"
        return head + "".join(
            f"| {each.engine} | {each.deed} | {each.place or '-'} "
            f"| {_cell(json.dumps(each.schema, ensure_ascii=False))} "
            f"| {_cell(each.text)} |\n"
            for each in self.findings()
        )


def _cell(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def _read(content: bytes) -> Finding:
    """Return the finding of a file."""
    value = json.loads(content)
    (test,) = value["tests"]
    fields = {**value["csbdata"], **test, "schema": value["schema"]}
    return msgspec.convert(fields, Finding)
