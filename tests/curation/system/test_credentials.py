"""Credentials leave neither in texts, nor in log records, nor in tracebacks."""

from __future__ import annotations

import logging
import re
import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.credentials import (
    REDACTED,
    guard,
    hide_secrets,
    redacted,
    redacted_traceback,
    split_url,
    tables,
)
from tests.curation.credential_examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "abcDEF0123456789abcDEF0123456789abcd"
WORDS = st.text(st.sampled_from("abcXYZ019"), min_size=20, max_size=60)


def _fail(error: Exception) -> None:
    raise error


@pytest.fixture
def guarded() -> Iterator[None]:
    """Put the process's hooks back afterwards."""
    factory, hook = logging.getLogRecordFactory(), sys.excepthook
    thread_hook = threading.excepthook
    guard()
    yield
    logging.setLogRecordFactory(factory)
    sys.excepthook, threading.excepthook = hook, thread_hook


@pytest.mark.parametrize(
    "held",
    [
        f"hf_{SECRET}",
        f"ghp_{SECRET}",
        f"ghs_{SECRET}",
        f"github_pat_{SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"Bearer a.hf_{'b' * 34}.{SECRET}",
        f"'authorization': 'bearer {SECRET}'",
        f"https://x.test/a?X-Amz-Signature={SECRET}&y=1",
        f"https://x.test/a?y=1&amp;X-Amz-Security-Token={SECRET}",
        f"https://x.test/a?Policy=p&Signature={SECRET}&Key-Pair-Id=K",
        f"https://x.test/a?sig={SECRET}",
        f"https://someone:{SECRET}@x.test/a",
        f"s3://key:{SECRET}@bucket/x",
        f"s3://key:{SECRET[:12]}/{SECRET}@bucket/x",
        f"http://h/v1?api_key={SECRET}#m",
        f"http://h/v1?y=1&key={SECRET}",
        f"x-api-key: {SECRET}",
        f"'api_key': '{SECRET}'",
        f"TOGETHER_API_KEY={SECRET}",
        f"Authorization: token {SECRET}",
        f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
    ],
)
def test_known_forms_are_taken_out(held: str) -> None:
    """What stands around the credential stays."""
    text = redacted(f"before {held} after")
    assert SECRET not in text
    assert REDACTED in text
    assert text.startswith("before ")
    assert text.endswith(" after")


def test_every_format_that_the_rule_knows_is_taken_out(
    subtests: pytest.Subtests,
) -> None:
    """All of it, wherever it stands."""
    for name in sorted(examples()):
        for around in ["{}", "key='{}'", "/{} b", "use {}\nhere"]:
            with subtests.test(name=name, around=around):
                secret = examples()[name]
                text = redacted(around.format(secret))
                assert REDACTED in text
                assert not any(
                    secret[start:][:12] in text for start in range(4, len(secret) - 12)
                )


def test_a_private_key_is_taken_out_whole() -> None:
    """Its headers and every line, be they written as one with escapes."""
    body = "\\n".join(["Proc-Type: 4,ENCRYPTED", "", SECRET * 2, SECRET[:20], ""])
    kind = "RSA PRIVATE " + "KEY-----"
    text = redacted(f"before -----BEGIN {kind}\\n{body}-----END {kind} after")
    assert text == f"before {REDACTED} {kind} after"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Github_easy/o13947: no difference",
        "https://huggingface.co/datasets/a/b?revision=main&x=1",
        "the hf_hub client, a bearer of news",
        "commit 9b865efde13a30c13e0a33e536cf3e4a5a9d71d8",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    """Nothing is taken out of what only looks a little like it."""
    assert redacted(text) == text


@given(before=st.text(max_size=30), word=WORDS, after=st.text(max_size=30))
def test_a_token_is_taken_out_of_any_text(before: str, word: str, after: str) -> None:
    """Whatever surrounds it; and doing it twice is doing it once."""
    once = redacted(f"{before}hf_{word}{after}")
    assert f"hf_{word}" not in once
    assert redacted(once) == once


