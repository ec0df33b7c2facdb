"""Secrets of addresses and of the environment reach their server and nothing else."""

from __future__ import annotations

import base64
import io
import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import curation.cli
from curation.publish import push as push_checks
from curation.system.credentials import redacted_words
from curation.system.errors import Unavailable
from curation.verification import Verification
from evaluation.core.records import Record, encode_records
from tests.curation.credential_examples import examples
from tests.evaluation.servers.loopback import Said, answer, loopback, refusal
from tests.publishing import NAME, UPLOAD_WARNING, connected, write_folder
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)

_KEY = "Zq7planted0key"
_PASSWORD = "Zq7planted/pass+word"
_QUERY = "Zq7planted0query"


def _addresses(base: str) -> dict[str, str]:
    """Return addresses with secrets in every place that an address has."""
    place = base.removeprefix("http://")
    word = quote(_PASSWORD, safe="")
    return {
        "password": f"http://me:{word}@{place}#small",
        "provider": f"openai:http://me:{word}@{place}?a={_QUERY}#small",
        "user": f"http://{_KEY}@{place}#small",
        **{
            name: f"{base}?{name}={_QUERY}#small"
            for name in ("api_key", "access_token", "key", "anything")
        },
    }


@pytest.fixture
def csbdata(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., object]:
    """Return a function that runs a command; `out` is given all that it prints."""
    monkeypatch.setattr(curation.cli, "guard", lambda: None)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CSBDATA_DEBUG", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()

    def run(*words: str) -> object:
        monkeypatch.setattr(sys, "argv", ["csbdata", *words])
        with (tmp_path / "out" / "streams").open("ab") as said:
            monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(said))
            monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(said))
            with pytest.raises(SystemExit) as ended:
                curation.cli.main()
            sys.stdout.flush()
            sys.stderr.flush()
        return ended.value.code

    return run


def _records(folder: Path) -> str:
    schema = json.dumps({"type": "object", "required": ["n"]})
    records = [Record(id=name, group="g", schema=schema) for name in "ab"]
    (folder / "made.jsonl").write_bytes(encode_records(records))
    return str(folder / "made.jsonl")


def _everything(out: Path) -> str:
    files = [path for path in out.rglob("*") if path.is_file()]
    held = " ".join(path.read_bytes().decode("utf-8", "replace") for path in files)
    return " ".join(map(str, files)) + held


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_fast(1, _addresses("")))
def test_the_server_alone_gets_what_its_address_holds(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    csbdata: Callable[..., object],
) -> None:
    """Neither the streams nor a run nor its exports hold it, even if it is echoed."""
    monkeypatch.setenv("OPENAI_API_KEY", _KEY)
    basic = base64.b64encode(f"me:{_PASSWORD}".encode()).decode()
    echo = f"{_KEY} {_PASSWORD} {quote(_PASSWORD, safe='')} {_QUERY} {basic}"
    seen: list[tuple[str, str]] = []

    def reply(_body: dict[str, Any], number: int) -> Said:
        if number == 0:
            return answer(f'{{"n": "{echo}', '"}', reasoning_content=echo)
        return refusal(400, {"error": {"message": echo, "code": echo, "param": "a"}})

    out = tmp_path / "out"
    with loopback(reply, seen) as server:
        address = _addresses(server.base)[kind]
        words = ("suite", "run", "passrate", "--model", address)
        data = ("--data", _records(tmp_path), "--run-dir", str(out / "run"))
        assert csbdata(*words, *data) == 0
    paths, headers = zip(*seen, strict=True)
    if kind in {"password", "provider", "user"}:
        user = _KEY + ":" if kind == "user" else "me:" + _PASSWORD
        assert "Basic " + base64.b64encode(user.encode()).decode() in headers
    else:
        assert all(path.endswith(f"?{kind}={_QUERY}") for path in paths), paths
        assert set(headers) == {f"Bearer {_KEY}"}
    exported = ("results", "export", str(out / "run"), "--format", "outcomes")
    assert csbdata(*exported, "--out", str(out / "x.jsonl")) == 0
    assert csbdata("results", "show", str(out / "run"), "--all") == 0
    text = _everything(out)
    sent = {
        "password": {_PASSWORD, quote(_PASSWORD, safe=""), basic, _KEY},
        "user": {_KEY},
        "provider": {_PASSWORD, quote(_PASSWORD, safe=""), basic, _KEY, _QUERY},
    }
    assert not [word for word in sent.get(kind, {_KEY, _QUERY}) if word in text]
    assert server.base in text


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "--model", "http://me:WORD@127.0.0.1:9/v1?a=WORD#m", "--data", "{"),
        ("eval", "--data", "https://me:WORD@127.0.0.1:9/x?token=WORD"),
        ("probe", "http://me:WORD@127.0.0.1:9/v1?zz=WORD"),
        ("build", "--offline", "--mirror", "https://me:WORD@host/?sig=WORD"),
        ("build", "--sample", "--with", "local:https://me:WORD@host/?key=WORD"),
        ("check", "https://me:WORD@host/a.json?api_key=WORD"),
        ("verify", "https://me:WORD@host/?api_key=WORD"),
        ("results", "show", "s3://KEY:WORD@bucket/run"),
        ("eval", "--run-dir", "s3://KEY:WORD@bucket/run", "--data", "{"),
    ],
)
def test_a_refused_address_is_named_without_its_secrets(
    words: tuple[str, ...], tmp_path: Path, csbdata: Callable[..., object]
) -> None:
    """Whatever refuses it: this program or a library, on any of its options."""
    (tmp_path / "a.json").write_text('{"type": "object"}')
    put = {"{": str(tmp_path / "a.json")}
    secret = "Zq7planted/word0"
    line = [put.get(word, word.replace("WORD", secret)) for word in words]
    assert csbdata(*line) != 0
    text = _everything(tmp_path / "out")
    assert "Zq7planted" not in text
    assert "word0" not in text


