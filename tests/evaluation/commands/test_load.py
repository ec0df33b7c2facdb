"""`csbdata load`: a server under load, from the command to the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
import typer
from typer.testing import CliRunner

from curation.system.errors import BadData, BadUsage, NoInput, Unavailable
from curation.system.progress import Quiet
from evaluation.commands.load import load
from evaluation.load.run import open_load
from evaluation.servers.client import ServerClient
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal

if TYPE_CHECKING:
    from pathlib import Path

_APP = typer.Typer()
_APP.command()(load)


def _words(folder: Path, base: str, *more: str) -> list[str]:
    data = folder / "schemas"
    if not data.exists():
        data.mkdir()
        for name in ("bow", "keel", "mast"):
            schema = {"type": "object", "required": [name]}
            (data / f"{name}.json").write_text(json.dumps(schema))
    return [
        *(f"{base}#small", "--data", str(data)),
        *("--engine", "strict", "--engine", "none", "--set", "budget=9"),
        *("--run-dir", str(folder / "run"), "--format", "json", *more),
    ]


def _run(folder: Path, base: str, *more: str) -> Any:  # noqa: ANN401 (JSON)
    words = _words(folder, base, *more)
    told = CliRunner().invoke(_APP, words, catch_exceptions=False)
    return json.loads(told.stdout)


def _reply(body: dict[str, Any], _number: int) -> Said:
    """Satisfy a schema that is sent; say something else without one."""
    sent = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return answer(json.dumps(dict.fromkeys(sent.get("required", ()), 1)))


@pytest.mark.slow
def test_every_stream_is_sent_judged_and_shown(tmp_path: Path) -> None:
    """Two participants and three choices, but nothing to mark without a schema."""
    with loopback(_reply) as server:
        told = _run(
            tmp_path,
            server.base,
            *("--rate", "500", "--set", "warm_up=2", "--goodput", "ttft:20s tpot:20s"),
            *("--set", "schemas=one,marked,each"),
        )
        asked = len(server.asked)
    assert asked == 5 * (2 + 3)
    run = open_load(tmp_path / "run")
    assert run.header["load"]["rate"] == "500.0"  # type: ignore[index,call-overload]  # any JSON
    measured = [row for row in run.rows if not row.times.warm_up]
    valid = {row.engine for row in measured if row.compliant}
    assert valid == {"strict small"}
    assert all(row.compliant for row in measured if row.engine in valid)
    tables = {table["name"]: table for table in told["tables"]}
    assert set(tables) == {"under-load", "latencies", "streams-paired"}
    assert len(tables["under-load"]["rows"]) == 5
    assert tables["under-load"]["rows"][0]["in time"]["count"] == 3
    again = CliRunner().invoke(_APP, [str(tmp_path / "run"), "--format", "json"])
    assert json.loads(again.stdout)["tables"] == told["tables"]


@pytest.mark.slow
def test_the_same_command_asks_only_for_what_has_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that a kill has lost are asked for again, after a warm-up; no others.

    What is there is no progress.
    """
    bars: list[tuple[int, int]] = []

    class Counted(Quiet):
        def bar(self, title: str, total: int, found: int = 0, note: Any = str) -> Any:  # noqa: ANN401 (a context)
            del note
            bars.extend([(total, found)] * (title == "Sending"))
            return super().bar(title, total, found)

    monkeypatch.setattr("evaluation.commands.load.Quiet", Counted)
    with loopback(_reply) as server:
        more = ("--rate", "500", "--set", "warm_up=1", "--set", "schemas=each")
        _run(tmp_path, server.base, *more)
        lines = tmp_path / "run" / "rows.jsonl"
        rows = lines.read_bytes().splitlines(keepends=True)
        lost = [
            row
            for row in rows
            if b'"none small"' in row and json.loads(row)["times"]["number"] in {2, 3}
        ]
        assert len(lost) == 2
        kept = b"".join(row for row in rows if row not in lost)
        lines.write_bytes(kept + lost[0][:40])
        before = len(server.asked)
        _run(tmp_path, server.base, *more)
        assert len(server.asked) - before == 1 + 2
        again = len(server.asked)
        _run(tmp_path, server.base, *more)
        assert len(server.asked) == again
    assert bars == [(8, 0), (8, 5), (8, 8)]
    run = open_load(tmp_path / "run")
    assert len(run.rows) == 2 * (1 + 3) + 1
    under_load = run.tables()[0]
    place = under_load.columns.index("sittings")
    assert {row[place] for row in under_load.rows} == {1, 2}


@pytest.mark.slow
def test_limits_stop_it_and_lose_nothing_that_was_paid_for(tmp_path: Path) -> None:
    """One at a time, each answer of 8: a higher limit goes on, and costs are shown."""
    more = ["--rate", "inf", "--set", "schemas=each", "--set", "warm_up=0"]
    more += ["--set", "concurrency=1", "--set", "price=1000000/1000000"]
    with loopback(_reply) as server:
        for _ in range(2):
            _run(tmp_path, server.base, *more, "--max-cost", "15")
            assert len(server.asked) == len(open_load(tmp_path / "run").rows) == 2
        _run(tmp_path, server.base, *more, "--max-requests", "1")
        assert len(server.asked) == 3
        told = _run(tmp_path, server.base, *more, "--max-cost", "1000")
        assert len(server.asked) == 6
    assert [row["cost"] for row in told["tables"][0]["rows"]] == [24.0, 24.0]


@pytest.mark.slow
def test_a_limit_of_cost_holds_where_no_tokens_are_counted(tmp_path: Path) -> None:
    """The most that the first answer can cost is above it, now and when repeated."""
    more = ["--rate", "inf", "--set", "warm_up=0", "--set", "concurrency=1"]
    more += ["--set", "price=1000000/1000000", "--max-cost", "15"]

    with loopback(lambda _body, _number: answer("7", usage={})) as server:
        for _ in range(2):
            _run(tmp_path, server.base, *more)
            assert len(server.asked) == len(open_load(tmp_path / "run").rows) == 1


