"""Profiles against a service's recorded answers and the vendors' own libraries.

The texts are those of rule set `paper`, of the sources in CSBDATA_MIRROR.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest
from pydantic import BaseModel

from curation.core.json_types import UntypedJson
from curation.fit.profile import SourceKind, load_profile
from curation.fit.verdict import FAILING, Verdict, decide_verdict, judge_fit
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS, TYPE_OF_KEYWORD
from curation.schema.subschemas import edited
from tests.curation.pinned import needs_mirror
from tests.curation.rules.test_paper_agrees import kept

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.json.pointer import Tokens

pytestmark = [pytest.mark.nightly, pytest.mark.enable_socket, needs_mirror]
_PYTHON = [sys.executable, "-m"]
_ACCEPTED = (Verdict.ACCEPTED, Verdict.IN_PART)


class _Sent(BaseModel):
    """What a schema kept on its way to the service; other members were dropped."""

    type: (
        Literal["string", "integer", "number", "boolean", "array", "object", "null"]
        | None
    ) = None
    format: str | None = None
    description: str | None = None
    default: Any = None
    enum: list[Any] | None = None
    items: _Sent | None = None
    properties: dict[str, _Sent] | None = None
    additionalProperties: _Sent | bool | None = None  # noqa: N815 - as above
    anyOf: list[_Sent] | None = None  # noqa: N815 - as it is sent
    required: list[str] | None = None


def _close(schema: UntypedJson) -> None:
    if isinstance(schema, dict):
        if schema.get("properties") and schema.get("additionalProperties", True):
            schema["additionalProperties"] = False
        for part in (*schema.get("properties", {}).values(), schema.get("items")):
            _close(part)


def _require(value: UntypedJson) -> None:
    if isinstance(value, dict) and "properties" in value:
        value["required"] = list(value["properties"])
    parts = value.values() if isinstance(value, dict) else value
    for part in list(parts) if isinstance(value, dict | list) else ():
        _require(part)


def _sent(text: str) -> UntypedJson | None:
    """Return a schema as it was sent; None if it could not be."""
    schema = json.loads(text)
    try:
        _close(schema)
        schema.setdefault("type", "object")
        _require(schema)
        return _Sent.model_validate(schema).model_dump(exclude_none=True)
    except (ValueError, AttributeError):
        return None


def test_strict_mode_is_judged_as_the_service_did(tmp_path: Path) -> None:
    """On at least 99 % of the records that others sent; the list stays in its wheel."""
    download = ["pip", "download", "-q", "--no-deps", "-d", str(tmp_path)]
    subprocess.run([*_PYTHON, *download, "openbench==0.5.3"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    name = "openbench/datasets/jsonschemabench/openai_compatible_ids.txt"
    with zipfile.ZipFile(wheel) as opened:
        accepted = {*opened.read(name).decode().split()}
    profile = load_profile("openai-strict")
    wrong, judged = [], 0
    for (config, unique_id), text in kept().items():
        sent = _sent(text)
        if sent is None:
            continue
        judged += 1
        verdict = decide_verdict(judge_fit(sent, profile))
        right = Verdict.REJECTED
        if unique_id in accepted:
            right = Verdict.ACCEPTED
        if verdict not in (_ACCEPTED if right is Verdict.ACCEPTED else (right,)):
            wrong.append(f"{config}/{unique_id}: {verdict}, and {right}")
    assert judged > 5_000
    assert len(wrong) <= 0.01 * judged, wrong


#: Each writes, for a schema a line, what the library makes of it, or null.
_ANTHROPIC: Final = """
import json, sys
from anthropic.lib._parse._transform import transform_schema
for line in sys.stdin:
    try:
        print(json.dumps(transform_schema(json.loads(line))))
    except Exception:
        print("null")
