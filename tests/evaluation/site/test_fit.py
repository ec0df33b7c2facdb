"""The page of a reader's schema says what `csbdata fit` says, word for word."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
import yaml

from curation.fit.engine_evidence import Engines
from curation.fit.profile import load_profiles
from curation.fit.schema_fit import SchemaFit, build_requests, judge_schema
from curation.sources.readers import Role
from curation.sources.schema_files import SchemaFile, read_schema_files
from curation.system.errors import BadData
from evaluation.site import __file__ as site_file
from evaluation.site.build import build_site
from evaluation.site.schema import script
from tests.curation.sources.test_tools import REQUESTS
from tests.evaluation.site.browser import visited
from tests.invoking import invoke
from tests.programs import ended
from tests.slow_cases import first_fast
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.fit.verdict import FitFinding

NODE: Final = shutil.which("node")
_STATIC: Final = Path(site_file).parent / "static"
#: What `schema-page.js` makes of a text, as rows; and the rewrites that it offers.
_JUDGED: Final = """(text) => {
  try {
    const judged = csbdata.judge(text);
    const rows = judged.map(({ fault, targets }) => (fault ? "unusable"
      : targets.map(([profile, verdict, findings]) => [profile.name, verdict,
        findings.map((it) => [it.pointer, it.keyword, it.rule, it.effect,
          it.sentence, it.source]).sort()])));
    const offers = judged.flatMap(({ schema, targets }, number) => (schema ? targets
      : []).filter((it) => it[1] === "rejected").map(([profile]) =>
        [number, profile.name, csbdata.rewrite(schema, profile)]));
    return [rows, offers.filter((it) => it[2])
      .map(([number, name, it]) => [number, name, it.verdict, it.schema])];
  } catch (error) {
    return [String(error.stack), []];
  }
}"""
_PROGRAM: Final = """
const fs = require("fs"), vm = require("vm");
const input = JSON.parse(fs.readFileSync(0, "utf8"));
for (const text of input.scripts) vm.runInThisContext(text);
const judged = vm.runInThisContext(input.judged);
process.stdout.write(JSON.stringify(input.texts.map(judged)));
"""
#: What records of the dataset do not have: a case for each part of the rules.
_HARD: Final = table(__file__, "hard")
_BROKEN: Final = table(__file__, "broken")
_YAML: Final = table(__file__, "yaml")
_REQUESTS: Final = [json.dumps(request) for request, _ in REQUESTS]


def _in_node(texts: Sequence[str]) -> list[Any]:
    """Return what the page's scripts make of texts."""
    scripts = [(_STATIC / "python.js").read_text(), script()]
    given = {"scripts": scripts, "judged": _JUDGED, "texts": texts}
    done = ended(str(NODE), "-e", _PROGRAM, input=json.dumps(given))
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def _rows(findings: Sequence[FitFinding]) -> list[list[str]]:
    rows = [
        [it.pointer, it.keyword, it.rule, it.effect, it.sentence, it.source]
        for it in findings
    ]
    # JavaScript sorts arrays by their texts.
    return sorted(rows, key=",".join)


def _files(text: str, folder: Path) -> list[SchemaFile]:
    """Return the texts of a file of YAML, which JSON is, too."""
    file = folder / "pasted.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read_schema_files([str(file)])


