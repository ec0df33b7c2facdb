"""Dialects are files, another package adds one, and each says what constrains texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import evaluation
from curation.system.errors import BadConfiguration, Unavailable
from evaluation.asking.request import ModelOptions
from evaluation.results.reader import open_run
from evaluation.servers.dialect import server_dialect, server_dialects
from tests.evaluation.measuring import request_of, sample
from tests.evaluation.servers.loopback import Said, answer, loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evaluation.asking.request import RunRequest

_THEIRS = """
import json
from evaluation.servers.dialect import ServerDialect

DIALECT = ServerDialect(
    name={name!r},
    summary="a server of their own",
    body=lambda schema: {{"their_schema": json.loads(schema)}},
    backend=lambda answers: "theirs 1.0",
)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Look for dialects anew, and leave nothing behind for other tests."""
    server_dialects.cache_clear()
    yield
    server_dialects.cache_clear()


def _install(folder: Path, module: str, name: str) -> None:
    """Lay out a distribution with a dialect, as an installer would."""
    (folder / f"{module}.py").write_text(_THEIRS.format(name=name), "utf-8")
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8"
    )
    (about / "entry_points.txt").write_text(
        f"[csbdata.servers]\n{module} = {module}\n", "utf-8"
    )


def _request(folder: Path, base: str, *dialects: str, **fields: Any) -> RunRequest:  # noqa: ANN401 (fields of the request)
    return request_of(
        folder,
        [sample("one"), sample("two")],
        tasks=("coverage",),
        engines=dialects,
        models=[ModelOptions(model=f"{base}#small", budget=9, patience=0.0)],
        run_dir=folder / "run",
        **fields,
    )


def test_every_file_with_a_dialect_is_one() -> None:
    """In alphabetical order, each under the name that it gives itself."""
    assert list(server_dialects()) == [
        *("gemini", "json_schema", "llama_server", "none", "openai", "sglang", "vllm")
    ]


@pytest.mark.parametrize("name", ["json_schema", "vllm", "sglang", "openai"])
def test_a_dialect_sends_the_schema_whole(name: str) -> None:
    """Somewhere in the request stands the schema, as it is or as it was adapted."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body = server_dialect(name).body(json.dumps(schema))
    assert json.dumps(schema) in json.dumps(body)


def test_a_package_adds_a_dialect_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point is enough: the server is asked so, and the header says by whom."""
    _install(tmp_path, "their_server", "theirs")
    monkeypatch.syspath_prepend(str(tmp_path))
    with loopback(lambda _body, _number: answer("{}")) as server:
        run = evaluation.run(_request(tmp_path, server.base, "theirs")).open()
    assert [body["their_schema"] for body in server.asked] == [
        {"title": "one"},
        {"title": "two"},
    ]
    (participant,) = run.header.engines
    assert participant.engine == "theirs small"
    assert participant.options == {"backend": "theirs 1.0"}


def test_a_second_dialect_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _install(tmp_path, "their_vllm", "vllm")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfiguration, match="a second server dialect named 'vllm'"):
        server_dialect("vllm")


def test_a_misspelt_dialect_is_told_its_neighbour() -> None:
    """The message names what may have been meant."""
    with pytest.raises(BadConfiguration) as caught:
        server_dialect("vlm")
    assert "vllm" in str(caught.value.then)


@pytest.mark.parametrize(
    ("name", "answers", "backend"),
    [
        ("sglang", {"/server_info": {"grammar_backend": "xgrammar"}}, "xgrammar"),
        ("sglang", {"/get_server_info": {"grammar_backend": "outlines"}}, "outlines"),
        ("sglang", {"/server_info": {"grammar_backend": None}}, ""),
        (
            "vllm",
            {
                "/server_info": {
                    "vllm_config": "model='m', structured_outputs_config="
                    "StructuredOutputsConfig(backend='guidance', disable_fallback=1)"
                }
            },
            "guidance",
        ),
        (
            "vllm",
            {
                "/server_info": {
                    "vllm_config": {"structured_outputs_config": {"backend": "auto"}}
                }
            },
            "auto",
        ),
        ("vllm", {"/version": {"version": "0.14"}}, ""),
        ("llama_server", {"/props": {"build_info": "b9"}}, "llama.cpp grammars (b9)"),
        ("json_schema", {"/version": {"version": "1"}}, ""),
    ],
)
def test_a_server_is_asked_what_constrains_its_texts(
    name: str, answers: dict[str, Any], backend: str
) -> None:
    """Where it tells it is read; where not, nothing is guessed."""
    assert server_dialect(name).backend(answers) == backend


@pytest.mark.slow
def test_what_a_server_does_not_tell_is_said(tmp_path: Path) -> None:
    """The header says that nobody knows, or what the user says."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        request = _request(tmp_path, server.base, "json_schema", "none")
        run = evaluation.run(request).open()
        pinned = _request(
            tmp_path / "pinned", server.base, "vllm", options=["backend=guidance"]
        )
        other = evaluation.run(pinned).open()
    assert [one.options for one in run.header.engines] == [
        {"backend": "not told by the server"},
        {},
    ]
    assert other.header.engines[0].options == {
        "backend": "guidance (the server does not tell)"
    }


def test_another_backend_than_is_asked_for_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is measured under the name of a library that did not do the work."""
    _install(tmp_path, "their_other_server", "theirs")
    monkeypatch.syspath_prepend(str(tmp_path))
    with loopback(lambda _body, _number: answer("{}")) as server:
        request = _request(
            tmp_path, server.base, "theirs", options=["backend=xgrammar"]
        )
        with pytest.raises(BadConfiguration, match=r"theirs 1\.0, not by xgrammar"):
            evaluation.run(request)
        odd = _request(tmp_path, server.base, "theirs", options=["strict=true"])
        with pytest.raises(BadConfiguration, match="no server of this run has"):
            evaluation.run(odd)
    assert server.asked == []


@pytest.mark.slow
def test_what_had_no_answer_is_asked_for_again(tmp_path: Path) -> None:
    """The same request, run once more, asks for what a server in trouble left open."""
    well = False

    def reply(_body: object, _number: int) -> Said:
        return answer("{}") if well else Said(status=500, pieces=[b"oh no"])

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, "json_schema")
        with pytest.raises(Unavailable, match="HTTP 500: oh no"):
            evaluation.run(request)
        assert open_run(tmp_path / "run").header.finished is None
        well = True
        second = evaluation.run(request)
        assert (second.totals.ran, second.totals.unanswered) == (2, 0)
        third = evaluation.run(request)
    assert (third.totals.reused, third.totals.ran) == (2, 0)
    assert [row.label["outcome"] for row in third.open().rows()] == ["compliant"] * 2
    assert third.open().header.finished is not None
