"""The page of a reader's schema judges as `csbdata fit` does."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
import pytest

from curation.fit.profile import load_profile, profile_names
from curation.fit.rewrites import EXACT, NORMALISED, SAFE, UNSAFE
from curation.fit.verdict import FitFinding, judge_fit, untold_keywords
from curation.schema.dialects import DIALECTS, declared
from curation.validation.metaschemas import valid_under
from evaluation.site.schema import tables
from tests.curation.sources.test_tools import REQUESTS
from tests.evaluation.site.node import answers, needs_node

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson

_JUDGED = """({ texts, tables }) => texts.map((text) => {
  const scan = new csbdata.fit.Scan(csbdata.json.parse(text), tables);
  return tables.profiles.map((profile) => [
    csbdata.fit.judge(scan, profile, tables).map((it) => [
      it.pointer, it.keyword, it.rule, it.effect, it.sentence, it.source.title,
      csbdata.fit.rewrites(it, tables).map(({ name }) => name)]),
    csbdata.fit.untold(scan, profile, tables)]);
})"""
#: What records of the dataset do not have: a case for each part of the port.
_HARD = (
    "true",
    "false",
    "{}",
    '{"type": ["object", "null"], "properties": {"b": {}, "1": {}, "__proto__": {}}}',
    '{"enum": [1, 1.0, -0.0, 1e2, null, "a", [], {}], "const": {"a": 1}}',
    '{"$ref": "#/$defs/a%20b", "$defs": {"a b": {"$ref": "#"}}, "minLength": 2500}',
    (
        '{"$id": "http://a.example/b/c.json", "properties": {"x": {"$ref": "../d#/y"},'
        ' "y": {"$ref": "c.json#/properties/x"}, "z": {"$ref": "#nothing"},'
        ' "w": {"$ref": "/b/./e/../c.json"}, "v": {"$ref": "?q#/a"}}}'
    ),
    (
        '{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "a.json",'
        ' "items": [{"$id": "#name"}, {"$ref": "a.json#name"}, {"$ref": "#/items/0"}]}'
    ),
    (
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"n":'
        ' {"$dynamicAnchor": "n", "$id": "urn:x:y", "$ref": "urn:x:y#n"}}}'
    ),
    (
        '{"properties": {"a": {"required": ["a"], "properties": {"a": {"$ref":'
        ' "#/properties/a"}}}, "b": {"$ref": "#/types/c"}}, "types": {"c": {}}}'
    ),
    r'{"pattern": "^\\d+(?=x)\\1\\bé\\p{L}[*?]+?$", "format": "\u202e<script>"}',
    json.dumps({"enum": ["\N{GRINNING FACE}" * 60, "x" * 16_000] + ["y"] * 300}),
    json.dumps({"properties": {f"p{n}": {"anyOf": [{}, {}]} for n in range(60)}}),
    '{"const": {"type": "string", "minItems": 4}, "minItems": 4, "maxItems": 3000.5}',
    # What only a reference reaches, and what is reached from there.
    (
        '{"$ref": "#/x/a", "x": {"a": {"properties": {"b": {"$ref": "#/x/b"}}}, "b":'
        ' {"items": {"oneOf": [{"$ref": "#/x/a"}]}, "minLength": 2500}}}'
    ),
    (
        '{"anyOf": [{"$ref": "#/x/a"}, {"$ref": "#/x/a/items"}], "x": {"a":'
        ' {"$id": "http://a.example/b", "items": {"$ref": "#/none"}}}}'
    ),
    (
        '{"$id": "http://a.example/b", "$defs": {"c": {"$id": "d", "x": {"$ref":'
        ' "#/y"}, "y": {"$ref": "b#/z"}}}, "$ref": "d#/x", "z": {"oneOf":'
        ' [{"$ref": "#"}]}}'
    ),
    '{"$ref": "#/properties", "properties": {"items": {"$ref": "#/properties"}}}',
    (
        '{"properties": {"a": {"properties": {"items": {"$ref":'
        ' "#/properties/a/properties"}}, "$ref": "#/properties/a/properties"}},'
        ' "required": ["a"]}'
    ),
    *(
        f'{{"type": "object", "additionalProperties": {{"enum": [{numbers}]}}}}'
        for numbers in (
            *("1e15, 1e16, 1.5E+20, 1e21", "1e22, -1.25e300, 5e-324, 1e-7"),
            *("1.5e-6, 1e-5, 0.00012, -0.0", "1e2, 12345678901234567890123, -0"),
        )
    ),
)


def _ours(text: str, name: str) -> list[Any]:
    schema: Json = json.loads(text)
    profile = load_profile(name)
    findings = [
        [
            *(it.pointer, it.keyword, it.rule, it.effect, it.sentence, it.source),
            _rewrites(it),
        ]
        for it in judge_fit(schema, profile)
    ]
    return [findings, list(untold_keywords(schema, profile))]


def _rewrites(finding: FitFinding) -> list[str]:
    every = (*EXACT, NORMALISED, *SAFE, *UNSAFE)
    asked = (it.name for it in every if it.answers(finding.rule, finding.keyword))
    return list(dict.fromkeys(asked))


def _texts(build: Path) -> list[str]:
    tables = [pl.read_parquet(path) for path in sorted(build.glob("*/*.parquet"))]
    return [text for table in tables for text in table["json_schema"]]


def _assert_same(texts: list[str]) -> None:
    own = json.loads(msgspec.json.encode(tables()))
    judged = answers("json fit", _JUDGED, {"texts": texts, "tables": own})
    for text, by_target in zip(texts, judged, strict=True):
        for name, theirs in zip(profile_names(), by_target, strict=True):
            assert theirs == _ours(text, name), (name, text[:500])


@pytest.mark.slow
@needs_node
def test_every_check_says_in_the_browser_what_fit_says(sample_build: Path) -> None:
    """Hard schemas and the sample: each finding, word for word, under each profile."""
    _assert_same([*_HARD, *_texts(sample_build)])


_VALID = """({ texts, tables }) => texts.map((text) => {
  const schema = csbdata.json.parse(text);
  const { refusedBy, fault } = csbdata.metaschema;
  const names = Object.keys(tables.drafts);
  return [names.filter((name) => !refusedBy(name, schema, tables).length),
    fault(schema, tables) !== null];
})"""
#: What takes the place of a part of a schema; some are right somewhere.
_WRONG: tuple[UntypedJson, ...] = (
    *(None, True, 0, -1, 1.5, "", "strin", "object", "#a", "a b", [], ["a", "a"]),
    *([{}], ["string", "null"], [1, 1.0], {}, {"a": 1}, {"type": "x"}, {"a": ["b"]}),
    {"exclusiveMinimum": True, "minimum": 1},
    {"$id": "#a", "$anchor": "1a", "required": []},
)


def _broken(schema: UntypedJson, rng: random.Random) -> UntypedJson:
    """Return a schema with one part replaced, at any depth."""
    if not isinstance(schema, dict | list) or not schema or rng.random() < 0.2:
        return rng.choice(_WRONG)
    place = rng.choice(list(schema) if isinstance(schema, dict) else range(len(schema)))
    copied = schema.copy()
    copied[place] = _broken(copied[place], rng)
    return copied


def _is_fault(schema: UntypedJson, valid: list[str]) -> bool:
    """Return whether its draft refuses a schema: the declared one, or else every."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return not valid
    dialect = declared(schema["$schema"])
    return dialect in DIALECTS and dialect.name not in valid


