"""Every line of every provider's table, through the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.options import GroupedCommand
from curation.system.errors import CsbdataError
from evaluation.commands.eval import evaluate
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass, read_refusal
from tests.evaluation.servers.contracts import CONTRACTS, KEYS, ended
from tests.evaluation.servers.loopback import Said, loopback, refusal
from tests.evaluation.tokenizers import made
from tests.slow_cases import first_fast
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: A refusal by its name: provider, way, status, headers, body, class.
_REFUSALS: dict[str, list[Any]] = dict(table(__file__, "refusals"))
#: Provider, finish reason, ending.
_FINISHES: list[list[str]] = table(__file__, "finishes")
#: Classes of which each text has its own outcome.
_OF_TEXTS = {
    "schema": "compile_error",
    "filtered": "content_filter",
    "failed": "not_json",
    "context": "prompt_too_long",
    "parameter": "request_refused",
    "unknown": "request_refused",
}
#: Classes that end a run: the exit code, and what is said last or to be done.
_OF_RUNS = {
    "excluded": (69, "is not available: the server says"),
    "exhausted": (69, "the same command goes on"),
    "key": (77, "to a key of this server"),
    "model": (66, "name one that http"),
    "address": (78, "look at the address"),
    "wait": (69, "no request was answered"),
    "fault": (69, "no request was answered"),
}
_OF_ENDINGS = {
    "end": "not_json",
    "truncated": "truncated",
    "filtered": "content_filter",
    "refused": "refusal",
    "unknown": "unknown_end",
    "model": "model_error",
}
_APP = typer.Typer()
_APP.command(cls=GroupedCommand)(evaluate)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "a-key")
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))


def _read(status: int, headers: dict[str, str], body: Any) -> Any:  # noqa: ANN401 (JSON)
    if isinstance(body, dict) and "response" in body:
        body = {"error": body["response"]["error"]}
    return read_refusal(status, json.dumps(body), headers)


@pytest.mark.parametrize("name", _REFUSALS)
def test_a_refusal_is_in_its_class(name: str) -> None:
    """By status, code, member and words, as its provider gives them."""
    provider, _, status, headers, body, expected = _REFUSALS[name]
    said = _read(status, headers, body)
    assert providers()[provider].refusal_class(said) is RefusalClass(expected)
    assert said.failed_text == ('{"deck":' if expected == "failed" else "")


_INVALID = "Invalid schema for response_format 'answer': In ('properties', '{}')."


@pytest.mark.parametrize(
    "name", ["billing_error", "model_not_found", "API_KEY_INVALID"]
)
@pytest.mark.parametrize("told", [{"param": "response_format"}, {}])
def test_a_name_in_a_refused_schema_ends_no_run(
    name: str, told: dict[str, str]
) -> None:
    """A property may be called as what ends a run; its schema alone is refused."""
    said = _read(400, {}, {"error": {"message": _INVALID.format(name), **told}})
    assert providers()[""].refusal_class(said) is RefusalClass.SCHEMA


def test_every_line_has_a_case() -> None:
    """A line that no case reaches is one that nobody has tried."""
    reached = set()
    for provider, _, status, headers, body, _ in _REFUSALS.values():
        said = _read(status, headers, body)
        rules = providers()[provider].refusals
        reached.add(next(rule for rule in rules if rule.holds(said)))
    lines = {rule for it in providers().values() for rule in it.refusals}
    assert lines - reached == set()
    chat = providers()[""].answer
    tried = {
        (providers()[provider].answer, reason.lower())
        for provider, reason, _ in _FINISHES
    }
    for provider in providers().values():
        finishes = [rule for it in provider.finishes.values() for rule in it]
        assert all(rule.source for rule in finishes)
        assert all(rule.source for rule in provider.refusals)
        for reason in (reason for rule in finishes for reason in rule.reasons):
            assert {(provider.answer, reason), (chat, reason)} & tried, reason


def _eval(
    folder: Path,
    provider: str,
    way: str,
    replies: Sequence[Said | Callable[[dict[str, Any]], Said]],
    times: int = 1,
) -> tuple[int, list[str], str, int]:
    """Run `csbdata eval` over as many schemas as there are replies.

    Returns:
        The exit code, the outcomes in the order of the replies, all that was printed,
        and how many requests there were, of the last time.
    """
    data = folder / "data"
    data.mkdir(exist_ok=True)
    names = [f"ferry{number:02}" for number in range(len(replies))]
    for name in names:
        schema = {"type": "object", "title": name}
        (data / f"{name}.json").write_text(json.dumps(schema))

    def reply(body: dict[str, Any], _number: int) -> Said:
        asked = json.dumps(body)
        said = next(
            it for name, it in zip(names, replies, strict=True) if name in asked
        )
        return said(body) if callable(said) else said

    run = folder / "run"
    with loopback(reply) as server:
        model = f"{provider}:{server.base}#small".removeprefix(":")
        words = [
            *("--model", model, "--engine", way, "--data", str(data)),
            *("--set", "patience=0", "--set", "budget=9", "--adapt", "none"),
            *("--run-dir", str(run), "--set", "batch=8"),
            *("--tokenizer", str(made.byte_level(folder / "tokenizer"))),
        ]
        for _ in range(times):
            before = len(server.asked)
            done = CliRunner().invoke(_APP, words)
        asked = len(server.asked) - before
    error = done.exception
    code = error.exit_code if isinstance(error, CsbdataError) else done.exit_code
    rows = run / "attempts.jsonl"
    lines = rows.read_text().splitlines() if rows.exists() else []
    found = {}
    for row in map(json.loads, lines):
        found[next(it for it in names if it in json.dumps(row))] = row
    outcomes = [found[name]["label"]["outcome"] for name in names if name in found]
    told = f"{done.stdout} {done.stderr} {error}".replace("\n", " ")
    return code, outcomes, told, asked


def _refused(name: str) -> Said:
    _, _, status, headers, body, _ = _REFUSALS[name]
    return refusal(status, body, **headers)


@pytest.mark.slow
@pytest.mark.parametrize("provider", providers())
def test_a_refusal_of_a_text_is_its_outcome(tmp_path: Path, provider: str) -> None:
    """Each line's own, beside a text that is written; the run ends with 0."""
    for way in ("strict", "tool"):
        names = [
            name
            for name, it in _REFUSALS.items()
            if it[:2] == [provider, way] and it[-1] in _OF_TEXTS
        ]
        if names:
            contract = CONTRACTS[provider or "vllm"]
            well = Said(pieces=contract.stream(['{"a', '": 1}'], way == "tool"))
            replies = [*map(_refused, names), well]
            folder = tmp_path / way
            folder.mkdir()
            code, outcomes, told, _ = _eval(folder, provider, way, replies)
            expected = [_OF_TEXTS[_REFUSALS[name][-1]] for name in names]
            assert outcomes == [*expected, "compliant"], told
            assert code == 0


