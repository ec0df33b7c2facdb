"""Names out of a stranger's run, edition or build: never a path, never markup."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from curation import cli
from curation.dataset.content_digest import content_digest
from curation.system.errors import CsbdataError
from tests.evaluation.made_runs import line as row_line
from tests.evaluation.made_runs import row
from tests.evaluation.site.made_editions import line, write_edition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MARKUP = "<img src=x onerror=alert(1)>"
#: Out of the folder by one to four steps, through the root, no name, too long a name.
_NAMES = [
    *("../out1", "../../out2", "../../../out3", "../../../../out4", "a/../../out5"),
    *("..", ".", "/", "a\0b", "\n", "\u202e\x1b[2J", "x" * 300, _MARKUP),
    "<script>alert(1)</script>",
]


#: A build, a run and an edition are made first.
pytestmark = pytest.mark.slow


class Case(NamedTuple):
    """A command line, and the documented code that it ends with."""

    words: str
    code: int = 0


_RUN = [
    Case("results show RUN"),
    Case("results show RUN --failures"),
    Case("results compare RUN"),
    *(
        Case(f"results export RUN --format {form} --out OUT")
        for form in ("parquet", "maskbench", "profiles")
    ),
    Case("results export RUN --format plots --out OUT"),
    Case("results publish RUN --out OUT"),
]
_EDITION = [
    Case("site EDITION --out OUT"),
    Case("site EDITION --data BUILD --out OUT"),
    Case("results verify EDITION --data BUILD", 2),
]
_BUILD = [
    Case("stats BUILD"),
    Case("card OUT"),
    Case("verify BUILD", 1),
    Case("push BUILD --repo owner/name --dry-run --allow-partial", 65),
    Case("export maskbench OUT --data BUILD --config Snowplow"),
    Case("instances --report BUILD"),
    Case("diff BUILD BUILD"),
    Case(
        "eval --engine none --task masks --data BUILD --config Snowplow "
        "--limit 9 --tokenizer bytes --run-dir OUT"
    ),
]


@pytest.fixture(scope="module")
def hostile(
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return a folder, deep in one of its own, of a run, an edition and a build."""
    base = tmp_path_factory.mktemp("base")
    given = base / "1" / "2" / "3" / "given"
    given.mkdir(parents=True)
    names = [*_NAMES, str(base / "absolute")]
    _write_run(given, names)
    build = "build --sample --only snowplow --instances --out"
    words = [*build.split(), str(given / "BUILD")]
    assert CliRunner().invoke(cli.application(), words).exit_code == 0
    for file in given.glob("BUILD/**/Snowplow/test-*"):
        table = pq.read_table(file, partitioning=None)
        ids = table["unique_id"].to_pylist()
        new = dict(zip(dict.fromkeys(ids), names, strict=False))
        place = table.column_names.index("unique_id")
        renamed = pa.array([new.get(each, each) for each in ids])
        pq.write_table(table.set_column(place, "unique_id", renamed), file)
    lines = [line(name, "o0") for name in names]
    lines += [line("alpha 1.0", name, config=name) for name in names]
    lines.append(line(_MARKUP, "minItems / root", task="probe", config="2020-12"))
    write_edition(given / "EDITION", lines, content_digest(given / "BUILD"))
    return given


def _write_run(given: Path, names: list[str]) -> None:
    """Write a run whose engine, configs and ids have these names."""
    (given / "schema.json").write_text('{"type": "integer", "minimum": 1}')
    words = ["eval", "--engine", "none", "--task", "masks", "--tokenizer", "bytes"]
    words += ["--data", str(given / "schema.json"), "--run-dir", str(given / "RUN")]
    assert CliRunner().invoke(cli.application(), words).exit_code == 0
    (file,) = (given / "RUN").glob("rows-*.jsonl")
    own = json.loads(file.read_text())
    suite = {"task": "test-suite", "label": {}}
    probe = {"keyword": "minItems", "probe": "minItems", "context": "root"}
    with file.open("w") as lines:
        for name in names:
            for made in (
                {**own, "engine": name},
                {**own, "engine": name, "config": name, **suite},
                {**own, "engine": name, "task": "probe", "label": probe},
            ):
                lines.write(json.dumps(made) + "\n")
            right = row(engine=names[0], config=name, id=name)
            lines.write(row_line(right).decode())
    head = json.loads((given / "RUN" / "run.json").read_text())
    (engine,) = head["engines"]
    head["engines"] = [{**engine, "engine": name, "name": name} for name in names]
    head["tasks"] += ["test-suite", "probe"]
    (given / "RUN" / "run.json").write_text(json.dumps(head))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.stat().st_size, path.stat().st_mtime_ns


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
@pytest.mark.parametrize(
    "case", [*_RUN, *_EDITION, *_BUILD], ids=lambda case: case.words
)
def test_a_foreign_name_is_no_path_and_no_markup(
    case: Case, hostile: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Files appear in the output folder alone, each of its own; pages hold no tags."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(hostile)
    base, out = hostile.parents[3], hostile.parent / "OUT"
    before = [*_files(base)]
    if case.words == "card OUT":
        shutil.copytree("BUILD", out)
    words = [word.replace("OUT", str(out)) for word in case.words.split()]
    ended = CliRunner().invoke(cli.application(), words)
    fault = ended.exception if isinstance(ended.exception, CsbdataError) else None
    code = fault.exit_code if fault else ended.exit_code
    written = [file for file in out.rglob("*") if file.is_file()]
    pages = [file for file in written if file.suffix in {".html", ".svg"}]
    raw = [file for file in pages if "<img src" in file.read_text("utf-8")]
    for folder in (out, hostile.parent / "OUT.run"):
        shutil.rmtree(folder, ignore_errors=True)
    assert [*_files(base)] == before
    assert code == case.code, (ended.exception, ended.output)
    assert not raw
    assert "<script>alert(1)</script>" not in "".join(map(str, pages))
