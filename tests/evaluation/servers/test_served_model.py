"""A server writes texts within the account's limits."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadConfiguration, BadUsage, NotPermitted
from curation.system.progress import Quiet
from evaluation.core.cases import Result
from evaluation.core.records import Adapt, TokenPrices
from evaluation.generation.text_generation import GenerationRequest, TextEnding
from evaluation.results.suite_tables import total_cost
from evaluation.runner.request import ModelOptions
from evaluation.servers.client import ServerClient, ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.models import find_prices, parse_prices
from evaluation.servers.pacing import (
    Account,
    Spending,
    SpendingLimit,
)
from evaluation.servers.served_model import ConditionUnavailable, ServedModel
from evaluation.suites.coverage.scorer import TextClass, judge
from tests.evaluation.known import known
from tests.evaluation.measuring import sample, texts_request
from tests.evaluation.servers.contracts import CONTRACTS, OUTPUT, PROMPT
from tests.evaluation.servers.loopback import (
    SCHEMA,
    Said,
    answer,
    connection,
    event,
    loopback,
    refusal,
    text_request,
    write_through,
)
from tests.evaluation.suites.coverage.written_texts import written
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evaluation.generation.text_generation import Generation
    from evaluation.runner.request import RunRequest
    from evaluation.suites.coverage.texts import GeneratedText
    from tests.evaluation.servers.loopback import Reply


def _write(
    reply: Reply, way: str = "strict", *, count: int = 1, seconds: float = 5.0
) -> tuple[list[Generation], list[dict[str, Any]]]:
    """Return what is made of a server's answers, and what it was asked."""
    requests = [text_request(f"ferry{number}") for number in range(count)]
    return write_through(reply, way, requests, seconds=seconds)


def _text(made: Generation) -> GeneratedText:
    judgement = judge(made.text, SCHEMA, "2020-12") if made.generated else None
    return written(made, judgement, engine="strict small")


_VALID = '{"deck": 2}'
_ANSWERS: dict[str, list[Any]] = {it[0]: it[1:] for it in table(__file__, "endings")}


@pytest.mark.parametrize("name", _ANSWERS)
def test_an_answer_is_in_its_class_and_declares_what_it_shows(name: str) -> None:
    """What has been answered was taken; what was refused or never came was not."""
    (form, words, more), expected, declared = _ANSWERS[name]
    forms: dict[str, Callable[..., Any]] = {"answer": answer, "refusal": refusal}
    said = forms[form](*words, **more)
    (made,), _ = _write([said])
    text = _text(made)
    assert (text.outcome, text.declared) == (expected, declared)


@pytest.mark.parametrize(("counted", "cut"), [(100, False), (99, True)])
def test_a_prompt_that_was_cut_is_no_question(counted: int, *, cut: bool) -> None:
    """Of 800 letters, 8 letters a token at most."""
    request = text_request(words="\u00e9" * 800)
    end = {"message": {"content": "{}"}, "done": True, "done_reason": "stop"}
    said = Said(pieces=[json.dumps({**end, "prompt_eval_count": counted}).encode()])
    (made,), _ = write_through([said], "strict", [request], "ollama")
    words = "the server read 99 tokens of a prompt of at least 100"
    assert (made.ending, made.detail) == (
        (TextEnding.PROMPT, words) if cut else (TextEnding.END, "")
    )


def test_a_thought_is_no_part_of_the_answer() -> None:
    """Thoughts stand apart, by either member or in tags; the answer is what is left."""
    for said in (
        answer(_VALID, reasoning_content="Two decks."),
        answer(_VALID, reasoning="Two decks."),
        answer("<think>Two ", "decks.</think>\n\n", _VALID),
    ):
        (made,), _ = _write([said])
        assert (made.text, made.reasoning) == (_VALID, "Two decks.")