@pytest.mark.slow
@pytest.mark.parametrize("spared", [True, False])
def test_a_refused_parameter_is_no_failure(tmp_path: Path, spared: bool) -> None:  # noqa: FBT001 (a case)
    """It is dropped, and its request sent again; what refuses all has no rates (69)."""
    refused = refusal(400, {"error": {"param": "temperature", "message": "no"}})

    def reply(body: dict[str, Any], number: int) -> Said:
        if "temperature" in body or not spared:
            return refused
        return _reply(body, number)

    more = ("--rate", "inf", "--set", "schemas=each", "--set", "warm_up=1")
    with loopback(reply) as server:
        if not spared:
            with pytest.raises(Unavailable, match="no request was answered"):
                _run(tmp_path, server.base, *more)
            return
        _run(tmp_path, server.base, *more)
    run = open_load(tmp_path / "run")
    assert all(row.answered for row in run.rows)
    changes = run.header["parameters"]
    assert isinstance(changes, dict)
    assert [*changes.values()] == [{"temperature": ""}] * 2


@pytest.mark.slow
def test_a_server_that_is_gone_is_no_result(tmp_path: Path) -> None:
    """What failed because nobody was there is asked for again by the same command."""
    with loopback(_reply) as server:
        base = server.base
        words = _words(tmp_path, base, "--rate", "500", "--set", "schemas=one")
        server.over.set()
    # The address is that of a server which has ended.
    with pytest.raises(Unavailable, match="no server answers"):
        CliRunner().invoke(_APP, words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--goodput", "ttft:1s"), "needs a rate"),
        (("--rate", "0"), "above 0"),
        (("--rate", "nan"), "above 0"),
        (("--rate", "1e-320"), "above 0"),
        (("--rate", "2", "--set", "budget=-3"), "`$.budget`"),
        (("--rate", "2", "--set", "limit=0"), "`$.limit`"),
        (("--rate", "2", "--set", "seconds=1e11"), "`$.seconds`"),
        (("--rate", "2", "--set", "burstiness=inf"), "`$.burstiness`"),
        (("--rate", "2", "--set", "seed=1" + 20 * "0"), "64-bit"),
        (("--rate", "2", "--set", "schemas=some"), "one of one, marked, each"),
        (("--rate", "2", "--goodput", "ttft:soon"), "no limit"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_asked(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """One line, and no request to anybody."""
    whole = _words(tmp_path, "http://127.0.0.1:9/v1", *words)
    with pytest.raises(BadUsage) as refused:
        CliRunner().invoke(_APP, whole, catch_exceptions=False)
    assert said in str(refused.value)


def test_marked_schemas_need_a_way_that_sends_them(tmp_path: Path) -> None:
    """A run without a stream is no run."""
    with loopback(_reply) as server:
        words = _words(tmp_path, server.base, "--rate", "9", "--set", "schemas=marked")
        words.remove("strict")
        words.remove("--engine")
        with pytest.raises(BadUsage, match="to be marked: add --engine strict"):
            CliRunner().invoke(_APP, words, catch_exceptions=False)
    assert not server.asked
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_load_run_is_refused(tmp_path: Path) -> None:
    """What is there, or that nothing is there."""
    with pytest.raises(NoInput, match="no run of csbdata load"):
        open_load(tmp_path / "none")
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(BadData, match="csbdata eval"):
        open_load(tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        *("1", "[]", "null", '"load"', '{"load": 1}', '{"load": {}}', '{"load": null}'),
        *('{"load": {"goodput": 7}}', '{"load": {"goodput": ["x"]}}'),
    ],
)
def test_a_damaged_header_is_said_where_it_is_opened(
    header: str, tmp_path: Path
) -> None:
    """It is bad data of the folder, and no defect of the program."""
    (tmp_path / "run.json").write_text(header)
    with pytest.raises(BadData) as refused:
        open_load(tmp_path).tables()
    assert str(tmp_path) in str(refused.value)


@pytest.mark.slow
def test_failures_before_a_limit_are_rows(tmp_path: Path) -> None:
    """They were paid for; where all failed the command says so (69), and asks again."""
    broken = True

    def reply(body: dict[str, Any], number: int) -> Said:
        return refusal(500, {}) if broken else _reply(body, number)

    more = ["--rate", "inf", "--set", "schemas=each", "--set", "warm_up=1"]
    with loopback(reply) as server:
        with pytest.raises(Unavailable, match="no request was answered"):
            _run(tmp_path, server.base, *more, "--max-requests", "3")
        assert len(open_load(tmp_path / "run").rows) == len(server.asked) == 3
        broken = False
        _run(tmp_path, server.base, *more)
    measured = [row for row in open_load(tmp_path / "run").rows if row.answered]
    assert len(measured) == 2 * (1 + 3)


@pytest.mark.slow
def test_failures_of_a_server_that_is_gone_at_a_limit_are_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command asks again for them, as without a limit."""

    class Gone(ServerClient):
        def description(self, *_: object) -> NoReturn:
            raise Unavailable("nobody is there")

    monkeypatch.setattr("evaluation.load.run.ServerClient", Gone)
    more = ["--rate", "inf", "--set", "warm_up=0", "--max-requests", "2"]
    with loopback(lambda _body, _number: refusal(500, {})) as server:
        with pytest.raises(Unavailable, match="does not answer any more"):
            _run(tmp_path, server.base, *more)
        assert len(server.asked) == 2
    assert not open_load(tmp_path / "run").rows
