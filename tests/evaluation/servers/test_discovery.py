"""A request that a provider refuses is mended or told of; it is never a 0 %."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import CsbdataError, Unavailable
from evaluation.asking.request import ModelOptions
from evaluation.results.reader import open_run
from evaluation.servers import parameters
from tests.evaluation.measuring import BRISK, request_of, sample
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evaluation.asking.request import RunRequest


def _request(folder: Path, base: str, *engines: str, count: int = 4) -> RunRequest:
    return request_of(
        folder,
        [sample(f"ferry{number}") for number in range(count)],
        tasks=("coverage",),
        bounds=replace(BRISK, run_seconds=60.0),
        engines=engines or ("strict",),
        models=[ModelOptions(model=f"{base}#small", budget=9, patience=0.0)],
        run_dir=folder / "run",
    )


def test_a_parameter_may_be_learnt_while_a_request_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By another text under way: this one is refused once more, and no run ends."""
    known = parameters.Parameters({"a": "", "b": ""})
    known.changes["a"] = ""
    place = parameters._place

    def learns(body: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
        known.changes["b"] = ""
        return place(body, name)

    monkeypatch.setattr(parameters, "_place", learns)
    assert known.apply({"a": 1, "b": 2}) == {"b": 2}
    assert known.apply({"a": 1, "b": 2}) == {}


def _unsupported(name: str, hint: str = "") -> Said:
    message = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
    return refusal(
        400,
        {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": name,
                "code": "unsupported_parameter",
            }
        },
    )


def _gpt_5(body: dict[str, Any], _number: int) -> Said:
    """Refuse what OpenAI's reasoning models refuse, as openai 3.57.0 documents it."""
    if "max_tokens" in body:
        return _unsupported("max_tokens", " Use 'max_completion_tokens' instead.")
    if body.get("temperature", 1) != 1:
        message = (
            "Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported."
        )
        error = {"message": message, "param": "temperature"}
        return refusal(400, {"error": {**error, "code": "unsupported_value"}})
    return answer("{}")


def _mistral(body: dict[str, Any], _number: int) -> Said:
    """Refuse unknown members as FastAPI's servers do."""
    unknown = [name for name in ("seed", "stream_options") if name in body]
    if not unknown:
        return answer("{}")
    complaint = {"type": "extra_forbidden", "loc": ["body", unknown[0]], "input": 1}
    return refusal(422, {"detail": [{**complaint, "msg": "Extra inputs"}]})


def _unnamed(body: dict[str, Any], _number: int) -> Said:
    """Name the parameter in words alone."""
    if "temperature" not in body:
        return answer("{}")
    return refusal(400, {"error": {"message": "`temperature` is deprecated."}})