@needs_node
def test_a_schema_too_deep_to_walk_has_no_fault_in_the_browser() -> None:
    """The page goes on; `csbdata fit` says that it is too deep."""
    text = '{"items": ' * 50_000 + "{}" + "}" * 50_000
    own = json.loads(msgspec.json.encode(tables()))
    fault = """({ text, tables }) =>
      csbdata.metaschema.fault(csbdata.json.parse(text), tables)"""
    value = {"text": text, "tables": own}
    assert answers("json fit metaschema", fault, value) is None


@needs_node
def test_the_browser_finds_the_schema_of_a_request_where_we_do() -> None:
    """For every form of request that is known, and for none."""
    own = json.loads(msgspec.json.encode(tables()))
    found = answers(
        "json fit",
        """({ texts, tables }) => texts.map((text) => {
          const found = csbdata.fit.inRequest(csbdata.json.parse(text), tables);
          return found && csbdata.json.pointer(found[0]);
        })""",
        {"texts": [json.dumps(request) for request, _ in REQUESTS], "tables": own},
    )
    assert found == [place for _, place in REQUESTS]


@pytest.mark.slow
@needs_node
def test_the_browser_finds_a_schema_valid_under_the_drafts_that_we_do(
    sample_build: Path,
) -> None:
    """Records, and each broken in five ways: a fault is what its draft refuses."""
    rng = random.Random(7)
    texts = [*_HARD, *_texts(sample_build)]
    texts += [
        json.dumps(_broken(json.loads(text), rng)) for text in texts for _ in range(5)
    ]
    schemas = [json.loads(text) for text in texts]
    kept = [n for n, it in enumerate(schemas) if isinstance(it, dict | bool)]
    own = json.loads(msgspec.json.encode(tables()))
    value = {"texts": [texts[n] for n in kept], "tables": own}
    refused = 0
    for n, (valid, fault) in zip(
        kept, answers("json fit metaschema", _VALID, value), strict=True
    ):
        assert valid == list(valid_under(schemas[n])), texts[n][:500]
        assert fault == _is_fault(schemas[n], valid), texts[n][:500]
        refused += fault
    assert 100 < refused < len(kept) - 100


@pytest.mark.slow
@needs_node
def test_300_records_say_in_the_browser_what_fit_says() -> None:
    """Of 300 records drawn by seed each finding is the same under every profile."""
    build = os.environ.get("CSBDATA_BUILD")
    if not build:
        pytest.skip("CSBDATA_BUILD names no build to draw records from")
    _assert_same(random.Random(40).sample(_texts(Path(build)), 300))
