"""Another package adds a provider, and each says what constrains texts."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadConfiguration, BadUsage, CsbdataError, Unavailable
from evaluation.asking.request import ModelOptions
from evaluation.generation.text_generation import GenerationRequest
from evaluation.results.reader import open_run
from evaluation.servers.client import RequestLimits
from evaluation.servers.model_server import served_model
from evaluation.servers.provider import CHAT, providers
from tests.evaluation.measuring import BRISK, request_of, sample
from tests.evaluation.servers.loopback import Handler, Said, answer, loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evaluation.asking.request import RunRequest

_THEIRS = """
from dataclasses import replace

from evaluation.servers.provider import CHAT

PROVIDER = replace(
    CHAT,
    name={name!r},
    ways={{"strict": lambda schema: {{"their_schema": schema}}}},
    backend=lambda answers: "theirs 1.0",
)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Look for providers anew, and leave nothing behind for other tests."""
    providers.cache_clear()
    yield
    providers.cache_clear()


def _add(folder: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a provider to a file of a folder, as if it were one of ours."""
    (folder / f"{module}.py").write_text(_THEIRS.format(name=name), "utf-8")
    package = import_module("evaluation.servers.providers")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def _request(folder: Path, base: str, *ways: str, **fields: Any) -> RunRequest:  # noqa: ANN401 (fields of the request)
    return request_of(
        folder,
        [sample("one"), sample("two")],
        tasks=("coverage",),
        bounds=replace(BRISK, run_seconds=60.0),
        engines=ways,
        models=[ModelOptions(model=f"{base}#small", budget=9, patience=0.0)],
        run_dir=folder / "run",
        **fields,
    )


@pytest.mark.parametrize("name", ["vllm", "sglang", "llama_server", "openai", ""])
def test_a_way_to_ask_sends_the_schema_whole(name: str) -> None:
    """Somewhere in the request stands the schema; without one nothing is asked."""
    provider = providers()[name] if name else CHAT
    schema = '{"type": "object", "properties": {}, "additionalProperties": false}'
    request = GenerationRequest(record=sample("one"), messages=(), budget=9)
    for way in {"tool", "strict"} & set(provider.ways):
        body = provider.request("m", request, way, schema)
        assert schema in json.dumps(body)
    free = provider.request("m", request, "none", schema)
    assert free == {**provider.body("m", request), **provider.uncached("none")}


def test_a_file_adds_a_provider_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is edited: the server is asked so, and the header says by whom."""
    _add(tmp_path, "their_server", "theirs", monkeypatch)
    with loopback(lambda _body, _number: answer("{}")) as server:
        run = csbdata.run(_request(tmp_path, f"theirs:{server.base}", "strict")).open()
    assert [body["their_schema"] for body in server.asked] == [
        {"title": "one"},
        {"title": "two"},
    ]
    (participant,) = run.header.engines
    assert participant.engine == "theirs strict small"
    assert participant.options == {"backend": "theirs 1.0"}


def test_a_second_provider_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "their_vllm", "vllm", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second provider named 'vllm'"):
        providers()


def test_a_way_that_a_provider_lacks_is_told_its_others() -> None:
    """Anthropic has no JSON mode; nothing is sent to find that out."""
    with pytest.raises(BadUsage, match="no way 'json' to ask anthropic") as it:
        served_model("anthropic:http://127.0.0.1:9/v1#m", ["json"], RequestLimits())
    assert it.value.then == "use --engine none, tool, strict"


class _Odd(Handler):
    """Answers what it is asked about itself in another way."""

    status, body = 200, b""

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Answer."""
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)


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
        loopback(
            lambda _body, _number: answer("{}"), base=_Odd, status=status, body=body
        ) as server,
        pytest.raises(CsbdataError) as caught,
    ):
        served_model(f"{server.base}#m", ["none"], RequestLimits())
    assert caught.value.exit_code == code
    assert words in str(caught.value)
    with pytest.raises(Unavailable, match=r"no server answers .*: start one"):
        served_model("http://127.0.0.1:9/v1#m", ["none"], RequestLimits())


class _Silent(Handler):
    """Tells its models at any address, and nothing else of itself."""

    status, body = 404, b""

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Answer."""
        self.heads.append((self.path, self.headers["Host"]))
        models = self.path.endswith("/models")
        body = b'{"data": [{"id": "small"}]}' if models else self.body
        self.send_response(200 if models else self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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
    with loopback(
        lambda _body, _number: answer("{}"), base=_Silent, status=status, body=body
    ) as server:
        (one,) = served_model(server.base, ["none"], RequestLimits())
    assert one.about == {"models": ["small"]}


@pytest.mark.parametrize("path", ["", "/v1", "/api/v1"])
def test_no_other_host_is_asked_to_describe_a_server(path: str) -> None:
    """Below an address without a path as well: the key would go with the request."""
    heads: list[tuple[str, str]] = []
    with loopback(
        lambda _body, _number: answer("{}"), heads=heads, base=_Silent
    ) as server:
        host = server.base.removesuffix("/v1").removeprefix("http://")
        served_model(f"vllm:http://{host}{path}", ["none"], RequestLimits())
    root = path.removesuffix("/v1")
    assert heads == [
        (f"{path}/models", host),
        (f"{root}/version", host),
        (f"{root}/server_info", host),
    ]


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
            {"/server_info": "structured_outputs_config=backend='lm-format-enforcer'"},
            "lm-format-enforcer",
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
        ("", {"/version": {"version": "1"}}, ""),
    ],
)
def test_a_server_is_asked_what_constrains_its_texts(
    name: str, answers: dict[str, Any], backend: str
) -> None:
    """Where it tells it is read; where not, nothing is guessed."""
    assert (providers()[name] if name else CHAT).backend(answers) == backend


def test_what_a_server_does_not_tell_is_said(tmp_path: Path) -> None:
    """The header says that nobody knows; a server has no options to be given."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        run = csbdata.run(_request(tmp_path, server.base, "strict", "none")).open()
        odd = _request(tmp_path, server.base, "strict", options=["strict=true"])
        with pytest.raises(BadConfiguration, match="a server has no options"):
            csbdata.run(odd)
    assert [one.options for one in run.header.engines] == [
        {"backend": "not told by the server"},
        {},
    ]


@pytest.mark.slow
def test_what_had_no_answer_is_asked_for_again(tmp_path: Path) -> None:
    """The same request, run once more, asks for what a server in trouble left open."""
    well = False

    def reply(_body: object, _number: int) -> Said:
        return answer("{}") if well else Said(status=500, pieces=[b"oh no"])

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, "strict")
        with pytest.raises(Unavailable, match="HTTP 500: oh no"):
            csbdata.run(request)
        assert open_run(tmp_path / "run").header.finished is None
        well = True
        second = csbdata.run(request)
        assert (second.totals.ran, second.totals.unanswered) == (2, 0)
        third = csbdata.run(request)
    assert (third.totals.reused, third.totals.ran) == (2, 0)
    assert [row.label["outcome"] for row in third.open().rows()] == ["compliant"] * 2
    assert third.open().header.finished is not None