@pytest.mark.parametrize(
    ("server", "changes"),
    [
        (_gpt_5, {"max_tokens": "max_completion_tokens", "temperature": ""}),
        (_mistral, {"seed": "", "stream_options": ""}),
        (_unnamed, {"temperature": ""}),
    ],
)
def test_no_answer_is_lost_to_a_parameter(
    tmp_path: Path,
    server: Callable[[dict[str, Any], int], Said],
    changes: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is refused once a condition, said with the server's words, and recorded."""
    said: list[str] = []
    monkeypatch.setattr(
        "curation.system.progress.Quiet.say", lambda _self, line: said.append(line)
    )
    with loopback(server) as there:
        request = _request(tmp_path, there.base, "strict", "none")
        result = csbdata.run(request)
    assert {row.label["outcome"] for row in result.open().rows()} == {"compliant"}
    assert len(there.asked) == 2 * (4 + len(changes))
    labels = ("strict small", "none small")
    assert open_run(tmp_path / "run").raw_header["parameters"] == dict.fromkeys(
        labels, changes
    )
    told = [line for line in said if "the server says" in line]
    assert len(told) == 2 * len(changes)
    if server is _gpt_5:
        assert told[0].startswith(
            "strict small: max_tokens is sent as max_completion_tokens: the "
            "server says HTTP 400: max_tokens: Unsupported parameter: 'max_tokens'"
        )


_KEY = "Incorrect API key provided: ***. You can find your API key at /account."
_MODEL = "The model `small` does not exist or you do not have access to it."
_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_GEMINI_DAY = {
    "error": {
        "code": 429,
        "message": _QUOTA,
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}
        ],
    }
}
_CREDIT = "Your credit balance is too low to access the Anthropic API."
_BAD_KEY = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "details": [{"reason": "API_KEY_INVALID"}],
    }
}


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (refusal(401, {"error": {"message": _KEY}}), 77, _KEY),
        (refusal(400, _BAD_KEY), 77, "API key not valid"),
        (
            refusal(404, {"error": {"message": _MODEL, "code": "model_not_found"}}),
            66,
            _MODEL,
        ),
        (refusal(404, {"type": "error", "error": {"message": "model: small"}}), 66, ""),
        (
            refusal(429, {"error": {"message": _QUOTA, "code": "insufficient_quota"}}),
            69,
            _QUOTA,
        ),
        (refusal(429, _GEMINI_DAY), 69, _QUOTA),
        (refusal(400, {"error": {"message": _CREDIT}}), 69, _CREDIT),
        (refusal(402, {"error": {"message": "pay"}}), 69, "pay"),
        (refusal(404, "Not Found"), 78, "Not Found"),
        (refusal(307, "", Location="http://127.0.0.1:9/"), 78, "HTTP 307"),
        (Said(pieces=[b"<html>Hello</html>"]), 69, "did: '<html>Hello"),
        (Said(pieces=[b'{"error": {"message": "no"}}']), 69, "the server says"),
    ],
)
def test_what_ends_a_run_is_one_line_and_an_exit_code(
    tmp_path: Path, said: Said, code: int, words: str
) -> None:
    """Key 77, model 66, quota 69, each with the server's own words and a next step."""
    with (
        loopback(lambda _body, _number: said) as server,
        pytest.raises(CsbdataError) as caught,
    ):
        csbdata.run(_request(tmp_path, server.base, count=1))
    assert caught.value.exit_code == code
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.then
    assert len(server.asked) == 1


_INVALID = "Invalid schema for response_format 'answer': In ('properties', '{}')."


@pytest.mark.parametrize(
    "words",
    first_fast(
        1,
        [
            *map(_INVALID.format, ("hoursPerDay", "billing_error", "model_not_found")),
            _INVALID.format("API_KEY_INVALID"),
            "Unknown name 'hoursPerDay'.",
        ],
    ),
)
@pytest.mark.parametrize("told", [{"param": "response_format"}, {}])
def test_a_name_in_a_refused_schema_ends_no_run(
    tmp_path: Path, words: str, told: dict[str, str]
) -> None:
    """A property may be called as what ends a run; its schema alone is refused."""

    def reply(body: dict[str, Any], _number: int) -> Said:
        if "ferry1" in json.dumps(body["messages"]) and "response_format" in body:
            return refusal(400, {"error": {"message": words, **told}})
        return answer("{}")

    with loopback(reply) as server:
        result = csbdata.run(_request(tmp_path, server.base, count=2))
    outcomes = [str(row.label["outcome"]) for row in result.open().rows()]
    assert sorted(outcomes) == ["compile_error", "compliant"]


def test_a_server_that_refuses_all_alike_is_asked_a_few_times(tmp_path: Path) -> None:
    """It is given up with its own sentence, and asked again by the same command."""
    well = False

    def reply(_body: object, _number: int) -> Said:
        if well:
            return answer("{}")
        error = {"message": "Organisation must be verified.", "param": "stream"}
        return refusal(400, {"error": error})

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, count=9)
        with pytest.raises(Unavailable, match=r"must be verified.*: the "):
            csbdata.run(request)
        assert len(server.asked) == 3
        assert list((tmp_path / "run").glob("rows-*")) == []
        well = True
        result = csbdata.run(request)
    assert len(list(result.open().rows())) == 9


def test_a_run_without_any_answer_has_no_rate(tmp_path: Path) -> None:
    """Fewer requests than a few, or other refusals for each, end with 69 as well."""

    def reply(_body: object, number: int) -> Said:
        error = {"message": f"no {number}", "param": "stream"}
        return refusal(400, {"error": error})

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, count=4)
        with pytest.raises(Unavailable, match=r"no request was answered.*no 3"):
            csbdata.run(request)
    assert list((tmp_path / "run").glob("rows-*")) == []
    lines = (tmp_path / "run/responses.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == [None] * 4