"""
_OPENAI: Final = """
const { toStrictJsonSchema } = require("openai/lib/transform.js");
const readline = require("node:readline").createInterface({ input: process.stdin });
readline.on("line", (line) => {
  try {
    console.log(JSON.stringify(toStrictJsonSchema(JSON.parse(line))));
  } catch {
    console.log("null");
  }
});
"""
_CONSTRAINING: Final = KNOWN_KEYWORDS - (ANNOTATIONS - {"format"}) - {"id", "$id"}


def _constraints(_tokens: Tokens, schema: UntypedJson) -> UntypedJson:
    """Return what constrains: no idle keyword, nor a type that values have anyway."""
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    family = "number" if kind == "integer" else kind
    kept = {
        name: value
        for name, value in schema.items()
        if name in _CONSTRAINING
        if not isinstance(kind, str) or TYPE_OF_KEYWORD.get(name, family) == family
    }
    if required := kept.pop("required", None):
        kept["required"] = sorted(map(str, required))
    if {"enum", "const"} & kept.keys():
        kept.pop("type", None)
    return kept


def _is_same(before: UntypedJson, after: UntypedJson) -> bool:
    bare = [edited(schema, ANY_DIALECT, _constraints) for schema in (before, after)]
    return bool(bare[0] == bare[1])


def _with_new_name(text: str) -> UntypedJson:
    schema = json.loads(text)
    if not isinstance(schema, dict) or "definitions" not in schema:
        return schema
    renamed = text.replace('"#/definitions/', '"#/$defs/')
    schema = json.loads(renamed)
    return {"$defs" if name == "definitions" else name: schema[name] for name in schema}


def _version(target: str) -> str:
    """Return the version of a library that a profile is of."""
    found = re.search(r" (\d[\d.]+) ", load_profile(target).sources["library"].title)
    assert found is not None
    return found[1]


def _assert_agrees(target: str, command: Sequence[str], folder: Path) -> None:
    """Compare verdicts on 1,000 records; what is changed is not accepted.

    A library does not look at all that documents refuse, but at what its own rules do.
    Definitions are named as it names them: guides accept the older name alike.
    """
    texts = random.Random(37).sample([*kept().values()], 1_000)
    schemas = [_with_new_name(text) for text in texts]
    lines = "".join(json.dumps(schema) + "\n" for schema in schemas)
    run = subprocess.run(
        command, cwd=folder, input=lines, capture_output=True, text=True, check=True
    )
    counts, apart = Counter[tuple[Verdict, bool]](), []
    for text, schema, line in zip(texts, schemas, run.stdout.splitlines(), strict=True):
        findings = judge_fit(json.loads(text), load_profile(target))
        verdict, is_taken = decide_verdict(findings), _is_same(schema, json.loads(line))
        counts[verdict, is_taken] += 1
        own = [
            it
            for it in findings
            if it.effect in FAILING and it.evidence is SourceKind.SDK
        ]
        if (own and is_taken) or (verdict in _ACCEPTED and not is_taken):
            apart.append((text[:300], own[:1]))
    assert not apart, apart
    assert counts[Verdict.REJECTED, True] <= 10, counts
    taken = sum(count for (_, is_taken), count in counts.items() if is_taken)
    assert sum(counts[it, True] for it in _ACCEPTED) >= 0.6 * taken, counts


def test_anthropics_library_agrees(tmp_path: Path) -> None:
    """The version that the profile names, in an environment of its own."""
    subprocess.run([*_PYTHON, "venv", "env"], cwd=tmp_path, check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    package = f"anthropic=={_version('anthropic')}"
    subprocess.run([python, "-m", "pip", "install", "-q", package], check=True)
    _assert_agrees("anthropic", [python, "-c", _ANTHROPIC], tmp_path)


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_openais_library_agrees(tmp_path: Path) -> None:
    """The version that the profile names."""
    package = f"openai@{_version('openai')}"
    install = ["npm", "install", "--no-audit", "--no-fund", package]
    subprocess.run(install, cwd=tmp_path, check=True)
    _assert_agrees("openai-strict", ["node", "-e", _OPENAI], tmp_path)
