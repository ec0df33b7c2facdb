"""The page of a reader's schema judges as `csbdata fit` does."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl
import pytest

from curation.fit.profile import load_profile, profile_names
from curation.fit.verdict import UNDOCUMENTED, judge_fit
from evaluation.site import __file__ as site_file
from evaluation.site.schema import tables
from tests.curation.sources.test_tools import REQUESTS
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


NODE: Final = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
_STATIC: Final = Path(site_file).parent / "static"
_PROGRAM: Final = """
const fs = require("fs"), vm = require("vm");
for (const path of JSON.parse(process.argv[1])) {
  vm.runInThisContext(fs.readFileSync(path, "utf8"), path);
}
const input = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(vm.runInThisContext(process.argv[2])(input)));
"""


def answers(scripts: str, function: str, value: UntypedJson) -> Any:  # noqa: ANN401 - any JSON
    """Return what a function in JavaScript makes of a value.

    Args:
        scripts: Names in `static/` without ending, blanks between.
        function: An expression, with the scripts loaded.
        value: Its argument.
    """
    paths = [str(_STATIC / f"{name}.js") for name in scripts.split()]
    done = subprocess.run(
        [str(NODE), "-e", _PROGRAM, json.dumps(paths), function],
        input=json.dumps(value),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_JUDGED = """({ texts, tables }) => texts.map((text) => {
  const scan = new csbdata.fit.Scan(JSON.parse(text), tables);
  return tables.profiles.map((profile) => {
    const findings = csbdata.fit.judge(scan, profile, tables);
    return [findings.map((it) => [
      it.pointer, it.keyword, it.rule, it.effect, it.sentence,
      `${it.source.title} (${it.source.date})`]),
    csbdata.fit.untold(scan, profile, tables, findings)];
  });
})"""
#: What records of the dataset do not have: a case for each part of the port.
_HARD = table(__file__, "hard")


def _ours(text: str, name: str) -> list[Any]:
    schema: Json = json.loads(text)
    profile = load_profile(name)
    judged = judge_fit(schema, profile)
    findings = [
        [it.pointer, it.keyword, it.rule, it.effect, it.sentence, it.source]
        for it in judged
        if it.rule != UNDOCUMENTED
    ]
    unknown = {it.keyword for it in judged if it.rule == UNDOCUMENTED}
    return [sorted(findings), sorted(unknown)]


def _texts(build: Path) -> list[str]:
    tables = [pl.read_parquet(path) for path in sorted(build.glob("[A-Z]*/*.parquet"))]
    return [text for table in tables for text in table["json_schema"]]


def _assert_same(texts: list[str]) -> None:
    own = json.loads(msgspec.json.encode(tables()))
    judged = answers("fit", _JUDGED, {"texts": texts, "tables": own})
    for text, by_target in zip(texts, judged, strict=True):
        for name, (found, untold) in zip(profile_names(), by_target, strict=True):
            assert [sorted(found), untold] == _ours(text, name), (name, text[:500])


@pytest.mark.slow
@needs_node
def test_every_check_says_in_the_browser_what_fit_says(sample_build: Path) -> None:
    """Hard schemas and the sample: each finding, word for word, under each profile."""
    _assert_same([*_HARD, *_texts(sample_build)])


@needs_node
def test_the_browser_finds_the_schema_of_a_request_where_we_do() -> None:
    """For every form of request that is known, and for none."""
    own = json.loads(msgspec.json.encode(tables()))
    found = answers(
        "fit",
        """({ texts, tables }) => texts.map((text) => {
          const found = csbdata.fit.inRequest(JSON.parse(text), tables);
          return found && csbdata.fit.pointer(found[0]);
        })""",
        {"texts": [json.dumps(request) for request, _ in REQUESTS], "tables": own},
    )
    assert found == [place for _, place in REQUESTS]


@pytest.mark.slow
@needs_node
def test_300_records_say_in_the_browser_what_fit_says() -> None:
    """Of 300 records drawn by seed each finding is the same under every profile."""
    build = os.environ.get("CSBDATA_BUILD")
    if not build:
        pytest.skip("CSBDATA_BUILD names no build to draw records from")
    _assert_same(random.Random(40).sample(_texts(Path(build)), 300))
