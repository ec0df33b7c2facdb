"""A provider tells what it takes, refuses what it does not; it is never a 0 %."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadConfiguration, BadUsage, CsbdataError, Unavailable
from evaluation.core.records import Adapt
from evaluation.results.reader import open_run
from evaluation.runner.request import ModelOptions
from evaluation.servers import parameters
from evaluation.servers.client import RequestLimits
from evaluation.servers.model_server import served_model, server_participants
from evaluation.servers.provider import ParameterRule, providers
from tests.evaluation.measuring import sample, texts_request
from tests.evaluation.servers.contracts import CONTRACTS
from tests.evaluation.servers.loopback import (
    Said,
    answer,
    connection,
    loopback,
    refusal,
    text_request,
)
from tests.evaluation.tokenizers import made
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from evaluation.runner.request import RunRequest


def _request(
    folder: Path,
    base: str,
    *engines: str,
    count: int = 4,
    **fields: Any,  # noqa: ANN401 (fields of the request)
) -> RunRequest:
    records = [sample(f"ferry{number}") for number in range(count)]
    model = ModelOptions(model=f"{base}#small", budget=9, patience=0.0)
    return texts_request(folder, records, model, *(engines or ("strict",)), **fields)


def test_a_parameter_may_be_learnt_while_a_request_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By another text under way: this one is refused once more, and no run ends."""
    known = parameters.Parameters(dict.fromkeys("ab", ParameterRule(source="made")))
    known.changes["a"] = ""
    place = parameters._place

    def learns(body: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
        known.changes["b"] = ""
        return place(body, name)

    monkeypatch.setattr(parameters, "_place", learns)
    assert known.apply({"a": 1, "b": 2}) == {"b": 2}
    assert known.apply({"a": 1, "b": 2}) == {}


#: What OpenAI's reasoning models say of parameters, as openai 3.57.0 documents it.
_UNSUPPORTED = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported.",
    "temperature": "Unsupported value: 'temperature' does not support 0.",
}


def _gpt_5(body: dict[str, Any], _number: int) -> Said:
    for name, words in _UNSUPPORTED.items():
        if name in body:
            return refusal(400, {"error": {"message": words, "param": name}})
    return answer("{}")


def test_no_answer_is_lost_to_a_parameter(tmp_path: Path, said: list[str]) -> None:
    """It is refused once a model, said with the server's words, and recorded."""
    changes = {"max_tokens": "max_completion_tokens", "temperature": ""}
    with loopback(_gpt_5) as there:
        request = _request(tmp_path, there.base, "strict", "none")
        result = csbdata.run(request)
    assert {row.label["outcome"] for row in result.open().rows()} == {"compliant"}
    assert len(there.asked) == 2 * 4 + len(changes)
    labels = ("strict small", "none small")
    assert open_run(tmp_path / "run").raw_header["parameters"] == dict.fromkeys(
        labels, changes
    )
    told = [line for line in said if "the server says" in line]
    assert len(told) == len(changes)
    assert told[0].startswith(
        "strict small: max_tokens is sent as max_completion_tokens: the "
        "server says HTTP 400: max_tokens: Unsupported parameter: 'max_tokens'"
    )


def _no(words: str) -> Said:
    return refusal(400, {"error": {"message": words, "param": "stream"}})


def test_a_server_that_refuses_all_alike_is_asked_a_few_times(tmp_path: Path) -> None:
    """It is given up with its own sentence, and asked again by the same command."""
    well = answer("{}")
    with loopback([*[_no("Organisation must be verified.")] * 3, well]) as server:
        request = _request(tmp_path, server.base, count=9)
        with pytest.raises(Unavailable, match=r"must be verified.*: the "):
            csbdata.run(request)
        assert len(server.asked) == 3
        assert list((tmp_path / "run").glob("attempts.jsonl")) == []
        assert open_run(tmp_path / "run").header.finished is None
        result = csbdata.run(request)
        assert csbdata.run(request).totals.reused == 9
    assert len(list(result.open().rows())) == 9
    assert result.open().header.finished is not None