@given(parts=st.lists(st.sampled_from(["eyJ", "a" * 8, "b", "-", ".", " "])))
def test_signed_tokens_are_found_wherever_they_begin(parts: list[str]) -> None:
    """As by the plain pattern of three parts, which reads a long text too often."""
    text = "".join(parts)
    plain = re.sub(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", REDACTED, text)
    assert redacted(text) == plain


@pytest.mark.slow
def test_a_text_of_nothing_but_beginnings_is_read_to_its_end(
    subtests: pytest.Subtests,
) -> None:
    """A server may send a text of any length: read twice from each, it takes hours."""
    for part in [
        *(
            "eyJ",
            "eyJaaaaaaaa.",
            "a.",
            "a://",
            "a://b:c",
            "bearer ",
            "api_key= ",
            "?sig= ",
            "-----BEGIN ",
        ),
        *(mark for known in tables().format for mark in known.marks),
    ]:
        with subtests.test(part=part):
            text = part * 50_000 + " hf_" + SECRET
            assert SECRET not in redacted(text)


@pytest.mark.parametrize("value", ["abc/defghijk", "abc/defghij"])
def test_a_secret_of_the_environment_is_taken_out(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of twelve characters or more, encoded too; shorter texts occur by chance."""
    monkeypatch.setenv("SOME_API_KEY", value)
    for text in (value, quote(value, safe="")):
        assert redacted(text) == (REDACTED if len(value) == 12 else text)


@given(user=st.text(min_size=6), value=st.text(min_size=6))
def test_a_url_is_split_into_what_it_was_made_of(user: str, value: str) -> None:
    """And whoever repeats one of its secrets shows asterisks, to the last letter."""
    password, model = f"{user}!", "http://h/v1#m"
    secrets = [quote(each, safe="") for each in (user, password, value)]
    split = split_url("http://{}:{}@h/v1?k={}&b=#m".format(*secrets))
    assert (split.clean, split.user, split.password) == (model, user, password)
    assert split.query == (("k", value), ("b", ""))
    for each in (user, password, value, *secrets):
        assert hide_secrets(each, split.secrets) == "*" * len(each)


@pytest.mark.usefixtures("guarded")
def test_log_records_hold_none(caplog: pytest.LogCaptureFixture) -> None:
    """In the message, in its arguments, and in the traceback that comes with it."""
    logger = logging.getLogger("some.library")
    with caplog.at_level(logging.DEBUG):
        logger.warning("sent %s to %s", f"Bearer {SECRET}", f"hf_{SECRET}")
        try:
            _fail(ValueError(f"hf_{SECRET}"))
        except ValueError:
            logger.exception("failed")
        # One that nobody raised has no traceback.
        logger.warning("told", exc_info=ValueError(f"hf_{SECRET}"))
    assert SECRET not in caplog.text
    assert "some.library" in caplog.text
    assert "ValueError" in caplog.text


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("arguments", [(), (1, 2), ({"b": 1},)])
def test_a_record_with_the_wrong_arguments_is_logged(
    arguments: tuple[object, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever logs it goes on, as without the guard."""
    logging.getLogger("some.library").warning(f"%(a)s hf_{SECRET}", *arguments)  # noqa: G004 (a secret in the format)
    assert "%(a)s" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.usefixtures("guarded")
def test_what_nobody_catches_holds_none(capsys: pytest.CaptureFixture[str]) -> None:
    """A process and a thread have each a hook that prints it without."""
    error = KeyError(f"hf_{SECRET}")
    sys.excepthook(type(error), error, None)
    thread = threading.Thread(target=_fail, args=(error,))
    thread.start()
    thread.join()
    said = capsys.readouterr().err
    assert SECRET not in said
    assert said.count("KeyError") == 2


def test_a_traceback_names_everything_behind_it() -> None:
    """The cause is there, its credential is not."""
    try:
        try:
            _fail(OSError(f"https://x.test/?X-Amz-Signature={SECRET}"))
        except OSError as error:
            raise RuntimeError("outer") from error
    except RuntimeError as error:
        text = redacted_traceback(error)
    assert "outer" in text
    assert "OSError" in text
    assert SECRET not in text
