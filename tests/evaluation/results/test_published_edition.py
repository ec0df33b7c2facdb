"""The published results and the findings are what their rows and programs say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema_rs
import orjson
import polars as pl
import pytest

from bench.edition.figures import differences
from curation.download.cache import FetchSettings
from curation.fit.profile import load_profile, provider_names
from curation.packaging.rewritten_fits import FITS
from evaluation.analysis.publish_edition import fits_files, headline_files
from evaluation.analysis.recorded_cases import ask_in_new_process
from evaluation.core.cases import Bounds, Case, InstanceWalk
from evaluation.results.edition import ROWS, SAMPLE, TABLE, read_index, read_rows
from evaluation.results.edition_picture import PICTURE, draw_picture
from evaluation.results.fits import FITS_TABLE, read_fits
from evaluation.results.headline import headline
from evaluation.setup.engine_files import find_engine, install_line
from evaluation.setup.environments import find_interpreter
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import DEFAULT, get_tokenizer
from tests.programs import ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson

_ROOT = Path(__file__).parents[3]
_EDITIONS = sorted(path.parent for path in _ROOT.glob("results/*/index.json"))


def _with_table(page: Path, name: str, table: Path) -> str:
    """Return a page with a table in its block of that name."""
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    text, rows = page.read_text("utf-8"), table.read_text("utf-8")
    assert len(block.findall(text)) == 1
    return block.sub(lambda match: f"{match[1]}{rows}{match[2]}", text)


def test_the_table_of_engines_is_that_of_the_newest_edition(
    compare_golden: Callable[[Path, str], None],
) -> None:
    """No figure of an engine is typed: the block is the edition's own table."""
    page = _ROOT / "docs/engines.md"
    compare_golden(page, _with_table(page, "results", _EDITIONS[-1] / TABLE))


def test_the_picture_of_readme_is_drawn_from_the_newest_edition(
    compare_golden: Callable[[Path, str], None],
) -> None:
    """Its bars are the table's figures, in at most 10 kB of SVG without a script."""
    path, index = _EDITIONS[-1] / PICTURE, read_index(_EDITIONS[-1])
    lines = headline(read_rows(_EDITIONS[-1]).filter(task="masks"))
    compare_golden(path, draw_picture(index, lines))
    assert f"({path.relative_to(_ROOT)})" in (_ROOT / "README.md").read_text("utf-8")
    bars = re.findall(r'<rect [^>]*width="([\d.]+)"', path.read_text("utf-8"))
    own = lines.filter(config="all")
    shares = (own["passed"] / own["tested"]).to_list()
    assert bars == [f"{300 * share:.1f}" for share in sorted(shares, reverse=True)]
    assert path.stat().st_size < 10_000


@pytest.mark.parametrize("folder", _EDITIONS, ids=lambda folder: folder.name)
def test_every_figure_is_computed_again_from_the_rows(folder: Path) -> None:
    """A script without our packages finds the same figures, to the last digit."""
    assert differences(folder) == []
    files = headline_files(read_index(folder), read_rows(folder))
    if fits := read_fits(folder):
        files |= fits_files(fits, folder.name)
    assert {name: (folder / name).read_bytes() for name in files} == files


@pytest.mark.slow
def test_the_tables_of_targets_are_made_of_the_newest_edition(
    compare_golden: Callable[[Path, str], None],
) -> None:
    """The edition's own files and the block of docs/fit.md say what its rows say."""
    folder, page = _EDITIONS[-1], _ROOT / "docs/fit.md"
    for name, content in fits_files(read_fits(folder), folder.name).items():
        compare_golden(folder / name, content.decode())
    compare_golden(page, _with_table(page, "fits", folder / FITS_TABLE))


@pytest.mark.slow
def test_every_record_of_the_sample_is_fitted_to_every_target() -> None:
    """In its order, before all others, by its profile as it is; rows are valid."""
    folder = _EDITIONS[-1]
    rows = pl.read_parquet(folder / FITS).to_dicts()
    schema = orjson.loads((folder / "schema/fits.schema.json").read_bytes())
    validator = jsonschema_rs.validator_for(schema)
    assert all(map(validator.is_valid, rows))
    asked = [
        (f"{row['config']}/{row['id']}", row["target"], row["profile"]) for row in rows
    ]
    names = (folder / SAMPLE).read_text("utf-8").split()
    targets = [(name, load_profile(name).digest) for name in provider_names()]
    others = dict.fromkeys(name for name, *_ in asked[len(names) * len(targets) :])
    assert asked == [(name, *it) for name in [*names, *others] for it in targets]