def test_tokens_of_a_thought_do_not_make_an_answer_faster() -> None:
    """TPOT is over the answer's own tokens, and missing where nobody counts them."""
    counted = {
        "prompt_tokens": 3,
        "completion_tokens": 90,
        "completion_tokens_details": {"reasoning_tokens": 87},
    }
    told = answer('{"deck', '": 2', "}", usage=counted, reasoning_content="Hm.")
    untold = answer('{"deck', '": 2', "}", reasoning_content="Hm.")
    (made, other), _ = _write([told, untold], count=2)
    if made.counted is None:
        made, other = other, made
    assert (made.counted, made.reasoning_tokens, made.pieces) == (3, 87, 3)
    assert made.tpot_ns is not None
    assert (other.counted, other.tpot_ns) == (None, None)


@pytest.mark.parametrize(
    ("prompt", "output", "counted", "read"),
    [(3, 30, 30, 3), *((count, count, None, None) for count in (1e308, -5, 2.0**40))],
)
def test_an_answer_in_one_piece_has_no_time_per_token(
    prompt: float, output: float, counted: int | None, read: int | None
) -> None:
    """All at once says nothing of pace, however many tokens it has.

    A count that no text can have is none: no reader could read it.
    """
    usage = {"prompt_tokens": prompt, "completion_tokens": output}
    (made,), _ = _write([answer(_VALID, usage=usage)])
    assert (made.text, made.counted, made.prompt_tokens) == (_VALID, counted, read)
    assert (made.pieces, made.tpot_ns) == (1, None)
    assert made.ttft_ns is not None


def test_the_first_token_is_the_answers_first() -> None:
    """A thought in tags is over before the time to the first token is."""
    said = Said(
        pieces=[
            event(content="<think>Hm."),
            0.2,
            event(content="</think>"),
            event(content=_VALID),
            event(finish="stop", usage={"completion_tokens": 9}),
        ]
    )
    (made,), _ = _write([said])
    assert known(made.ttft_ns) > 0.2e9
    assert made.pieces == 1


def test_an_unclear_refusal_is_the_schemas_only_if_it_passes_without() -> None:
    """The same is asked for without the schema: that tells what is to blame."""

    def strict(body: dict[str, Any], _number: int) -> Said:
        return refusal(400, "bad") if "response_format" in body else answer("{}")

    (made,), asked = _write(strict)
    assert (made.result, made.ending) == (Result.COMPILE_ERROR, TextEnding.ENGINE)
    assert made.pieces == 0
    assert [body["max_tokens"] for body in asked] == [40, 16]
    (made,), asked = _write([refusal(400, "bad")])
    assert (made.result, made.ending) == (Result.ERROR, TextEnding.REQUEST)
    assert len(asked) == 2


def test_a_model_that_has_answered_does_not_lack_the_way_to_ask() -> None:
    """A refusal that says so is of its text alone; before any answer it is of all."""
    lacks = "Unsupported parameter: 'tools' is not supported with this model."
    refused = refusal(400, {"error": {"message": lacks, "param": "tools"}})
    with loopback([answer(_VALID), refused]) as server:
        there = connection("openai", server.base)
        (asked,) = server_participants(there, ["tool"])
        asked = replace(asked, adapt=Adapt.NONE)
        model = ServedModel(ServerClient(there))
        answered, after = (model.generate([text_request()], asked)[0] for _ in range(2))
        other = ServedModel(ServerClient(there))
        with pytest.raises(ConditionUnavailable):
            other.generate([text_request()], asked)
    assert (answered.ending, after.ending) == (TextEnding.END, TextEnding.REQUEST)


@pytest.mark.parametrize(
    ("pieces", "begun", "declared"),
    [
        ([], "", False),
        ([event(content="{")], "{", True),
        ([event(reasoning="Hm.")], "", True),
    ],
    ids=["nothing", "a beginning", "a thought"],
)
def test_what_the_deadline_cuts_off_is_a_time_out(
    pieces: list[bytes], begun: str, *, declared: bool
) -> None:
    """Its time is at least the deadline; it shows a schema taken if anything came."""
    said = Said(pieces=[*pieces, 3.0])
    (made,), asked = _write([said], seconds=1.5)
    text = _text(made)
    assert (text.outcome, text.declared) == (TextClass.TIMEOUT, declared)
    assert made.text == begun
    assert known(made.total_ns) >= 1.5e9
    assert len(asked) == 1
    assert not made.may_pass


