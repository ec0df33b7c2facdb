"""Whatever a server answers, each provider's reader has a class for it, and no key."""

from __future__ import annotations

import itertools
import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.credentials import split_url
from curation.system.errors import BadConfiguration
from evaluation.servers.client import (
    DeadlinePassed,
    RequestLimits,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
)
from tests.evaluation.servers.contracts import CONTRACTS, KEYS
from tests.evaluation.servers.loopback import Loopback, Said, connection, loopback

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.servers.answers import ServerAnswer

_KEY = "planted-key-of-this-test"
_TEXT = '{"deck": 1}'
pytestmark = pytest.mark.parametrize("provider", CONTRACTS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, _KEY)


def _ask(
    provider: str, said: Said, *, seconds: float = 5.0, tool: bool = False
) -> tuple[ServerAnswer, Loopback]:
    with loopback([said]) as server:
        there = connection(
            provider,
            server.base,
            limits=RequestLimits(seconds=seconds, patience=0.0),
            address=split_url(server.base),
        )
        with closing(ServerClient(there)) as client:
            return client.ask({"tools": []} if tool else {}), server


def _stream(provider: str, *pieces: str) -> list[bytes]:
    is_tool = False
    return CONTRACTS[provider].stream(pieces or (_TEXT,), is_tool)


def _for_a_minute(pieces: Iterable[bytes]) -> Iterator[bytes | float]:
    for piece in itertools.islice(itertools.cycle(pieces), 3_000):
        yield piece
        yield 0.02


_ERROR = b'{"error": {"message": "engine lost"}}\n\n'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        *((body, None) for body in (b"<html>Sign in</html>", b"", b"\xff\xfe")),
        *((body, None) for body in (b"[" * 50_000, b'"text"', b"{}")),
        *((start + _ERROR, "engine lost") for start in (b"", b"data: ")),
    ],
)
def test_what_is_no_answer_may_be_asked_for_again(
    provider: str, body: bytes, words: str | None
) -> None:
    """HTML, nothing, other bytes, JSON of another form, the words of an error."""
    with pytest.raises(RetriesExhausted, match=words):
        _ask(provider, Said(pieces=[body]))


def test_a_redirect_is_not_followed(provider: str) -> None:
    """The other host is asked nothing, and so is sent no key."""
    with loopback() as other:
        said = Said(status=307, headers={"Location": f"{other.base}/chat"})
        with pytest.raises(BadConfiguration, match="HTTP 307"):
            _ask(provider, said)
    assert not other.asked
    assert not other.connections


@pytest.mark.parametrize("events", [True, False], ids=["events", "no line's end"])
def test_a_stream_that_goes_on_ends_at_the_deadline(
    provider: str,
    events: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    """Though pieces come all the time; what came is there."""
    parts = _stream(provider, "ab", "cd")
    said = Said(pieces=_for_a_minute(parts[: len(parts) // 2] if events else [b"x"]))  # type: ignore[arg-type]  # a generator
    with pytest.raises(DeadlinePassed):
        _ask(provider, said, seconds=0.2)


def test_a_stream_that_is_cut_anywhere_is_no_answer(provider: str) -> None:
    """In the middle of an event, of a character, or before the end is told."""
    whole = b"".join(_stream(provider, '{"a": ', '"\u00e9"}'))
    for size in (len(whole) // 4, len(whole) // 3, len(whole) // 2):
        with pytest.raises(RetriesExhausted):
            _ask(provider, Said(pieces=[whole[:size]]))


def test_tokens_that_nobody_counts_are_not_told(provider: str) -> None:
    """Never 0: a limit of cost would not be reached."""
    uncounted = [
        re.sub(rb'"(\w*([tT]oken|eval_)\w*)":', rb'"x\1":', piece)
        for piece in _stream(provider)
    ]
    answer, _ = _ask(provider, Said(pieces=uncounted))
    assert answer.text == _TEXT
    told: tuple[Any, ...] = (answer.prompt_tokens, answer.output_tokens)
    assert told == (None, None)


def test_an_empty_object_is_an_answer(provider: str) -> None:
    """Though the call of a tool without any argument is streamed without text."""
    contract = CONTRACTS[provider]
    empty = "" if provider == "anthropic" else "{}"
    for is_tool in {"tool" in contract.ways, False}:
        text = empty if is_tool else "{}"
        said = Said(pieces=contract.stream((text,), is_tool))
        answer, _ = _ask(provider, said, tool=is_tool)
        assert answer.text == "{}"


def test_a_key_that_is_said_back_is_hidden(provider: str) -> None:
    """In an answer, though in two pieces, and in the words of an error."""
    header = CONTRACTS[provider].key[0]
    answer, server = _ask(
        provider, Said(pieces=_stream(provider, f"<{_KEY[:9]}", f"{_KEY[9:]}>"))
    )
    assert _KEY in server.headers[0][header]
    assert answer.text.startswith("<")
    assert _KEY not in f"{answer}"
    body = json.dumps({"error": {"message": f"{header}: {_KEY}", "param": _KEY}})
    for status in (200, 400, 500):
        with pytest.raises((RequestRefused, RetriesExhausted), match=r"\*{9}") as told:
            _ask(provider, Said(status=status, pieces=[body.encode()]))
        assert _KEY not in f"{told.value}"
