"""What each failure of the library means, and how long an answer is waited for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2 as httpx
import huggingface_hub
import pytest
from huggingface_hub import errors
from hypothesis import given
from hypothesis import strategies as st

from curation.dataset.editions import open_edition
from curation.download.huggingface import (
    HubTimeLimits,
    describe_fault,
    hub_client,
    hub_wait,
    rate_limit_watch,
    repeated,
)
from curation.system.errors import (
    BadData,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)
from tests.builds import KEPT_ROWS, write_build

if TYPE_CHECKING:
    from pathlib import Path


def test_the_session_of_huggingface_hub_is_one_of_its_clients() -> None:
    """Ours, which watches waits, in the block alone."""
    with hub_client(HubTimeLimits()):
        assert huggingface_hub.get_session().event_hooks["response"]
    assert not huggingface_hub.get_session().event_hooks["response"]
    assert isinstance(huggingface_hub.get_session(), httpx.Client)


REQUEST = httpx.Request("GET", "https://hub.test/api?X-Amz-Signature=s3cr3t0000")


def _answer(code: int, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(code, headers=named, request=REQUEST)


def _error(code: int, kind: type[errors.HfHubHTTPError]) -> errors.HfHubHTTPError:
    return kind("said", response=_answer(code), server_message="because")


def _behind(cause: Exception) -> Exception:
    """Return what the library raises around a failed upload."""
    error = RuntimeError("Error while uploading 'x' to the Hub.")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (_error(401, errors.HfHubHTTPError), NotPermitted),
        (_error(403, errors.GatedRepoError), NotPermitted),
        (_error(404, errors.RepositoryNotFoundError), NoInput),
        (_error(401, errors.RepositoryNotFoundError), NotPermitted),
        (_error(403, errors.HfHubHTTPError), NotPermitted),
        (_error(404, errors.RevisionNotFoundError), NoInput),
        (_error(400, errors.BadRequestError), BadData),
        (_error(409, errors.HfHubHTTPError), TemporarilyUnavailable),
        (_error(412, errors.HfHubHTTPError), TemporarilyUnavailable),
        (_error(429, errors.HfHubHTTPError), TemporarilyUnavailable),
        (_error(502, errors.HfHubHTTPError), Unavailable),
        (_behind(_error(403, errors.HfHubHTTPError)), NotPermitted),
        (_behind(httpx.ReadError("gone")), Unavailable),
        (_behind(ValueError("Invalid server response")), Unavailable),
        (errors.OfflineModeIsEnabled("x"), Unavailable),
        (errors.LocalTokenNotFoundError("x"), NotPermitted),
        (errors.OIDCError("x"), NotPermitted),
        (errors.HFValidationError("x"), NoInput),
        (errors.LocalEntryNotFoundError("x"), Unavailable),
        (json.JSONDecodeError("x", "", 0), Unavailable),
        (ValueError("Invalid metadata in README.md."), BadData),
        (OSError(28, "No space left on device"), CannotCreate),
        (TypeError("x"), CsbdataError),
        (BadData("x"), BadData),
    ],
)
def test_every_failure_is_one_kind_of_fault(
    error: Exception, kind: type[CsbdataError]
) -> None:
    """It names the repository, in one line."""
    fault = describe_fault(error, "owner/name")
    assert type(fault) is kind
    assert "\n" not in str(fault)
    assert isinstance(error, CsbdataError) or "owner/name" in str(fault)


def test_every_error_of_the_library_is_known() -> None:
    """Nothing that huggingface_hub raises over HTTP comes out as a defect of ours."""
    kinds = [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.HfHubHTTPError)
    ]
    assert len(kinds) > 8
    for kind in kinds:
        assert (
            describe_fault(_error(404, kind), "owner/name").exit_code
            != CsbdataError.exit_code
        )


@given(seconds=st.integers(0, 10**6))
def test_the_hubs_own_header_says_how_long(seconds: int) -> None:
    """`RateLimit` first, else `Retry-After`, and one second for rounding."""
    limit = f'"api";r=0;t={seconds}'
    assert hub_wait(_answer(429, RateLimit=limit, Retry_After="1")) == seconds + 1
    assert hub_wait(_answer(429, Retry_After=str(seconds))) == seconds + 1


@pytest.mark.parametrize("value", ["", "soon", "-5", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_header_that_says_nothing_is_a_second(value: str) -> None:
    """No answer makes us wait for ever, or not at all."""
    assert hub_wait(_answer(429, RateLimit=value, Retry_After=value)) == 1


def test_waits_add_up_to_our_patience() -> None:
    """The one that would go beyond it ends the run, and shows no address's secrets."""
    watch = rate_limit_watch(10.0)
    limited = _answer(429, Retry_After="4")
    watch(_answer(200))
    watch(limited)
    watch(limited)
    with pytest.raises(TemporarilyUnavailable, match="limits our rate") as caught:
        watch(limited)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (httpx.ConnectError("no"), 3),
        (_error(500, errors.HfHubHTTPError), 3),
        (_error(404, errors.HfHubHTTPError), 1),
        (TypeError("ours"), 1),
    ],
)
def test_only_what_may_pass_is_asked_for_again(
    error: Exception, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pauses that grow."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    calls: list[int] = []

    def ask() -> None:
        calls.append(1)
        raise error

    with pytest.raises(CsbdataError):
        repeated(ask, "owner/name", HubTimeLimits(attempts=3, pause=1.0))
    assert len(calls) == asked
    assert pauses == [1.0, 2.0][: asked - 1]


def test_a_hub_dataset_is_read_at_its_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Owner, name and revision are asked for; the folder is read like a build."""
    asked: list[tuple[str, str | None, str]] = []

    def download(
        name: str, *, repo_type: str, revision: str | None, allow_patterns: list[str]
    ) -> str:
        assert "*.parquet" in allow_patterns
        asked.append((name, revision, repo_type))
        return str(folder)

    folder = write_build(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for where in ("owner/name@v1.0", "hf://datasets/owner/name"):
        assert open_edition(where).rows.height == len(KEPT_ROWS)
    assert asked == [("owner/name", "v1.0", "dataset"), ("owner/name", None, "dataset")]