_ENDING = [name for name, it in _REFUSALS.items() if it[-1] in _OF_RUNS]


@pytest.mark.parametrize("name", first_fast(1, _ENDING))
def test_a_refusal_of_a_run_ends_it_in_one_line(tmp_path: Path, name: str) -> None:
    """Nothing is scored; what had answers is kept."""
    provider, way, *_, kind = _REFUSALS[name]
    code, outcomes, told, _ = _eval(tmp_path, provider, way, [_refused(name)])
    assert (code, outcomes) == (_OF_RUNS[kind][0], []), told
    assert _OF_RUNS[kind][1] in told


@pytest.mark.parametrize(
    ("name", "outcome"),
    first_fast(
        1,
        [
            ("OpenAI's function", "compile_error"),
            ("a sentence", "compile_error"),
            ("Azure inside a success", "content_filter"),
            ("OpenAI's prompt filter", "content_filter"),
        ],
    ),
)
def test_a_run_whose_schemas_are_all_rejected_has_its_table(
    tmp_path: Path, name: str, outcome: str
) -> None:
    """0 of 4 accepted is a result: it ends with 0."""
    provider, way, *_ = _REFUSALS[name]
    code, outcomes, told, _ = _eval(tmp_path, provider, way, [_refused(name)] * 4)
    assert (code, outcomes) == (0, [outcome] * 4)
    assert "coverage: By schema" in told


@pytest.mark.parametrize(
    "provider", first_fast(1, dict.fromkeys(it[0] for it in _FINISHES))
)
def test_a_finish_reason_is_an_outcome(tmp_path: Path, provider: str) -> None:
    """Only after a fault of the server the same command requests it again."""
    finishes = [it[1:] for it in _FINISHES if it[0] == provider]
    replies = [ended(provider, "A fer", reason) for reason, _ in finishes]
    code, outcomes, _, asked = _eval(tmp_path, provider, "strict", replies, times=2)
    assert (code, outcomes) == (0, [_OF_ENDINGS[ending] for _, ending in finishes])
    assert asked == sum(ending == "model" for _, ending in finishes)


def test_an_unknown_finish_reason_is_said(tmp_path: Path) -> None:
    """Once, with its name; the text is kept."""
    replies = [ended("openai", "A fer", "paused")] * 3
    code, outcomes, told, _ = _eval(tmp_path, "openai", "strict", replies)
    assert (code, outcomes) == (0, ["unknown_end"] * 3)
    assert told.count("finish_reason 'paused' is not known") == 1


#: Each line once, of the first provider that has it.
_PARAMETERS = {
    (name, rule.source): provider
    for provider, it in reversed([*providers().items()])
    for name, rule in it.parameters.items()
}


@pytest.mark.parametrize(
    ("provider", "name"),
    first_fast(1, [(provider, name) for (name, _), provider in _PARAMETERS.items()]),
)
def test_a_refused_parameter_is_dropped_or_renamed(
    tmp_path: Path, provider: str, name: str
) -> None:
    """Each line's own; it is said, and the text is written."""
    rule = providers()[provider].parameters[name]
    words = rule.words or name.rpartition(".")[2]
    well = CONTRACTS[provider or "vllm"].stream(['{"a', '": 1}'], False)  # noqa: FBT003 (no tool)
    bodies: list[str] = []

    def reply(body: dict[str, Any]) -> Said:
        holder: Any = body
        for step in name.split("."):
            holder = holder.get(step) if isinstance(holder, dict) else None
        if holder is None:
            bodies.append(json.dumps(body))
            return Said(pieces=well)
        return refusal(400, {"error": {"message": f"{words} is not supported here"}})

    code, outcomes, told, asked = _eval(
        tmp_path,
        provider,
        "none@low" if "effort" in name or "think" in name else "none",
        [reply],
    )
    assert (code, outcomes, asked) == (0, ["compliant"], 2), told
    done = f"is sent as {rule.name}" if rule.name else "dropped"
    assert name in told
    assert done in told
    assert f'"{rule.name}"' in bodies[0] or not rule.name