def test_a_run_without_any_answer_has_no_rate(tmp_path: Path) -> None:
    """Fewer requests than a few, or other refusals for each, end with 69 as well."""
    with loopback([_no(f"no {number}") for number in range(4)]) as server:
        request = _request(tmp_path, server.base)
        with pytest.raises(Unavailable, match=r"no request was answered.*no 3"):
            csbdata.run(request)
    assert list((tmp_path / "run").glob("attempts.jsonl")) == []
    lines = (tmp_path / "run/responses.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == [None] * 4


_THEIRS = """
date = "2026-11-29"
parent = "chat"
backend = { pattern = '"their_engine": "([^"]+)"', name = "{} 1.0" }
described_at = ["/theirs"]
[ways]
strict = { their_schema = "{schema}" }
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Look for providers anew, and leave nothing behind for other tests."""
    providers.cache_clear()
    yield
    providers.cache_clear()


def _add(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a provider to a file of a folder, as if it were one of ours."""
    (folder / f"{name}.toml").write_text(_THEIRS, "utf-8")
    package = import_module("evaluation.servers.providers")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


@pytest.mark.parametrize("name", ["vllm", "sglang", "llama_server", "openai", ""])
def test_a_way_to_ask_sends_the_schema_whole(name: str) -> None:
    """Somewhere in the request stands the schema; without one nothing is asked."""
    schema = '{"type": "object", "properties": {}, "additionalProperties": false}'
    ways = {"tool", "strict"} & set(providers()[name].ways)
    free, *servers = server_participants(connection(name), ["none", *ways])
    request = text_request()
    for server in servers:
        assert schema in json.dumps(server.request(request, schema))
    assert schema not in json.dumps(free.request(request, schema))


def test_a_file_adds_a_provider_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is edited: the server is asked so, and the header says by whom."""
    _add(tmp_path, "theirs", monkeypatch)
    with loopback() as server:
        request = _request(tmp_path, f"theirs:{server.base}", "strict", count=2)
        run = csbdata.run(request).open()
    assert [body["their_schema"] for body in server.asked] == [
        {"title": "ferry0"},
        {"title": "ferry1"},
    ]
    (participant,) = run.header.engines
    assert participant.engine == "theirs strict small"
    assert participant.options == {"backend": "not told by the server"}


def test_a_second_provider_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "vllm", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second provider named 'vllm'"):
        providers()


def test_a_way_that_a_provider_lacks_is_told_its_others() -> None:
    """Anthropic has no JSON mode; nothing is sent to find that out."""
    with pytest.raises(BadUsage, match="no way 'json' to ask anthropic") as it:
        served_model("anthropic:http://127.0.0.1:9/v1#m", ["json"], RequestLimits())
    assert it.value.hint == "use --engine none, tool, strict"


@pytest.mark.parametrize("model", ["http://", "openai:http:///v1#m", "azure:gpt"])
def test_an_address_without_a_server_is_one_line(model: str) -> None:
    """With what to say instead."""
    with pytest.raises(BadUsage) as caught:
        served_model(model, ["none"], RequestLimits())
    assert "URL#MODEL" in caught.value.hint or "HOST" in caught.value.hint


def _says(status: int, body: bytes, models: bytes = b"") -> Callable[[str], Said]:
    """Return what is answered to any path; where models are told, but to theirs."""
    headers = {"Location": "http://127.0.0.1:9/"}
    odd = Said(status=status, pieces=[body], headers=headers)
    told = Said(pieces=[models])
    return lambda path: told if models and path.endswith("/models") else odd


_MODELS = b'{"data": [{"id": "small"}]}'


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (200, b"<html>Sign in</html>", 69, "'<html>Sign in</html>': look at the add"),
        (200, b"[" * 50_000, 69, "no answer of such a server"),
        (200, b"\xff", 69, "no whole answer"),
        (307, b"", 78, "HTTP 307: look at the address"),
        (404, b"Cannot GET /v1/models", 78, "HTTP 404: Cannot GET /v1/models: look"),
        (500, b"broken", 69, "HTTP 500: broken"),
        (401, b"", 77, "set OPENAI_API_KEY"),
    ],
)
def test_a_server_that_does_not_tell_its_models_is_told_how_it_answered(
    status: int, body: bytes, code: int, words: str
) -> None:
    """It does answer: only one that does not is to be started."""
    with (
        loopback(about=_says(status, body)) as server,
        pytest.raises(CsbdataError) as caught,
    ):
        served_model(f"{server.base}#m", ["none"], RequestLimits())
    assert caught.value.exit_code == code
    assert words in str(caught.value)
    with pytest.raises(Unavailable, match=r"no server answers .*: start one"):
        served_model("http://127.0.0.1:9/v1#m", ["none"], RequestLimits())


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>Sign in</html>"),
        (401, b""),
        (402, b""),
        (403, b"Forbidden"),
        (404, b"<html>All the models you need</html>"),
        (400, b"API_KEY_INVALID"),
        (500, b""),
    ],
)
def test_a_server_that_does_not_describe_itself_is_used(
    status: int, body: bytes
) -> None:
    """A gateway guards the paths that it does not serve; its models are enough."""
    with loopback(about=_says(status, body, _MODELS)) as server:
        (one,) = served_model(server.base, ["none"], RequestLimits())
    assert one.about == {"models": ["small"]}


