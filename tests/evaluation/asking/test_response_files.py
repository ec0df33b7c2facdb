"""Responses are read from every layout, and what is none has one line each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadData, NoInput
from evaluation.asking.response_files import (
    encode_responses,
    parse_response,
    read_responses,
)
from evaluation.core.records import Response

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def _write(tmp_path: Path, *lines: UntypedJson, name: str = "r.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_lines_of_ours_come_back_as_they_were_written(tmp_path: Path) -> None:
    """Nothing is lost between a run and the file of its responses."""
    response = Response(
        record="a/b", model="m", text='{"ä": "\\n"}', reasoning="r", cost=0.5, repeat=2
    )
    path = tmp_path / "r.jsonl"
    path.write_bytes(encode_responses([response]))
    assert read_responses(path).responses == [response]


def test_lines_that_are_no_responses_have_one_line_each(tmp_path: Path) -> None:
    """The others are read; blank lines are nothing."""
    path = tmp_path / "r.jsonl"
    lines = [
        b'{"record": "a", "text": "{}"}',
        b"",
        b"not json",
        b'{"text": "{}"}',
        b'{"record": "b", "text": 7}',
        b"[1, 2]",
        b'{"record": "c", "text": "\xff"}',
        b"[" * 5000,
        b'{"record": "d", "text": null}',
    ]
    path.write_bytes(b"\n".join(lines))
    found = read_responses(path)
    assert [one.record for one in found.responses] == ["a", "c", "d"]
    assert found.responses[1].text == "\\udcff"
    assert [line.partition(": no response")[0] for line in found.problems] == [
        "r.jsonl:3",
        "r.jsonl:4",
        "r.jsonl:5",
        "r.jsonl:6",
        "r.jsonl:8",
    ]


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    """Within a JSON string it means the same, and every process can be handed it."""
    found = parse_response(b'{"record": "a", "text": "{\\"x\\": \\"\\ud800\\"}"}')
    assert found.text == '{"x": "\\ud800"}'


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", b"\x00\x01"])
def test_a_file_without_a_response_is_refused(tmp_path: Path, content: bytes) -> None:
    """The message shows what a line must have."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadData, match='at least "record" and "text"'):
        read_responses(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """So is a folder that is no run's."""
    with pytest.raises(NoInput, match="nothing"):
        read_responses(tmp_path / "nothing.jsonl")
    with pytest.raises(NoInput, match="directory"):
        read_responses(tmp_path)


def test_a_batch_of_openai_is_read(tmp_path: Path) -> None:
    """Texts, refusals, errors, thinking and tokens of chat completions."""
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    choices = [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "{}", "refusal": None},
            "finish_reason": "stop",
        },
        {
            "index": 1,
            "message": {
                "role": "assistant",
                "content": '{"a"',
                "reasoning_content": "hm",
            },
            "finish_reason": "length",
        },
        {
            "index": 2,
            "message": {"role": "assistant", "content": None, "refusal": "No."},
            "finish_reason": "stop",
        },
    ]
    body = {"model": "gpt-x", "choices": choices, "usage": usage}
    failed = {"message": "slow down", "code": "rate_limit"}
    path = _write(
        tmp_path,
        {"custom_id": "a", "response": {"status_code": 200, "body": body}},
        {"custom_id": "b", "response": None, "error": failed},
        {"custom_id": "c", "response": {"status_code": 400, "body": {"error": failed}}},
        {"custom_id": 4},
    )
    found = read_responses(path)
    first, second, third, lost, refused = found.responses
    assert (first.record, first.model, first.text) == ("a", "gpt-x", "{}")
    assert (first.prompt_tokens, first.output_tokens) == (9, 3)
    assert first.reasoning_tokens == 4
    assert {it.model for it in found.responses} == {"gpt-x"}
    assert (second.repeat, second.finish, second.reasoning) == (1, "length", "hm")
    assert second.output_tokens is None
    assert (third.finish, third.text) == ("refusal", "No.")
    assert (lost.text, lost.error) == (None, "slow down")
    assert refused.error == "HTTP 400: slow down"
    assert len(found.problems) == 1