def _by_command(text: str, folder: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return what the command makes of a text, without its search for rewrites."""
    profiles = load_profiles("all")
    try:
        files = _files(text, folder)
    except BadData:
        return ["unusable"]
    sent = [it for it in files if it.entry.role is not Role.RESULT]
    with Engines() as engines:
        fits = [judge_schema(it, profiles, engines) for it in sent]
    found = [_of_schema(fit) for fit in fits]
    return found + [
        [
            [name, str(it.verdict_together(name)), _rows(own)]
            for name, own in it.findings.items()
        ]
        for it in build_requests(fits, profiles)
    ]


def _of_schema(fit: SchemaFit) -> Any:  # noqa: ANN401 - any JSON
    if fit.fault:
        return "unusable"
    return [
        [name, str(fit.verdict(name)), _rows(own)] for name, own in fit.findings.items()
    ]


def _assert_same(
    judged: list[Any], texts: Sequence[str], folder: Path, most: int
) -> None:
    """Compare verdicts, and a number of the rewrites that the page offers."""
    offers = []
    for text, (page, offered) in zip(texts, judged, strict=True):
        assert page == _by_command(text, folder), text[:500]
        offers += [(text, *it) for it in offered]
    assert offers
    for text, number, target, verdict, schema in offers[:: len(offers) // most + 1]:
        sent, name = folder / "sent.json", _files(text, folder)[number].name
        sent.unlink(missing_ok=True)
        done = invoke("fit", name, "--for", target, "--write", sent)
        assert json.loads(sent.read_bytes()) == json.loads(schema), text[:500]
        assert f"{target}: {verdict} after" in done.output


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("count", first_fast(1, [4, None]))
def test_every_check_says_on_the_page_what_the_command_says(
    count: int | None, tmp_path: Path
) -> None:
    """Hard schemas, all forms of requests, YAML, broken texts: each finding."""
    tables = (_HARD, _REQUESTS, _BROKEN, _YAML)
    texts = [text for table_ in tables for text in table_[:count]]
    _assert_same(_in_node(texts), texts, tmp_path, count or 12)


def _drawn(build: Path, count: int) -> list[str]:
    tables = [pl.read_parquet(path) for path in sorted(build.glob("[A-Z]*/*.parquet"))]
    texts = [text for table in tables for text in table["json_schema"]]
    drawn = random.Random(40).sample(texts, min(count, len(texts)))
    drawn[::3] = [yaml.safe_dump(json.loads(text)) for text in drawn[::3]]
    return drawn


def _in_browser(texts: Sequence[str], folder: Path) -> list[Any]:
    """Return what the page's scripts make of texts in Chromium."""
    site = folder / "site"
    build_site(Path("results/2026.11"), None, site)
    read = f"({json.dumps(list(texts))}).map({_JUDGED})"
    (visit,) = visited([{"url": f"{site.as_uri()}/index.html", "read": read}])
    assert visit["said"] == []
    return list(visit["value"])


def _without_a_character(text: str, drawn: random.Random) -> str:
    at = drawn.randrange(len(text))
    return text[:at] + text[at + 1 :]


def _assert_chromium_agrees(build: Path, count: int, others: int, folder: Path) -> None:
    """Judge records, some as YAML, requests and broken texts in the page itself."""
    records, drawn = _drawn(build, count), random.Random(41)
    tools = [
        {"name": "t", "inputSchema": yaml.safe_load(text)} for text in records[:others]
    ]
    requests = [*_REQUESTS, *(json.dumps({"tools": [tool]}) for tool in tools)]
    broken = [*_BROKEN, *(_without_a_character(it, drawn) for it in records[:others])]
    texts = [*records, *requests[:others], *broken[:others]]
    assert len(texts) == count + 2 * others
    _assert_same(_in_browser(texts, folder), texts, folder, others)


@pytest.mark.slow
def test_60_texts_say_in_chromium_what_the_command_says(
    sample_build: Path, tmp_path: Path
) -> None:
    """Records, requests and broken texts, in the page itself."""
    _assert_chromium_agrees(sample_build, 36, 12, tmp_path)


@pytest.mark.nightly
def test_420_texts_say_in_chromium_what_the_command_says(tmp_path: Path) -> None:
    """300 records, 60 requests, and 60 broken: each with one character taken out."""
    build = os.environ.get("CSBDATA_BUILD")
    if not build:
        pytest.skip("CSBDATA_BUILD names no build to draw records from")
    _assert_chromium_agrees(Path(build), 300, 60, tmp_path)