def test_a_stopped_program_waits_for_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends it at once, whatever is under way: for minutes, in trouble."""
    late, done = threading.Event(), threading.Event()
    (one,) = server_participants(connection(), ["none"])
    model = ServedModel(ServerClient(one.connection))

    def write_one(request: GenerationRequest, _way: object) -> None:
        if request.seed:
            late.wait(3)
            done.set()

    def stopped(_place: int, _made: Generation) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "_write", write_one)
    with pytest.raises(KeyboardInterrupt):
        model.generate(
            [replace(text_request(), seed=n) for n in range(2)], one, stopped
        )
    assert not done.is_set()
    late.set()


def test_a_batch_is_asked_for_at_once() -> None:
    """Eight texts are under way together, in their order, with seeds of 31 bits."""

    def reply(body: dict[str, Any], _number: int) -> Said:
        return Said(pieces=[0.6, *answer(json.dumps(body["seed"])).pieces])

    with loopback(reply) as server:
        (one,) = server_participants(connection(base=server.base), ["none"])
        model = ServedModel(ServerClient(one.connection))
        for _ in range(2):
            seeds = range(2**31, 2**31 + 8)
            made = model.generate([replace(text_request(), seed=n) for n in seeds], one)
        model.close()
    assert [one.text for one in made] == [str(number) for number in range(8)]
    assert server.most == 8
    assert server.connections == 8


#: What every answer of `answer("{}")` costs.
_ONE = 8.0
_PRICES = TokenPrices(prompt=1e6, output=1e6)


def _paid_run(folder: Path, model: str, count: int, **more: Any) -> RunRequest:  # noqa: ANN401 (fields of the request)
    records = [sample(f"ferry{number}") for number in range(count)]
    options = ModelOptions(model=model, budget=9, batch=4, patience=1.0, prices=_PRICES)
    return texts_request(folder, records, options, "none", **more)


def test_a_limit_of_cost_is_exceeded_by_requests_under_way_alone(
    tmp_path: Path,
) -> None:
    """Four at a time, each of 8: over 40 at most by three; a higher limit goes on."""
    with loopback() as server:
        request = _paid_run(tmp_path, f"{server.base}#small", 20, max_cost=40.0)
        result = csbdata.run(request)
        paid = len(server.asked) * _ONE
        assert 40.0 <= paid < 40.0 + 4 * _ONE
        assert result.totals.stopped.startswith("--max-cost 40 is reached")
        assert len(list(result.open().rows())) == len(server.asked)
        result = csbdata.run(replace(request, max_cost=80.0))
        assert 80.0 <= len(server.asked) * _ONE < 80.0 + 4 * _ONE
        result = csbdata.run(replace(request, max_cost=None))
    assert len(server.asked) == 20
    assert not result.totals.stopped
    assert len(list(result.open().rows())) == 20


def test_an_answer_whose_tokens_nobody_counts_is_paid_for_at_its_most(
    tmp_path: Path,
) -> None:
    """Else a limit would never be reached, in this command or when it goes on."""
    with loopback([answer("{}", usage={})]) as server:
        request = _paid_run(tmp_path, f"{server.base}#small", 20, max_cost=1.0)
        for _ in range(2):
            result = csbdata.run(request)
            assert len(server.asked) <= 4
            assert result.totals.stopped


def test_the_most_is_that_of_a_long_prompt_and_a_full_budget() -> None:
    """Bytes of the prompt at its price, tokens of the answer at theirs."""
    account = Account(Spending(max_cost=2.0), TokenPrices(prompt=1.0, output=1e6))
    for _ in range(2):
        account.spending.send()
        account.pay(None, None, sent=1000, budget=1)
    with pytest.raises(SpendingLimit, match=r"2\.0020 spent"):
        account.spending.send()
    # A limit that is no number lets nothing through: no sum is above it.
    with pytest.raises(SpendingLimit, match="--max-cost nan is reached"):
        Spending(max_cost=float("nan")).send()


def test_requests_are_counted_with_their_retries(tmp_path: Path) -> None:
    """`--max-requests` is a limit of what is sent, refusals and retries included."""

    def reply(_body: object, number: int) -> Said:
        return answer("{}") if number % 2 else refusal(429, {}, Retry_After="0")

    with loopback(reply) as server:
        model = f"{server.base}#small"
        result = csbdata.run(_paid_run(tmp_path, model, 9, max_requests=5))
    assert len(server.asked) == 5
    assert result.totals.stopped == "--max-requests 5 is reached"


def test_a_limit_of_cost_needs_a_price(tmp_path: Path) -> None:
    """A server that is in no list has none: said before anything is asked."""
    with loopback() as server:
        request = _paid_run(tmp_path, f"{server.base}#small", 1, max_cost=1.0)
        model = replace(request.models[0], prices=None)
        with pytest.raises(BadConfiguration, match="needs a price"):
            csbdata.run(replace(request, models=[model]))
    assert server.asked == []


def test_what_ends_a_run_loses_no_answer_that_was_paid_for(tmp_path: Path) -> None:
    """A key that is withdrawn ends the run; answers beside it are in the folder."""
    refused = threading.Event()

    def reply(_body: object, number: int) -> Said:
        if number == 0:
            refused.set()
            return refusal(401, {"error": {"message": "no"}})
        refused.wait(10)
        return replace(answer("{}"), pieces=[0.05, *answer("{}").pieces])

    with loopback(reply) as server:
        with pytest.raises(NotPermitted):
            csbdata.run(_paid_run(tmp_path, f"{server.base}#small", 4))
        lines = (tmp_path / "run/responses.jsonl").read_text().splitlines()
        assert [json.loads(line)["text"] for line in lines] == ["{}"] * 3
        assert len(server.asked) == 4


def test_a_price_is_that_of_host_and_model() -> None:
    """From the dated list or a user's own; a version's day is no other model."""

    def found(
        base: str, model: str, prices: TokenPrices | None = None
    ) -> TokenPrices | None:
        return find_prices(prices, ServerConnection(base=base, model=model))

    home = "https://api.openai.com/v1"
    one = known(found(home, "gpt-5-mini-2025-08-07"))
    assert one == found(home, "gpt-5-mini")
    assert (one.prompt, one.output) == (0.25, 2.0)
    assert "genai-prices" in one.source
    assert found(home, "gpt-5-surprise") is None
    assert found("http://127.0.0.1:8000/v1", "gpt-5-mini") is None
    own = parse_prices("1/2")
    assert own == TokenPrices(prompt=1, output=2)
    assert own.cost(3_000_000, 2_000_000) == 7
    assert parse_prices("0/0").cost(3, 2) == 0
    assert own.cost(3, None) is own.cost(None, 3) is None
    assert found(home, "gpt-5-mini", own) == own
    for text in ("1/-2", "1", "cheap"):
        with pytest.raises(BadUsage, match="PROMPT/OUTPUT"):
            parse_prices(text)


def test_an_unknown_price_is_told_as_such() -> None:
    """Never 0: neither in the line of progress nor in the report."""
    spending = Spending()
    assert str(spending) == "cost 0.0000"
    spending.pay(None)
    assert str(spending) == "cost not told"
    spending.pay(0.5)
    assert str(spending) == "cost 0.5000 and what is not told"
    assert str(total_cost([0.5, None])) == "not told"


def test_a_line_of_progress_has_the_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar is given what the answers so far have cost."""
    notes: list[Callable[[], str]] = []
    quiet = Quiet.bar

    def bar(self: Any, *about: Any) -> Any:  # noqa: ANN401 (as the protocol has it)
        notes.extend(about[3:])
        return quiet(self, *about)

    monkeypatch.setattr("curation.system.progress.Quiet.bar", bar)
    contract = CONTRACTS["anthropic"]
    with loopback(lambda body, _number: contract.reply(body, "{}")) as server:
        csbdata.run(_paid_run(tmp_path, f"anthropic:{server.base}#small", 3))
    assert [note() for note in notes] == [f"cost {3 * (PROMPT + OUTPUT):.4f}"]
