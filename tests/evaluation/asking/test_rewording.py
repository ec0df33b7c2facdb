"""A model rewords generated requests, through the command too."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration
from evaluation.asking.request import ModelOptions, choose_suite
from evaluation.asking.rewording import reworded_records
from tests.evaluation.servers.loopback import Said, answer, loopback

if TYPE_CHECKING:
    from pathlib import Path


def test_a_text_that_loses_nothing_takes_the_place_of_ours(tmp_path: Path) -> None:
    """One that lost a requirement, or is cut, does not."""
    chosen = choose_suite("ifstruct")
    assert chosen.suite.generate
    records = list(chosen.suite.generate(3, 5, chosen.settings))
    texts = [str(record.fields["prompt"]) for record in records]
    said: list[str] = []

    def reply(body: dict[str, Any], _number: int) -> Said:
        text = body["messages"][-1]["content"].partition("new request.\n\n")[2]
        if text == texts[1]:
            return answer("Give me some JSON.")
        finish = "length" if text == texts[2] else "stop"
        return answer(f"<think>Hm.</think>Good morning! {text}", finish=finish)

    with loopback(reply) as server:
        model = ModelOptions(model=f"{server.base}#small")
        fetch = FetchSettings(cache=tmp_path)
        changed = reworded_records(chosen, records, model, fetch, said.append)
    assert changed[0].fields["prompt"] == f"Good morning! {texts[0]}"
    assert changed[0].fields["voice"] == "model"
    assert changed[1:] == records[1:]
    assert said[-1].startswith("1 of 3 requests reworded")
    assert json.loads(changed[0].schema or "null") == json.loads(
        records[0].schema or "null"
    )


def test_a_server_is_asked_for_eight_texts_at_once(tmp_path: Path) -> None:
    """Each comes to its own record, however many there are."""
    chosen = choose_suite("ifstruct")
    assert chosen.suite.generate
    records = list(chosen.suite.generate(40, 5, chosen.settings))
    lock, under_way, most = threading.Lock(), 0, 0

    def reply(body: dict[str, Any], _number: int) -> Said:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        text = body["messages"][-1]["content"].partition("new request.\n\n")[2]
        return answer(f"Good morning! {text}")

    with loopback(reply) as server:
        model = ModelOptions(model=f"{server.base}#small")
        fetch = FetchSettings(cache=tmp_path)
        changed = reworded_records(chosen, records, model, fetch, lambda _line: None)
    assert most <= 8
    assert [record.fields["prompt"] for record in changed] == [
        f"Good morning! {record.fields['prompt']}" for record in records
    ]


def test_a_suite_without_a_rewriter_is_named(tmp_path: Path) -> None:
    """Only IFStruct checks reworded requests."""
    fetch = FetchSettings(cache=tmp_path)
    with pytest.raises(BadConfiguration, match="passrate has no rewriter"):
        reworded_records(choose_suite("passrate"), [], ModelOptions(), fetch, print)
