"""The official JSON Schema Test Suite as a source: curation changes no verdict."""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from curation.core.json_types import Json, UntypedJson
from curation.core.rule import Context
from curation.pipeline.process_document import apply_rules
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME, Dialect
from curation.validation.metaschemas import RUST_VALIDATORS
from curation.validation.python_validators import PYTHON_VALIDATORS
from tests.curation.pinned import needs_mirror
from tests.curation.rules.documents_made import SITE, Shelf, raw_document

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARCHIVE = "JSON-Schema-Test-Suite-*.tar.xz"
_SERVER = "http://localhost:1234/"
_FOLDERS = {
    "draft3": "draft-03",
    "draft4": "draft-04",
    "draft6": "draft-06",
    "draft7": "draft-07",
    "draft2019-09": "2019-09",
    "draft2020-12": "2020-12",
}
#: Of every draft from 03 on, optional tests included; and the least that are kept.
_SCHEMAS, _KEPT = 1_763, 1_480
_Documents = Mapping[str, UntypedJson]
_Judge = Callable[[UntypedJson], bool]
#: How a validator ends that cannot judge an instance by a schema.
_CANNOT = (Unresolvable, TypeError, re.error)


class _Case(NamedTuple):
    """One schema with its instances."""

    id: str
    dialect: Dialect
    schema: Json
    instances: list[UntypedJson]


def _files() -> Iterator[tuple[str, UntypedJson]]:
    """Yield each file of the archive by its path below the root."""
    (archive,) = Path(os.environ["CSBDATA_MIRROR"]).glob(_ARCHIVE)
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isfile() else None
            if stream is not None and member.name.endswith(".json"):
                yield member.name.partition("/")[2], json.load(stream)


def _suite() -> tuple[list[_Case], _Documents]:
    """Return the cases, each with its draft declared, and the server's documents."""
    cases: list[_Case] = []
    remotes: dict[str, UntypedJson] = {}
    for path, content in _files():
        kind, _, name = path.partition("/")
        folder = name.partition("/")[0]
        if kind == "remotes":
            remotes[_SERVER + name] = content
        elif kind == "tests" and folder in _FOLDERS:
            dialect = BY_NAME[_FOLDERS[folder]]
            for number, group in enumerate(content):
                schema = group["schema"]
                if isinstance(schema, dict):
                    schema = {"$schema": dialect.uri, **schema}
                instances = [test["data"] for test in group["tests"]]
                unique_id = f"{name.removesuffix('.json')}/{number}"
                cases.append(_Case(unique_id, dialect, schema, instances))
    return cases, remotes


def _rust(
    schema: UntypedJson, dialect: Dialect, remotes: _Documents, *, formats: bool
) -> _Judge | None:
    def retrieve(uri: str) -> UntypedJson:
        return remotes[uri.partition("#")[0]]

    validator = RUST_VALIDATORS.get(dialect.name)
    if validator is None:
        return None
    return validator(schema, retriever=retrieve, validate_formats=formats).is_valid


def _python(schema: Json, dialect: Dialect, remotes: _Documents) -> _Judge:
    specification = specification_with(dialect.uri)
    registry = REGISTRY.with_resources(
        (uri, Resource.from_contents(document, default_specification=specification))
        for uri, document in remotes.items()
    )
    judge: _Judge = PYTHON_VALIDATORS[dialect.name](schema, registry=registry).is_valid
    return judge


_JUDGES: Mapping[str, Callable[[UntypedJson, Dialect, _Documents], _Judge | None]] = {
    "jsonschema-rs": partial(_rust, formats=False),
    "jsonschema-rs with formats": partial(_rust, formats=True),
    "jsonschema": _python,
}


def _verdicts(
    judge: _Judge | None, instances: list[UntypedJson]
) -> Iterator[bool | None]:
    """Yield a verdict on each instance; None where a validator cannot judge it."""
    for instance in instances:
        try:
            yield None if judge is None else judge(instance)
        except _CANNOT:
            yield None


@pytest.mark.slow
@needs_mirror
def test_no_verdict_changes() -> None:
    """A kept schema accepts what it accepted, for either validator and any draft."""
    cases, remotes = _suite()
    assert len(cases) == _SCHEMAS
    context = Context(library=Shelf(remotes))
    kept, changed = 0, []
    for case in cases:
        raw = raw_document(json.dumps(case.schema).encode(), base_uri=SITE + case.id)
        record = apply_rules(raw, rule_set("clean"), context).record
        if record is None:
            continue
        kept += 1
        curated = json.loads(record.json_schema)
        for name, judge in _JUDGES.items():
            judges = (
                judge(case.schema, case.dialect, remotes),
                judge(curated, BY_NAME[record.dialect], {}),
            )
            before, after = (_verdicts(each, case.instances) for each in judges)
            for old, new, instance in zip(before, after, case.instances, strict=True):
                if old is not None and old is not new:
                    changed.append((case.id, name, instance, old, new))
    assert not changed
    assert kept >= _KEPT