#: Secrets by how they are planted: a key of each format in a variable of its own,
#: keys without a format, and places of `~/.netrc` and of addresses.
_VARIABLES = {
    **{
        "_".join(name.upper().split()) + "_API_KEY": key
        for name, key in examples().items()
    },
    "MISTRAL_API_KEY": "Zq7planted" + "a8B2c6D4e0F1g3H5i7J9k2",
    "AWS_ACCESS_KEY_ID": "AKIA" + "ZQ7PLANTEDPLANTED",
    "AWS_SECRET_ACCESS_KEY": "Zq7planted/secret+access/key0123456789abc",
    "AWS_SESSION_TOKEN": "Zq7planted/session+token",
    "MY_SECRET": "Zq7planted-my-secret",
    "DB_PASSWORD": "Zq7planted-database",
}
_PLACES = {
    "netrc": "Zq7planted-netrc",
    "user": "Zq7plantedUser",
    "password": "Zq7planted/pass",
    "query": "Zq7planted-query",
    "fragment": "Zq7planted-fragment",
    "bucket key": "ZQ7PLANTEDBUCKET",
    "bucket secret": "Zq7planted/bucket",
}


@pytest.mark.slow
def test_nothing_planted_is_in_what_any_command_says_or_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, csbdata: Callable[..., object]
) -> None:
    """Forty kinds; a push that works and one that does not, a server that echoes."""
    planted = [*_VARIABLES.values(), *_PLACES.values()]
    assert len(planted) >= 40
    for name, value in _VARIABLES.items():
        monkeypatch.setenv(name, value)
    netrc = f"machine 127.0.0.1 login me password {_PLACES['netrc']}\n"
    (tmp_path / ".netrc").write_text(netrc)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        push_checks, "verify_folder", lambda *_, **__: Verification(findings=())
    )
    folder, records = str(write_folder(tmp_path / "small")), _records(tmp_path)
    out, sent = str(tmp_path / "out" / "run"), _PLACES

    def echo(_body: dict[str, Any], _number: int) -> Said:
        words = " ".join(f"{value} {quote(value, safe='')}" for value in planted)
        return refusal(400, {"error": {"message": words, "code": words}})

    seen: list[tuple[str, str]] = []
    with connected(monkeypatch, tmp_path / "hub"), loopback(echo, seen) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.base)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        assert csbdata("push", folder, "--repo", NAME, "-y") == 0
        place = server.base.removeprefix("http://")
        secrets = f"{sent['user']}:{quote(sent['password'], safe='')}"
        query = f"?api_key={sent['query']}#small&token={sent['fragment']}"
        bucket = f"s3://{sent['bucket key']}:{sent['bucket secret']}@bucket/x"
        model = f"http://{secrets}@{place}{query}"
        export = ("--format", "outcomes", "--out", f"{out}.jsonl")
        run = ("suite", "run", "passrate", "--data", records, "--run-dir", out)
        assert csbdata(*run, "--model", model) == Unavailable.exit_code
        assert csbdata("suite", "score", "passrate", out) == 0
        for words in (
            ("push", folder, "--repo", "not/mine", "-y"),
            ("results", "show", out, "--all"),
            ("results", "show", out, "--failures"),
            ("results", "export", out, *export),
            *((verb, model) for verb in ("check", "card", "diff", "stats", "verify")),
            ("eval", "--data", bucket, "--task", "masks", "--engine", "none"),
            ("probe", model, "--as-profile", out + ".toml"),
            ("eval", "--option", f"key={sent['query']}", "--engine", model),
        ):
            csbdata(*words)
    assert all(_PLACES["netrc"] not in value for _, value in seen)
    text = _everything(tmp_path / "out")
    forms = {form for value in planted for form in (value, quote(value, safe=""))}
    assert not {form for form in forms if form in text}


@pytest.mark.parametrize("name", sorted(examples()))
def test_a_key_of_any_provider_leaves_a_recorded_command(name: str) -> None:
    """As an option's value, in an address, and in a header of an MCP server."""
    secret = examples()[name]
    words = [
        f"--option=key={secret}",
        f"http://h/v1?x={secret.replace('#', '')}",
        f"mcp:serve --token {secret}",
    ]
    text = " ".join(redacted_words(words))
    assert not any(secret[at:][:12] in text for at in range(4, len(secret) - 12))