@pytest.mark.parametrize("folder", _EDITIONS, ids=lambda folder: folder.name)
def test_an_edition_is_small_and_as_its_schemas_say(folder: Path) -> None:
    """At most 5 MB; the index is valid by the schema beside it."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    assert sum(sizes) <= 5_000_000
    schema = orjson.loads((folder / "schema/index.schema.json").read_bytes())
    jsonschema_rs.validate(schema, orjson.loads((folder / "index.json").read_bytes()))


def test_a_line_opens_the_rows_in_polars_and_datasets(tmp_path: Path) -> None:
    """The lines of the card give every row; duckdb is no dependency."""
    folder = _EDITIONS[-1]
    card = (folder / "README.md").read_text("utf-8")
    lines = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert lines
    count = pl.read_parquet(folder / ROWS).height
    for line in lines[1].replace(f'"{ROWS}"', f'"{folder / ROWS}"').splitlines():
        module, call = line.partition(".")[0], line
        if module == "duckdb":
            continue
        values: dict[str, object] = {}
        if module == "datasets":
            call = call.replace('",', f'", cache_dir="{tmp_path}",')
        exec(f"import {module}\nrows = {call}", values)  # noqa: S102 (the card's own line)
        rows = values["rows"]
        rows = rows["train"] if isinstance(rows, dict) else rows
        assert len(rows) == count  # type: ignore[arg-type] # a frame or a dataset


@pytest.mark.parametrize("folder", _EDITIONS, ids=lambda folder: folder.name)
def test_a_card_has_the_papers_table_of_the_official_suite(folder: Path) -> None:
    """Two columns of Table 5 are counted again from the published rows.

    Rows do not tell whether a case that does not compile has a valid text.
    """
    card = (folder / "README.md").read_text("utf-8")
    rows = pl.read_parquet(folder / ROWS).filter(pl.col("task") == "test-suite")
    compiled = pl.col("compiled")
    kinds = (
        compiled & (pl.col("valid_accepted") < pl.col("valid")),
        compiled & (pl.col("invalid_blocked") < pl.col("invalid")),
    )
    category = pl.col("id").str.split("/").list.first()
    for engine, own in rows.group_by("engine"):
        counts = [own.filter(kind).select(category.n_unique()).item() for kind in kinds]
        name = re.escape(str(engine[0]).replace("_", r"\_"))
        figures = rf"\| {name} \| \d+ \| {counts[0]} \| {counts[1]} \|"
        assert re.search(figures, card)


_PAGE = _ROOT / "docs" / "findings.md"
_REPRODUCERS = sorted((_ROOT / "docs" / "findings").glob("*.json"))
_PROGRAMS = sorted((_ROOT / "docs" / "findings").glob("*.py"))
#: Runs a program with stand-ins for what XGrammar imports and does not use.
_WITH_STAND_INS = """
import runpy, sys
sys.argv = sys.argv[1:]
if "xgrammar" in sys.argv[1]:
    runpy.run_path(sys.argv[0])["import_xgrammar"]()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _engine(program: Path) -> tuple[str, str]:
    """Return the engine and the version that a program is about."""
    found = re.match(r'"""(\w+) ([\d.]+): ', program.read_text("utf-8"))
    assert found
    return found[1], found[2]


def test_every_program_is_listed_with_its_version() -> None:
    """The page has a row for each, and each row has its program."""
    row = r"^\| (\w+ [\d.]+) \|.*\(findings/(\w+\.py)\) \|$"
    found = re.findall(row, _PAGE.read_text("utf-8"), re.MULTILINE)
    rows = {program: version for version, program in found}
    assert rows == {program.name: " ".join(_engine(program)) for program in _PROGRAMS}


@pytest.mark.nightly
@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.stem)
def test_the_fault_shows(program: Path) -> None:
    """The program ends with 0 in the version that it names."""
    name, version = _engine(program)
    file = find_engine(f"{name.lower()}=={version}")
    found = find_interpreter(FetchSettings.from_environment().cache, file)
    if isinstance(found, str):
        pytest.skip(f"not run: {found}; {install_line(file)}")
    said = ended(found, "-c", _WITH_STAND_INS, file.path, program, timeout=300)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "reproducer",
    [each for path in _REPRODUCERS for each in json.loads(path.read_text("utf-8"))],
    ids=lambda each: f"{each['spec']}: {each['classes'][0]}",
)
def test_a_reproducer_shows_its_class(reproducer: UntypedJson) -> None:
    """In a new process, blocked at the same byte or accepted to its end."""
    fetch = FetchSettings.from_environment()
    spec, keyword = reproducer["spec"], reproducer["keyword"]
    (engine,) = select_engines(fetch.cache, [spec], reproducer["preset"], [])
    if engine.unavailable:
        pytest.skip(f"not run: {engine.unavailable}")
    text, valid = reproducer["text"], reproducer["valid"]
    label = {} if valid else {"keyword": keyword}
    walks = (InstanceWalk(text=text, valid=valid, label=label),)
    schema = reproducer["schema"]
    case = Case(task="masks", id="a", config="a", schema=schema, walks=walks)
    ask = ask_in_new_process(engine, get_tokenizer(DEFAULT, fetch), Bounds())
    (walked,) = ask(case).walks
    assert walked.why
    assert (walked.why.stands, walked.why.keyword) == (reproducer["stands"], keyword)
    assert walked.byte == reproducer["byte"]
