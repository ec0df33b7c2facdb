"""The corpus of `fuzz`: one file of MaskBench's form for each smallest reproducer.

`csbdata eval --data CORPUS --task masks` asks any engine all of it. A class is what
goes wrong, where in the text, and the keywords of the shrunk schema; it keeps its
smallest reproducers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from bench.engine.fuzz_draws import dialect_of
from curation.schema.keywords import ANNOTATIONS
from curation.schema.subschemas import subschemas
from curation.system.atomic_files import atomic_write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curation.core.json_types import Json

_STATE = ".state.json"
#: Reproducers that one class keeps.
_KEPT = 3
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
        parts = [self.engine, self.kind, json.dumps(self.schema, sort_keys=True)]
        return sha256("\0".join(parts).encode()).hexdigest()[:12]

    @property
    def size(self) -> int:
        """Characters of its schema and text."""
        return len(json.dumps(self.schema)) + len(self.text)

    @property
    def title(self) -> str:
        """One line."""
        where = f" at {self.place}" if self.place else ""
        what = f" that `{self.keyword}` refuses" if self.keyword else ""
        return f"{self.engine} {self.kind}{what}{where}"

    def as_file(self) -> bytes:
        """Return its file: MaskBench's form, and what is said here beside it."""
        near = f"near_miss: {self.keyword}" if self.keyword else "valid"
        test = {"description": near, "valid": self.valid, "text": self.text}
        own = {"config": "fuzz", "id": self.id, "keywords": self.keywords}
        own |= {
            name: value
            for name, value in msgspec.to_builtins(self).items()
            if name not in {"schema", "text", "valid"}
        }
        content = {"description": self.title, "schema": self.schema, "tests": [test]}
        return msgspec.json.encode({**content, "csbdata": own}) + b"\n"

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
        self._classes: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
        for path in sorted(folder.glob("*.json")):
            if path.name != _STATE:
                self._keep(_read(path.read_bytes()))

    @property
    def schemas(self) -> list[dict[str, Json]]:
        """The schemas of all findings, to draw from."""
        return [each.schema for each in self.findings() if each.schema]

    def findings(self) -> Iterable[Finding]:
        """Yield all findings, class by class, the smallest first."""
        for sort in sorted(self._classes):
            yield from self._classes[sort]

    def classes(self) -> list[list[Finding]]:
        """Return the classes, those of the smallest reproducers first."""
        return sorted(self._classes.values(), key=lambda each: each[0].size)

    def wants(self, finding: Finding) -> bool:
        """Return whether a finding is new, and small for its class."""
        own = self._classes.get(finding.sort, [])
        return all(each.id != finding.id for each in own) and (
            len(own) < _KEPT or finding.size < own[-1].size
        )

    def add(self, finding: Finding) -> None:
        """Keep a finding; the largest of its class goes if there are too many."""
        dropped = self._keep(finding)
        atomic_write_bytes(self._folder / f"{finding.id}.json", finding.as_file())
        for each in dropped:
            (self._folder / f"{each.id}.json").unlink(missing_ok=True)

    def save(self) -> None:
        """Write the state down."""
        atomic_write_bytes(self._folder / _STATE, msgspec.json.encode(self.state))

    def _keep(self, finding: Finding) -> list[Finding]:
        own = self._classes[finding.sort]
        own.append(finding)
        own.sort(key=lambda each: (each.size, each.id))
        dropped = own[_KEPT:]
        del own[_KEPT:]
        return dropped

    def section(self) -> str:
        """Return the section of docs/findings.md: one row a class."""
        rows = [
            f"| {each.engine} | {each.kind}"
            f"{f' (`{each.keyword}`)' if each.keyword else ''} | {each.place or '-'} "
            f"| `{_cell(json.dumps(each.schema, ensure_ascii=False))}` "
            f"| `{_cell(each.text)}` |"
            for own in self.classes()
            for each in own[:1]
        ]
        return "\n".join(
            [
                "| engine | what it does | at | schema | text |",
                "|---|---|---|---|---|",
                *rows,
                "",
            ]
        )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _read(content: bytes) -> Finding:
    """Return the finding of a file."""
    value = json.loads(content)
    test = value["tests"][0]
    fields = {
        name: value["csbdata"][name]
        for name in Finding.__struct_fields__
        if name in value["csbdata"]
    }
    return Finding(
        **fields, schema=value["schema"], text=test["text"], valid=test["valid"]
    )