@pytest.mark.parametrize("path", ["", "/v1", "/api/v1"])
def test_no_other_host_is_asked_to_describe_a_server(path: str) -> None:
    """Below an address without a path as well: the key would go with the request."""
    with loopback(about=_says(404, b"", _MODELS)) as server:
        host = server.base.removesuffix("/v1").removeprefix("http://")
        served_model(f"vllm:http://{host}{path}", ["none"], RequestLimits())
    root = path.removesuffix("/v1")
    assert server.described == [
        (f"{path}/models", host),
        (f"{root}/version", host),
        (f"{root}/server_info", host),
    ]


@pytest.mark.parametrize(
    ("name", "answers", "backend"),
    table(__file__, "constrainers"),
)
def test_a_server_is_asked_what_constrains_its_texts(
    name: str, answers: dict[str, Any], backend: str
) -> None:
    """Where it tells it is read; where not, nothing is guessed."""
    assert providers()[name].backend_told(answers) == backend


def test_what_a_server_does_not_tell_is_said(tmp_path: Path) -> None:
    """The header says that nobody knows; a server has no options to be given."""
    with loopback() as server:
        run = csbdata.run(_request(tmp_path, server.base, "strict", "none")).open()
        odd = _request(tmp_path, server.base, "strict", options=["strict=true"])
        with pytest.raises(BadConfiguration, match="a server has no options"):
            csbdata.run(odd)
    assert [one.options for one in run.header.engines] == [
        {"backend": "not told by the server"},
        {},
    ]


_BLOCKED = """
import sys
from dataclasses import replace
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "accelerate", "gguf"}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [Without if one is PathFinder else one for one in sys.meta_path]
from curation.cli import main
sys.exit(main())
"""


def _csbdata(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _BLOCKED, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "", "CSBDATA_CACHE": str(folder / "cache"), "COLUMNS": "80"},
    )


@pytest.mark.slow
def test_neither_torch_nor_transformers_is_needed(tmp_path: Path) -> None:
    """`eval` with a URL, `results show` and `results export`, their import blocked."""
    (tmp_path / "ferry.json").write_text('{"type": "object"}')
    tokenizer = made.byte_level(tmp_path / "tokenizer")
    with loopback(lambda _body, _number: answer('{"deck"', ": 2}")) as server:
        measured = _csbdata(
            tmp_path,
            *("eval", "--model", f"{server.base}#small", "--engine", "strict"),
            *("--engine", "none", "--data", "ferry.json", "--run-dir", "run"),
            *("--tokenizer", str(tokenizer)),
        )
    assert measured.returncode == 0, measured.stderr
    assert "coverage: By schema" in measured.stdout
    shown = _csbdata(tmp_path, "results", "show", "run")
    assert shown.returncode == 0, shown.stderr
    assert "strict small" in shown.stdout
    exported = _csbdata(
        tmp_path, "results", "export", "run", "--format", "outcomes", "--out", "p"
    )
    assert exported.returncode == 0, exported.stderr


def test_a_level_that_a_model_lacks_is_not_sent_and_said(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the table; a refused one is dropped as any parameter (`test_tables`)."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    contract = CONTRACTS["anthropic"]
    well = Said(pieces=contract.stream(["{", "}"], False))  # noqa: FBT003 (as the contract has it)
    with loopback([well]) as server:
        request = _request(tmp_path, f"anthropic:{server.base}", "strict@low")
        model = f"anthropic:{server.base}#claude-haiku-4-5"
        models = [replace(request.models[0], model=model)]
        result = csbdata.run(replace(request, models=models, adapt=Adapt.NONE))
    assert len(list(result.open().rows())) == len(server.asked) == 4
    sent = json.dumps(server.asked)
    assert not any(f'"{name}"' in sent for name in ("thinking", "effort"))
    assert any("no level 'low' of reasoning is sent" in line for line in said), said
